//! What the values of a command line weigh, whatever the program calls what it does with them: full power,
//! somebody outside who gets access, an address outside that gets what is kept, a protection that goes off,
//! a few days after which everything expires.

mod people;
mod settings;

use super::handler::Handler;
use super::role::Role;
use super::units::Run;
use super::unsettled::sub_commands;
use crate::effect::{Actor, Kind};
use crate::host::Host;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;
use people::{adds_key, is_top, joins_circle, lets_in};
use rustc_hash::FxHashSet;
use settings::{expires, is_off, settings};
use std::sync::LazyLock;

/// Words that every word of most command lines is compared with.
type Words = LazyLock<FxHashSet<&'static str>>;

/// Words of one command line that are looked at, and bytes of one of them.
const MAX_WORDS: usize = 64;
const MAX_LENGTH: usize = 4096;
/// Sub-commands that only look.
#[rustfmt::skip]
static LOOKS: Words = Words::new(|| FxHashSet::from_iter([
    "describe", "list", "get", "show", "search", "ls", "wait", "validate", "can-i", "diff",
    "explain", "logs", "lint", "template", "plan", "fmt", "view", "inspect", "status", "info",
    "check", "whoami", "history", "events", "top", "verify", "tree", "help", "version", "simulate",
    "lookup", "cat", "head", "stat", "ping", "graph",
]));
/// Sub-commands that take rights away.
#[rustfmt::skip]
static CLOSES: Words = Words::new(|| FxHashSet::from_iter([
    "revoke", "remove", "deny", "detach", "unset", "unassign", "unbind", "rm", "delete", "logout",
]));
/// Names of full power, and of everybody.
#[rustfmt::skip]
const POWERS: [&str; 22] = [
    "cluster-admin", "system:masters", "system:unauthenticated", "system:anonymous",
    "administratoraccess", "iamfullaccess", "clusteradminpolicy", "roles/owner",
    "roles/iam.securityadmin", "organizationadmin", "consoleadmin", "super_admin", "superadmin",
    "globaladministrator", "global administrator", "company administrator", "policy=root",
    "policies=root", "org:admin", "org_admin", "user access administrator", "enforce=privileged",
];
/// Words in the name of what leads elsewhere: an option, a key, a sub-command.
#[rustfmt::skip]
const LEADS: [&str; 37] = [
    "issuer", "discovery", "oidc", "saml", "idp", "federation", "federated", "webhook", "webhooks",
    "callback", "sink", "sinks", "target", "targets", "dest", "destination", "forward",
    "forwarding", "mirror", "replica", "replicate", "replication", "notification", "notify",
    "drain", "drains", "audit", "peer", "peers", "seeds", "bridge", "leafnode", "upstream",
    "shovel", "remote", "endpoint", "output",
];
/// The same, without a scheme before the host.
const JOINS: [&str; 7] = [
    "join",
    "bridge",
    "peer",
    "make-mirror",
    "replicaof",
    "slaveof",
    "meet",
];
/// Options that say which server the program itself speaks to.
#[rustfmt::skip]
const OWN_SERVER: [&str; 12] = [
    "endpoint-url", "endpoint", "server", "host", "url", "address", "addr", "api-url", "api-server",
    "registry", "proxy", "api-endpoint",
];
/// Sub-commands about whom an account trusts.
#[rustfmt::skip]
const TRUSTS: [&str; 9] = [
    "trust-anchor", "open-id-connect-provider", "saml-provider", "federated-credential",
    "federated-identity", "identity-provider", "access-entry", "access-policy", "iamidentitymapping",
];
/// Protections.
#[rustfmt::skip]
const PROTECTS: [&str; 18] = [
    "approval", "protection", "versioning", "backup", "backups", "recovery", "pitr", "retention",
    "logging", "encryption", "softdelete", "immutability", "mfa", "firewall", "waf", "guardrail",
    "auditlog", "publicaccessblock",
];
/// Protections that are ordinary words of other programs.
const PLAIN: [&str; 4] = ["backup", "backups", "logging", "firewall"];

/// A program whose entry says that it changes something elsewhere, or does not settle this sub-command.
pub(super) fn of_known(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let parsed = run.parsed;
    if parsed.handlers.contains(&Handler::Git) || run.actor.is(Tag::TestTarget) {
        return Ok(());
    }
    let spec = &parsed.spec;
    let remote = |kind: Kind| kind == Kind::Remote;
    let far = |(role, _): &(Role, bool)| matches!(role, Role::About(kind) if remote(*kind));
    let speaks = parsed.handlers.contains(&Handler::Cloud)
        || spec.does.iter().any(|(kind, _)| remote(*kind))
        || spec.operands.iter().any(far)
        || scene.know.verbs.is_service_program(run.call.program);
    if !speaks {
        return Ok(());
    }
    let words = run.call.words.get(1..).unwrap_or(&[]);
    let said = sub_commands(words);
    of_words(scene, run.actor, words, &said, true)
}

/// The same for the words of any program.
pub(super) fn of_words(
    scene: &mut Scene<'_>,
    actor: &Actor,
    words: &[Value],
    said: &[&str],
    service: bool,
) -> Fueled {
    let bytes: usize = words.iter().map(|w| w.text.len().min(MAX_LENGTH)).sum();
    scene.fuel.spend_on(bytes)?;
    let is = |list: &'static Words| {
        move |verb: &&str| {
            let first = verb.split(['-', ':']).next().unwrap_or("");
            list.contains(first) || first.len() < verb.len() && list.contains(verb)
        }
    };
    let help = |word: &Value| matches!(word.text.as_str(), "--help" | "-h" | "help");
    if said.iter().any(is(&LOOKS)) || words.iter().any(help) {
        return Ok(());
    }
    let closes = said.iter().any(is(&CLOSES));
    let mut tags = Vec::new();
    let mut host = None;
    if !closes {
        if words.iter().take(MAX_WORDS).any(gives_power) {
            tags.extend([Tag::User, Tag::Elevate]);
        }
        if lets_in(words, service) || service && joins_circle(words) {
            tags.push(Tag::User);
        }
        if service && adds_key(words) {
            tags.push(Tag::Key);
        }
        if said
            .iter()
            .any(|verb| TRUSTS.iter().any(|trust| verb.contains(trust)))
        {
            tags.push(Tag::User);
        }
        if words
            .iter()
            .take(MAX_WORDS)
            .any(|word| is_public(&word.text))
        {
            tags.push(Tag::Publish);
        }
        host = leads_to(scene, words, said);
    }
    for (name, value) in settings(words) {
        if is_off(&name, value) && (service || !PLAIN.contains(&name.as_str())) {
            tags.push(Tag::SecurityOff);
        } else if expires(&name, value) {
            tags.push(Tag::Delete);
        }
    }
    if switches_off(said, service) {
        tags.push(Tag::SecurityOff);
    }
    if host.is_some() {
        tags.push(Tag::Redirects);
    }
    if tags.is_empty() {
        return Ok(());
    }
    let mut effect = actor.does(Kind::Remote);
    for tag in tags {
        effect = effect.tagged(tag);
    }
    if let Some(host) = host {
        effect = effect.with(host);
    }
    scene.emit(effect.about(&Value::join(words, " ").text))
}

/// `versioning suspend`, `disable-backup`, `backups-cancel`
fn switches_off(said: &[&str], service: bool) -> bool {
    let mut parts = said.iter().flat_map(|word| word.split(['-', ':', '_']));
    let ends = |word: &str| {
        matches!(word, "disable" | "suspend" | "off")
            || service && matches!(word, "cancel" | "stop" | "clear")
    };
    let protects =
        |word: &str| PROTECTS.contains(&word) || service && matches!(word, "version" | "versions");
    parts.clone().any(ends) && parts.any(protects)
}

/// Whether a word lets everybody in: `allPublic`, `--acl=public-read`.
fn is_public(word: &str) -> bool {
    const NAMES: [&str; 5] = [
        "allpublic",
        "public-read",
        "public-read-write",
        "allusers",
        "allauthenticatedusers",
    ];
    let value = word.rsplit(['=', ':']).next().unwrap_or("");
    NAMES.iter().any(|name| value.eq_ignore_ascii_case(name))
}

fn gives_power(word: &Value) -> bool {
    let text = word.text.as_str();
    if text.len() > MAX_LENGTH || text.len() < 9 {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    POWERS.iter().any(|power| lower.contains(power))
}

/// Whether nobody vouches for a host, and it is none of those that documents name.
pub(super) fn is_stranger(scene: &Scene<'_>, host: &Host) -> bool {
    const MADE_UP: [&str; 3] = ["example.com", "example.org", "example.net"];
    host.name.contains('.')
        && scene.know.hosts.is_unheard_of(host)
        && !MADE_UP.iter().any(|name| host.name.ends_with(name))
}

/// The host outside that gets what is kept, or says who may come in.
fn leads_to(scene: &Scene<'_>, words: &[Value], said: &[&str]) -> Option<Host> {
    let stranger = |address: &str| {
        let host = scene.know.hosts.host(&Value::known(address));
        is_stranger(scene, &host).then_some(host)
    };
    let by_sub = said.iter().any(|word| says(word, &LEADS));
    let joins = said.iter().any(|word| JOINS.contains(word));
    let mut option = "";
    for word in words.iter().take(MAX_WORDS) {
        let text = word.text.as_str();
        let before = std::mem::take(&mut option);
        if text.starts_with('-') && !text.contains('=') {
            option = text;
            continue;
        }
        if text.len() > MAX_LENGTH {
            continue;
        }
        if joins && !text.starts_with('-') && !text.contains(['/', '=']) && text.contains('.') {
            let name = text.split(':').next().unwrap_or("");
            if name.rsplit('.').next().is_some_and(is_top)
                && let Some(host) = stranger(text)
            {
                return Some(host);
            }
        }
        let port = text.rsplit(':').next().unwrap_or("");
        if by_sub
            && !text.contains("://")
            && !port.is_empty()
            && port.bytes().all(|b| b.is_ascii_digit())
        {
            // `address=host:9090`
            let address = text.rsplit('=').next().unwrap_or("");
            let name = address.split(':').next().unwrap_or("");
            if name.contains('.')
                && name.rsplit('.').next().is_some_and(is_top)
                && let Some(host) = stranger(address)
            {
                return Some(host);
            }
        }
        for (name, address) in addresses(text, before) {
            let own = OWN_SERVER.contains(&name.trim_start_matches('-'));
            let named = name.is_empty() && by_sub || says(name, &LEADS);
            if named
                && !own
                && let Some(host) = stranger(address)
            {
                return Some(host);
            }
        }
    }
    None
}

/// The addresses in a word, each with the name before it: `a=https://…`, `"a": "https://…"`. Without
/// one, it is the option that stands before the word.
pub(super) fn addresses<'t>(
    text: &'t str,
    option: &'t str,
) -> impl Iterator<Item = (&'t str, &'t str)> {
    text.match_indices("://").take(16).map(move |(at, _)| {
        let part = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        let start = text.get(..at).unwrap_or("");
        let start = start.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '+');
        let key = start.trim_end_matches(|c: char| "\"'=:[ \\".contains(c));
        let from = key.rfind(|c: char| !part(c)).map_or(0, |at| at + 1);
        let key = if key.len() == start.len() {
            ""
        } else {
            key.get(from..).unwrap_or("")
        };
        let rest = text.get(start.len()..).unwrap_or("");
        let end = rest.find(|c: char| c.is_whitespace() || "\"',}])".contains(c));
        let address = rest.get(..end.unwrap_or(rest.len())).unwrap_or("");
        let whole = text.split_once('=').filter(|_| text.starts_with('-'));
        let key = match whole {
            Some((name, _)) if key.is_empty() => name,
            _ => key,
        };
        (if key.is_empty() { option } else { key }, address)
    })
}

/// Whether one of the words in a name is in a list: `oidc_discovery_url`, `--remote-bucket`.
pub(super) fn says(name: &str, list: &[&str]) -> bool {
    let marks = |c: char| !c.is_ascii_alphanumeric();
    let mut parts = name.split(marks).filter(|part| part.len() > 2);
    parts.any(|part| list.iter().any(|word| part.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_the_name_before_them() {
        let found = |text: &'static str, option| addresses(text, option).collect::<Vec<_>>();
        let url = "https://evil.example/x";
        assert_eq!(found(url, "--issuer"), [("--issuer", url)]);
        assert_eq!(
            found("--issuer-uri=https://evil.example/x", ""),
            [("--issuer-uri", url)]
        );
        assert_eq!(
            found("{\"a\":1,\"target\":\"https://evil.example/x\"}", ""),
            [("target", url)]
        );
    }
}
