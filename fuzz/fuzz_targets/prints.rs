//! Any text has prints: in order, bounded, and the same after it is formatted otherwise.
#![no_main]

use holdgate_core::prints::{Prints, Winnowing};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let prints = Prints::of(text, 1);
    assert!(prints.hashes().is_sorted());
    assert!(prints.len() <= text.len());
    let spaced: String = text.chars().flat_map(|c| [c, ' ', '\n']).collect();
    assert_eq!(prints, Prints::of(&spaced, 1));
    // Boilerplate is taken out, and nothing is put in.
    let source = Prints::of_source(text, 1, Winnowing::default());
    assert_eq!(source.shared(&prints), source.len());
});
