//! `publishers.yaml` and `publishers/names/*.bin`: who publishes what is installed and run. A registry lets everybody
//! publish, so its name says nothing about a package.

mod names;

pub(crate) use names::{image_owner, name_of, owner_at};

use crate::table::Table;
use crate::worded::worded;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

worded! {
    /// Where everybody may publish something.
    pub(crate) enum Registry as "registry" {
        Npm = "npm": "npm, by package and scope.",
        Pypi = "pypi": "The Python Package Index, by project.",
        Gem = "gem": "`RubyGems`, by gem.",
        Go = "go": "Modules of Go, by owner or host.",
        Crates = "crates": "crates.io, by crate.",
        Packagist = "packagist": "Packagist, by vendor.",
        Jsr = "jsr": "JSR, by scope.",
        Extension = "extension": "Extensions of editors, by publisher.",
        Tap = "tap": "Taps of Homebrew, by owner.",
        Forge = "forge": "Hosts of repositories, by owner.",
        Image = "image": "Registries of images, by owner; what has no owner is curated.",
        Chart = "chart": "Charts of Helm, by owner.",
        Terraform = "terraform": "Modules and providers of Terraform, by namespace.",
        Galaxy = "galaxy": "Roles and collections of Ansible, by namespace.",
    }
}

/// `publishers.yaml` as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    programs: BTreeMap<Registry, Vec<String>>,
    manifests: BTreeMap<Registry, Vec<String>>,
    programs_of: HashMap<String, String>,
    names: BTreeMap<Registry, Vec<String>>,
}

/// The publishers that many people use.
#[derive(Default)]
pub struct PublisherTable {
    programs: HashMap<String, Registry>,
    manifests: BTreeMap<Registry, Vec<String>>,
    programs_of: HashMap<String, String>,
    names: BTreeMap<Registry, HashSet<String>>,
}

impl fmt::Debug for PublisherTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublisherTable").finish_non_exhaustive()
    }
}

/// Shorter names are close to some known name by chance.
const MIN_RESEMBLING: usize = 5;
/// Longer names are not compared.
const MAX_RESEMBLING: usize = 40;

impl PublisherTable {
    /// Reads the table.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        let table: Written = table.read().map_err(|e| format!("publishers.yaml: {e}"))?;
        let mut programs = HashMap::default();
        for (registry, names) in table.programs {
            programs.extend(names.into_iter().map(|name| (name, registry)));
        }
        let names = table.names.into_iter();
        Ok(PublisherTable {
            programs,
            manifests: table.manifests,
            programs_of: table.programs_of,
            names: names
                .map(|(registry, names)| (registry, names.into_iter().collect()))
                .collect(),
        })
    }

    /// The registry that a program installs from.
    pub(crate) fn registry_of(&self, program: &str) -> Option<Registry> {
        self.programs.get(program).copied()
    }

    /// The files of a project that name what it has from a registry.
    pub(crate) fn manifests(&self, registry: Registry) -> &[String] {
        self.manifests.get(&registry).map_or(&[], Vec::as_slice)
    }

    /// Whether many people use a package, or what its publisher publishes. The name is in the form of
    /// [`name_of`].
    pub(crate) fn is_known(&self, registry: Registry, name: &str) -> bool {
        match registry {
            Registry::Npm => {
                let scope = name.split_once('/').map(|(scope, _)| scope);
                self.lists(registry, name) || scope.is_some_and(|s| self.lists(registry, s))
            }
            Registry::Go => self.is_known_module(name),
            Registry::Chart => self.lists(registry, name) || self.lists(Registry::Forge, name),
            Registry::Pypi
            | Registry::Gem
            | Registry::Crates
            | Registry::Packagist
            | Registry::Jsr
            | Registry::Extension
            | Registry::Tap
            | Registry::Forge
            | Registry::Terraform
            | Registry::Galaxy
            | Registry::Image => self.lists(registry, name),
        }
    }

    /// Whether an owner at a forge is known.
    pub(crate) fn is_known_owner(&self, owner: &str) -> bool {
        self.lists(Registry::Forge, &owner.to_ascii_lowercase())
    }

    /// Whether a program of npm belongs to a known package: that of its name, one of its own scope, or
    /// another one.
    pub(crate) fn is_known_program(&self, name: &str) -> bool {
        if self.is_known(Registry::Npm, name) {
            return true;
        }
        if let Some(package) = self.programs_of.get(name) {
            return self.is_known(Registry::Npm, package);
        }
        // A name with a scope is that of the package.
        !name.contains('/')
            && [
                format!("@{name}/{name}"),
                format!("@{name}js/{name}"),
                format!("@{name}/cli"),
                format!("{name}-cli"),
            ]
            .iter()
            .any(|package| self.lists(Registry::Npm, package))
    }

    /// Whether the name of an unknown package is close to that of a known one: a letter more, less, wrong
    /// or out of order, or another separator.
    pub(crate) fn resembles_known(&self, registry: Registry, name: &str) -> bool {
        let flat = matches!(
            registry,
            Registry::Npm | Registry::Pypi | Registry::Gem | Registry::Crates
        );
        let length = name.chars().count();
        if !flat || name.starts_with('@') || !(MIN_RESEMBLING..=MAX_RESEMBLING).contains(&length) {
            return false;
        }
        edits_of(name).any(|other| self.lists(registry, &other))
    }

    /// Modules are known by their owner at a forge, or by the host that vouches for them.
    fn is_known_module(&self, path: &str) -> bool {
        let mut parts = path.split('/');
        let host = parts.next().unwrap_or("");
        let owner = parts.next().unwrap_or("");
        if host == "gopkg.in" {
            let module = owner.rsplit_once(".v").map_or(owner, |(name, _)| name);
            return self.lists(Registry::Go, &format!("{host}/{module}"))
                || parts.next().is_some() && self.is_known_owner(owner);
        }
        if names::is_forge(host) {
            return self.lists(Registry::Go, &format!("{host}/{owner}"))
                || self.is_known_owner(owner);
        }
        // Whose host is not known is told by the table of hosts.
        true
    }

    fn lists(&self, registry: Registry, name: &str) -> bool {
        let listed = self.names.get(&registry);
        listed.is_some_and(|names| names.contains(name)) || holds(hashes(registry), name)
    }
}

fn hashes(registry: Registry) -> &'static [u8] {
    match registry {
        Registry::Npm => include_bytes!("publishers/names/npm.bin"),
        Registry::Pypi => include_bytes!("publishers/names/pypi.bin"),
        Registry::Gem => include_bytes!("publishers/names/gem.bin"),
        Registry::Go => include_bytes!("publishers/names/go.bin"),
        Registry::Crates => include_bytes!("publishers/names/crates.bin"),
        Registry::Forge => include_bytes!("publishers/names/forge.bin"),
        Registry::Packagist
        | Registry::Jsr
        | Registry::Extension
        | Registry::Tap
        | Registry::Image
        | Registry::Chart
        | Registry::Terraform
        | Registry::Galaxy => &[],
    }
}

/// Whether the hash of `name` is among sorted hashes of four bytes each.
fn holds(table: &[u8], name: &str) -> bool {
    let wanted = hash(name);
    let (hashes, _) = table.as_chunks::<4>();
    hashes
        .binary_search_by_key(&wanted, |bytes| u32::from_le_bytes(*bytes))
        .is_ok()
}

/// FNV-1a, as tools/publishers.py has it.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// All names that are one edit away.
fn edits_of(name: &str) -> impl Iterator<Item = String> {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    let chars: Vec<char> = name.chars().collect();
    let length = chars.len();
    let text = |parts: &[&[char]]| parts.concat().into_iter().collect::<String>();
    let mut found = vec![name.replace(['-', '_'], "")];
    for at in 0..=length {
        let (before, after) = chars.split_at_checked(at).unwrap_or((&chars, &[]));
        for letter in LETTERS.chars() {
            found.push(text(&[before, &[letter], after]));
        }
        let Some((first, rest)) = after.split_first() else {
            continue;
        };
        found.push(text(&[before, rest]));
        for letter in LETTERS.chars() {
            found.push(text(&[before, &[letter], rest]));
        }
        if let Some((second, rest)) = rest.split_first() {
            found.push(text(&[before, &[*second, *first], rest]));
        }
    }
    let own = name.to_owned();
    found.into_iter().filter(move |other| *other != own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> PublisherTable {
        PublisherTable::read(compiled!("publishers")).unwrap()
    }

    fn known(registry: Registry, text: &str) -> bool {
        let name = name_of(registry, text).unwrap();
        table().is_known(registry, &name)
    }

    #[test]
    fn the_most_used_packages_are_known() {
        assert!(known(Registry::Npm, "react@19"));
        assert!(known(Registry::Npm, "@types/anything-at-all"));
        assert!(known(Registry::Pypi, "Requests==2.32.3"));
        assert!(known(Registry::Gem, "rails"));
        assert!(known(Registry::Go, "github.com/stretchr/testify/require"));
        assert!(known(Registry::Go, "gopkg.in/yaml.v3"));
        assert!(known(Registry::Crates, "serde_json"));
        assert!(!known(Registry::Npm, "react-helper-utils-pro"));
        assert!(!known(Registry::Pypi, "fast-http-requests-async"));
        assert!(!known(Registry::Go, "github.com/nobody-at-all/x"));
    }

    #[test]
    fn programs_are_known_by_their_package() {
        for name in ["tsc", "biome", "eslint", "prisma", "ng", "vitest"] {
            assert!(table().is_known_program(name), "{name}");
        }
        assert!(!table().is_known_program("evil-cli-tool"));
    }

    #[test]
    fn names_that_look_like_known_ones_are_found() {
        let close = |registry, name| table().resembles_known(registry, name);
        assert!(close(Registry::Pypi, "reqeusts"));
        assert!(close(Registry::Npm, "loadsh"));
        assert!(close(Registry::Npm, "expresss"));
        assert!(!close(Registry::Npm, "acme-billing-client"));
    }
}
