//! Rules of firewalls, and services that are open to everybody.

use super::{At, Found, lower, texts};
use crate::json::Json;
use crate::tag::Tag;
use std::borrow::Cow;
use std::net::Ipv4Addr;

/// Ports through which a machine, a database or a cluster is ruled.
const RULING: [u16; 34] = [
    21, 22, 23, 111, 135, 139, 445, 873, 1433, 1521, 2049, 2375, 2376, 2379, 3306, 3389, 4243,
    5432, 5601, 5900, 5984, 5985, 5986, 6379, 6443, 7001, 8500, 9042, 9200, 9300, 10250, 11211,
    15672, 27017,
];
/// A range that is wider than this is not meant for one service.
const WIDE: u16 = 1000;

/// A rule of a firewall that lets every address in where machines are ruled.
pub(super) fn rule(node: &Json<'_>, at: At<'_>, found: &mut Found) {
    let Json::Object(members) = node else {
        return;
    };
    halves(members, found);
    let mut ports = Vec::new();
    // `dynamic "ingress" { for_each = [22, 5432] content { … } }`
    let repeated = node.get("content").zip(node.get("for_each"));
    let repeated = repeated.filter(|(content, _)| {
        let contents = content.as_array().unwrap_or(std::slice::from_ref(*content));
        let lets_in = |content: &Json<'_>| matches!(content, Json::Object(m) if is_open(m));
        contents.iter().any(lets_in)
    });
    if let Some((_, each)) = repeated {
        ports.extend(numbers(each));
    } else if !is_open(members) {
        return;
    }
    for (name, value) in members {
        let name = lower(name);
        if name.contains("port") && !name.contains("source") {
            ports.extend(numbers(value));
        } else if matches!(name.as_str(), "allow" | "allowed") {
            let inner = value.as_array().unwrap_or(std::slice::from_ref(value));
            let lists = inner.iter().filter_map(|item| item.get("ports"));
            ports.extend(lists.flat_map(numbers));
        }
    }
    let get = |names: [&str; 3]| names.iter().find_map(|name| node.get(name));
    let protocol = get(["protocol", "IpProtocol", "ip_protocol"]).map(texts_or_number);
    let all = protocol.is_some_and(|p| matches!(p.as_str(), "-1" | "all"));
    let first = ports.iter().map(|(from, _)| *from).min();
    let last = ports.iter().map(|(_, to)| *to).max();
    let wide = matches!((first, last), (Some(first), Some(last)) if last - first > WIDE);
    let from = members
        .iter()
        .any(|(name, _)| lower(name).starts_with("from"));
    let between = |port: &u16| match (first, last) {
        (Some(first), Some(last)) if from => (first..=last).contains(port),
        _ => ports.iter().any(|(a, b)| (*a..=*b).contains(port)),
    };
    let listed = lower(at.key).contains("authorized_networks");
    if all || wide || listed || RULING.iter().any(between) {
        let text = format!("{} lets every address in", at.resource);
        found.push((Tag::Public, text));
    }
}

/// Whether a rule is for every address.
fn is_open(members: &[(Cow<'_, str>, Json<'_>)]) -> bool {
    members.iter().any(|(name, value)| {
        let name = lower(name);
        let source = name.contains("source") && name.contains("prefix");
        let from_all = |text: &&str| {
            crate::host::is_everywhere(text) || source && matches!(*text, "*" | "Internet")
        };
        !name.contains("destination") && texts(Some(value)).iter().any(from_all)
    })
}

/// Ranges that let every address in together, so that none of them shows it.
fn halves(members: &[(Cow<'_, str>, Json<'_>)], found: &mut Found) {
    for (name, value) in members {
        let lower = lower(name);
        let routes = ["route", "allowedips", "allowed_ips", "destination"];
        if routes.iter().any(|word| lower.contains(word)) {
            continue;
        }
        let ranges = texts(Some(value));
        if ranges.len() > 1 && covers_all(&ranges) {
            found.push((
                Tag::Public,
                format!("{name} lets every address in, by parts"),
            ));
        }
    }
}

/// Whether ranges of addresses of version 4 leave hardly one out; one that is everything by itself does not count.
fn covers_all(ranges: &[&str]) -> bool {
    const NEARLY: u64 = (1 << 32) - (1 << 24);
    let mut all: Vec<(u64, u64)> = Vec::new();
    for range in ranges {
        let Some((address, bits)) = range.split_once('/') else {
            continue;
        };
        let (Ok(address), Ok(bits @ 1..=32)) = (address.parse::<Ipv4Addr>(), bits.parse::<u32>())
        else {
            continue;
        };
        let size = 1u64 << (32 - bits);
        let start = u64::from(address.to_bits()) / size * size;
        all.push((start, start + size));
    }
    all.sort_unstable();
    let (mut covered, mut end) = (0, 0);
    for (from, to) in all {
        covered += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    covered >= NEARLY
}

/// Whether a service of a cluster that rules something gets an address of its own.
pub(super) fn is_open_service(node: &Json<'_>) -> bool {
    let Some(spec) = node.get("spec") else {
        return false;
    };
    let outside = matches!(spec.get_str("type"), Some("LoadBalancer" | "NodePort"));
    let narrowed = spec.get("loadBalancerSourceRanges").is_some()
        || node
            .get("metadata")
            .is_some_and(|m| lower(&m.text()).contains("internal"));
    let ports = spec.get("ports").and_then(Json::as_array).unwrap_or(&[]);
    let mut ports = ports.iter().filter_map(|p| p.get("port")).flat_map(numbers);
    outside && !narrowed && ports.any(|(port, _)| RULING.contains(&port) && port > 23 || port == 22)
}

/// The ports that a value names, each as a range.
fn numbers(value: &Json<'_>) -> Vec<(u16, u16)> {
    let range = |text: &str| {
        if text == "*" {
            return Some((0, u16::MAX));
        }
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
    };
    match value {
        Json::Array(items) => items.iter().flat_map(numbers).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
            range(&texts_or_number(value)).into_iter().collect()
        }
    }
}

fn texts_or_number(value: &Json<'_>) -> String {
    match value {
        Json::Number(text) | Json::String(text) => text.to_string(),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => String::new(),
    }
}
