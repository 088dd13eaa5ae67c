//! Files that say where packages come from: an address in them is where code will come from.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::host::HostClass;
use crate::path::Place;
use crate::tag::Tag;
use crate::value::Value;
use std::collections::HashSet;

/// Hosts of one file that are noted.
const MAX_HOSTS: usize = 16;
/// Keys whose address is a page, not a package.
const PAGES: [&str; 7] = [
    "homepage",
    "repository",
    "bugs",
    "funding",
    "author",
    "documentation",
    "changelog",
];

impl Scene<'_> {
    /// Why nobody should install anything from an address.
    pub(crate) fn doubt(&self, url: &Value) -> Option<Tag> {
        let host = self.know.hosts.host(url);
        if self.know.hosts.is_impostor(&host) {
            return Some(Tag::Impostor);
        }
        let outside = matches!(host.class, HostClass::External | HostClass::Drop);
        (outside && url.text.starts_with("http://")).then_some(Tag::Insecure)
    }

    /// The same for a variable that says where packages come from.
    pub(super) fn doubt_of_variable(&self, name: &str, value: &Value) -> Option<Tag> {
        const PARTS: [&str; 5] = ["INDEX", "REGISTRY", "GOPROXY", "GEM_SOURCE", "MIRROR"];
        if !value.text.contains("://") {
            return None;
        }
        let name = name.to_ascii_uppercase();
        let named = PARTS.iter().any(|part| name.contains(part));
        self.doubt(value).filter(|_| named)
    }

    /// Notes the hosts that a written file takes packages from.
    pub(super) fn takes_packages(&mut self, place: &Place, content: &Value) -> Fueled {
        let name = place.short.rsplit('/').next().unwrap_or("");
        let Some(words) = self.know.files.packages(name) else {
            return Ok(());
        };
        self.fuel.spend_on(content.text.len() * words.len())?;
        let mut hosts = HashSet::new();
        for line in content.text.lines() {
            let line = line.trim();
            let Some((before, after)) = line.split_once("://") else {
                continue;
            };
            let page = PAGES
                .iter()
                .any(|key| before.trim_start_matches('"').starts_with(key));
            let start = format!("{before}://");
            let named = words.iter().any(|word| stands_in(&start, word));
            if line.starts_with(['#', ';', '/']) || page || !named {
                continue;
            }
            let end = after
                .find(['"', '\'', ' ', ',', ')', '}', '#'])
                .unwrap_or(after.len());
            let plain = before.ends_with("http") || before.ends_with("http\\");
            let scheme = if plain { "http" } else { "https" };
            let url = format!("{scheme}://{}", after.get(..end).unwrap_or(""));
            let host = self.know.hosts.host(&Value::known(url.as_str()));
            if !hosts.insert(host.name.clone()) || hosts.len() > MAX_HOSTS {
                continue;
            }
            let tag = if self.know.hosts.is_unheard_of(&host) {
                Tag::OtherIndex
            } else {
                Tag::FromFile
            };
            let mut actor = Actor::new(name, &crate::json::shorten(line, 200));
            actor.tag(self.doubt(&Value::known(url.as_str())));
            let effect = actor.does(Kind::Install).with(host).about(&url);
            self.emit(effect.tagged(Tag::FromUrl).tagged(Tag::Written).tagged(tag))?;
        }
        Ok(())
    }
}

/// Whether `word` stands in `text` by itself: `url`, but not in `curl`.
fn stands_in(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let open = word.starts_with(|c: char| !part(c));
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        open || !before.is_some_and(part)
    })
}
