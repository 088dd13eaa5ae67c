//! The words at which a marking may stand, all found in one pass.

use super::tables::{Family, LEVELS, Level, PHRASES, Sense};
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Input, MatchKind};
use std::sync::LazyLock;

/// What a word may be the beginning of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A level of a banner.
    Level(Level),
    /// A phrase that is a marking by itself.
    Phrase(Family, Sense),
    /// A portion mark: its opening bracket and level.
    Portion,
    /// A short level and `//`.
    Short,
    /// `SEC=`: an Australian marking of a mail.
    Sec,
    /// A line of a classification authority block or a designation block.
    Label(Label),
    /// A distribution statement.
    Distribution,
    /// A phrase of a distribution statement's text.
    Authorized,
    /// A word of export control.
    Export,
    /// A disguise that [`super::fold`] removes.
    Disguise,
}

/// A line of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    ClassifiedBy,
    DerivedFrom,
    DeclassifyOn,
    Reason,
    ControlledBy,
    CuiCategory,
    Dissemination,
    Contact,
}

const OTHERS: &[(&str, Token)] = &[
    ("(TS)", Token::Portion),
    ("(TS/", Token::Portion),
    ("(TS-", Token::Portion),
    ("(S)", Token::Portion),
    ("(S/", Token::Portion),
    ("(S-", Token::Portion),
    ("(C)", Token::Portion),
    ("(C/", Token::Portion),
    ("(C-", Token::Portion),
    ("(U)", Token::Portion),
    ("(U/", Token::Portion),
    ("(R/", Token::Portion),
    ("(CUI)", Token::Portion),
    ("(CUI/", Token::Portion),
    ("(CTS)", Token::Portion),
    ("(CTS/", Token::Portion),
    ("(CTS-", Token::Portion),
    ("(NS)", Token::Portion),
    ("(NC)", Token::Portion),
    ("(//", Token::Portion),
    ("[TS/", Token::Portion),
    ("[S/", Token::Portion),
    ("[C/", Token::Portion),
    ("[U/", Token::Portion),
    ("CTS//", Token::Short),
    ("TS//", Token::Short),
    ("S//", Token::Short),
    ("C//", Token::Short),
    ("U//", Token::Short),
    ("SEC=", Token::Sec),
    ("DLM=", Token::Sec),
    ("CLASSIFIED BY", Token::Label(Label::ClassifiedBy)),
    (
        "CLASSIFICATION AUTHORITY",
        Token::Label(Label::ClassifiedBy),
    ),
    ("CL BY", Token::Label(Label::ClassifiedBy)),
    ("CLASSIFIED-BY", Token::Label(Label::ClassifiedBy)),
    ("DERIVED FROM", Token::Label(Label::DerivedFrom)),
    ("DERIVED-FROM", Token::Label(Label::DerivedFrom)),
    ("DRV FROM", Token::Label(Label::DerivedFrom)),
    ("DERV FROM", Token::Label(Label::DerivedFrom)),
    ("DERIVATIVE CL BY", Token::Label(Label::ClassifiedBy)),
    ("DECLASSIFY ON", Token::Label(Label::DeclassifyOn)),
    ("DECLASSIFY-ON", Token::Label(Label::DeclassifyOn)),
    ("DECL ON", Token::Label(Label::DeclassifyOn)),
    ("DECL:", Token::Label(Label::DeclassifyOn)),
    ("DOWNGRADE TO", Token::Label(Label::DeclassifyOn)),
    ("CL REASON", Token::Label(Label::Reason)),
    ("REASON: 1.4", Token::Label(Label::Reason)),
    ("REASON: 1.5", Token::Label(Label::Reason)),
    ("REASONS: 1.4", Token::Label(Label::Reason)),
    ("CONTROLLED BY", Token::Label(Label::ControlledBy)),
    ("CUI CATEGOR", Token::Label(Label::CuiCategory)),
    ("CATEGORY OF CUI", Token::Label(Label::CuiCategory)),
    ("LIMITED DISSEMINATION", Token::Label(Label::Dissemination)),
    (
        "DISTRIBUTION/DISSEMINATION",
        Token::Label(Label::Dissemination),
    ),
    ("DISSEMINATION CONTROL", Token::Label(Label::Dissemination)),
    ("POC:", Token::Label(Label::Contact)),
    ("DISTRIBUTION STATEMENT", Token::Distribution),
    ("DIST. STATEMENT", Token::Distribution),
    ("DIST STATEMENT", Token::Distribution),
    ("DISTRIBUTION AUTHORIZED TO", Token::Authorized),
    ("FURTHER DISSEMINATION ONLY AS DIRECTED", Token::Authorized),
    ("ITAR", Token::Export),
    ("USML", Token::Export),
    ("MUNITIONS LIST", Token::Export),
    ("ECCN", Token::Export),
    ("ARMS EXPORT CONTROL", Token::Export),
    ("TRAFFIC IN ARMS", Token::Export),
    ("EXPORT CONTROL", Token::Export),
    ("EXPORT-CONTROL", Token::Export),
    ("EXPORT ADMINISTRATION", Token::Export),
    ("EXPORT IS RESTRICTED", Token::Export),
    ("DEEMED EXPORT", Token::Export),
    ("22 CFR 12", Token::Export),
    ("15 CFR 7", Token::Export),
    ("TECHNICAL DATA", Token::Export),
    ("TECHNICAL INFORMATION", Token::Export),
    ("DUAL-USE", Token::Export),
    ("DUAL USE", Token::Export),
    ("2021/821", Token::Export),
    ("428/2009", Token::Export),
    ("&NBSP;", Token::Disguise),
    ("&#", Token::Disguise),
    ("&SOL;", Token::Disguise),
    ("&ENSP;", Token::Disguise),
];

/// Words that may be written with gaps, by their first letters.
const SPACED: &[&str] = &["SEC", "TOP", "CON", "NOF", "CUI", "RES", "PRO"];
const GAPS: &[&str] = &[" ", "  ", "   ", "\t", ".", "-", "_", "*"];

struct Tokens {
    search: AhoCorasick,
    tokens: Vec<Token>,
}

static TOKENS: LazyLock<Option<Tokens>> = LazyLock::new(Tokens::new);

impl Tokens {
    fn new() -> Option<Tokens> {
        let mut words: Vec<(String, Token)> = Vec::new();
        words.extend(
            LEVELS
                .iter()
                .map(|(word, level)| ((*word).to_owned(), Token::Level(*level))),
        );
        for (word, family, sense) in PHRASES {
            words.push(((*word).to_owned(), Token::Phrase(*family, *sense)));
        }
        words.extend(
            OTHERS
                .iter()
                .map(|(word, token)| ((*word).to_owned(), *token)),
        );
        for word in SPACED {
            for gap in GAPS {
                let letters: Vec<String> = word.chars().map(String::from).collect();
                words.push((letters.join(gap), Token::Disguise));
            }
        }
        let search = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words.iter().map(|(word, _)| word))
            .ok()?;
        let tokens = words.into_iter().map(|(_, token)| token).collect();
        Some(Tokens { search, tokens })
    }
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) token: Token,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Hit {
    /// Whether no block can follow, so that this alone says little.
    pub(super) fn is_alone(self, text: &str) -> bool {
        let rest = text.get(self.end..).unwrap_or_default().trim_start();
        match self.token {
            Token::Level(_) => !rest.starts_with(['/', '-', ',', ':', '(']),
            Token::Portion => text.get(..self.end).is_some_and(|mark| mark.ends_with(')')),
            Token::Label(_) | Token::Disguise => true,
            Token::Phrase(..)
            | Token::Short
            | Token::Sec
            | Token::Distribution
            | Token::Authorized
            | Token::Export => false,
        }
    }
}

/// The first token of `text` at or behind `from` that is written as a marking would be.
pub(super) fn next(text: &str, from: usize) -> Option<Hit> {
    let tokens = TOKENS.as_ref()?;
    let mut from = from;
    loop {
        let input = Input::new(text).range(from.min(text.len())..);
        let found = tokens.search.find(input)?;
        let token = *tokens.tokens.get(found.pattern().as_usize())?;
        let (start, end) = (found.start(), found.end());
        if is_written(text.as_bytes(), token, start, end) {
            return Some(Hit { token, start, end });
        }
        // It may begin inside of another word.
        from = start + 1;
    }
}

/// Drops most words of prose and code, by their case and by what stands before them.
fn is_written(text: &[u8], token: Token, start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    let apart = before.is_none_or(|b| !b.is_ascii_alphanumeric());
    let word = text.get(start..end).unwrap_or_default();
    let lower = |b: &u8| b.is_ascii_lowercase();
    match token {
        Token::Level(_) => {
            let slashed = || {
                let rest = text.get(end..).unwrap_or_default();
                rest.trim_ascii_start().starts_with(b"//")
            };
            apart && (!word.iter().any(lower) || slashed())
        }
        Token::Portion | Token::Short | Token::Sec => apart && !word.iter().any(lower),
        Token::Label(_) | Token::Distribution | Token::Authorized => {
            apart && !word.first().is_some_and(lower)
        }
        Token::Phrase(Family::Tlp, _) | Token::Export => apart,
        Token::Phrase(..) => apart && !word.first().is_some_and(lower),
        Token::Disguise => !word.iter().any(lower) || word.starts_with(b"&"),
    }
}

/// Reads the words now, so that the first text need not wait for it.
#[cfg(test)]
pub(super) fn are_read() -> bool {
    TOKENS.is_some()
}
