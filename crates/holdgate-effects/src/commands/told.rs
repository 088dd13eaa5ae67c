//! What a service on this machine is told to reach: an address outside in the body of a request to it gets
//! what the service holds.

use super::sql;
use super::weights::{addresses, is_stranger, says};
use crate::effect::Actor;
use crate::host::HostClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// A longer body is data.
const MAX_BODY: usize = 16 << 10;
/// Names in a body that lead what the service holds to another place.
#[rustfmt::skip]
const LEADS: [&str; 20] = [
    "target", "dest", "destination", "sink", "replicate", "replication", "replica", "mirror",
    "forward", "remote", "upstream", "seeds", "shovel", "issuer", "discovery", "bootstrap", "api",
    "connection", "export", "push",
];
/// Words beside an address that say that the service copies what it holds to there.
#[rustfmt::skip]
const COPIES: [&str; 10] = [
    "remote", "sink", "replicate", "replication", "mirror", "forward", "shovel", "dest",
    "destination", "upstream",
];
/// Ports of services that copy what they hold when they are told to.
#[rustfmt::skip]
const PORTS: [&str; 14] = [
    ":5984", ":8083", ":15672", ":8001", ":8500", ":4646", ":2379", ":8086", ":8200", ":2375",
    ":7180", ":9093", ":8474", ":8080/admin",
];
/// Parts of paths by which documents are kept, not settings.
#[rustfmt::skip]
const DOCUMENTS: [&str; 12] = [
    "_doc", "_bulk", "_search", "_create", "_update", "_msearch", "_count", "_mapping", "_analyze",
    "_source", "_all_docs", "_find",
];

/// Notes where a request to this machine sends what is kept here.
pub(super) fn requests(scene: &mut Scene<'_>, actor: &Actor, url: &Value, body: &Value) -> Fueled {
    let text = body.text.as_str();
    if text.len() > MAX_BODY || !text.contains('.') || scene.written {
        return Ok(());
    }
    let near = [HostClass::Loopback, HostClass::Private];
    if !near.contains(&scene.host_of(url).class) {
        return Ok(());
    }
    scene.fuel.spend_on(text.len())?;
    let path = url.text.split(['?', '#']).next().unwrap_or("");
    let mut parts = path.split('/').skip(1);
    let manages = |part: &str| part.starts_with('_') && !DOCUMENTS.contains(&part);
    let known = PORTS.iter().any(|port| path.contains(port)) || parts.any(manages);
    let leads = says(path, &COPIES)
        || text
            .split(char::is_whitespace)
            .take(256)
            .any(|word| says(word, &COPIES));
    for (name, address) in addresses(text, "") {
        let host = scene.know.hosts.host(&Value::known(address));
        let plain = ["url", "uri", "host", "endpoint", "address"];
        let plain = plain.iter().any(|word| name.eq_ignore_ascii_case(word));
        if (known || says(name, &LEADS) || plain && leads) && is_stranger(scene, &host) {
            return leaves(scene, actor, &body.map(address));
        }
    }
    if known {
        // `"seeds": ["host:9300"]`: no scheme is written.
        let ends = |c: char| !(c.is_ascii_alphanumeric() || ".-:".contains(c));
        let with_port = |word: &&str| {
            let (name, port) = word.rsplit_once(':').unwrap_or((word, ""));
            name.contains('.') && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
        };
        for word in text.split(ends).filter(with_port).take(16) {
            let host = scene.know.hosts.host(&Value::known(word));
            if is_stranger(scene, &host) {
                return leaves(scene, actor, &body.map(word));
            }
        }
    }
    if sql::looks_like(text) {
        return sql::reaches(scene, actor, body);
    }
    Ok(())
}

/// What a service holds goes to a host.
pub(super) fn leaves(scene: &mut Scene<'_>, actor: &Actor, host: &Value) -> Fueled {
    let all = Value::unknown(Origins::FILE);
    scene.send(&actor.and(Tag::Transfer), host, &all).map(drop)
}
