//! Names and ports of this machine that lead to another one: tunnels, forwarded ports, addresses that a
//! program is told to use in place of others.

use super::Scene;
use crate::host::{Host, HostClass};
use crate::value::Value;

/// Forwards of one call.
const MAX_FORWARDS: usize = 16;

impl Scene<'_> {
    /// What is asked of `from` (a host, or `host:port`) goes to `target` from here on.
    pub(crate) fn forwards_to(&mut self, from: &str, target: &Value) {
        if self.forwards.len() < MAX_FORWARDS && !target.text.is_empty() {
            self.forwards.push((from.to_owned(), target.clone()));
        }
    }

    /// The host that is reached at an address, by way of what leads elsewhere.
    pub(crate) fn host_of(&self, address: &Value) -> Host {
        let host = self.know.hosts.host(address);
        if self.forwards.is_empty() {
            return host;
        }
        let port = port_of(&address.text);
        let leads = |(from, _): &&(String, Value)| {
            let (name, by_port) = match from.rsplit_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (from.as_str(), None),
            };
            let known = self.know.hosts.host(&Value::known(name));
            let both_here = known.class == HostClass::Loopback && host.class == known.class;
            let same_port = port.is_none() || by_port.is_none() || port == by_port;
            (name == "*" || both_here || known.name == host.name) && same_port
        };
        match self.forwards.iter().rev().find(leads) {
            Some((_, target)) => self.know.hosts.host(target),
            None => host,
        }
    }
}

/// The port that an address names.
fn port_of(address: &str) -> Option<&str> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let (_, port) = authority.rsplit_once(':')?;
    (!port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::port_of;

    #[test]
    fn ports_stand_behind_the_host() {
        assert_eq!(port_of("http://localhost:8001/a:9"), Some("8001"));
        assert_eq!(port_of("localhost:80"), Some("80"));
        assert_eq!(port_of("http://localhost/a"), None);
    }
}
