//! The arguments that one word becomes.

use crate::value::Value;

/// Arguments that one word may become.
const MAX_FIELDS: usize = 1024;

/// The fields that a word becomes while it is put together.
#[derive(Default)]
pub(super) struct Fields {
    done: Vec<Value>,
    current: Option<Value>,
}

impl Fields {
    pub(super) fn push(&mut self, value: &Value) {
        self.current.get_or_insert_default().push(value);
    }

    pub(super) fn push_text(&mut self, text: &str) {
        self.current.get_or_insert_default().push_text(text);
    }

    /// An unquoted expansion is split at blanks.
    pub(super) fn push_split(&mut self, value: &Value, separators: &str) {
        let is_separator = |c: char| separators.contains(c);
        if !value.text.contains(is_separator) {
            if !value.text.is_empty() {
                self.push(value);
            }
            return;
        }
        let is_blank = |c: char| is_separator(c) && matches!(c, ' ' | '\t' | '\n');
        let mut rest = value.text.trim_start_matches(is_blank);
        if rest.len() < value.text.len() {
            self.cut();
        }
        // Blanks count as one separator, with another one among them too.
        while !rest.is_empty() && self.done.len() < MAX_FIELDS {
            let end = rest.find(is_separator).unwrap_or(rest.len());
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.push(&value.map(piece));
            if after.is_empty() {
                break;
            }
            let after = after.trim_start_matches(is_blank);
            let after = after.strip_prefix(is_separator).unwrap_or(after);
            rest = after.trim_start_matches(is_blank);
            self.cut();
        }
    }

    pub(super) fn cut(&mut self) {
        if let Some(value) = self.current.take()
            && self.done.len() < MAX_FIELDS
        {
            self.done.push(value);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Value> {
        self.cut();
        self.done
    }
}
