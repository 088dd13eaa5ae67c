//! Code that stands in Perl's patterns: `s/x/code/e` and `(?{code})`.

use super::Reader;
use crate::code::Language;
use crate::code::lex::{Kind, Meaning};
use crate::scene::Fueled;
use crate::value::Value;

/// Patterns of one program that are looked at.
const MAX_PATTERNS: usize = 64;

impl Reader<'_, '_, '_> {
    /// Reads the code in all patterns.
    pub(super) fn patterns(&mut self) -> Fueled {
        if self.language != Language::Perl {
            return Ok(());
        }
        let tokens = self.tokens.clone();
        let is_pattern =
            |kind: Kind| matches!(kind, Kind::Text(q) if q.meaning == Meaning::Pattern);
        let patterns = tokens.list.iter().filter(|token| is_pattern(token.kind));
        for token in patterns.take(MAX_PATTERNS) {
            let after = tokens.code.get(token.end as usize..).unwrap_or("");
            let mut flags = after.chars().take_while(char::is_ascii_alphabetic);
            let inner = token.text.split_once("(?{").map(|(_, inner)| inner);
            let code = inner.or(flags.any(|c| c == 'e').then_some(token.text));
            if let Some(code) = code {
                let code = Value::known(code.replace("\\/", "/"));
                self.scene.code(Language::Perl, &code)?;
            }
        }
        Ok(())
    }
}
