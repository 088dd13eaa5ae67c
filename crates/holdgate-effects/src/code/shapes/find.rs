//! Words in a text: many words in a short one by the pairs of bytes that it has, each word in a long one by a
//! search that looks at many bytes at once. The standard library looks at each byte for each word, and most files
//! have none of them.

use memchr::memmem;

/// Bytes of a short text; a longer one has too many pairs to rule words out.
const SHORT: usize = 256;

/// Whether one of these stands in a text.
pub(super) fn has_any(text: &str, words: &[&str]) -> bool {
    if text.len() > SHORT {
        return words.iter().any(|word| first(text, word).is_some());
    }
    let pairs = Pairs::of(text);
    let mut words = words.iter();
    words.any(|word| pairs.may_have(word) && text.contains(word))
}

/// Where a word stands first in a text.
pub(super) fn first(text: &str, word: &str) -> Option<usize> {
    memmem::find(text.as_bytes(), word.as_bytes())
}

/// All places of a word in a text.
pub(super) fn places<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    memmem::find_iter(text.as_bytes(), word.as_bytes())
}

/// Which bytes follow which in a text, by their last five bits: for letters that is exact.
struct Pairs([u32; 32]);

impl Pairs {
    fn of(text: &str) -> Pairs {
        let mut pairs = Pairs([0; 32]);
        let bytes = text.as_bytes();
        for (one, next) in bytes.iter().zip(bytes.iter().skip(1)) {
            if let Some(follow) = pairs.0.get_mut(usize::from(one & 31)) {
                *follow |= 1 << (next & 31);
            }
        }
        pairs
    }

    fn may_have(&self, word: &str) -> bool {
        let bytes = word.as_bytes();
        let mut pairs = bytes.iter().zip(bytes.iter().skip(1));
        pairs.all(|(one, next)| {
            let follow = self.0.get(usize::from(one & 31));
            follow.is_some_and(|follow| follow & 1 << (next & 31) != 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is found is what the standard library finds.
        #[test]
        fn words_are_found_where_they_stand(
            text in "[ab(. \u{e9}]{0,300}",
            words in prop::collection::vec("[ab(. \u{e9}]{0,4}", 0..4),
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            prop_assert_eq!(has_any(&text, &words), words.iter().any(|word| text.contains(word)));
            for word in words.into_iter().filter(|word| !word.is_empty()) {
                prop_assert_eq!(first(&text, word), text.find(word));
                let expected: Vec<usize> = text.match_indices(word).map(|(at, _)| at).collect();
                prop_assert_eq!(places(&text, word).collect::<Vec<_>>(), expected);
            }
        }
    }
}
