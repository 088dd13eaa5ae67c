//! Where an order could stand at all: the fast look at a text, before its words are searched.
//!
//! Every combination needs one of a few classes (`ANCHORS`), and each of these a word of a group that
//! is rare in ordinary text. The words of a text are looked up one by one (`words`), and their
//! groups noted by block. Around a word of an anchor, the blocks tell which classes may be there (`needs`):
//! only where they make a combination, the text is searched.

mod needs;
mod parts;
mod words;

use super::blocks::{BLOCK, Bitmap};
use super::lexicon::{Bits, Combination, Lexicon, Signal};
use super::terms::{Term, begins_with_capital, may_be_disguised, stands_alone};
use aho_corasick::{AhoCorasick, MatchKind};
use needs::{Near, Needs};
use parts::{foreign_lines, whole_lines};
use std::collections::BTreeMap;
use std::ops::Range;
use words::Index;

/// For each class that an order needs, the group in its signals whose words are looked for.
pub(super) const ANCHORS: &[(&str, &[&str])] = &[
    ("override", &["ignore", "task"]),
    ("lapse", &["ignore"]),
    ("lapsed", &["lifted"]),
    ("anew", &["anew", "role"]),
    ("conceal", &["conceal", "denial"]),
    ("quiet", &["quiet"]),
    ("address", &["call", "agent"]),
    ("told", &["agent"]),
    ("does", &["agent"]),
    ("authority", &["authority"]),
    ("frame", &["frame"]),
    ("theft", &["vital"]),
    ("probe", &["self"]),
    ("chat", &["chat"]),
    ("talk", &["talk"]),
    ("abuse", &["abuse"]),
    ("plant", &["planted"]),
    ("graft", &["planted"]),
    ("encoded", &["disguised"]),
    ("norefuse", &["apology", "norefuse"]),
    ("verdict", &["verdict"]),
    ("press", &["press"]),
    ("free", &["free", "loose"]),
    ("spread", &["spread"]),
    ("heed", &["heed"]),
    ("known", &["known"]),
    ("licence", &["licence"]),
    ("riddle", &["obey"]),
    ("forged", &["template"]),
    ("turn", &["turn"]),
];
/// Bytes before a word of an order in which the rest of it may stand, and a sentence before.
const BEFORE: usize = 1500;
/// Bytes after it.
const AFTER: usize = 1100;
/// The same of an order that lasts for many sentences.
const LASTING: usize = 4600;
/// Bytes of a passage before and after one of its words: three sentences, and the words of a class.
const PASSAGE: usize = 640;
/// The same of an order that lasts for many sentences.
const LONG_PASSAGE: usize = 2600;

/// One signal of an anchor's class.
#[derive(Clone, Copy, Debug)]
struct Partner {
    group: Bits,
    all: Bits,
    within: usize,
}

/// A word of an anchor in a text.
#[derive(Debug)]
struct Anchor {
    range: Range<usize>,
    groups: Bits,
}

/// Words that the index cannot find.
#[derive(Debug)]
struct Others {
    search: AhoCorasick,
    terms: Vec<Term>,
}

/// The words to look for.
#[derive(Debug)]
pub(super) struct Anchors {
    index: Index,
    needs: Needs,
    partners: Vec<Partner>,
    /// Groups of all anchors.
    groups: Bits,
    /// Groups with words that are not looked for.
    anywhere: Bits,
    /// Words without letters that stand together.
    odd: Others,
    disguises: Others,
    disguised: Bits,
    lasting: Bits,
    agent: Bits,
    orders: Bits,
    vocative: Bits,
}

/// What the fast look has found.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// Parts of the text, of whole lines, outside of which no order stands.
    pub(super) parts: Vec<Range<usize>>,
    /// Whether there are turned words that belong together.
    pub(super) turned: bool,
}

/// What the words are made of.
pub(super) struct Material<'a> {
    pub(super) words: &'a BTreeMap<String, Term>,
    pub(super) disguises: &'a BTreeMap<String, Term>,
    pub(super) signals: &'a [Signal],
    pub(super) combinations: &'a [Combination],
    /// Group, all groups and distance of the signals of the classes above.
    pub(super) anchoring: Vec<(Bits, Bits, usize)>,
    pub(super) disguised: Bits,
    pub(super) lasting: Bits,
    pub(super) agent: Bits,
    pub(super) orders: Bits,
    pub(super) vocative: Bits,
}

impl Anchors {
    pub(super) fn new(material: &Material<'_>) -> Result<Anchors, String> {
        let needs = Needs::new(material.signals, material.combinations);
        let partners = material.anchoring.iter();
        let partners = partners.map(|&(group, all, within)| Partner { group, all, within });
        let partners: Vec<Partner> = partners.collect();
        let anchors = partners.iter().fold(0, |set, partner| set | partner.group);
        let needed = needs.groups() | material.agent | material.orders;
        let mut index = Index::new();
        let mut anywhere = 0;
        let mut odd = BTreeMap::new();
        let ascii = |words: &'_ BTreeMap<String, Term>| {
            let words = words.iter().filter(|(text, _)| text.is_ascii());
            words
                .map(|(text, term)| (text.clone(), *term))
                .collect::<Vec<_>>()
        };
        for (text, mut term) in ascii(material.words) {
            let is_turned = term.turned.is_some() && term.groups == 0;
            term.groups &= needed;
            if !is_turned && term.groups == 0 {
                continue;
            }
            let verb = term.english && term.groups & material.orders != 0;
            if index.add(&text, term, !term.apart && !verb) {
                continue;
            }
            if term.groups & anchors == 0 {
                anywhere |= term.groups;
            } else {
                odd.extend(spellings(&text).map(|text| (text, term)));
            }
        }
        Ok(Anchors {
            index,
            needs,
            partners,
            groups: anchors,
            anywhere,
            odd: Others::new(odd.into_iter().collect(), MatchKind::LeftmostFirst)?,
            disguises: Others::new(ascii(material.disguises), MatchKind::Standard)?,
            disguised: material.disguised,
            lasting: material.lasting,
            agent: material.agent,
            orders: material.orders,
            vocative: material.vocative,
        })
    }

    /// Where in `text` an order may stand.
    pub(super) fn outline(&self, lexicon: &Lexicon, text: &str) -> Outline {
        let mut parts = Vec::new();
        if !text.is_ascii() {
            foreign_lines(text, &mut parts);
        }
        let letters = Bitmap::letters(text.as_bytes());
        let mut near = Near::new(text.len(), self.anywhere, !parts.is_empty());
        for part in &parts {
            let foreign = part.end.saturating_sub(AFTER + BLOCK)..part.end;
            foreign
                .step_by(BLOCK)
                .for_each(|at| near.add(at, Bits::MAX));
        }
        let mut turned = [0, 0];
        let mut anchors: Vec<Anchor> = Vec::new();
        let mut orders = Vec::new();
        let mut note = |range: Range<usize>, mut groups: Bits, term: Option<&Term>| {
            if term.is_some_and(|term| term.name) && !begins_with_capital(text, &range) {
                return;
            }
            if groups & self.orders != 0 {
                if term.is_some_and(|term| term.english) && !lexicon.is_order(text, &range) {
                    groups &= !self.orders;
                } else {
                    orders.push(range.start);
                }
            }
            near.add(range.start, groups);
            if groups & self.groups != 0 {
                anchors.push(Anchor { range, groups });
            }
        };
        self.index
            .find(text, &letters, &mut turned, |range, groups, term| {
                note(range, groups, term);
            });
        self.odd
            .some(text, |range, term| note(range, term.groups, Some(term)));
        if letters.may_be_disguised(text.as_bytes()) && may_be_disguised(text) {
            self.disguises.all(text, |range, term| {
                note(range.clone(), term.groups | self.disguised, None);
            });
        }
        anchors.sort_unstable_by_key(|anchor| anchor.range.start);
        orders.sort_unstable();
        for anchor in &anchors {
            if self.counts(text, (&near, &orders), anchor) {
                let lasts = anchor.groups & self.lasting != 0;
                let (before, after) = if lasts {
                    (LASTING, LASTING)
                } else {
                    (BEFORE, AFTER)
                };
                parts.push(anchor.range.start.saturating_sub(before)..anchor.range.end + after);
            }
        }
        Outline {
            parts: whole_lines(text, parts),
            turned: turned.iter().any(|count| *count >= 2),
        }
    }

    /// Whether the words around an anchor may make an order.
    fn counts(&self, text: &str, (near, orders): (&Near, &[usize]), anchor: &Anchor) -> bool {
        let block = anchor.range.start / BLOCK;
        let called = anchor.groups & self.agent != 0 && called(text, orders, &anchor.range);
        let mut open = self.partners.iter();
        if !called
            && !open.any(|partner| {
                anchor.groups & partner.group != 0
                    && near.around(block, partner.all, partner.within)
            })
        {
            return false;
        }
        let lasts = anchor.groups & self.lasting != 0;
        let reach = if lasts { LONG_PASSAGE } else { PASSAGE };
        let from = anchor.range.start.saturating_sub(reach) / BLOCK;
        let to = (anchor.range.end + reach) / BLOCK;
        let context = if called { self.vocative } else { 0 };
        self.needs.met(near, from..=to, context, !lasts)
    }
}

/// Whether the agent is called by the name at `range`, and one of `orders` follows. More is left out
/// between them when all words are known.
fn called(text: &str, orders: &[usize], range: &Range<usize>) -> bool {
    let is_order = |rest: &str| {
        let at = text.len() - rest.len();
        rest.starts_with(|c: char| !c.is_ascii()) || orders.binary_search(&at).is_ok()
    };
    let after = text.get(range.end..).unwrap_or_default();
    let after = after.trim_start_matches(')').trim_start();
    let marked = after.strip_prefix([',', '!', ':', '-']);
    [Some(after), marked].into_iter().flatten().any(|rest| {
        let rest = rest.trim_start();
        let asked = rest.trim_start_matches("please").trim_start();
        is_order(rest) || is_order(asked)
    })
}

impl Others {
    /// With `LeftmostFirst`, words are looked for as they are written, which is faster, and only those
    /// that do not overlap.
    fn new(words: Vec<(String, Term)>, kind: MatchKind) -> Result<Others, String> {
        let (texts, terms): (Vec<_>, Vec<_>) = words.into_iter().unzip();
        let search = AhoCorasick::builder()
            .match_kind(kind)
            .ascii_case_insensitive(kind == MatchKind::Standard)
            .build(texts)
            .map_err(|e| e.to_string())?;
        Ok(Others { search, terms })
    }

    fn all(&self, text: &str, mut each: impl FnMut(Range<usize>, &Term)) {
        for found in self.search.find_overlapping_iter(text) {
            if let Some(term) = self.terms.get(found.pattern().as_usize())
                && stands_alone(text, &found.range(), *term)
            {
                each(found.range(), term);
            }
        }
    }

    /// Of those that overlap, only the first, also if it does not stand alone.
    fn some(&self, text: &str, mut each: impl FnMut(Range<usize>, &Term)) {
        for found in self.search.find_iter(text) {
            if let Some(term) = self.terms.get(found.pattern().as_usize()) {
                each(found.range(), term);
            }
        }
    }
}

/// A word with small and with capital letters in every way.
fn spellings(word: &str) -> impl Iterator<Item = String> {
    let mut all = vec![String::new()];
    for c in word.chars() {
        let both = [c.to_ascii_lowercase(), c.to_ascii_uppercase()];
        let forms = if c.is_ascii_alphabetic() { 2 } else { 1 };
        let longer = all.iter().flat_map(|start| {
            let forms = both.iter().take(forms);
            forms.map(|c| format!("{start}{c}")).collect::<Vec<_>>()
        });
        all = longer.collect();
    }
    all.into_iter()
}
