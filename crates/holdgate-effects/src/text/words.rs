//! Many words that are looked for at once: most texts have none of them, and one pass shows that.

use aho_corasick::{AhoCorasick, MatchKind};

/// Words of which one may stand in a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnyWord {
    /// `None`, which no list of ours gives: then every text is taken to have one.
    search: Option<AhoCorasick>,
}

impl AnyWord {
    /// These words, as they are written.
    pub(crate) fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> AnyWord {
        AnyWord::build(words, false)
    }

    /// These words, in whatever case their ASCII letters are.
    pub(crate) fn in_any_case<'w>(words: impl IntoIterator<Item = &'w str>) -> AnyWord {
        AnyWord::build(words, true)
    }

    fn build<'w>(words: impl IntoIterator<Item = &'w str>, any_case: bool) -> AnyWord {
        // What matches first is enough, and such a search can skip most bytes.
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .ascii_case_insensitive(any_case)
            .build(words);
        AnyWord {
            search: search.ok(),
        }
    }

    /// Whether one of them stands in `text`.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.search
            .as_ref()
            .is_none_or(|search| search.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::AnyWord;

    #[test]
    fn a_word_is_found_wherever_it_stands() {
        let words = AnyWord::of(["eval", "exec("]);
        assert!(words.is_in("x = eval"));
        assert!(words.is_in("exec(y)"));
        assert!(!words.is_in("Eval exec ("));
        assert!(AnyWord::in_any_case(["eval"]).is_in("eVAL"));
        assert!(AnyWord::default().is_in(""));
    }
}
