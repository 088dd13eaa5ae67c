//! Refusals and announcements in a sentence, clause by clause.

use super::deed::{Objects, words};
use super::opening::openings;
use super::prose::{QUOTED, Sentence};
use super::table::{Act, Acts, Language, Role, Table};
use std::ops::Range;

/// Phrases of one kind that are looked at in one sentence.
const MOST: usize = 8;
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
    pub(super) form: Form,
}

/// How something is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The model says that it does it.
    Announced,
    /// A refusal leaves it out.
    Spared,
    /// Something is said to do it.
    Described,
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
        let reader = Clause {
            table,
            sentence,
            language,
        };
        let mut found = Vec::new();
        for (role, opening) in OPENINGS {
            let phrases = table.phrase(*role, language).into_iter();
            let phrases = phrases.flat_map(|regex| regex.find_iter(&sentence.plain).take(MOST));
            found.extend(phrases.map(|phrase| (*opening, phrase.range())));
        }
        let composed = openings(table, language, &sentence.plain).into_iter();
        found.extend(composed.map(|(phrase, unwilling)| (Opening::Before { unwilling }, phrase)));
        for (opening, phrase) in found {
            let known = |other: &Refusal| {
                other.what != What::Unlisted && other.span.contains(&phrase.start)
            };
            if !all.iter().any(known) {
                all.extend(reader.refusal(opening, phrase, number));
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
    for (role, form) in [
        (Role::Announce, Form::Announced),
        (Role::Exclusive, Form::Spared),
        (Role::Describe, Form::Described),
    ] {
        let Some(regex) = table.phrase(role, language) else {
            continue;
        };
        for found in regex.find_iter(&sentence.plain).take(2 * MOST) {
            let refuses = |r: &Refusal| r.sentence == number && r.span.contains(&found.start());
            let rest = sentence.plain.get(found.end()..).unwrap_or_default();
            if refusals.iter().any(refuses) || table.has(Role::Talk, language, rest) {
                continue;
            }
            let before = sentence.plain.get(..found.start()).unwrap_or_default();
            if form == Form::Spared && before.ends_with("the ") {
                // "The only copy" spares nothing.
                continue;
            }
            let is_subject = role == Role::Announce
                && found.start() == 0
                && found.as_str().ends_with("ing")
                && table.has(Role::Finite, language, rest);
            if is_subject {
                continue;
            }
            let range = clause.around(found.range());
            let text = sentence.plain.get(range.clone()).unwrap_or_default();
            all.push(Announcement {
                at: (number, found.start()),
                acts: table.acts(language, text),
                objects: clause.objects(range),
                form,
            });
        }
    }
    all
}

/// One language's reading of a sentence.
pub(super) struct Clause<'a> {
    pub(super) table: &'a Table,
    pub(super) sentence: &'a Sentence,
    pub(super) language: Language,
}

impl Clause<'_> {
    pub(super) fn text(&self, range: Range<usize>) -> &str {
        self.sentence.plain.get(range).unwrap_or_default()
    }

    pub(super) fn has(&self, role: Role, text: &str) -> bool {
        self.table.has(role, self.language, text)
    }

    /// Whether such a phrase begins `text`.
    pub(super) fn begins(&self, role: Role, text: &str) -> Option<usize> {
        let found = self.table.find(role, self.language, text)?;
        (found.start == 0).then_some(found.end)
    }

    /// The end of the clause in which `from` stands.
    fn end(&self, from: usize) -> usize {
        let all = self.sentence.plain.len();
        let rest = self.text(from..all);
        let cut = self.table.find(Role::Cut, self.language, rest);
        let spared = self.table.phrase(Role::Exclusive, self.language);
        let mut spared = spared.into_iter().flat_map(|regex| regex.find_iter(rest));
        let is_apart = |start: usize| rest.get(..start).is_some_and(|text| text.ends_with(", "));
        let spared = spared.find(|found| is_apart(found.start()));
        let ends = [cut.map(|cut| cut.start), spared.map(|found| found.start())];
        ends.into_iter()
            .flatten()
            .min()
            .map_or(all, |end| from + end)
    }

    /// The clause around a phrase.
    fn around(&self, phrase: Range<usize>) -> Range<usize> {
        let before = self.text(0..phrase.start);
        let cuts = self.table.phrase(Role::Cut, self.language);
        let start = cuts.and_then(|cut| cut.find_iter(before).last());
        start.map_or(0, |cut| cut.end())..self.end(phrase.end)
    }

    fn refusal(&self, opening: Opening, phrase: Range<usize>, number: usize) -> Option<Refusal> {
        let all = &*self.sentence.plain;
        let cuts = self.table.phrase(Role::Cut, self.language);
        let begun = self.text(0..phrase.end);
        let is_before = |cut: &regex::Match<'_>| cut.start() < phrase.start;
        let cut = cuts.and_then(|cut| cut.find_iter(begun).filter(is_before).last());
        let before = self.text(cut.map_or(0, |cut| cut.start())..phrase.start);
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
            Opening::Before { .. } => {
                let (what, objects) = self.verb_after(phrase.end..span.end, unwilling)?;
                let declines = self.has(Role::Decline, self.text(phrase.clone()));
                // "I decline the part about deleting …": the verb may stand anywhere.
                let acts = self
                    .table
                    .acts(self.language, self.text(phrase.end..span.end));
                match what {
                    What::Unlisted if declines && objects.is_empty() => (What::All, objects),
                    What::Unlisted if declines && !acts.is_empty() => (What::Acts(acts), objects),
                    What::All | What::Acts(_) | What::Unlisted => (what, objects),
                }
            }
            Opening::Around { .. } => self.verb_inside(span.clone(), unwilling)?,
        };
        let rest = self.text(phrase.start..all.len());
        let last = self
            .text(span.clone())
            .trim_end_matches(|c: char| !c.is_alphabetic());
        let in_a_way = self.language == Language::English && last.ends_with("ly");
        let limited = in_a_way
            || self.has(Role::Limit, self.text(span.clone()))
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

    /// What a part of the sentence names.
    pub(super) fn objects(&self, range: Range<usize>) -> Objects {
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
                    word.chars().count() > 2 && !self.table.is_plain(self.language, word)
                });
                objects.words.extend(named.map(str::to_owned));
            }
        }
        objects
    }
}

/// Words between spaces, with their positions.
pub(super) fn spaced(text: &str) -> impl Iterator<Item = (usize, &str)> {
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
