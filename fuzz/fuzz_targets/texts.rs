//! Any text can be examined for secrets, markings, orders, refusals and shared passages, and what is
//! found is a part of it.
#![no_main]

use holdgate_core::prints::{Prints, Winnowing};
use holdgate_core::{divergence, injection, spillage};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for path in [None, Some(".env"), Some("tests/notes.rs")] {
        for spill in spillage::examine(text, path) {
            assert!(!spill.range.is_empty());
            assert!(text.get(spill.range).is_some());
        }
    }
    let _ = injection::examine(text);
    let _ = divergence::examine(text, &[], Some(text));
    let prints = Prints::of(text, 1);
    assert!(prints.hashes().is_sorted() && prints.len() <= text.len());
    let spaced: String = text.chars().flat_map(|c| [c, ' ', '\n']).collect();
    assert_eq!(prints, Prints::of(&spaced, 1), "formatting does not count");
    // Boilerplate is taken out, and nothing is put in.
    let source = Prints::of_source(text, 1, Winnowing::default());
    assert_eq!(source.shared(&prints), source.len());
});
