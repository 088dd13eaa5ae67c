//! Refusals and announcements in a sentence, clause by clause.

use super::deed::{Objects, words};
use super::prose::{QUOTED, Sentence};
use super::table::{Act, Acts, Language, Role, Table};
use std::ops::Range;

/// Phrases of one kind that are looked at in one sentence.
const MOST: usize = 8;
/// Words between an opening and its verb.
const BETWEEN: usize = 6;

/// How a refusal begins.
const OPENINGS: &[(Role, Opening)] = &[
    (Role::General, Opening::General),
    (Role::Leave, Opening::Leave),
    (Role::WillBefore, Opening::Before { unwilling: true }),
    (Role::CanBefore, Opening::Before { unwilling: false }),
    (Role::WillAround, Opening::Around { unwilling: true }),
    (Role::CanAround, Opening::Around { unwilling: false }),
];

/// Where the verb of a refusal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// There is none.
    General,
    /// The phrase is the whole clause.
    Leave,
    /// After the phrase.
    Before { unwilling: bool },
    /// Anywhere in the clause.
    Around { unwilling: bool },
}

/// The model says that it will not do something.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) language: Language,
    /// Where it stands: the sentence, and the bytes of it.
    pub(super) sentence: usize,
    pub(super) span: Range<usize>,
    /// Whether it does not want to; otherwise it says that it cannot.
    pub(super) unwilling: bool,
    /// What it refuses.
    pub(super) what: What,
    /// What the clause names.
    pub(super) objects: Objects,
    /// On which condition it would.
    pub(super) condition: Option<Condition>,
    /// Whether it gives a plain cause.
    pub(super) caused: bool,
}

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// What the user wants, whatever it is.
    All,
    /// This.
    Acts(Acts),
    /// Something for which no table has a verb.
    Unlisted,
}

/// On which condition something would be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// A person has to say so.
    Consent,
    /// Anything else.
    Other,
}

/// The model says what it does.
#[derive(Debug)]
pub(super) struct Announcement {
    /// Where it stands: the sentence, and the byte of it.
    pub(super) at: (usize, usize),
    /// What it does, as far as the tables have a verb.
    pub(super) acts: Acts,
    pub(super) objects: Objects,
    /// Whether it only says what is left out of a refusal.
    pub(super) exclusive: bool,
}

/// The refusals in a sentence.
pub(super) fn refusals(
    table: &Table,
    sentence: &Sentence,
    number: usize,
    languages: &[Language],
) -> Vec<Refusal> {
    let mut all: Vec<Refusal> = Vec::new();
    if sentence.asks {
        return all;
    }
    for language in languages.iter().copied() {
        for (role, opening) in OPENINGS {
            let Some(regex) = table.phrase(*role, language) else {
                continue;
            };
            for found in regex.find_iter(&sentence.plain).take(MOST) {
                let inside = |other: &Refusal| other.span.contains(&found.start());
                if all.iter().any(inside) {
                    continue;
                }
                let reader = Clause {
                    table,
                    sentence,
                    language,
                };
                all.extend(reader.refusal(*opening, found.range(), number));
            }
        }
    }
    all
}

/// What the sentence announces, apart from its refusals.
pub(super) fn announcements(
    table: &Table,
    sentence: &Sentence,
    number: usize,
    language: Language,
    refusals: &[Refusal],
) -> Vec<Announcement> {
    let clause = Clause {
        table,
        sentence,
        language,
    };
    let mut all = Vec::new();
    if sentence.asks {
        return all;
    }
    for role in [Role::Announce, Role::Exclusive] {
        let Some(regex) = table.phrase(role, language) else {
            continue;
        };
        for found in regex.find_iter(&sentence.plain).take(2 * MOST) {
            let refuses = |r: &Refusal| r.sentence == number && r.span.contains(&found.start());
            let rest = sentence.plain.get(found.end()..).unwrap_or_default();
            if refusals.iter().any(refuses) || table.has(Role::Talk, language, rest) {
                continue;
            }
            let range = clause.around(found.range());
            let text = sentence.plain.get(range.clone()).unwrap_or_default();
            all.push(Announcement {
                at: (number, found.start()),
                acts: table.acts(language, text).0,
                objects: clause.objects(range),
                exclusive: role == Role::Exclusive,
            });
        }
    }
    all
}

/// One language's reading of a sentence.
struct Clause<'a> {
    table: &'a Table,
    sentence: &'a Sentence,
    language: Language,
}

impl Clause<'_> {
    fn text(&self, range: Range<usize>) -> &str {
        self.sentence.plain.get(range).unwrap_or_default()
    }

    fn has(&self, role: Role, text: &str) -> bool {
        self.table.has(role, self.language, text)
    }

    /// Whether such a phrase begins `text`.
    fn begins(&self, role: Role, text: &str) -> Option<usize> {
        let found = self.table.find(role, self.language, text)?;
        (found.start == 0).then_some(found.end)
    }

    /// The end of the clause in which `from` stands.
    fn end(&self, from: usize) -> usize {
        let all = self.sentence.plain.len();
        let rest = self.text(from..all);
        let cut = self.table.find(Role::Cut, self.language, rest);
        cut.map_or(all, |cut| from + cut.start)
    }

    /// The clause around a phrase.
    fn around(&self, phrase: Range<usize>) -> Range<usize> {
        let before = self.text(0..phrase.start);
        let cuts = self.table.phrase(Role::Cut, self.language);
        let start = cuts.and_then(|cut| cut.find_iter(before).last());
        start.map_or(0, |cut| cut.end())..self.end(phrase.end)
    }

    fn refusal(&self, opening: Opening, phrase: Range<usize>, number: usize) -> Option<Refusal> {
        let (all, before) = (&*self.sentence.plain, self.text(0..phrase.start));
        if self.has(Role::Supposed, before) {
            return None;
        }
        let (span, unwilling) = match opening {
            Opening::Leave => (phrase.clone(), true),
            Opening::General => (phrase.start..self.end(phrase.end), true),
            Opening::Before { unwilling } => (phrase.start..self.end(phrase.end), unwilling),
            Opening::Around { unwilling } => (self.around(phrase.clone()), unwilling),
        };
        let (what, objects) = match opening {
            Opening::General => (What::All, Objects::default()),
            Opening::Leave => {
                let acts = Acts::of(&[Act::Change, Act::Erase]);
                (What::Acts(acts), self.objects(span.clone()))
            }
            Opening::Before { .. } => self.verb_after(phrase.end..span.end, unwilling)?,
            Opening::Around { .. } => self.verb_inside(span.clone(), unwilling)?,
        };
        let rest = self.text(phrase.start..all.len());
        let limited = self.has(Role::Limit, self.text(span.clone()))
            || self.has(Role::Limit, self.text(phrase.end..self.end(span.end + 1)));
        if limited && opening != Opening::General {
            return None;
        }
        let condition = self.table.find(Role::Condition, self.language, all);
        let condition = condition.filter(|_| opening != Opening::Leave).map(|at| {
            let after = self.text(at.start..all.len());
            if self.has(Role::Consent, after) {
                Condition::Consent
            } else {
                Condition::Other
            }
        });
        Some(Refusal {
            language: self.language,
            sentence: number,
            unwilling,
            what,
            objects,
            condition,
            caused: self.has(Role::Cause, rest),
            span,
        })
    }

    /// The verb follows the opening.
    fn verb_after(&self, rest: Range<usize>, unwilling: bool) -> Option<(What, Objects)> {
        let mut at = rest.start;
        for _ in 0..BETWEEN {
            let text = self.text(at..rest.end);
            let gap = text.len() - text.trim_start_matches([' ', ',']).len();
            at += gap;
            let Some(end) = self.begins(Role::Between, self.text(at..rest.end)) else {
                break;
            };
            at += end;
        }
        let head = self.text(at..rest.end);
        if head.trim_matches(|c: char| !c.is_alphanumeric()).is_empty() && !head.contains(QUOTED) {
            return Some((What::All, Objects::default())).filter(|_| unwilling);
        }
        // "I can't help but …" goes on.
        let whole = self.text(at..self.sentence.plain.len());
        let idle = self.begins(Role::Cognition, whole).is_some()
            || (!unwilling && self.begins(Role::Perceive, head).is_some());
        if idle {
            return None;
        }
        let (acts, used) = self.verbs(head);
        let objects = self.objects(at + used..rest.end);
        let specific = acts.without(Acts::of(&[Act::Run]));
        let unnamed =
            objects.concrete.is_empty() && objects.words.is_empty() && objects.things.is_empty();
        let says_little = self.begins(Role::Light, head).is_some()
            || self.begins(Role::Do, head).is_some() && unnamed;
        let what = if says_little && specific.is_empty() {
            What::All
        } else if head.starts_with(QUOTED) {
            What::Acts(Acts::of(&[Act::Run]))
        } else if acts.is_empty() {
            What::Unlisted
        } else {
            What::Acts(acts)
        };
        Some((what, objects))
    }

    /// What the verbs at the start of `head` do, and where they end: the first word and those that
    /// are joined to it, or the next verb after one that says little.
    fn verbs(&self, head: &str) -> (Acts, usize) {
        let says_little =
            self.begins(Role::Light, head).is_some() || self.begins(Role::Do, head).is_some();
        if self.language.is_joined() {
            return (self.table.acts(self.language, head).0, 0);
        }
        let mut acts = Acts::default();
        let mut used = 0;
        let mut expected = true;
        let mut left = if says_little { 8 } else { 0 };
        for (at, word) in spaced(head) {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let joins = matches!(
                bare,
                "or" | "and" | "nor" | "oder" | "und" | "ou" | "et" | "o"
            ) || matches!(bare, "y" | "e" | "или" | "и" | "ni" | "né" | "");
            let act = self.table.acts(self.language, bare).0;
            if expected && !act.is_empty() {
                acts = acts.or(act);
                used = at + word.len();
                left = if act.without(Acts::of(&[Act::Run])).is_empty() {
                    left
                } else {
                    0
                };
                expected = word.ends_with(',');
            } else if joins && used > 0 {
                expected = true;
            } else if left > 0 {
                left -= 1;
                expected = true;
            } else {
                break;
            }
        }
        (acts, used)
    }

    /// The verb stands anywhere in the clause.
    fn verb_inside(&self, clause: Range<usize>, unwilling: bool) -> Option<(What, Objects)> {
        let text = self.text(clause.clone());
        let acts = self.table.acts(self.language, text).0;
        let acts = acts.without(Acts::of(&[Act::Look]));
        let specific = acts.without(Acts::of(&[Act::Run, Act::Reveal]));
        let idle = self.has(Role::Cognition, text)
            || self.has(Role::Report, text)
            || (!unwilling && self.has(Role::Perceive, text));
        if idle && specific.is_empty() || self.has(Role::Report, text) {
            return None;
        }
        let mut objects = self.objects(clause);
        objects.words.retain(|word| {
            self.table.acts(self.language, word).0.is_empty()
                && !self.has(Role::Light, word)
                && !self.has(Role::Do, word)
        });
        let unnamed = objects.concrete.is_empty() && objects.things.is_empty();
        let says_little = self.has(Role::Light, text) || self.has(Role::Do, text) && unnamed;
        let what = if says_little && specific.is_empty() {
            What::All
        } else if acts.is_empty() {
            What::Unlisted
        } else {
            What::Acts(acts)
        };
        Some((what, objects))
    }

    /// What a part of the sentence names.
    fn objects(&self, range: Range<usize>) -> Objects {
        let before = self.text(0..range.start).matches(QUOTED).count();
        let text = self.text(range);
        let quoted = self.sentence.quoted.iter().skip(before);
        let quoted = quoted.take(text.matches(QUOTED).count());
        let mut objects = Objects {
            concrete: quoted.filter(|text| is_code(text)).cloned().collect(),
            things: self.table.things(self.language, text),
            ..Objects::default()
        };
        for (_, word) in spaced(text) {
            let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '/');
            let bare =
                bare.trim_start_matches(|c: char| !c.is_alphanumeric() && !"./~".contains(c));
            if is_path(bare) {
                objects.concrete.push(bare.to_owned());
            } else if !self.language.is_joined() {
                let vague = words(bare).filter(|word| {
                    word.chars().count() > 3 && self.table.is_plain(self.language, word)
                });
                objects.vague.extend(vague.map(str::to_owned));
                let named = words(bare).filter(|word| {
                    word.chars().count() > 2
                        && !self.table.is_plain(self.language, word)
                        && self.table.things(self.language, word).is_empty()
                });
                objects.words.extend(named.map(str::to_owned));
            }
        }
        objects
    }
}

/// Words between spaces, with their positions.
fn spaced(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(' ').filter_map(move |word| {
        let start = at;
        at += word.len() + 1;
        (!word.is_empty()).then_some((start, word))
    })
}

/// Whether a quoted text is more than words.
fn is_code(text: &str) -> bool {
    !text.contains(' ') || text.contains(['/', '.', '-', '=', '_', '$', '|', '(', '*'])
}

/// Whether a word is a path, a file, a host or an identifier.
fn is_path(word: &str) -> bool {
    let inner = word.trim_matches(['.', '/']);
    if inner.len() < 3 || inner.contains("and/or") {
        return false;
    }
    let has_extension = inner.rsplit_once('.').is_some_and(|(stem, extension)| {
        stem.len() > 1
            && (1..=12).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    });
    has_extension
        || inner.contains('_')
        || inner.contains('/') && inner.is_ascii()
        || word.starts_with("~/")
        || word.starts_with('/')
        || word.starts_with('.') && inner.is_ascii()
}
