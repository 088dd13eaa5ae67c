//! Literals that start on the next line: `<<EOF`.

use super::{Escapes, Holes, Kind, Lexer, Meaning, Quote};
use crate::code::Language;

impl Lexer<'_> {
    /// `<<EOF`, `<<~'EOF'`, `<<<EOT`: the text starts on the next line.
    pub(super) fn here_document(&mut self) -> bool {
        let start = self.at;
        let mut ahead = 2;
        if self.language == Language::Php {
            if self.peek(2) != Some(b'<') {
                return false;
            }
            ahead = 3;
        }
        while matches!(self.peek(ahead), Some(b'~' | b'-')) {
            ahead += 1;
        }
        let quoted = self
            .peek(ahead)
            .filter(|b| matches!(b, b'"' | b'\'' | b'`'));
        ahead += usize::from(quoted.is_some());
        let from = self.at + ahead;
        let word_length = self
            .bytes
            .get(from..)
            .unwrap_or(&[])
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let word = self.slice(from, from + word_length);
        let starts_well = word
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_uppercase() || b == b'_' || quoted.is_some());
        if !starts_well {
            return false;
        }
        self.at = from + word_length + usize::from(quoted.is_some());
        let body = match self.resume {
            Some(resume) => resume,
            None => match memchr::memchr(b'\n', self.rest()) {
                Some(line) => self.at + line + 1,
                None => self.bytes.len(),
            },
        };
        let mut end = body;
        let mut after = self.bytes.len();
        for line in self.code.get(body..).unwrap_or("").split_inclusive('\n') {
            let trimmed = line.trim().trim_end_matches([';', ')', ',']);
            if trimmed == word {
                after = end + word_end(line, word);
                break;
            }
            end += line.len();
        }
        self.resume = Some(after);
        let holes = match (self.language, quoted) {
            (_, Some(b'\'')) => Holes::None,
            (Language::Ruby, _) => Holes::HashBraces,
            _ => Holes::Sigils,
        };
        let quote = Quote {
            escapes: if holes == Holes::None {
                Escapes::None
            } else {
                Escapes::All
            },
            holes,
            meaning: if quoted == Some(b'`') {
                Meaning::Command
            } else {
                Meaning::Text
            },
        };
        let text = self.slice(body, end.min(self.bytes.len()));
        self.push(Kind::Text(quote), text, start);
        true
    }
}

/// Where code goes on after the word that ends a here-document.
fn word_end(line: &str, word: &str) -> usize {
    line.find(word).map_or(line.len(), |at| at + word.len())
}
