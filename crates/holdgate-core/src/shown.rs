//! What the result of a call has shown: secrets, the names in it, and whether others wrote it.
//!
//! Only hashes are kept. They tell later where a value, a name or a passage was seen before.

mod names;
mod nearby;

pub(crate) use names::{Names, domain, hash};

use crate::prints::{Prints, Winnowing};
use crate::spillage::{self, What};
use crate::taint::{GUESS, Secret};
use crate::verdict::{Finding, LayerName};
use holdgate_effects::effect::{Effect, Kind, allocated};
use holdgate_effects::host::HostClass;
use holdgate_effects::path::{PathClass, Place};
use holdgate_effects::tag::Tag;
use names::{KEYS, host_of, tokens};
use std::borrow::Cow;
use std::hash::BuildHasher as _;

/// Secrets of one result that are kept.
const MAX_SECRETS: usize = 64;
/// Bytes before a secret in its line that are read.
const MAX_BEFORE: usize = 80;
/// Hosts of one text that are kept.
const MAX_HOSTS: usize = 64;
/// A passage of so many letters and digits that two texts share is found.
const PASSAGES: Winnowing = Winnowing {
    gram: 24,
    window: 16,
    most: 512,
};

/// What a result has shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// The secret values in it.
    pub(crate) secrets: Vec<Secret>,
    /// How many more there were, which are not kept.
    pub(crate) lost: usize,
    /// The marking that it carries.
    pub(crate) marking: Option<&'static str>,
    /// Whether somebody else than the user may have written it.
    pub(crate) external: bool,
    /// Whether it says that a file which was there was written anew.
    pub(crate) replaced: bool,
    /// Whether it says that a file which was written is new.
    pub(crate) created: bool,
    /// The hosts that it names beside its secrets.
    hosts: Box<[u32]>,
    /// The names in it.
    names: Names,
    /// The passages of a text that others wrote, or that is marked.
    prints: Prints,
}

/// Whether a tool that writes a whole file says that the file was there before.
fn replaces(texts: &[&str], effects: &[Effect]) -> bool {
    says_of_write(texts, effects, &["been updated", "verwr"])
}

/// Whether a tool that writes a whole file says that the file is new.
fn creates(texts: &[&str], effects: &[Effect]) -> bool {
    says_of_write(texts, effects, &["reated", "new file"])
}

fn says_of_write(texts: &[&str], effects: &[Effect], words: &[&str]) -> bool {
    const SAID: usize = 400;
    let whole = |effect: &Effect| effect.kind == Kind::Write && !effect.is(Tag::Edit);
    let says = |text: &&str| {
        let said = text.get(..SAID).unwrap_or(text);
        words.iter().any(|word| said.contains(word))
    };
    effects.iter().any(whole) && texts.iter().any(says)
}

impl Shown {
    /// What `texts` have shown, the result of a call with these effects.
    pub(crate) fn of(texts: &[&str], effects: &[Effect], external: bool) -> Shown {
        let path = effects.iter().find(|e| e.kind == Kind::Read);
        let path = path.and_then(|e| Some(e.path.as_ref()?.text.as_str()));
        let mut shown = Shown {
            external,
            replaced: replaces(texts, effects),
            created: creates(texts, effects),
            names: Names::of(texts.iter().copied()),
            ..Shown::default()
        };
        let kept = |effect: &Effect| {
            let place = effect.path.as_ref();
            effect.kind == Kind::Read && place.is_some_and(|place| place.is(PathClass::Secret))
                || [Tag::Keychain, Tag::Password, Tag::Key]
                    .iter()
                    .any(|tag| effect.is(*tag))
        };
        let from_store = effects.iter().any(kept);
        for text in texts {
            let plain = without_escapes(text);
            shown.take(&plain, path);
            for value in nearby::values(&plain, from_store) {
                shown.add(Secret::new(value, GUESS, &[]));
            }
        }
        if shown.external || shown.marking.is_some() {
            for text in texts {
                shown.prints = std::mem::take(&mut shown.prints).and(&passages(text));
            }
        }
        shown
    }

    fn take(&mut self, text: &str, path: Option<&str>) {
        for spill in spillage::examine(text, path) {
            match spill.what {
                What::Marking => self.marking = self.marking.or(Some(spill.rule)),
                What::Secret => {
                    self.serve(text, spill.range.start);
                    let value = text.get(spill.range).unwrap_or_default();
                    self.add(Secret::new(value, spill.rule, spill.issuers));
                }
            }
        }
        if !self.secrets.is_empty() {
            let mut hosts = self.hosts.to_vec();
            hosts.extend(tokens(text).filter_map(host_of).map(|h| hash(domain(h))));
            hosts.sort_unstable();
            hosts.dedup();
            hosts.truncate(MAX_HOSTS);
            self.hosts = hosts.into();
        }
    }

    /// Remembers the words before a value, which may name the service that it is for:
    /// `NOTION_TOKEN=…`.
    fn serve(&mut self, text: &str, at: usize) {
        let before = text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let start = line.ceil_char_boundary(line.len().saturating_sub(MAX_BEFORE));
        let words = line.get(start..).unwrap_or_default();
        let words = words.split(|c: char| !c.is_ascii_alphanumeric());
        let words = words.filter(|word| word.len() >= 4).map(hash);
        let mut hosts = self.hosts.to_vec();
        hosts.extend(words);
        self.hosts = hosts.into();
    }

    fn add(&mut self, secret: Option<Secret>) {
        let Some(secret) = secret.filter(|secret| !self.secrets.iter().any(|s| s.is(secret)))
        else {
            return;
        };
        if self.secrets.len() == MAX_SECRETS {
            self.lost += 1;
        } else {
            self.secrets.push(secret);
        }
    }

    /// Whether it says what must not get around.
    pub(crate) fn is_sensitive(&self) -> bool {
        self.sure().next().is_some() || self.lost > 0 || self.marking.is_some()
    }

    /// Whether it may hold what must not get around.
    pub(crate) fn is_suspect(&self) -> bool {
        !self.secrets.is_empty() || self.lost > 0 || self.marking.is_some()
    }

    /// The secrets that are known to be some.
    fn sure(&self) -> impl Iterator<Item = &Secret> {
        self.secrets.iter().filter(|secret| !secret.is_guess())
    }

    /// What a reviewer wants to know about it.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let mut rules: Vec<&str> = self.sure().map(|secret| secret.rule).collect();
        let count = rules.len() + self.lost;
        rules.sort_unstable();
        rules.dedup();
        match (self.marking, count) {
            (Some(marking), _) => {
                let reason = format!("what the tool returned is marked ({marking})");
                Some(Finding::audit(
                    LayerName::Spillage,
                    "marked-text-shown",
                    reason,
                ))
            }
            (None, 0) => None,
            (None, _) => {
                let what = if count == 1 { "a secret" } else { "secrets" };
                let reason = format!("what the tool returned shows {what} ({})", rules.join(", "));
                Some(Finding::audit(LayerName::Spillage, "secret-shown", reason))
            }
        }
    }

    /// Whether it names a host, or one of the same domain, beside its secrets, or the service that the
    /// host is called after before one of them.
    pub(crate) fn names_host(&self, host: &str) -> bool {
        let domain = domain(host);
        let service = domain.split('.').next().unwrap_or_default();
        [domain, service]
            .iter()
            .any(|name| self.hosts.binary_search(&hash(name)).is_ok())
    }

    /// Whether it contains a name.
    pub(crate) fn has_name(&self, name: u32) -> bool {
        self.names.have(name)
    }

    /// How many passages of `text` are in it, of those that are kept.
    pub(crate) fn shares(&self, passages: &Prints) -> usize {
        self.prints.shared(passages)
    }

    /// Bytes of the secrets alone.
    pub(crate) fn secret_bytes(&self) -> usize {
        self.secrets.iter().map(Secret::bytes).sum()
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let hosts = allocated(self.hosts.len() * size_of::<u32>());
        size_of::<Shown>()
            + 16
            + self.secret_bytes()
            + hosts
            + self.names.bytes()
            + self.prints.bytes()
    }

    /// The same without its secrets: it is only known that there were some.
    pub(crate) fn without_secrets(&self) -> Shown {
        let mut shown = self.clone();
        shown.lost += shown.secrets.len();
        shown.secrets = Vec::new();
        shown
    }
}

/// A text without the colours of a terminal.
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(part.len(), |at| at + 1);
        out.push_str(part.get(end..).unwrap_or_default());
    }
    Cow::Owned(out)
}

/// The passages of a text, to compare with those that were shown.
pub(crate) fn passages(text: &str) -> Prints {
    Prints::taken(text, KEYS.hash_one(0), PASSAGES)
}

/// Whether somebody else than the user may have written what a call with these effects returns:
/// a page, an answer of a service, a file outside of the project.
pub(crate) fn is_external(effects: &[Effect], known: bool, local: bool) -> bool {
    let outside = |place: &Place| {
        ![
            PathClass::Project,
            PathClass::Generated,
            PathClass::Temp,
            PathClass::Stream,
        ]
        .iter()
        .any(|class| place.is(*class))
    };
    let asks = [Kind::Fetch, Kind::Send, Kind::Connect, Kind::Remote];
    let reaches = |effect: &Effect| {
        let host = effect.host.as_ref();
        let place = effect.path.as_ref();
        asks.contains(&effect.kind) && host.is_none_or(|host| host.class != HostClass::Loopback)
            || effect.kind == Kind::Read && place.is_some_and(outside)
    };
    // Of a tool that no table knows, nobody knows where its answer comes from.
    let unknown = matches!(effects, [effect] if effect.kind == Kind::Run && effect.is(Tag::Tool) && !effect.is(Tag::Inert));
    !local || !known || unknown || effects.iter().any(reaches)
}
