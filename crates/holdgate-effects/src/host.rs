//! Which host a text names, and what kind of host that is.

mod wide;

pub(crate) use wide::{everywhere, is_everywhere, spans};

use crate::table::Table;
use crate::text::secret;
use crate::value::{HOLE, Value};
use crate::worded::worded;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

worded! {
    /// What kind of host.
    pub enum HostClass as "host class" {
        Loopback = "loopback": "This machine.",
        Private = "private": "The local network.",
        Metadata = "metadata": "A cloud's metadata service.",
        Installer = "installer": "A well-known installer: a host, or a path on one.",
        Registry = "registry": "A well-known source of packages and code.",
        Drop = "drop": "A site that collects data: paste sites, request catchers, tunnels, \
                        chat webhooks.",
        External = "external": "Any other host.",
        Unknown = "unknown": "The host is not known.",
    }
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name in lower case, or its address.
    pub name: String,
    /// What kind.
    pub class: HostClass,
}

impl Host {
    /// Whether it is `domain`, or a host below it.
    fn is_below(&self, domain: &str) -> bool {
        let above = self.name.strip_suffix(domain);
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    }
}

/// `hosts.yaml`: names, names with a path, and `*.domain`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostTable {
    installer: Vec<Entry>,
    registry: Vec<Entry>,
    metadata: Vec<Entry>,
    drop: Vec<Entry>,
    /// Where archives of programs come from that people unpack and build.
    sources: Vec<Entry>,
    /// Hosts whose names modules of Go begin with.
    modules: Vec<Entry>,
    /// Whose tokens go where: the first word of a variable's name, and the service's hosts.
    services: BTreeMap<String, Vec<Entry>>,
    /// Words in the names of databases, clusters and buckets that tell what they are for.
    pub(crate) targets: Targets,
}

/// `host`, `*.domain` or `host/path`.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
struct Entry {
    /// The host, or the domain without `*.`.
    name: String,
    /// Whether it is a domain: all hosts below it are meant too.
    is_domain: bool,
    /// What the path begins with.
    path: String,
}

impl From<String> for Entry {
    fn from(entry: String) -> Entry {
        let (host, path) = entry.split_once('/').unwrap_or((&entry, ""));
        let domain = host.strip_prefix("*.");
        Entry {
            name: domain.unwrap_or(host).to_owned(),
            is_domain: domain.is_some(),
            path: path.to_owned(),
        }
    }
}

impl Entry {
    fn has(&self, name: &str, path: &str) -> bool {
        let above = name.strip_suffix(self.name.as_str());
        above.is_some_and(|sub| sub.is_empty() || self.is_domain && sub.ends_with('.'))
            && path.trim_start_matches('/').starts_with(&self.path)
    }
}

/// Words that tell what something is for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Targets {
    test: Vec<String>,
    production: Vec<String>,
}

impl Targets {
    /// Whether a name says that people depend on it: `app_production`, `db.prod.example.com`.
    pub(crate) fn is_production(&self, name: &str) -> bool {
        has_word(name, &self.production)
    }

    /// Whether a name says that it is local or made for tests: `app_test`, `kind-dev`, `127.0.0.1`.
    pub(crate) fn is_test(&self, name: &str) -> bool {
        has_word(name, &self.test)
    }
}

/// Whether one of `words` stands in `name`, by itself or between marks.
fn has_word(name: &str, words: &[String]) -> bool {
    let name = name.to_ascii_lowercase();
    let marks = |c: char| !c.is_ascii_alphanumeric();
    name.split(marks)
        .any(|part| words.iter().any(|w| w == part))
        || words
            .iter()
            .any(|w| w.contains('.') && name.contains(w.as_str()))
}

impl HostTable {
    /// Reads the table.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        table.read().map_err(|e| format!("hosts.yaml: {e}"))
    }

    /// The host of a URL, of `user@host:path`, or of a plain name.
    pub fn host(&self, target: &Value) -> Host {
        let text = target.text.trim();
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let authority = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let name = without_port(authority).trim_end_matches('.').to_lowercase();
        if name.is_empty() || name.contains(HOLE) {
            // `$X.s3.amazonaws.com` still names whose machine it is; `$HOST` does not.
            let known_end = name.rsplit(HOLE).next().unwrap_or("");
            if known_end.matches('.').count() < 2 {
                return Host {
                    name,
                    class: HostClass::Unknown,
                };
            }
        }
        if let Some(address) = address(&name) {
            return Host {
                name: address.to_string(),
                class: class_of_address(address),
            };
        }
        let class = if name == "localhost" || name.ends_with(".localhost") {
            HostClass::Loopback
        } else if self.lists(&self.metadata, &name, path) {
            HostClass::Metadata
        } else if self.lists(&self.drop, &name, path) {
            HostClass::Drop
        } else if self.lists(&self.installer, &name, path) {
            HostClass::Installer
        } else if self.lists(&self.registry, &name, path) {
            HostClass::Registry
        } else if is_local_name(&name) {
            HostClass::Private
        } else {
            HostClass::External
        };
        Host { name, class }
    }

    /// Whether nobody vouches for an archive from this host.
    pub fn is_unheard_of(&self, host: &Host) -> bool {
        matches!(host.class, HostClass::External | HostClass::Drop)
            && !self.lists(&self.sources, &host.name, "")
    }

    /// Whether nobody vouches for a module of this host.
    pub(crate) fn is_strange_module(&self, host: &Host) -> bool {
        matches!(host.class, HostClass::External | HostClass::Drop)
            && !self.lists(&self.modules, &host.name, "")
    }

    /// Whether the name of a host goes on after that of a well-known one: `pypi.org.evil.example`.
    pub fn is_impostor(&self, host: &Host) -> bool {
        let mut known = self.registry.iter().chain(&self.installer);
        host.class == HostClass::External
            && known.any(|entry| {
                let entry = entry.name.as_str();
                let labels = |(at, _): (usize, &str)| {
                    let rest = host.name.get(at + entry.len()..).unwrap_or("");
                    let before = host.name.get(..at).unwrap_or("");
                    rest.starts_with('.') && (before.is_empty() || before.ends_with('.'))
                };
                entry.contains('.')
                    && host.name.contains(entry)
                    && host.name.match_indices(entry).any(labels)
            })
    }

    /// Whether a variable such as `$GITHUB_TOKEN` belongs to another service than this host's.
    pub fn is_foreign(&self, variable: &str, host: &Host) -> bool {
        let word = variable.trim_start_matches('$').split('_').next();
        let own = word.and_then(|word| self.services.get(word));
        let elsewhere = matches!(host.class, HostClass::External | HostClass::Drop);
        elsewhere && own.is_some_and(|hosts| !self.lists(hosts, &host.name, ""))
    }

    /// Whether a key belongs to another service than this host's: by how it begins, or by the
    /// first word of its name. Whose it is must be known: a login with one's own key is ordinary.
    pub(crate) fn is_stray(&self, start: &str, name: &str, host: &Host) -> bool {
        let elsewhere = matches!(host.class, HostClass::External | HostClass::Drop);
        let issuers = secret::issuers(start);
        let own = match self.services.get(&name.to_ascii_uppercase()) {
            Some(hosts) if issuers.is_empty() => self.lists(hosts, &host.name, ""),
            None if issuers.is_empty() => return false,
            Some(_) | None => issuers.iter().any(|issuer| host.is_below(issuer)),
        };
        elsewhere && !own
    }

    #[expect(clippy::unused_self, reason = "reads as a question to the table")]
    fn lists(&self, entries: &[Entry], name: &str, path: &str) -> bool {
        entries.iter().any(|entry| entry.has(name, path))
    }
}

fn without_port(authority: &str) -> &str {
    if let Some(inner) = authority.strip_prefix('[') {
        return inner.split_once(']').map_or(inner, |(host, _)| host);
    }
    match authority.split_once(':') {
        // More than one colon without brackets: an IPv6 address.
        Some((_, rest)) if rest.contains(':') => authority,
        Some((host, _)) => host,
        None => authority,
    }
}

/// An address in any of the spellings that `inet_aton` takes: `127.1`, `0x7f000001`, `2130706433`.
fn address(name: &str) -> Option<IpAddr> {
    if let Ok(v6) = name.parse::<Ipv6Addr>() {
        return Some(v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4));
    }
    let parts: Vec<u64> = name.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|n| *n > 255) || *last >= 1 << (8 * (4 - first.len())) {
        return None;
    }
    let high = first
        .iter()
        .enumerate()
        .fold(0, |sum, (i, n)| sum | (n << (8 * (3 - i))));
    let whole = u32::try_from(high | last).ok()?;
    Some(IpAddr::V4(Ipv4Addr::from(whole)))
}

fn number(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    if text.len() > 1 && text.starts_with('0') {
        return u64::from_str_radix(text, 8).ok();
    }
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn class_of_address(address: IpAddr) -> HostClass {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            if v4.is_loopback() || v4.is_unspecified() {
                HostClass::Loopback
            } else if v4.is_link_local() || v4 == Ipv4Addr::new(100, 100, 100, 200) {
                HostClass::Metadata
            } else if v4.is_private() || (a == 100 && (64..128).contains(&b)) {
                HostClass::Private
            } else {
                HostClass::External
            }
        }
        IpAddr::V6(v6) => {
            let first = v6.segments().first().copied().unwrap_or(0);
            if v6.is_loopback() || v6.is_unspecified() {
                HostClass::Loopback
            } else if v6 == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254) {
                HostClass::Metadata
            } else if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80 {
                HostClass::Private
            } else {
                HostClass::External
            }
        }
    }
}

fn is_local_name(name: &str) -> bool {
    let ends = [
        ".local",
        ".lan",
        ".internal",
        ".home",
        ".home.arpa",
        ".svc",
        ".test",
    ];
    !name.contains('.') || ends.iter().any(|end| name.ends_with(end))
}
