//! Conditions that match an effect, in the words of the rule language: what a person can write into a
//! rule after seeing what a call does.

use super::condition::Provenance;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::json::Json;
use holdgate_effects::path::{PathClass, Place};
use holdgate_effects::tag::Tag;
use holdgate_effects::value::HOLE;
use std::fmt;

/// Characters of a text up to which a condition repeats all of it, and those that it repeats of others.
const MAX_WHOLE: usize = 160;
const MAX_START: usize = 60;
/// Tags that have a key of their own, or that rules do not name.
const OTHERWISE: [Tag; 4] = [Tag::Untrusted, Tag::Exposed, Tag::Suspect, Tag::Ordered];

/// A condition on one effect, key by key, as YAML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition(Vec<(&'static str, String)>);

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.0.iter().map(|(key, value)| format!("{key}: {value}"));
        let keys: Vec<String> = keys.collect();
        write!(f, "{{ {} }}", keys.join(", "))
    }
}

impl Condition {
    /// All that a rule can say about the effect.
    pub fn whole(effect: &Effect) -> Condition {
        let mut keys = vec![
            ("effect", effect.kind.word().to_owned()),
            ("program", name(&effect.program)),
        ];
        keys.extend(tags(effect));
        if let Some(path) = &effect.path {
            let classes: Vec<&str> = path.classes.names().collect();
            let within = (!classes.is_empty()).then(|| format!("in: [{}]", classes.join(", ")));
            let glob = path_glob(path).map(|glob| format!("glob: {}", word(&glob)));
            let parts: Vec<String> = within.into_iter().chain(glob).collect();
            if !parts.is_empty() {
                keys.push(("path", format!("{{ {} }}", parts.join(", "))));
            }
        }
        if let Some(host) = &effect.host {
            let class = host.class.word();
            let named = host_name(&host.name).map(|name| format!(", name: {name}"));
            let named = named.unwrap_or_default();
            keys.push(("host", format!("{{ in: {class}{named} }}")));
        }
        keys.extend(refs(effect));
        let origins: Vec<&str> = effect.origins.names().collect();
        if !origins.is_empty() {
            keys.push(("from", format!("[{}]", origins.join(", "))));
        }
        let provenance = Provenance::ALL.into_iter().find(|p| effect.is(p.tag()));
        keys.extend(provenance.map(|p| ("provenance", p.word().to_owned())));
        keys.extend(effect.text.as_deref().map(|t| ("text", quoted(&regex(t)))));
        keys.push(("evidence", quoted(&regex(&effect.evidence))));
        Condition(keys)
    }

    /// What a rule about such calls says: the path or the host that it is about, or else who does what.
    pub fn telling(effect: &Effect) -> Condition {
        let mut keys = vec![("effect", effect.kind.word().to_owned())];
        let glob = effect.path.as_ref().and_then(path_glob);
        let host = effect.host.as_ref().and_then(|h| host_name(&h.name));
        if let Some(glob) = glob {
            keys.push(("path", format!("{{ glob: {} }}", word(&glob))));
        } else if let Some(host) = host {
            keys.push(("host", format!("{{ name: {host} }}")));
        } else {
            keys.push(("program", name(&effect.program)));
            let tags = tags(effect);
            let is_plain = tags.is_none() || effect.kind == Kind::Run;
            keys.extend(tags);
            keys.extend(refs(effect));
            if let Some(text) = effect.text.as_deref().filter(|_| is_plain) {
                let whole = regex(text);
                let text = match whole.strip_suffix('$') {
                    Some(start) => format!("{start}(\\s|$)"),
                    None => whole,
                };
                keys.push(("text", quoted(&text)));
            }
        }
        Condition(keys)
    }

    /// The same as narrow as can be, for a rule that allows it.
    pub fn narrow(effect: &Effect) -> Condition {
        let Condition(mut keys) = Condition::telling(effect);
        let mut add = |key: &'static str, value: String| {
            if !keys.iter().any(|(known, _)| *known == key) {
                keys.push((key, value));
            }
        };
        add("program", name(&effect.program));
        if let Some((key, tags)) = tags(effect) {
            add(key, tags);
        }
        if let Some(text) = effect.text.as_deref() {
            add("text", quoted(&regex(text)));
        }
        Condition(keys)
    }

    /// Whether only rules that deny see such an effect.
    pub fn is_for_deny_only(effect: &Effect) -> bool {
        effect.is(Tag::Suspect) || effect.is(Tag::Ordered)
    }
}

fn tags(effect: &Effect) -> Option<(&'static str, String)> {
    let tags = effect.tags.iter().filter(|tag| !OTHERWISE.contains(tag));
    let tags: Vec<&str> = tags.map(|tag| tag.word()).collect();
    (!tags.is_empty()).then(|| ("is", format!("[{}]", tags.join(", "))))
}

/// The branch and the remote, as far as they are known.
fn refs(effect: &Effect) -> Vec<(&'static str, String)> {
    let Some(refs) = &effect.refs else {
        return Vec::new();
    };
    let known = |name: &&String| !name.contains(HOLE) && !name.is_empty();
    let branches: Vec<String> = refs
        .branches
        .iter()
        .filter(known)
        .map(|b| name(b))
        .collect();
    let branches = match branches.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("[{}]", several.join(", "))),
    };
    let remote = refs.remote.as_ref().filter(known);
    let remote = remote.or(refs.url.as_ref().filter(known));
    let branch = branches.map(|branches| ("branch", branches));
    branch
        .into_iter()
        .chain(remote.map(|remote| ("remote", name(remote))))
        .collect()
}

/// A glob that matches this path and no other: from the project's folder, the home, or the root.
fn path_glob(path: &Place) -> Option<String> {
    if path.text.starts_with(HOLE) || path.is(PathClass::Uri) || path.text.is_empty() {
        return None;
    }
    Some(match path.in_project() {
        Some(inside) => match escaped(inside) {
            glob if glob.starts_with(['~', '[', '*']) => format!("./{glob}"),
            glob => glob,
        },
        None => escaped(&path.short),
    })
}

/// The text as a glob that matches nothing else, except where it is not known.
fn escaped(text: &str) -> String {
    let mut glob = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' => glob.push_str(&format!("[{c}]")),
            HOLE => glob.push('*'),
            c => glob.push(c),
        }
    }
    glob
}

fn host_name(name: &str) -> Option<String> {
    (!name.contains(HOLE) && !name.is_empty()).then(|| word(&escaped(name)))
}

/// A program's name, also if it is not known.
fn name(program: &str) -> String {
    word(&escaped(program))
}

/// A regular expression that matches this text and no other, or others that begin in the same way if it
/// is long.
fn regex(text: &str) -> String {
    let is_whole = text.chars().count() <= MAX_WHOLE;
    let shown = if is_whole { MAX_WHOLE } else { MAX_START };
    let mut regex = String::from("^");
    for c in text.chars().take(shown) {
        match c {
            HOLE => regex.push_str("(?s:.*)"),
            c if r"\.+*?()|[]{}^$#&~".contains(c) => regex.extend(['\\', c]),
            c => regex.push(c),
        }
    }
    if is_whole {
        regex.push('$');
    }
    regex
}

/// A word as YAML: in quotes, if it needs them.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let is_special = ["true", "false", "null"].contains(&text.to_ascii_lowercase().as_str());
    if starts && !is_special && text.chars().all(plain) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// In YAML's single quotes, or in double ones if it has what these cannot hold.
pub fn quoted(text: &str) -> String {
    if text.contains(|c: char| c.is_control()) {
        return Json::from(text.to_owned()).to_string();
    }
    format!("'{}'", text.replace('\'', "''"))
}
