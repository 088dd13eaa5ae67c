//! Files that say where packages come from: an address in them is where code will come from.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::host::{Host, HostClass};
use crate::knowledge::publishers::owner_at;
use crate::path::Place;
use crate::tag::Tag;
use crate::value::Value;
use std::collections::HashSet;

/// Hosts of one file that are noted.
const MAX_HOSTS: usize = 16;
/// Lines of a list after its first that belong to its name.
const MAX_LIST: usize = 64;
/// Keys whose address is a page, not a package.
const PAGES: [&str; 9] = [
    "homepage",
    "repository",
    "bugs",
    "funding",
    "author",
    "documentation",
    "changelog",
    "issue_tracker",
    "$schema",
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

    /// Notes the hosts that a written file takes packages and images from.
    pub(super) fn takes_packages(&mut self, place: &Place, content: &Value) -> Fueled {
        let mut parts = place.short.rsplit('/');
        let name = parts.next().unwrap_or("");
        let folder = parts.next().unwrap_or("");
        let Some(words) = self.know.files.packages(folder, name) else {
            return Ok(());
        };
        self.fuel.spend_on(content.text.len() * words.len())?;
        let mut hosts = HashSet::new();
        let renames = words.iter().any(|word| word.ends_with("npm:"));
        let mut open = Open::default();
        for line in content.text.lines() {
            let line = line.trim();
            let inside = open.line(line, words);
            if line.starts_with(['#', ';']) || line.starts_with("//") || line.starts_with("<!--") {
                continue;
            }
            if renames && let Some(other) = renamed(line) {
                let actor = Actor::new(name, &crate::json::shorten(line, 200));
                let effect = actor.does(Kind::Install).tagged(Tag::OtherName);
                self.emit(effect.tagged(Tag::Written).about(other))?;
                continue;
            }
            for address in addresses(line, words, inside) {
                let host = self.know.hosts.host(&Value::known(address.as_str()));
                let owner = owner_at(&address).unwrap_or_default();
                if hosts.len() < MAX_HOSTS && hosts.insert((host.name.clone(), owner)) {
                    self.package_host(name, line, &address, host)?;
                }
            }
        }
        Ok(())
    }

    fn package_host(&mut self, name: &str, line: &str, address: &str, host: Host) -> Fueled {
        let tag = if self.know.hosts.is_unheard_of(&host) && !self.was_named(&host.name) {
            Tag::OtherIndex
        } else {
            Tag::FromFile
        };
        let mut actor = Actor::new(name, &crate::json::shorten(line, 200));
        actor.tag(self.doubt(&Value::known(address)));
        actor.tag(self.publisher_at(address));
        let effect = actor.does(Kind::Install).with(host).about(address);
        self.emit(effect.tagged(Tag::FromUrl).tagged(Tag::Written).tagged(tag))
    }

    /// The host that an image comes from, if nobody vouches for it: `cdn.example/tools/lint:1`. Names
    /// without a host are those of the usual registry.
    pub(crate) fn strange_registry(&self, image: &str) -> Option<Host> {
        let host = self
            .know
            .hosts
            .host(&Value::known(registry_of(image)?.as_str()));
        let strange = self.know.hosts.is_unheard_of(&host) && !self.was_named(&host.name);
        strange.then_some(host)
    }
}

/// The package that a line gives the name of another: `"lodash": "npm:@x/lodash@4"`.
fn renamed(line: &str) -> Option<&str> {
    let (name, other) = line.split_once("npm:")?;
    let name = name.strip_suffix(['"', '\'', ' '])?;
    let name = name.trim_matches(['"', '\'', ' ', ':', '{']);
    let name = name
        .rsplit(['"', '\'', '>', '{', ' '])
        .next()
        .unwrap_or(name);
    let is_name = other.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@');
    let is_tag = ["latest", "next", "workspace"]
        .iter()
        .any(|tag| other.starts_with(tag));
    (is_name && !is_tag && is_other_package(name, other)).then_some(other)
}

/// Whether `name` stands for another package: `lodash@npm:@x/lodash`. A name that only says more of the
/// same, as `string-width-cjs` for `string-width`, does not mislead.
pub(crate) fn is_other_package(name: &str, other: &str) -> bool {
    let start = other.trim_start_matches('@');
    let version = start.find('@').unwrap_or(start.len());
    let other = start
        .get(..version)
        .unwrap_or(start)
        .trim_matches(['"', ',', '}', ' ']);
    let name = name.trim_start_matches('@');
    !name.is_empty() && !other.is_empty() && name != other && !name.starts_with(other)
}

/// The host and path of an image whose name begins with that of a registry.
fn registry_of(image: &str) -> Option<String> {
    let image = image.trim_start_matches("docker://");
    let (host, rest) = image.split_once('/')?;
    let named = host.contains('.') && !host.starts_with(['.', '~', '$', '/', '-']);
    (named && !rest.is_empty() && !host.contains(char::is_whitespace))
        .then(|| format!("https://{image}"))
}

/// A list, or an element of a markup, that began on an earlier line under one of the words.
#[derive(Default)]
struct Open {
    end: Option<String>,
    lines: usize,
}

impl Open {
    /// Whether `line` stands in something that one of `words` has opened.
    fn line(&mut self, line: &str, words: &[String]) -> bool {
        if let Some(end) = &self.end {
            self.lines += 1;
            if line.starts_with(end.as_str()) || self.lines > MAX_LIST {
                self.end = None;
            }
            return true;
        }
        let named = words.iter().find(|word| line.contains(word.as_str()));
        let Some(word) = named else {
            return false;
        };
        self.lines = 0;
        self.end = match line.chars().next_back() {
            Some('[') => Some("]".to_owned()),
            Some('(') => Some(")".to_owned()),
            Some('>') if line == word => Some(line.replace('<', "</")),
            _ => None,
        };
        false
    }
}

/// Whether what stands before `://` is plain HTTP, also where the colon is escaped.
fn is_plain(before: &str) -> bool {
    before.trim_end_matches('\\').ends_with("http")
}

/// The addresses from which a line takes packages, as URLs.
fn addresses(line: &str, words: &[String], inside: bool) -> Vec<String> {
    let mut found = Vec::new();
    // Where any key may name a package, `url` is that of a page.
    let any_key = words.iter().all(|word| word.starts_with('"'));
    let mut parts = line.split("://");
    let mut before = parts.next().unwrap_or("");
    for after in parts {
        let end = after.find(['"', '\'', ' ', ',', ')', '}', '#', '<', '>', ']']);
        let (rest, behind) = after
            .split_at_checked(end.unwrap_or(after.len()))
            .unwrap_or((after, ""));
        let start = format!("{before}://");
        let named = inside || words.iter().any(|word| stands_in(&start, word));
        if named && !is_page(before, any_key, words) && found.len() < MAX_HOSTS {
            let scheme = if is_plain(before) { "http" } else { "https" };
            found.push(format!("{scheme}://{rest}"));
        }
        before = behind;
    }
    if !line.contains("://") {
        found.extend(without_scheme(line, words));
    }
    found
}

/// Whether the key before an address says that it is a page: `"homepage": "https`.
fn is_page(before: &str, any_key: bool, words: &[String]) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let scheme = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '+');
    let key = scheme.trim_end_matches(|c: char| !part(c));
    let key = key.rsplit(|c: char| !part(c)).next().unwrap_or("");
    let first = before.trim_start_matches(|c: char| !part(c));
    let mut pages = PAGES
        .iter()
        .filter(|page| !words.iter().any(|word| word == *page));
    pages.any(|page| key == *page || first.starts_with(page)) || any_key && key == "url"
}

/// `replace a/b => host/c v1`, `FROM host/image AS build`: no scheme is written.
fn without_scheme(line: &str, words: &[String]) -> Option<String> {
    let marks = ["=> ", "FROM ", "image: ", "\"image\": "];
    let mark = marks
        .iter()
        .find(|mark| words.iter().any(|word| word == mark.trim()) && line.contains(**mark))?;
    let (_, after) = line.split_once(mark)?;
    let mut parts = after.split_whitespace();
    let first = parts.find(|part| !part.starts_with("--"))?;
    registry_of(first.trim_matches(['"', '\'', ',']))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn addresses_are_found_by_the_words_before_them() {
        let found = |line: &str, names: &[&str]| addresses(line, &words(names), false).pop();
        let wrapper = "distributionUrl=https\\://files.example/gradle.zip";
        let url = found(wrapper, &["distributionUrl"]);
        assert_eq!(url.as_deref(), Some("https://files.example/gradle.zip"));
        let replaced = found("replace a.b/c => files.example/c v1.2.3", &["=>"]);
        assert_eq!(replaced.as_deref(), Some("https://files.example/c"));
        assert_eq!(found("replace a.b/c => ./c", &["=>"]), None);
        assert_eq!(found("FROM node:22-alpine AS build", &["FROM"]), None);
        let image = found(
            "FROM --platform=linux/arm64 files.example/node:22",
            &["FROM"],
        );
        assert_eq!(image.as_deref(), Some("https://files.example/node:22"));
        assert_eq!(found("HOMEPAGE_URL \"https://a.example\"", &["URL"]), None);
        let two =
            "a = { url = \"https://github.com/a\" }, b = { url = \"https://files.example/b\" }";
        assert_eq!(
            found(two, &["url"]).as_deref(),
            Some("https://files.example/b")
        );
        let page = "\"x\": \"https://github.com/a\", \"homepage\": \"https://a.example\"";
        assert_eq!(
            found(page, &["\": \"http"]).as_deref(),
            Some("https://github.com/a")
        );
    }

    #[test]
    fn packages_under_other_names_are_found() {
        let other = renamed("\"lodash\": \"npm:@x/lodash@4\",");
        assert_eq!(other, Some("@x/lodash@4\","));
        assert_eq!(renamed("  lodash: npm:evil"), Some("evil"));
        assert_eq!(renamed("\"lodash\": \"npm:^4.17.21\""), None);
        assert_eq!(renamed("\"lodash\": \"npm:lodash@4\""), None);
        assert_eq!(
            renamed("\"string-width-cjs\": \"npm:string-width@^4\""),
            None
        );
    }

    #[test]
    fn lists_and_elements_go_on_until_they_are_closed() {
        let mut open = Open::default();
        let names = words(&["urls", "<repository>"]);
        let inside: Vec<bool> = [
            "urls = [",
            "\"a\",",
            "],",
            "x",
            "<repository>",
            "<url>",
            "</repository>",
            "<url>",
        ]
        .iter()
        .map(|line| open.line(line, &names))
        .collect();
        assert_eq!(inside, [false, true, true, false, false, true, true, false]);
    }
}
