//! Any bytes can be output, and how they are cut changes nothing; the first bytes choose the cuts.
#![no_main]

use holdgate_effects::Knowledge;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::watch::{Commands, Hit, OutputWatch, Patterns};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static COMMANDS: LazyLock<Commands> = LazyLock::new(|| {
    let rules = RuleSet::built_in(Profile::default()).expect("the rules hold");
    let know = Knowledge::built_in().expect("what is known can be read");
    Commands::new(rules, know, Arc::default())
});

fn watch() -> OutputWatch {
    let patterns = Patterns::built_in().expect("the patterns hold");
    OutputWatch::new(patterns, COMMANDS.clone())
}

fn hits(mut watch: OutputWatch, bytes: &[u8], cuts: &[u8]) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut rest = bytes;
    for cut in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((usize::from(*cut) + 1).min(rest.len()));
        watch.feed(piece, &mut hits);
        rest = after;
    }
    watch.finish(&mut hits);
    hits
}

fuzz_target!(|bytes: &[u8]| {
    let Some((cuts, bytes)) = bytes.split_at_checked(4) else {
        return;
    };
    let mut whole = Vec::new();
    let mut once = watch();
    once.feed(bytes, &mut whole);
    once.finish(&mut whole);
    assert_eq!(hits(watch(), bytes, cuts), whole);
    // Pauses may tell more and earlier, but never the same again.
    let mut paused = watch();
    let mut early = Vec::new();
    for piece in bytes.chunks(64 * (usize::from(cuts[0]) + 1)) {
        paused.feed(piece, &mut early);
        paused.pause(&mut early);
        let told = early.len();
        paused.pause(&mut early);
        assert_eq!(early.len(), told);
    }
});
