use super::*;
use proptest::prelude::*;

const KEY: u64 = 0x0123_4567_89ab_cdef;

const ENGINE: &str = "\
fn settle(order: &Order, book: &mut Book) -> Settlement {
    let spread = book.best_ask() - book.best_bid();
    let haircut = spread * order.risk_weight().max(FLOOR);
    if order.quantity() > book.depth_at(order.price()) {
        return Settlement::partial(book.depth_at(order.price()), haircut);
    }
    Settlement::full(order.quantity(), haircut)
}
fn unwind(positions: &mut Vec<Position>, limit: Notional) -> Notional {
    positions.sort_by_key(|position| position.exposure().abs());
    let mut released = Notional::ZERO;
    while let Some(position) = positions.pop_if(|_| released < limit) {
        released += position.close_at(position.venue().mid_price());
    }
    released.min(limit)
}
";

/// The same function by another formatter, with a comment in front of every line.
const REFORMATTED: &str = "\
//\tfn settle( order : &Order, book : &mut Book, ) -> Settlement
//\t{
//\t\tlet spread = book.best_ask()
//\t\t\t- book.best_bid();
//\t\tlet haircut = spread * order.risk_weight()
//\t\t\t.max( FLOOR );
//\t\tif ( order.quantity() > book.depth_at( order.price() ) )
//\t\t{ return Settlement::partial( book.depth_at(order.price()), haircut ); }
//\t\tSettlement::full( order.quantity(), haircut )
//\t}
//\tfn unwind( positions : &mut Vec<Position>, limit : Notional ) -> Notional
//\t{
//\t\tpositions.sort_by_key( |position| position.exposure().abs() );
//\t\tlet mut released = Notional::ZERO; while let Some(position) =
//\t\t\tpositions.pop_if( |_| released < limit )
//\t\t{ released += position.close_at( position.venue().mid_price() ); }
//\t\treleased.min( limit )
//\t}
";

fn shared(a: &str, b: &str) -> usize {
    Prints::of(a, KEY).shared(&Prints::of(b, KEY))
}

#[test]
fn a_reformatted_copy_has_the_same_prints() {
    let prints = Prints::of(ENGINE, KEY);
    assert!(prints.len() >= 4, "{}", prints.len());
    assert_eq!(prints, Prints::of(REFORMATTED, KEY));
    assert_eq!(prints, Prints::of(&ENGINE.to_uppercase(), KEY));
}

#[test]
fn prints_of_other_keys_have_nothing_in_common() {
    assert_eq!(Prints::of(ENGINE, 1).shared(&Prints::of(ENGINE, 2)), 0);
}

#[test]
fn braces_and_monotonous_lines_have_no_prints() {
    assert!(Prints::of(&"    }\n  ]);\n}\n".repeat(200), KEY).is_empty());
    assert!(Prints::of(&"0x00, 0x01, 0x00,\n".repeat(200), KEY).is_empty());
    assert!(Prints::of("too short", KEY).is_empty());
}

#[test]
fn imports_and_badges_do_not_count_in_a_source() {
    let boilerplate = "use std::collections::BTreeMap;\n  use std::sync::{Arc, Mutex};\n\
                       from collections import defaultdict, OrderedDict, Counter\n\
                       import numpy as np\n#include <sys/types.h>\n#include \"../common.h\"\n\
                       const { readFile, writeFile } = require('node:fs/promises');\n\
                       [![crates.io](https://img.shields.io/crates/v/example.svg)](x)\n";
    let how = Winnowing::default();
    assert!(Prints::of_source(&boilerplate.repeat(3), KEY, how).is_empty());
    // What stands between them counts, and so does a sentence that begins like an import.
    let source = Prints::of_source(&format!("{boilerplate}{ENGINE}{boilerplate}"), KEY, how);
    assert!(source.shared(&Prints::of(ENGINE, KEY)) >= 4);
    let prose =
        "use the spread of the order book to find the haircut of each order,\nand settle it\n";
    assert!(!Prints::of_source(&prose.repeat(2), KEY, how).is_empty());
}

#[test]
fn licence_headers_are_common_however_they_are_wrapped() {
    let header = "/*\n * Copyright 2024 Example Ltd.\n *\n * Licensed under the Apache License, \
                  Version 2.0 (the \"License\");\n * you may not use this file except in compliance \
                  with the License.\n * You may obtain a copy of the License at\n *\n *     \
                  https://www.apache.org/licenses/LICENSE-2.0\n *\n * Unless required by applicable \
                  law or agreed to in writing, software\n * distributed under the License is \
                  distributed on an \"AS IS\" BASIS,\n * WITHOUT WARRANTIES OR CONDITIONS OF ANY \
                  KIND, either express or implied.\n * See the License for the specific language \
                  governing permissions and\n * limitations under the License.\n */\n";
    let common = common(KEY);
    let other = Prints::of(&format!("{header}fn main() {{}}"), KEY);
    let secret = format!("{header}{ENGINE}");
    let by_words = Prints::of_source(&secret, KEY, Winnowing::default());
    let by_text = Prints::of(&secret, KEY).without(&common);
    for prints in [by_words, by_text] {
        assert_eq!(prints.shared(&other), 0);
        assert!(prints.shared(&Prints::of(ENGINE, KEY)) >= 4);
    }
}

#[test]
fn a_text_has_a_bounded_number_of_prints_and_the_sample_is_the_same_everywhere() {
    let how = Winnowing {
        most: 64,
        ..Winnowing::default()
    };
    let long = (0..20_000).fold(String::new(), |mut text, n: u64| {
        text.push_str(&format!("{:x} ", mixed(n)));
        text
    });
    let prints = Prints::taken(&long, KEY, how);
    assert_eq!(prints.len(), 64);
    assert!(prints.bytes() <= 64 * 8 + 64);
    let copy = Prints::taken(&format!("let me quote this: {long}"), KEY, how);
    assert!(prints.shared(&copy) >= 62, "{}", prints.shared(&copy));
    assert!(Prints::of(&long, KEY).len() > 4000);
}

/// The longest common run of letters and digits, found by trying them all.
fn has_common_run(a: &str, b: &str, length: usize) -> bool {
    let plain = |text: &str| -> Vec<char> {
        let kept = text.chars().filter(char::is_ascii_alphanumeric);
        kept.map(|c| c.to_ascii_lowercase()).collect()
    };
    let (a, b) = (plain(a), plain(b));
    a.windows(length)
        .any(|run| b.windows(length).any(|other| run == other))
}

fn prose(words: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-z]{2,9}", words / 2..words).prop_map(|words| words.join(" "))
}

proptest! {
    /// A shared passage of the guaranteed length is found wherever it stands, with other indentation,
    /// line breaks and letter case.
    #[test]
    fn a_shared_passage_is_always_found(
        passage in "[a-z0-9]{111,160}",
        around in [prose(60), prose(60), prose(60), prose(60)],
        breaks in proptest::collection::vec(prop_oneof![Just("\n\t\t"), Just("  "), Just(";\n"), Just("")], 10),
    ) {
        let [a, b, c, d] = around;
        prop_assume!(passage.chars().collect::<std::collections::HashSet<_>>().len() > 12);
        prop_assume!(passage.chars().count() >= Winnowing::default().guaranteed());
        let chunks = passage.as_bytes().chunks(11).zip(breaks.iter().cycle());
        let spread: String = chunks
            .map(|(chunk, gap)| format!("{}{gap}", String::from_utf8_lossy(chunk)))
            .collect();
        let one = format!("{a}. {passage} ({b})");
        let two = format!("{c}\n{}\n{d}", spread.to_uppercase());
        prop_assert!(shared(&one, &two) > 0);
    }

    /// What shares a print has a gram in common; unrelated texts share nothing.
    #[test]
    fn only_a_common_gram_is_found(a in prose(200), b in prose(200)) {
        let gram = Winnowing::default().gram;
        prop_assert!(shared(&a, &b) == 0 || has_common_run(&a, &b, gram));
    }

    /// The rolling hash and the window agree with the definition: of each window of grams, computed
    /// one by one, the smallest hash is a print, and there are no others.
    #[test]
    fn prints_are_the_smallest_of_each_window(text in "[a-h]{0,60}", gram in 1usize..6, window in 1usize..7) {
        let how = Winnowing { gram, window, most: usize::MAX };
        let letters: Vec<char> = text.chars().collect();
        let hashes: Vec<u64> = letters
            .windows(gram)
            .map(|gram| {
                let mut roll = Roll::new(KEY, gram.len());
                let text: String = gram.iter().collect();
                characters(&text).filter_map(|c| roll.push(c)).last().unwrap().hash
            })
            .collect();
        let windows = if hashes.len() < window { vec![hashes.as_slice()] } else { hashes.windows(window).collect() };
        let mut expected: Vec<u64> = windows.iter().filter_map(|w| w.iter().min().copied()).collect();
        expected.retain(|hash| *hash != u64::MAX);
        expected.sort_unstable();
        expected.dedup();
        prop_assert_eq!(Prints::taken(&text, KEY, how).hashes().to_vec(), expected);
    }

    /// Any text has prints, in order and bounded.
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        let prints = Prints::of(&text, KEY);
        prop_assert!(prints.hashes().is_sorted());
        prop_assert!(prints.len() <= text.len());
    }
}

#[test]
fn an_index_names_the_file_and_leaves_out_what_others_have() {
    let taken = |text: &str| Prints::of_source(text, KEY, Winnowing::default());
    let other = "fn unrelated() -> impl Iterator<Item = Widget> {\n    \
                 shelf().drain(..).filter(Widget::is_dusty).map(Widget::polished)\n}\n\
                 fn shelf() -> Vec<Widget> { warehouse::open().into_widgets().collect() }\n";
    let (engine, widgets) = (taken(ENGINE), taken(other));
    let files = [("src/engine.rs", &engine), ("src/widgets.rs", &widgets)];
    let index = PrintIndex::of(files, &Prints::default());
    let copy = Prints::of(&format!("// copied\n{REFORMATTED}"), KEY);
    let (file, shared) = index.shared(&copy).unwrap();
    assert_eq!(file, "src/engine.rs");
    assert!(shared >= 4, "{shared}");
    assert!(index.bytes() < 1000);
    // A passage in many files is boilerplate, and so is what a public project has too.
    let many = ["a", "b", "c", "d"].map(|name| (name, &engine));
    assert!(PrintIndex::of(many, &Prints::default()).is_empty());
    let index = PrintIndex::of(files, &Prints::union([&engine]));
    assert_eq!(index.shared(&Prints::of(ENGINE, KEY)), None);
    assert!(!index.is_empty());
}

#[test]
fn files_that_every_project_has_do_not_count() {
    for name in [
        "Cargo.lock",
        "LICENSE-MIT",
        "package.json",
        ".gitignore",
        "CHANGELOG.md",
    ] {
        assert!(!is_counted(name, false), "{name}");
    }
    for name in [".git", "target", "node_modules", "vendor"] {
        assert!(!is_counted(name, true), "{name}");
    }
    assert!(is_counted("engine.rs", false) && is_counted("targets.csv", false));
    assert!(is_counted("src", true) && is_counted("builders", true));
}
