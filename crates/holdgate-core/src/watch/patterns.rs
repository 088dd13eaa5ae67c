//! Patterns, ready to match, and the fast search over raw bytes that most output never gets past.

use super::command::SeenCommand;
use super::listing::Listing;
use super::shape::Shapes;
use super::spec::{self, Adjustment, Example};
use super::typed::Typed;
use super::{Severity, Weight};
use crate::rules::{LazyRegex, Mark, RuleError, RuleErrors, Source};
use holdgate_effects::worded::suggestion;
use regex::bytes;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

macro_rules! files {
    ($($name:literal)*) => {
        /// All files that are built in.
        pub(super) const FILES: &[PatternFile<'static>] = &[$(PatternFile {
            name: concat!("rules/watch/", $name),
            text: include_str!(concat!("../../../../rules/watch/", $name)),
        },)*];
    };
}

files! {
    "prompt-injection.yaml"
    "dangerous-command.yaml"
    "credential-access.yaml"
    "sandbox-escape.yaml"
    "guard-tampering.yaml"
    "harm-in-progress.yaml"
    "languages.yaml"
}

/// Raw bytes that make a line worth reading, besides the patterns' own words. Everything else is
/// ASCII or harmless letters, and shows what it is.
const REMARKABLE: &[&str] = &[
    // What a terminal acts on, and what erases.
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]",
    r"\r[^\n]",
    r"\xc2[\x80-\x9f\xad]",
    // Letters that look like others, and characters that show nothing.
    r"[\xc6-\xdf]|\xc4\xb1|\xe1",
    r"\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf]|[\x84\x85\x92\x93])",
    r"\xea[\x93\x9c-\x9f\xad\xae]|\xef[\xb8-\xbf]",
    r"\xf0[\x90-\x9e]|\xf3\xa0",
    // JSON escapes, and members of a call.
    r"\\u[0-9A-Fa-f]{4}",
    r#""(?:command|cmd|input|arguments|parameters|args|delta)""#,
    // A prompt, a trace, a call on the screen.
    r"(?m:^\$ |^\++ |^[^\n ]*[$#%>] |^(?:PS )?[A-Z]:\\|^/ # |^\[[0-9:.T Z-]+\] \$)| \$ |\]> |@[^\n]*[#%>$] ",
    r"\xe2(?:\x8f\xba|\x97\x8f|\x80\xa2|\x9d\xaf|\x9e\x9c|\x8e\xbf|\x94[\x82\x83\x94\x95]|\x95\x91)",
    r"(?m:^[ \t>|*]{0,8}(?:\[[^\n]*\] ?|[0-9][0-9T:.,Z+-]+ +)?(?:(?:INFO|DEBUG|TRACE|NOTICE|WARN) *:? +)?(?:Running|Executing|Ran|Exec|Invoking|Command|exec|Shell|Bash|shell|bash|cmd|Run|Execute|execute|Terminal|run_|exec_|[Ss]pawn|[Ss]pawning|[Ll]aunching|running|executing)\b)",
    r"(?m:^[ \t>|*]{0,8}(?:run_|exec_|execute_))",
    r"(?i:(?:i'll|i will|going to|let me|let's|about to) [^\n]*(?:run|execute|try|use)[ :])",
    r"\xe2(?:\x9c[\x93-\x97]|\x8a\xb7) {1,4}(?:Shell|Bash|run_)|(?m:^\? {1,4}Shell )",
    // Where listings begin and end.
    r"(?m:^[ \t>]*(?:```|~~~))",
    r"(?m:^@@ -)",
];

/// A file of patterns.
#[derive(Clone, Copy, Debug)]
pub struct PatternFile<'a> {
    /// Its name, for errors.
    pub name: &'a str,
    /// What is in it.
    pub text: &'a str,
}

/// One pattern.
#[derive(Debug)]
pub struct Pattern {
    /// Its name.
    pub id: Arc<str>,
    /// What it belongs to.
    pub family: Arc<str>,
    /// How bad it is.
    pub severity: Severity,
    /// Whether nobody needs to be asked.
    pub certain: bool,
    /// Why, as a phrase.
    pub because: Arc<str>,
    /// What it is tried on.
    pub examples: Vec<Example>,
    pub(super) looks: Looks,
    /// Known false positives.
    pub(super) known_safe: Vec<LazyRegex>,
    pub(super) at: Mark,
    pub(super) source: Arc<Source>,
}

/// What a pattern looks for.
#[derive(Debug)]
pub(super) enum Looks {
    /// Any text.
    Text {
        regex: LazyRegex,
        /// Every match contains one of them.
        words: Vec<String>,
    },
    /// A command that is about to run.
    Command(LazyRegex),
    /// A command that the gate's rules deny.
    Denied,
    /// A command that these rules deny or ask about; with an expression, one that matches it.
    Judged {
        rules: Vec<String>,
        regex: Option<LazyRegex>,
    },
}

/// All patterns.
#[derive(Debug)]
pub struct Patterns {
    pub(super) list: Vec<Pattern>,
    /// Matches in the raw bytes of every line that could contain a match.
    remarkable: bytes::Regex,
    /// Where in the list those for text are.
    for_text: Vec<usize>,
    /// Built when the first such line comes: an agent must not wait for it to start.
    close: OnceLock<Result<Close, String>>,
}

/// What looks closely at a remarkable line.
#[derive(Debug)]
struct Close {
    /// The words of all patterns for text.
    words: bytes::Regex,
    /// Which of these patterns may find something; one expression for each.
    of_each: bytes::RegexSet,
    shapes: Shapes,
}

impl Close {
    fn new(list: &[Pattern]) -> Result<Close, String> {
        let of_each: Vec<String> = list
            .iter()
            .filter_map(own_words)
            .map(|w| any_of(&w))
            .collect();
        let of_each = bytes::RegexSetBuilder::new(&of_each)
            .unicode(false)
            .size_limit(8 << 20)
            .dfa_size_limit(16 << 20)
            .build();
        Ok(Close {
            words: compile(&any_word(list))?,
            of_each: of_each.map_err(|e| e.to_string())?,
            shapes: Shapes::new()?,
        })
    }
}

impl Patterns {
    /// The patterns that are built in.
    pub fn built_in() -> Result<Arc<Patterns>, RuleErrors> {
        static BUILT_IN: LazyLock<Result<Arc<Patterns>, RuleErrors>> =
            LazyLock::new(|| Patterns::join(FILES, &[]).map(Arc::new));
        BUILT_IN.clone()
    }

    /// Those that are built in and those of these files.
    pub fn joined(files: &[PatternFile<'_>]) -> Result<Arc<Patterns>, RuleErrors> {
        Patterns::join(FILES, files).map(Arc::new)
    }

    /// The patterns of these files alone. Their examples are not tried.
    pub fn read(files: &[PatternFile<'_>]) -> Result<Patterns, RuleErrors> {
        Patterns::join(&[], files)
    }

    /// The patterns of files whose expressions are known to be right, and of others.
    fn join(
        tried: &[PatternFile<'_>],
        other_files: &[PatternFile<'_>],
    ) -> Result<Patterns, RuleErrors> {
        let (mut list, mut adjusted, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        let tried = tried.iter().map(|file| (file, true));
        for (file, tried) in tried.chain(other_files.iter().map(|file| (file, false))) {
            match spec::read(file.name, file.text, tried) {
                Ok((patterns, others)) => {
                    list.extend(patterns);
                    adjusted.extend(others);
                }
                Err(wrong) => errors.extend(wrong),
            }
        }
        let unknown = adjusted
            .into_iter()
            .filter_map(|a| adjust(&mut list, a).err());
        errors.extend(unknown);
        let mut seen: HashMap<&str, &Pattern> = HashMap::new();
        for pattern in &list {
            if seen.insert(&pattern.id, pattern).is_some() {
                let what = format!("the pattern `{}` already exists", pattern.id);
                errors.push(RuleError::new(&pattern.source, pattern.at, what));
            }
        }
        if !errors.is_empty() {
            return Err(RuleErrors(errors));
        }
        let built = Patterns::new(list).and_then(|patterns| {
            // What others wrote may be too large.
            if !other_files.is_empty() {
                patterns.prepare()?;
            }
            Ok(patterns)
        });
        built.map_err(|what| {
            let source = Arc::new(Source {
                name: "patterns".to_owned(),
                text: String::new(),
            });
            RuleErrors(vec![RuleError::new(&source, Mark::default(), what)])
        })
    }

    fn new(list: Vec<Pattern>) -> Result<Patterns, String> {
        let places = list.iter().enumerate();
        let for_text = places.filter(|(_, pattern)| own_words(pattern).is_some());
        Ok(Patterns {
            for_text: for_text.map(|(at, _)| at).collect(),
            remarkable: compile(&format!("{}|{}", any_word(&list), REMARKABLE.join("|")))?,
            close: OnceLock::new(),
            list,
        })
    }

    /// Builds now what is otherwise built when a line is looked at closely.
    pub fn prepare(&self) -> Result<(), String> {
        let close = self.close.get_or_init(|| Close::new(&self.list));
        close.as_ref().map(drop).map_err(Clone::clone)
    }

    fn close(&self) -> Option<&Close> {
        let close = self.close.get_or_init(|| Close::new(&self.list));
        // Those that are built in can be built: tests look closely, too.
        close.as_ref().ok()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Pattern> {
        self.list.iter()
    }

    /// Where, at or after `from`, a line has something to look at: just behind a byte of it. `from`
    /// is the beginning of a line, and `lines` end with a line end.
    pub(super) fn next_remarkable(&self, lines: &[u8], from: usize) -> Option<usize> {
        self.remarkable.shortest_match_at(lines, from)
    }

    /// The patterns for commands, and where in the list they are.
    pub(super) fn for_commands(&self) -> impl Iterator<Item = (usize, &Pattern)> {
        let is_for_text = |pattern: &Pattern| matches!(pattern.looks, Looks::Text { .. });
        let list = self.list.iter().enumerate();
        list.filter(move |(_, pattern)| !is_for_text(pattern))
    }

    /// The patterns that have a word in this text.
    pub(super) fn with_words(&self, text: &str) -> impl Iterator<Item = &Pattern> {
        let found = self
            .close()
            .map(|close| close.of_each.matches(text.as_bytes()));
        let may_match = move |at: usize| found.as_ref().is_none_or(|found| found.matched(at));
        let places = self.for_text.iter().enumerate();
        let places = places.filter(move |(at, _)| may_match(*at));
        places.filter_map(|(_, place)| self.list.get(*place))
    }

    /// Whether a plain text has one of the words.
    pub(super) fn has_word(&self, text: &str) -> bool {
        let close = self.close();
        close.is_none_or(|close| close.words.is_match(text.as_bytes()))
    }

    /// The command on this line: see [`Shapes::command_in`].
    pub(super) fn command_in(
        &self,
        line: &str,
        listing: &mut Listing,
        typed: &mut Typed,
    ) -> Option<(SeenCommand, Weight)> {
        self.close()?.shapes.command_in(line, listing, typed)
    }
}

/// Changes an existing pattern.
fn adjust(list: &mut [Pattern], adjustment: Adjustment) -> Result<(), RuleError> {
    let Some(pattern) = list.iter_mut().find(|p| *p.id == adjustment.pattern) else {
        let known: Vec<&str> = list.iter().map(|pattern| &*pattern.id).collect();
        let near = suggestion(&adjustment.pattern, &known);
        let what = format!("there is no pattern `{}`, {near}", adjustment.pattern);
        return Err(RuleError::new(&adjustment.source, adjustment.at, what));
    };
    if let Some(severity) = adjustment.severity {
        pattern.severity = severity;
        // An operator who sets a severity wants the hit to be judged.
        pattern.certain = false;
    }
    pattern.known_safe.extend(adjustment.known_safe);
    Ok(())
}

/// The words of a pattern for text, as expressions.
fn own_words(pattern: &Pattern) -> Option<Vec<String>> {
    match &pattern.looks {
        Looks::Text { words, .. } => Some(words.iter().map(|word| in_bytes(word)).collect()),
        Looks::Command(_) | Looks::Denied | Looks::Judged { .. } => None,
    }
}

/// An expression that matches every word of these patterns.
fn any_word(list: &[Pattern]) -> String {
    let mut words: Vec<String> = list.iter().filter_map(own_words).flatten().collect();
    words.sort();
    words.dedup();
    any_of(&words)
}

fn compile(text: &str) -> Result<bytes::Regex, String> {
    let built = bytes::RegexBuilder::new(text)
        .unicode(false)
        .size_limit(8 << 20)
        .dfa_size_limit(16 << 20)
        .build();
    built.map_err(|e| e.to_string())
}

/// An expression that matches any of these words; nothing, if there are none.
fn any_of(words: &[String]) -> String {
    if words.is_empty() {
        r"[^\x00-\xff]".to_owned()
    } else {
        format!("(?i:{})", words.join("|"))
    }
}

/// An expression for this word that does not need Unicode.
fn in_bytes(word: &str) -> String {
    if word.is_ascii() {
        return regex::escape(word);
    }
    word.bytes().map(|byte| format!("\\x{byte:02x}")).collect()
}
