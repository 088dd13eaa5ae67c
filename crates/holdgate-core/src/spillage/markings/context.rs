//! What the whole text and its file say about the markings in it: a document, a text about
//! markings, a test, something that was released.

use super::mark::Mark;
use super::place::Place;
use super::words::{RELEASED, SOURCE, TERMS, TEST_PARTS, TRAINING, words};

/// What is known about the text.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// It says that its markings are for training, or that it was declassified or released.
    pub(super) harmless: bool,
    /// It is about markings, or has many different ones, as a list of them has.
    pub(super) about: bool,
    /// Letters that are no levels stand in brackets in it.
    pub(super) enumeration: bool,
    /// What its file is.
    pub(super) file: FileKind,
    /// Lines that are shown as an example.
    shown: Vec<usize>,
    /// Lines before which a sentence was broken.
    broken: Vec<usize>,
    /// The first and the last two lines that are not blank.
    pub(super) edges: Vec<usize>,
    /// Lines that are not blank.
    pub(super) filled: usize,
}

/// Different markings that make a list.
const LIST: usize = 5;
/// Terms that make a text one about markings.
const TERMS_NEEDED: usize = 2;

/// What the path of a file says.
#[derive(Debug, Default)]
pub(super) struct FileKind {
    /// A test, or data of tests.
    pub(super) test: bool,
    /// Source.
    pub(super) source: bool,
}

impl FileKind {
    fn of(path: &str) -> FileKind {
        let low = path.to_ascii_lowercase();
        let name = low.rsplit(['/', '\\']).next().unwrap_or_default();
        let (stem, kind) = name.rsplit_once('.').unwrap_or((name, ""));
        let part = |part: &str| words(TEST_PARTS).any(|test| test == part);
        let word = |word: &str| matches!(word, "test" | "tests" | "spec" | "fixture");
        FileKind {
            test: low.split(['/', '\\']).any(part) || stem.split(['_', '-', '.']).any(word),
            source: words(SOURCE).any(|source| source == kind),
        }
    }
}

impl Context {
    pub(super) fn of(text: &str, path: Option<&str>, marks: &[Mark]) -> Context {
        let mut context = Context::default();
        let low = text.to_ascii_lowercase();
        context.harmless = words(TRAINING).any(|notice| low.contains(notice));
        let terms = words(TERMS).filter(|term| low.contains(term)).count();
        context.about = terms >= TERMS_NEEDED;
        let mut different: Vec<&str> = marks
            .iter()
            .filter(|mark| mark.is_banner())
            .map(|mark| mark.words.as_str())
            .collect();
        different.sort_unstable();
        different.dedup();
        context.about |= different.len() >= LIST;
        let lights = [
            "tlp:clear",
            "tlp:white",
            "tlp:green",
            "tlp:amber",
            "tlp:red",
        ];
        context.about |= lights.iter().filter(|light| low.contains(**light)).count() > 2;
        context.enumeration = is_enumeration(text);
        context.read_lines(&low);
        context.file = path.map(FileKind::of).unwrap_or_default();
        context
    }

    fn read_lines(&mut self, low: &str) {
        let mut fenced = false;
        let mut introduced = false;
        let mut filled = Vec::new();
        for (number, line) in low.split('\n').enumerate() {
            let line = line.trim();
            let text = line.trim_start_matches(['/', '#', '*', '!', ' ']);
            let fence = text.starts_with("```") || text.starts_with("~~~");
            if fence {
                fenced = !fenced;
            }
            if fenced && !fence || introduced {
                self.shown.push(number);
            }
            if line.is_empty() {
                continue;
            }
            filled.push(number);
            let cue = [
                "example",
                "e.g.",
                "sample",
                "such as",
                "looks like",
                "for instance",
                "format",
            ];
            let count = line.split_whitespace().count();
            if count > 5
                && line.ends_with(|c: char| c.is_lowercase() || matches!(c, ',' | '(' | '/'))
            {
                self.broken.push(number + 1);
            }
            introduced = line.ends_with(':') && cue.iter().any(|cue| line.contains(cue));
            let text = line.trim_start_matches(|c: char| !c.is_alphanumeric());
            self.harmless |= words(RELEASED).any(|phrase| text.starts_with(phrase));
        }
        self.filled = filled.len();
        let last = filled.iter().rev().take(2).copied().collect::<Vec<_>>();
        self.edges = filled.into_iter().take(2).chain(last).collect();
    }

    /// Whether a marking stands where the banner of the whole text would.
    pub(super) fn is_edge(&self, mark: &Mark) -> bool {
        self.edges.contains(&mark.line)
    }

    /// Whether a sentence goes on in this line.
    pub(super) fn is_broken(&self, line: usize) -> bool {
        self.broken.binary_search(&line).is_ok()
    }

    /// Whether a marking is shown as an example.
    pub(super) fn is_shown(&self, mark: &Mark) -> bool {
        self.shown.binary_search(&mark.line).is_ok()
            && !(self.edges.first() == Some(&mark.line) && mark.spot.place == Place::Own)
    }
}

/// Whether other letters stand in brackets too: options, sizes, languages.
fn is_enumeration(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let length = rest
            .bytes()
            .take(4)
            .take_while(u8::is_ascii_uppercase)
            .count();
        let name = rest.get(..length).unwrap_or_default();
        let single = length == 1 && !matches!(name, "S" | "C" | "U" | "R");
        (single || matches!(name, "JS" | "PY" | "XL" | "XS" | "RS" | "GO"))
            && rest.get(length..).is_some_and(|rest| rest.starts_with(')'))
    })
}
