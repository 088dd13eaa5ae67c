//! The fast look finds what a search of all finds, for any words of the table.

use super::same_when_thorough;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The words of the table, as they are written there.
static TABLE: LazyLock<Vec<String>> = LazyLock::new(|| {
    #[derive(serde::Deserialize)]
    struct Words {
        groups: BTreeMap<String, Vec<String>>,
        languages: BTreeMap<String, Vec<String>>,
    }
    let table: Words = serde_saphyr::from_str(include_str!("../lexicon.yaml")).unwrap();
    let lists = table
        .groups
        .into_values()
        .chain(table.languages.into_values());
    lists.flatten().map(|word| word.replace('*', "")).collect()
});

/// What stands between words.
const BETWEEN: &[&str] = &[
    " ",
    " ",
    " ",
    " ",
    ", ",
    ". ",
    "\n",
    ": ",
    " the ",
    " please ",
    "; you ",
    " AI: ",
    ") ",
    "-",
    "_",
    "x",
    "7",
    "! ",
    " to https://a.example ",
    " all files ",
    " . . . . ",
    "\n\n",
    " \u{2192} ",
    " \u{e9}",
];

/// A text of words of the table, some in capital letters.
fn of_the_table() -> impl Strategy<Value = String> {
    let word = (any::<prop::sample::Index>(), 0..4_u8);
    let word = word.prop_map(|(at, form)| {
        let word = at.get(&TABLE[..]);
        match form {
            0 => word.to_uppercase(),
            1 => {
                let first = word.chars().take(1).flat_map(char::to_uppercase);
                first.chain(word.chars().skip(1)).collect()
            }
            _ => word.clone(),
        }
    });
    let piece = (word, prop::sample::select(BETWEEN)).prop_map(|(word, after)| word + after);
    prop::collection::vec(piece, 1..50).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_words_of_the_table_are_the_same_when_all_is_searched(
        text in of_the_table(),
        filler in 0_usize..60,
    ) {
        let filler = "some more lines of a log\n".repeat(filler);
        same_when_thorough(&format!("{filler}{text}\n{filler}"))?;
    }
}
