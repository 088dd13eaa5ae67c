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
";

fn shared(a: &str, b: &str) -> usize {
    Prints::of(a, KEY).shared(&Prints::of(b, KEY))
}

#[test]
fn a_reformatted_copy_has_the_same_prints() {
    let prints = Prints::of(ENGINE, KEY);
    assert!(prints.len() >= 6, "{}", prints.len());
    assert_eq!(prints, Prints::of(REFORMATTED, KEY));
    assert_eq!(prints, Prints::of(&ENGINE.to_uppercase(), KEY));
}

#[test]
fn prints_of_other_keys_have_nothing_in_common() {
    assert_eq!(Prints::of(ENGINE, 1).shared(&Prints::of(ENGINE, 2)), 0);
}

#[test]
fn imports_braces_and_monotonous_lines_have_no_prints() {
    let imports = "use std::collections::BTreeMap;\n  use std::sync::{Arc, Mutex};\n\
                   from collections import defaultdict, OrderedDict, Counter\nimport numpy as np\n\
                   #include <sys/types.h>\n#include <netinet/in.h>\n#include \"../common.h\"\n\
                   const { readFile, writeFile } = require('node:fs/promises');\n";
    assert!(Prints::of(&imports.repeat(3), KEY).is_empty());
    assert!(Prints::of(&"    }\n  ]);\n}\n".repeat(200), KEY).is_empty());
    assert!(Prints::of(&"0x00, 0x01, 0x00,\n".repeat(200), KEY).is_empty());
    assert!(Prints::of("too short", KEY).is_empty());
    // A sentence that begins like an import counts.
    let prose =
        "use the spread of the order book to find the haircut of each order,\nand settle it";
    assert!(!Prints::of(&prose.repeat(2), KEY).is_empty());
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
    let secret = Prints::of(&format!("{header}{ENGINE}"), KEY).without(&common);
    let other = Prints::of(&format!("{header}fn main() {{}}"), KEY).without(&common);
    assert_eq!(secret.shared(&other), 0);
    assert!(secret.shared(&Prints::of(ENGINE, KEY)) >= 5);
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
        passage in "[a-z0-9]{95,140}",
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
        // White space in front of a word could make an import line of it.
        prop_assume!(!spread.contains("use") && !spread.contains("from") && !spread.contains("mod"));
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
        let characters: Vec<char> = text.chars().collect();
        let hashes: Vec<u64> = characters
            .windows(gram)
            .map(|gram| {
                let mut roll = Roll::new(KEY, gram.len());
                gram.iter().filter_map(|c| roll.push(*c)).last().unwrap()
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
