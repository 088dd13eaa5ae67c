//! Who publishes what a package manager is given: a name, an address, a short form of one.

use super::Run;
use crate::commands::role::Role;
use crate::knowledge::publishers::{Registry, name_of};
use crate::scene::Scene;
use crate::tag::Tag;
use crate::value::Value;

/// Ends of names of files: they are no packages of a registry.
const FILES: [&str; 14] = [
    ".txt", ".toml", ".cfg", ".lock", ".yml", ".yaml", ".json", ".zip", ".gz", ".whl", ".tgz",
    ".gem", ".vsix", ".in",
];
/// Starts of what lies in the project.
const LOCAL: [&str; 9] = [
    ".",
    "/",
    "~",
    "-",
    "file:",
    "link:",
    "portal:",
    "workspace:",
    "catalog:",
];
/// Short forms of addresses.
const SHORT: [&str; 4] = ["github:", "gitlab:", "bitbucket:", "gist:"];

/// What is to be said of the publisher of a package that is installed.
pub(super) fn of(scene: &Scene<'_>, run: Run<'_>, value: &Value) -> Vec<Tag> {
    let parsed = run.parsed;
    let text = value.text.as_str();
    if !value.is_known() || run.actor.is(Tag::Toolchain) {
        return Vec::new();
    }
    if let Some(tags) = by_address(scene, text) {
        return tags;
    }
    if let Some(package) = text.strip_prefix("npm:") {
        return scene.publisher(Registry::Npm, package.trim_start_matches('/'));
    }
    if let Some(package) = text.strip_prefix("jsr:") {
        return scene.publisher(Registry::Jsr, package);
    }
    let Some(registry) = scene.know.publishers.registry_of(&run.actor.program) else {
        return Vec::new();
    };
    let lower = text.to_ascii_lowercase();
    let local = LOCAL.iter().any(|start| lower.starts_with(start))
        || FILES.iter().any(|end| lower.ends_with(end))
        || lower.contains("@workspace:")
        || lower.contains("@file:");
    // What is updated is there; what is built from elsewhere is not the registry's.
    let elsewhere = parsed.is_sub(&["update", "up", "upgrade", "link", "ln"])
        || parsed.given(&["--git", "--path", "--no-index"]);
    if local || elsewhere {
        return Vec::new();
    }
    let first = text.split('/').next().unwrap_or("");
    // Folders, parts of the standard library and of the language have no publisher.
    let no_package = match registry {
        Registry::Pypi => text.contains('/'),
        Registry::Go => !first.contains('.'),
        Registry::Packagist => !text.contains('/'),
        Registry::Extension | Registry::Galaxy => !text.contains('.'),
        Registry::Npm
        | Registry::Gem
        | Registry::Crates
        | Registry::Jsr
        | Registry::Tap
        | Registry::Forge
        | Registry::Image
        | Registry::Chart
        | Registry::Terraform => false,
    };
    match registry {
        _ if no_package => Vec::new(),
        Registry::Npm => npm(scene, run, text),
        Registry::Crates if text.contains('/') || parsed.is_sub(&["generate"]) => {
            owner(scene, Registry::Forge, text)
        }
        Registry::Tap | Registry::Forge => owner(scene, registry, text),
        Registry::Pypi
        | Registry::Gem
        | Registry::Go
        | Registry::Crates
        | Registry::Packagist
        | Registry::Jsr
        | Registry::Extension
        | Registry::Image
        | Registry::Chart
        | Registry::Terraform
        | Registry::Galaxy => scene.publisher(registry, text),
    }
}

/// The same for the package of a program that runs at once: `npx tsc`, `uvx ruff`. An option may name the
/// package, `uvx --from package program`.
pub(super) fn of_program(scene: &Scene<'_>, run: Run<'_>, value: &Value) -> Vec<Tag> {
    let mut options = run.parsed.options.iter();
    let named = options.any(|option| {
        let install = option
            .value
            .as_ref()
            .is_some_and(|(role, _)| *role == Role::Install);
        install && !option.name.starts_with("--with")
    });
    if named {
        return Vec::new();
    }
    let registry = scene.know.publishers.registry_of(&run.actor.program);
    let plain = !value.text.contains([':', '/']) || value.text.starts_with('@');
    if registry == Some(Registry::Npm) && plain && value.is_known() {
        return scene.publisher_of_program(&value.text);
    }
    of(scene, run, value)
}

fn npm(scene: &Scene<'_>, run: Run<'_>, text: &str) -> Vec<Tag> {
    if run.parsed.is_sub(&["create", "init", "innit", "c"]) {
        let Some(name) = name_of(Registry::Npm, text) else {
            return Vec::new();
        };
        let package = match name.split_once('/') {
            Some((scope, rest)) if scope.starts_with('@') => format!("{scope}/create-{rest}"),
            Some((owner, _)) => return scene.publisher(Registry::Forge, owner),
            None if name.starts_with('@') => format!("{name}/create"),
            None => format!("create-{name}"),
        };
        return scene.publisher(Registry::Npm, &package);
    }
    if let Some((_, other)) = text.split_once("@npm:") {
        return scene.publisher(Registry::Npm, other);
    }
    if text.contains('/') && !text.starts_with('@') {
        return owner(scene, Registry::Forge, text);
    }
    scene.publisher(Registry::Npm, text)
}

/// `owner/name`, `owner/tap/formula`. What has no owner is curated.
fn owner(scene: &Scene<'_>, registry: Registry, text: &str) -> Vec<Tag> {
    match text.split_once('/') {
        Some((owner, _)) => scene.publisher(registry, owner),
        None => Vec::new(),
    }
}

/// Addresses and short forms of them.
fn by_address(scene: &Scene<'_>, text: &str) -> Option<Vec<Tag>> {
    if let Some(rest) = SHORT.iter().find_map(|start| text.strip_prefix(start)) {
        return Some(owner(scene, Registry::Forge, rest));
    }
    let url = text.rsplit_once(" @ ").map_or(text, |(_, url)| url);
    let url = match url.split_once("@git+") {
        Some((_, rest)) => rest,
        None => url.strip_prefix("git+").unwrap_or(url),
    };
    let is_address = url.contains("://") || url.starts_with("git@");
    is_address.then(|| scene.publisher_at(url))
}
