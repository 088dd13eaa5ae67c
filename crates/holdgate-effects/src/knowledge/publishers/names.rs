//! What a package is looked up by, and whose it is: names, addresses and images as people write them.

use super::Registry;
use crate::value::HOLE;

/// Whether the first part of a path at this host is an owner.
pub(super) fn is_forge(host: &str) -> bool {
    const FORGES: [&str; 11] = [
        "github.com",
        "www.github.com",
        "raw.githubusercontent.com",
        "codeload.github.com",
        "gist.github.com",
        "gitlab.com",
        "bitbucket.org",
        "codeberg.org",
        "gitee.com",
        "git.sr.ht",
        "gitea.com",
    ];
    FORGES.contains(&host)
}

/// The name under which a package is looked up, out of what a program or a manifest is given: without
/// version, extras and label. `None` for what is no name of a package.
pub(crate) fn name_of(registry: Registry, text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['"', '\'']);
    let lower = text.to_ascii_lowercase();
    let name = match registry {
        Registry::Npm => {
            let start = usize::from(lower.starts_with('@'));
            let rest = lower.get(start..)?;
            let end = rest.find('@').unwrap_or(rest.len());
            lower.get(..start + end)?.to_owned()
        }
        Registry::Pypi => {
            let end = lower.find([
                '[', '=', '<', '>', '!', '~', ';', '@', ' ', '(', ',', '^', '*', '\\',
            ]);
            let name = lower.get(..end.unwrap_or(lower.len()))?;
            let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
            parts.collect::<Vec<_>>().join("-")
        }
        Registry::Gem => lower.split([':', ' ', ',']).next()?.to_owned(),
        Registry::Crates => lower.split(['@', ' ']).next()?.replace('_', "-"),
        Registry::Go => lower.split('@').next()?.trim_end_matches("/...").to_owned(),
        Registry::Packagist => lower.split('/').next()?.to_owned(),
        Registry::Jsr => {
            let scope = lower.trim_start_matches('/').strip_prefix('@')?;
            scope.split('/').next()?.to_owned()
        }
        Registry::Extension | Registry::Galaxy => lower.split('.').next()?.to_owned(),
        Registry::Tap
        | Registry::Forge
        | Registry::Image
        | Registry::Chart
        | Registry::Terraform => lower,
    };
    let part = |c: char| c.is_ascii_alphanumeric() || "@/-_.~+".contains(c);
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@');
    (starts && name.chars().all(part) && !name.contains(HOLE)).then_some(name)
}

/// The owner of what lies at an address: `https://github.com/owner/name`, `git@gitlab.com:owner/name`,
/// `https://owner.github.io/charts`. `None` where addresses have no owners.
pub(crate) fn owner_at(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', ':']).unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(end)?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.to_ascii_lowercase();
    for pages in [".github.io", ".gitlab.io"] {
        if let Some(owner) = host.strip_suffix(pages)
            && host != "charts.gitlab.io"
        {
            return Some(owner.to_owned());
        }
    }
    let mut parts = path.split(['/', ':']).filter(|part| !part.is_empty());
    // `ssh://git@github.com:22/owner`
    let is_port = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let owner = parts.next()?;
    let owner = if is_port(owner) && path.starts_with(':') {
        parts.next()?
    } else {
        owner
    };
    let owner = owner.split(['?', '#', '@']).next()?;
    (is_forge(&host) && !owner.is_empty() && !owner.contains(HOLE))
        .then(|| owner.to_ascii_lowercase())
}

/// The publisher of an image: its owner at the usual registry, or `host/owner` at another one where
/// everybody may publish. `None` for what is curated, local, or private.
pub(crate) fn image_owner(image: &str) -> Option<(Registry, String)> {
    let image = image.trim().trim_matches(['"', '\'']);
    let image = image.split_once("://").map_or(image, |(_, rest)| rest);
    let image = image.to_ascii_lowercase();
    if image.contains(HOLE) || image.contains(['$', '{', '<', '%']) {
        return None;
    }
    let (first, rest) = image.split_once('/')?;
    let is_host = first.contains(['.', ':']) || first == "localhost";
    let owner_of = |path: &str| path.split_once('/').map(|(owner, _)| owner.to_owned());
    if !is_host {
        return Some((Registry::Image, first.to_owned()));
    }
    match first {
        "docker.io" | "index.docker.io" | "registry-1.docker.io" | "registry.hub.docker.com" => {
            let owner = owner_of(rest)?;
            Some((Registry::Image, owner))
        }
        "ghcr.io" | "registry.gitlab.com" | "docker.pkg.github.com" => {
            let owner = owner_of(rest)?;
            Some((Registry::Forge, owner))
        }
        "quay.io" | "gcr.io" | "public.ecr.aws" => {
            let owner = owner_of(rest)?;
            Some((Registry::Image, format!("{first}/{owner}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_their_registry_does() {
        let name = |registry, text| name_of(registry, text).unwrap_or_default();
        assert_eq!(name(Registry::Npm, "@Babel/core@^7"), "@babel/core");
        assert_eq!(name(Registry::Npm, "left-pad@1.3.0"), "left-pad");
        assert_eq!(
            name(Registry::Pypi, "Zope.Interface[test]>=5"),
            "zope-interface"
        );
        assert_eq!(name(Registry::Pypi, "ruamel_yaml ~= 0.18"), "ruamel-yaml");
        assert_eq!(
            name(Registry::Go, "github.com/a/b/cmd/...@latest"),
            "github.com/a/b/cmd"
        );
        assert_eq!(name(Registry::Crates, "serde_json@1"), "serde-json");
        assert_eq!(name(Registry::Gem, "rails:7.1"), "rails");
        assert_eq!(name(Registry::Packagist, "Monolog/Monolog:^3"), "monolog");
        assert_eq!(name_of(Registry::Npm, "./packages/a"), None);
        assert_eq!(name_of(Registry::Npm, "*"), None);
    }

    #[test]
    fn owners_are_found_in_addresses() {
        let owner = |url| owner_at(url).unwrap_or_default();
        assert_eq!(owner("https://github.com/Evil/repo.git"), "evil");
        assert_eq!(owner("git@github.com:psf/requests.git"), "psf");
        assert_eq!(owner("ssh://git@github.com:22/psf/requests"), "psf");
        assert_eq!(owner("https://acme.github.io/charts"), "acme");
        assert_eq!(owner("https://files.example/a/b"), "");
    }

    #[test]
    fn images_have_owners_where_everybody_may_publish() {
        let owner = |image| {
            image_owner(image)
                .map(|(_, owner)| owner)
                .unwrap_or_default()
        };
        assert_eq!(owner("node:22"), "");
        assert_eq!(owner("evil/miner:1"), "evil");
        assert_eq!(owner("ghcr.io/evil/x"), "evil");
        assert_eq!(owner("quay.io/evil/x"), "quay.io/evil");
        assert_eq!(owner("docker.io/library/node"), "library");
        assert_eq!(owner("mcr.microsoft.com/a/b"), "");
        assert_eq!(owner("localhost:5000/a/b"), "");
    }
}
