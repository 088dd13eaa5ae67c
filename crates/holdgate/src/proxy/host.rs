//! Whether a request is meant for this proxy, by the names that it gives.
//!
//! A web page can point a name of its own at a loopback address, and then send requests here and
//! read the answers. Its requests carry that name; those of agents carry an address, `localhost` or a
//! name that the operator has listed.

use crate::config::ProxySettings;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Uri};
use std::net::IpAddr;

/// Why a request is not meant for this proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misdirected {
    /// It names no host, more than one, or one that is not known.
    Host(String),
    /// A web page of another host sends it.
    Origin(String),
}

/// Checks the host that a request names and, if a web page sends it, the page's.
pub(super) fn check<B>(request: &Request<B>, proxy: &ProxySettings) -> Result<(), Misdirected> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let named = request.headers().get_all(header::HOST).iter().map(text);
    // HTTP/2 and absolute requests name the host in front of the path.
    let authority = request.uri().authority().map(|a| a.as_str().to_owned());
    let names: Vec<String> = named.chain(authority).collect();
    if names.is_empty() {
        return Err(Misdirected::Host("no host".to_owned()));
    }
    if let Some(other) = names.into_iter().find(|name| !is_known(name, proxy)) {
        return Err(Misdirected::Host(format!("the host `{other}`")));
    }
    check_origin(request.headers(), proxy)
}

fn check_origin(headers: &HeaderMap, proxy: &ProxySettings) -> Result<(), Misdirected> {
    for origin in headers.get_all(header::ORIGIN) {
        let origin = String::from_utf8_lossy(origin.as_bytes());
        let page = ["http://", "https://"]
            .iter()
            .find_map(|scheme| origin.strip_prefix(scheme));
        // `null` is any page in a frame without rights. Other schemes are programs, such as editors.
        if origin == "null" || page.is_some_and(|page| !is_known(page, proxy)) {
            return Err(Misdirected::Origin(origin.into_owned()));
        }
    }
    Ok(())
}

/// Whether a host, with or without a port, stands for this proxy.
fn is_known(authority: &str, proxy: &ProxySettings) -> bool {
    let Ok(uri) = authority.parse::<Uri>() else {
        return false;
    };
    let Some(host) = uri
        .host()
        .filter(|_| !authority.contains(['@', '/', '?', '#']))
    else {
        return false;
    };
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = literal.parse::<IpAddr>() {
        let (address, listen) = (address.to_canonical(), proxy.listen.ip().to_canonical());
        // No page can make an address its name. One that listens everywhere has many.
        return address.is_loopback() || address == listen || listen.is_unspecified();
    }
    name == "localhost"
        || name.ends_with(".localhost")
        || proxy
            .hosts
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn checked(listen: &str, hosts: &[&str], headers: &[(&str, &str)]) -> Result<(), Misdirected> {
        let mut proxy = Config::defaults("/state").unwrap().proxy;
        proxy.listen = listen.parse().unwrap();
        proxy.hosts = hosts.iter().map(|&h| h.to_owned()).collect();
        let mut request = Request::post("/v1/messages");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(&request.body(()).unwrap(), &proxy)
    }

    #[test]
    fn only_names_of_this_proxy_are_served() {
        let check = |listen: &str, host: &str, expected: bool| {
            let found = checked(listen, &["gate.internal"], &[("host", host)]);
            assert_eq!(found.is_ok(), expected, "{host} at {listen}: {found:?}");
        };
        let loopback = "127.0.0.1:8787";
        for host in [
            "127.0.0.1:8787",
            "127.9.9.9",
            "localhost",
            "LOCALHOST:8787",
            "localhost.",
            "app.localhost:1",
            "[::1]:8787",
            "[::ffff:127.0.0.1]",
            "gate.internal:8787",
            "Gate.Internal",
        ] {
            check(loopback, host, true);
        }
        for host in [
            "evil.example",
            "evil.example:8787",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "notlocalhost",
            "10.0.0.7",
            "localhost@evil.example",
            "evil.example/localhost",
            "127.0.0.1, evil.example",
            "",
            ":8787",
            "[::1",
        ] {
            check(loopback, host, false);
        }
        check("10.0.0.7:8787", "10.0.0.7:8787", true);
        check("10.0.0.7:8787", "10.0.0.8:8787", false);
        check("0.0.0.0:8787", "10.0.0.8:8787", true);
        check("[::]:8787", "[fe80::1]:8787", true);
        check("0.0.0.0:8787", "evil.example", false);
    }

    #[test]
    fn every_name_counts_and_one_is_needed() {
        let listen = "127.0.0.1:8787";
        assert!(checked(listen, &[], &[]).is_err());
        let two = [("host", "localhost"), ("host", "evil.example")];
        assert!(checked(listen, &[], &two).is_err());
        let mut absolute = Request::post("http://evil.example/v1/messages")
            .header("host", "localhost")
            .body(())
            .unwrap();
        let proxy = Config::defaults("/state").unwrap().proxy;
        assert!(check(&absolute, &proxy).is_err());
        *absolute.uri_mut() = "http://localhost/v1/messages".parse().unwrap();
        assert!(check(&absolute, &proxy).is_ok());
    }

    #[test]
    fn pages_of_other_hosts_are_not_served() {
        let check = |origin: &str, expected: bool| {
            let headers = [("host", "127.0.0.1:8787"), ("origin", origin)];
            let found = checked("127.0.0.1:8787", &["chat.internal"], &headers);
            assert_eq!(found.is_ok(), expected, "{origin}");
        };
        check("http://localhost:3000", true);
        check("https://chat.internal", true);
        check("vscode-webview://0a1b", true);
        check("https://evil.example", false);
        check("null", false);
    }
}
