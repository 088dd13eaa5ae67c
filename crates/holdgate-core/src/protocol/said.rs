//! What the model has said in a message so far: the end of its text, in bounded memory. Thinking is
//! left out: a model weighs there what it does not mean to do, and clients seldom show it.

use std::sync::Arc;

/// Bytes that a call is given.
const KEPT: usize = 2 << 10;
/// Bytes at which the start is dropped. Twice as many, so that each byte is moved about once.
const MOST: usize = 2 * KEPT;
/// What stands between blocks.
const BETWEEN: &str = "\n\n";

/// The text of a message so far.
#[derive(Debug, Default)]
pub(super) struct Said {
    text: String,
    /// What the last call was given. Calls in a row share it.
    end: Option<Arc<str>>,
}

impl Said {
    /// A block of text begins with `text`.
    pub(super) fn block(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.push(BETWEEN);
        }
        self.push(text);
    }

    /// The block goes on. The result does not depend on how its text was split.
    pub(super) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.end = None;
        if text.len() >= KEPT {
            self.text.clear();
        }
        self.text.push_str(tail(text));
        if self.text.len() > MOST {
            let dropped = self.text.len() - tail(&self.text).len();
            self.text.drain(..dropped);
        }
    }

    /// The last 2 KiB.
    pub(super) fn end(&mut self) -> Arc<str> {
        let text = &self.text;
        self.end.get_or_insert_with(|| tail(text).into()).clone()
    }
}

/// The last `KEPT` bytes, from the start of a character.
fn tail(text: &str) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(KEPT));
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_end_does_not_depend_on_how_the_text_came(
            blocks in prop::collection::vec("(?s).{0,3000}", 0..4),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut said = Said::default();
            for block in &blocks {
                said.block("");
                let mut cuts: Vec<usize> = cuts.iter()
                    .map(|cut| block.floor_char_boundary(cut.index(block.len() + 1)))
                    .collect();
                cuts.sort_unstable();
                let mut from = 0;
                for cut in cuts.into_iter().chain([block.len()]) {
                    said.push(block.get(from..cut).unwrap());
                    from = cut;
                }
                prop_assert!(said.text.len() <= MOST);
            }
            let mut all = String::new();
            for block in &blocks {
                all += if all.is_empty() { "" } else { "\n\n" };
                all += block;
            }
            let mut kept: Vec<char> = Vec::new();
            let mut bytes = 0;
            for c in all.chars().rev() {
                bytes += c.len_utf8();
                if bytes > 2048 {
                    break;
                }
                kept.push(c);
            }
            prop_assert_eq!(&*said.end(), kept.iter().rev().collect::<String>());
        }
    }
}
