//! What the whole text and its file say about the markings in it: a document, a text about
//! markings, a test, something that was released.

use super::mark::Mark;
use super::place::Place;

/// What is known about the text.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// It says that its markings are for training.
    pub(super) training: bool,
    /// It says that it was declassified or released.
    pub(super) released: bool,
    /// It is about markings.
    pub(super) about: bool,
    /// It has many different markings, as a list of them has.
    pub(super) listing: bool,
    /// Its file is a test or its data.
    pub(super) test: bool,
    /// Its file is source.
    pub(super) source: bool,
    /// Lines that are shown as an example.
    shown: Vec<usize>,
    /// The first and the last two lines that are not blank.
    pub(super) edges: Vec<usize>,
    /// Lines that are not blank.
    pub(super) filled: usize,
}

/// Notices that markings are not real.
const TRAINING: &[&str] = &[
    "training purposes",
    "for training only",
    "illustration purposes",
    "illustrative purposes",
    "illustration only",
    "example purposes",
    "markings are for",
    "markings shown",
    "markings in this",
    "fictitious",
    "sample document",
    "demonstration purposes",
    "for demonstration only",
    "not actually classified",
    "not real",
    "dummy data",
    "notional data",
];

/// Terms of texts about markings.
const TERMS: &[&str] = &[
    "portion mark",
    "banner line",
    "banner mark",
    "classification marking",
    "marking system",
    "security marking",
    "protective marking",
    "marking library",
    "capco",
    "32 cfr 2002",
    "cui registry",
    "cui program",
    "13526",
    "derivative classif",
    "distribution statements",
    "marking guide",
    "marking standard",
    "traffic light protocol",
    "classification levels",
    "classification level",
    "government security classifications",
    "pspf",
    "dissemination controls",
    "security policy framework",
    "parser",
    "regex",
    "classification guide",
    "levels of classification",
    "export control regulations",
];

/// Starts of lines that say that a text is public.
const RELEASED: &[&str] = &[
    "declassified",
    "approved for public release",
    "approved for release",
    "cleared for public release",
    "cleared for open publication",
    "released under foia",
    "distribution statement a",
    "unclassified//approved for public",
];

const TEST_PARTS: &[&str] = &[
    "test",
    "tests",
    "testing",
    "spec",
    "specs",
    "fixture",
    "fixtures",
    "__tests__",
    "testdata",
    "test-data",
    "test_data",
    "mock",
    "mocks",
    "__mocks__",
    "snapshots",
    "__snapshots__",
    "examples",
];

const SOURCE: &[&str] = &[
    "rs", "py", "js", "mjs", "cjs", "ts", "tsx", "jsx", "go", "java", "kt", "scala", "c", "h",
    "cc", "cpp", "hpp", "cs", "rb", "php", "swift", "m", "lua", "pl", "pm", "sh", "css", "scss",
    "sql", "r", "jl", "ex", "exs", "erl", "hs", "ml", "vue", "svelte", "dart", "groovy", "proto",
    "xsd", "sch",
];

/// Different markings that make a list.
const LIST: usize = 5;
/// Terms that make a text one about markings.
const TERMS_NEEDED: usize = 2;

impl Context {
    pub(super) fn of(text: &str, path: Option<&str>, marks: &[Mark]) -> Context {
        let mut context = Context::default();
        let low = text.to_ascii_lowercase();
        context.training = TRAINING.iter().any(|notice| low.contains(notice));
        let terms = TERMS.iter().filter(|term| low.contains(**term)).count();
        context.about = terms >= TERMS_NEEDED;
        let mut words: Vec<&str> = marks
            .iter()
            .filter(|mark| mark.is_banner())
            .map(|mark| mark.words.as_str())
            .collect();
        words.sort_unstable();
        words.dedup();
        context.listing = words.len() >= LIST;
        let lights = [
            "tlp:clear",
            "tlp:white",
            "tlp:green",
            "tlp:amber",
            "tlp:red",
        ];
        context.listing |= lights.iter().filter(|light| low.contains(**light)).count() > 2;
        context.read_lines(&low);
        if let Some(path) = path {
            context.read_path(path);
        }
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
            introduced = line.ends_with(':') && cue.iter().any(|cue| line.contains(cue));
            let text = line.trim_start_matches(|c: char| !c.is_alphanumeric());
            self.released |= RELEASED.iter().any(|phrase| text.starts_with(phrase));
        }
        self.filled = filled.len();
        let last = filled.iter().rev().take(2).copied().collect::<Vec<_>>();
        self.edges = filled.into_iter().take(2).chain(last).collect();
    }

    fn read_path(&mut self, path: &str) {
        let low = path.to_ascii_lowercase();
        let name = low.rsplit(['/', '\\']).next().unwrap_or_default();
        let (stem, kind) = name.rsplit_once('.').unwrap_or((name, ""));
        self.source = SOURCE.contains(&kind);
        self.test = low
            .split(['/', '\\'])
            .any(|part| TEST_PARTS.contains(&part))
            || stem
                .split(['_', '-', '.'])
                .any(|word| matches!(word, "test" | "tests" | "spec" | "fixture"));
    }

    /// Whether a marking stands where the banner of the whole text would.
    pub(super) fn is_edge(&self, mark: &Mark) -> bool {
        self.edges.contains(&mark.line)
    }

    /// Whether a marking is shown as an example.
    pub(super) fn is_shown(&self, mark: &Mark) -> bool {
        self.shown.binary_search(&mark.line).is_ok()
            && !(self.edges.first() == Some(&mark.line) && mark.spot.place == Place::Own)
    }
}
