//! Whether a package, an image or an action comes from a publisher that many people know, or that the
//! project has taken something from already.

use super::manifests::{self, Named};
use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::knowledge::publishers::{Registry, image_owner, name_of, owner_at};
use crate::path::Place;
use crate::tag::Tag;
use crate::value::Value;

/// Fuel for comparing a name with all that are close to it.
const FUEL_OF_RESEMBLANCE: u64 = 400;
/// Bytes of a manifest or lock file of the project.
const MAX_MANIFEST: usize = 1 << 20;
/// Unknown publishers in one file that are noted.
const MAX_NOTED: usize = 8;

/// Whether a name stands for any other, as documentation has it: `package1`, `gem_name`, `user/package`.
fn is_placeholder(name: &str) -> bool {
    const WORDS: [&str; 18] = [
        "package",
        "packages",
        "dependency",
        "module",
        "crate",
        "gem",
        "template",
        "plugin",
        "name",
        "user",
        "username",
        "owner",
        "repo",
        "repository",
        "github",
        "extension",
        "formula",
        "library",
    ];
    let name = name.trim_start_matches('@');
    let mut parts = name.split(['/', '_', '-']).filter(|part| !part.is_empty());
    let is_word = |part: &str| WORDS.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit()));
    let named = name.contains(['_', '/']) || name.split('-').count() == 1;
    named
        && parts.next().is_some()
        && name
            .split(['/', '_', '-'])
            .all(|p| p.is_empty() || is_word(p))
}

impl Scene<'_> {
    /// What is to be said of a package's publisher: nothing if it is known.
    pub(crate) fn publisher(&self, registry: Registry, package: &str) -> Vec<Tag> {
        match name_of(registry, package) {
            Some(name) => self.doubts(registry, &name),
            None => Vec::new(),
        }
    }

    /// The same for a program of npm, which need not be called as its package is.
    pub(crate) fn publisher_of_program(&self, program: &str) -> Vec<Tag> {
        let Some(name) = name_of(Registry::Npm, program) else {
            return Vec::new();
        };
        let installed = format!("node_modules/.bin/{name}");
        if self.know.publishers.is_known_program(&name) || self.has(&installed) {
            return Vec::new();
        }
        self.doubts(Registry::Npm, &name)
    }

    /// The same for a repository or file at an address.
    pub(crate) fn publisher_at(&self, url: &str) -> Vec<Tag> {
        match owner_at(url) {
            Some(owner) => self.doubts(Registry::Forge, &owner),
            None => Vec::new(),
        }
    }

    /// The same, and also for hosts that are no forges.
    pub(crate) fn doubts_at(&self, url: &str) -> Vec<Tag> {
        let tags = self.publisher_at(url);
        if tags.is_empty() {
            self.strangeness(url)
        } else {
            tags
        }
    }

    fn strangeness(&self, url: &str) -> Vec<Tag> {
        if self.is_strange(url) {
            vec![Tag::FromUrl, Tag::OtherIndex]
        } else {
            Vec::new()
        }
    }

    /// Whether an address is that of a file in a release, at a forge, of somebody whom many people know.
    pub(super) fn is_known_release(&self, url: &str) -> bool {
        url.starts_with("https://")
            && url.contains("/releases/")
            && owner_at(url).is_some_and(|owner| self.know.publishers.is_known_owner(&owner))
    }

    /// The same as [`Scene::publisher_at`] for a list of charts at an address.
    pub(crate) fn publisher_of_charts(&self, url: &str) -> Vec<Tag> {
        match owner_at(url) {
            Some(owner) => self.doubts(Registry::Chart, &owner),
            None => Vec::new(),
        }
    }

    /// The same for an image or a chart among images.
    pub(crate) fn publisher_of_image(&self, image: &str) -> Vec<Tag> {
        if self.built.iter().any(|built| built == image) {
            return Vec::new();
        }
        match image_owner(image) {
            Some((registry, owner)) => self.doubts(registry, &owner),
            None => Vec::new(),
        }
    }

    fn doubts(&self, registry: Registry, name: &str) -> Vec<Tag> {
        let table = &self.know.publishers;
        if table.is_known(registry, name) || is_placeholder(name) || self.is_own(registry, name) {
            return Vec::new();
        }
        if self.fuel.spend(FUEL_OF_RESEMBLANCE).is_err() {
            // The next step ends the reading.
            self.fuel.exhaust();
        }
        let mut tags = vec![Tag::UnknownPublisher];
        if table.resembles_known(registry, name) {
            tags.push(Tag::LookAlike);
        }
        tags
    }

    /// Whether the project names it already: in a manifest, a lock file or as the owner of a remote.
    fn is_own(&self, registry: Registry, name: &str) -> bool {
        let project = self.world.project.as_deref().unwrap_or("");
        let folder = project.rsplit('/').next().unwrap_or("");
        if registry == Registry::Image && name.eq_ignore_ascii_case(folder) {
            return true;
        }
        if manifests::mentions(registry, &self.replaced, name) {
            return true;
        }
        if registry == Registry::Npm && self.has(&format!("node_modules/{name}/package.json")) {
            return true;
        }
        let mut files = self.know.publishers.manifests(registry).iter();
        files.any(|file| {
            let text = self.own_text(file);
            text.is_some_and(|text| manifests::mentions(registry, &text, name))
        })
    }

    /// Whether a file is in this folder, or in that of the project.
    fn has(&self, file: &str) -> bool {
        self.own_text(file).is_some()
    }

    /// The text of a file in this folder or in that of the project, as it was before this call.
    fn own_text(&self, file: &str) -> Option<String> {
        let project = self.world.project.as_deref()?;
        let here = self.folder();
        let folders = [here, project];
        let count = if here == project { 1 } else { 2 };
        let mut paths = folders
            .iter()
            .take(count)
            .filter(|folder| crate::path::is_under(folder, project))
            .map(|folder| format!("{folder}/{file}"));
        let text = paths.find_map(|path| match self.world.pending.files.get(&path) {
            Some(content) => Some(content.text.clone()),
            None => self.world.facts.as_ref()?.content(&path, MAX_MANIFEST),
        })?;
        if self.fuel.spend_on(text.len()).is_err() {
            self.fuel.exhaust();
        }
        Some(text)
    }

    /// Whether code comes from a host that is no forge, and that neither the project's own remote nor the file
    /// named before.
    fn is_strange(&self, url: &str) -> bool {
        let url = url.strip_prefix("git+").unwrap_or(url);
        let host = self.know.hosts.host(&Value::known(url));
        if !host.name.contains('.') || !self.know.hosts.is_unheard_of(&host) {
            return false;
        }
        let pages = [".github.io", ".gitlab.io"];
        let repository = self.repository(None);
        let origin = repository.setting("remote.origin.url").unwrap_or("");
        !origin.contains(&host.name)
            && !self.was_named(&host.name)
            && !pages.iter().any(|end| host.name.ends_with(end))
    }

    /// Whether a host is that of the project's own remote, or what is replaced named it.
    pub(crate) fn is_own_host(&self, name: &str) -> bool {
        let repository = self.repository(None);
        let origin = repository.setting("remote.origin.url").unwrap_or("");
        let domain = name.split_once('.').map_or(name, |(_, rest)| rest);
        // Anybody can have a name below `co.uk`.
        let shared = domain.rsplit('.').nth(1).is_none_or(|part| part.len() < 4)
            && domain.matches('.').count() < 2;
        let domain = if shared { name } else { domain };
        names_host(origin, domain) || self.was_named(name)
    }

    /// Whether what is replaced names a host.
    pub(super) fn was_named(&self, name: &str) -> bool {
        names_host(&self.replaced, name)
    }

    /// Notes the packages, images and actions of unknown publishers that a written file names.
    pub(super) fn takes_publishers(&mut self, place: &Place, content: &Value) -> Fueled {
        let mut parts = place.short.rsplit('/');
        let name = parts.next().unwrap_or("");
        let folder = parts.next().unwrap_or("");
        let Some(reader) = manifests::reader(folder, name) else {
            return Ok(());
        };
        self.fuel.spend_on(4 * content.text.len())?;
        let mut noted: Vec<String> = Vec::new();
        for (named, line) in reader(&content.text) {
            let (tags, text) = match named {
                Named::Package(registry, text) => (self.publisher(registry, text), text),
                Named::Address(url) => (self.publisher_at(url), url),
                Named::Charts(url) => (self.publisher_of_charts(url), url),
                Named::Image(image) => (self.publisher_of_image(image), image),
            };
            let tags = match named {
                Named::Address(url) | Named::Charts(url) if tags.is_empty() => {
                    self.strangeness(url)
                }
                Named::Package(..) | Named::Address(_) | Named::Charts(_) | Named::Image(_) => tags,
            };
            if tags.is_empty() || noted.len() >= MAX_NOTED || noted.iter().any(|n| n == text) {
                continue;
            }
            noted.push(text.to_owned());
            let mut actor = Actor::new(name, &crate::json::shorten(line.trim(), 200));
            actor.tag(tags);
            let effect = actor.does(Kind::Install).tagged(Tag::Written);
            self.emit(effect.about(text))?;
        }
        Ok(())
    }
}
/// Whether a text names a host, or one below it: `me.com` is not named by `acme.com`.
fn names_host(text: &str, name: &str) -> bool {
    let in_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'-';
    !name.is_empty()
        && memchr::memmem::find_iter(text.as_bytes(), name).any(|at| {
            let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
            let after = text.as_bytes().get(at + name.len());
            !before.is_some_and(in_name) && !after.is_some_and(|b| in_name(b) || *b == b'.')
        })
}
