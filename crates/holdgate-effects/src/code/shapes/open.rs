//! Doors that are open to every address: beside a port through which something is ruled or kept, in source,
//! settings and rules of firewalls alike.

use super::access;
use super::scan::{Text, around, has_any};
use crate::effect::Effect;
use crate::tag::Tag;

/// Mentions of one file that are looked at.
const MAX_MENTIONS: usize = 64;
/// Lines and bytes around an address in which its port stands.
const LINES: usize = 6;
const BYTES: usize = 360;

/// Ports that are made for everybody, and those of applications under development.
const FOR_ALL: [u32; 12] = [0, 25, 53, 80, 123, 443, 465, 587, 3000, 5000, 8080, 8443];

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    let names = ["anyipv4", "any_ipv4", "anyipv6", "any_ipv6"];
    let mentions = names.iter().flat_map(|word| text.low.match_indices(word));
    let mentions = mentions
        .chain(crate::host::everywhere(&text.low))
        .take(MAX_MENTIONS);
    for (at, word) in mentions {
        let line = text.line(at);
        if !text.is_new(line) {
            continue;
        }
        // Another object, with brackets of its own, is another rule.
        let near = around(&text.low, at, LINES, LINES, BYTES);
        let near = rule_around(near, word);
        if is_outgoing(near) || is_outgoing(&line.to_ascii_lowercase()) {
            continue;
        }
        let all = [
            "alltraffic",
            "all_traffic",
            "alltcp",
            "all_tcp",
            "protocol: \"-1\"",
            "protocol = \"-1\"",
            "protocol: '-1'",
            "protocol=\"-1\"",
        ];
        if has_any(near, &all) || ports(near).any(|port| !FOR_ALL.contains(&port)) {
            found.push(access(Tag::Public, line));
        }
    }
    // A range from the first address to the last.
    for (at, _) in text.low.match_indices("255.255.255.255").take(MAX_MENTIONS) {
        let near = around(&text.low, at, 4, 4, 200);
        let range = has_any(
            near,
            &[
                "\"0.0.0.0\"",
                "'0.0.0.0'",
                "0.0.0.0-",
                " 0.0.0.0\n",
                "0.0.0.0 - ",
            ],
        );
        if range
            && !has_any(near, &["netmask", "broadcast", "subnet"])
            && text.is_new(text.line(at))
        {
            found.push(access(Tag::Public, text.line(at)));
        }
    }
    if !text.is_code() {
        trusted_hosts(text, found);
    }
}

/// The rule that the address is a part of, by the brackets or the blank lines around it.
fn rule_around<'t>(near: &'t str, word: &str) -> &'t str {
    let Some(at) = near.find(word) else {
        return near;
    };
    let (head, tail) = near.split_at_checked(at).unwrap_or(("", near));
    let from = head
        .rfind("\n\n")
        .into_iter()
        .chain(head.rfind("}\n"))
        .max()
        .unwrap_or(0);
    let to = tail
        .find("\n\n")
        .into_iter()
        .chain(tail.find("}\n"))
        .min()
        .unwrap_or(tail.len());
    near.get(from..at + to).unwrap_or(near)
}

fn is_outgoing(text: &str) -> bool {
    let words = [
        "egress",
        "outbound",
        "destination",
        "route",
        "allowedips",
        "allowed_ips",
        "allowed-ips",
        "gateway",
        "masquerade",
        "snat",
        "nat ",
        "default via",
        "ip rule",
        "geo ",
        "set_real_ip",
        "real_ip",
        "prefix_list",
        "trusted_prox",
        "listen_addr",
        "denyfrom",
        "deny ",
    ];
    has_any(text, &words)
}

/// The numbers that are ports: behind that word, or as arguments of a protocol.
fn ports(text: &str) -> impl Iterator<Item = u32> {
    let digits = |at: usize| {
        let rest = text.get(at..).unwrap_or("");
        rest.bytes().take_while(u8::is_ascii_digit).count()
    };
    let is_start = move |at: &usize| {
        let bytes = text.as_bytes();
        let here = bytes.get(*at).is_some_and(u8::is_ascii_digit);
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        here && !before
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'/'))
    };
    (0..text.len()).filter(is_start).filter_map(move |at| {
        let length = digits(at);
        let next = text.as_bytes().get(at + length);
        if next.is_some_and(|b| matches!(b, b'.' | b'/' | b'_') || b.is_ascii_alphabetic()) {
            return None;
        }
        let head = text.get(at.saturating_sub(28)..at).unwrap_or("");
        let head = head.rsplit('\n').next().unwrap_or("");
        let by_word = [
            "port",
            "tcp(",
            "udp(",
            "tcp:",
            "udp:",
            "tcp/",
            "tcprange",
            "tcp_range",
            "from=",
            "to=",
        ];
        let number: u32 = text.get(at..at + length)?.parse().ok()?;
        (has_any(head, &by_word) && !head.contains("sourceport") && (1..65536).contains(&number))
            .then_some(number)
    })
}

/// `host all all 0.0.0.0/0 trust`: whoever asks is believed.
fn trusted_hosts(text: &Text<'_>, found: &mut Vec<Effect>) {
    for line in text.clean.lines() {
        let mut words = line.split_whitespace();
        if !matches!(words.next(), Some("host" | "hostssl" | "hostnossl")) {
            continue;
        }
        let rest: Vec<&str> = words.collect();
        let own = ["127.", "::1", "localhost", "samehost", "samenet"];
        let address = rest.get(2).copied().unwrap_or("");
        if rest.contains(&"trust")
            && rest.len() >= 4
            && !own.iter().any(|start| address.starts_with(start))
            && text.is_new(line)
        {
            found.push(access(Tag::Public, line));
        }
    }
}
