//! What `$` begins: variables with all that `${…}` can do, and substitutions.

use super::{Until, push_quoted};
use crate::shell::parse::{Parser, Read};
use crate::shell::syntax::{Index, Operation, Part, Variable, Word};

impl Parser<'_> {
    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Read<()> {
        match self.peek_at(1) {
            Some(b'\'') if !quoted => {
                self.at += 2;
                let text = self.ansi_quoted()?;
                push_quoted(word, &text);
            }
            // A translated text: the same as plain quotes.
            Some(b'"') if !quoted => self.at += 1,
            Some(b'(') => {
                if self.peek_at(2) == Some(b'(') && self.closes_as_arithmetic(self.at + 1)? {
                    self.at += 3;
                    let inner = self.deeper(Self::arithmetic)?;
                    word.parts.push(Part::Arithmetic(inner));
                } else {
                    self.at += 2;
                    let block = self.substitution()?;
                    word.parts.push(Part::Command { block, quoted });
                }
            }
            Some(b'[') => {
                self.at += 2;
                let inner = self.deeper(Self::index)?;
                word.parts.push(Part::Arithmetic(inner));
            }
            Some(b'{') => {
                self.at += 2;
                let variable = self.deeper(|p| p.braced(quoted))?;
                word.parts.push(Part::Variable(variable));
            }
            Some(b) if b.is_ascii_alphabetic() || b == b'_' => {
                self.at += 1;
                let name = self.name()?;
                word.parts
                    .push(Part::Variable(plain_variable(name, quoted)));
            }
            Some(b)
                if b.is_ascii_digit()
                    || matches!(b, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') =>
            {
                self.at += 2;
                let name = char::from(b).to_string();
                word.parts
                    .push(Part::Variable(plain_variable(name, quoted)));
            }
            _ => {
                self.at += 1;
                push_quoted(word, "$");
            }
        }
        Ok(())
    }

    /// The inside of `${…}` and its brace.
    fn braced(&mut self, quoted: bool) -> Read<Variable> {
        let mut variable = plain_variable(String::new(), quoted);
        if self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}') {
            self.at += 1;
            variable.operation = Operation::Length;
        } else if self.peek() == Some(b'!') && self.peek_at(1) != Some(b'}') {
            self.at += 1;
            variable.indirect = true;
        } else if self.peek() == Some(b'(') {
            // zsh's flags: `${(U)x}`.
            variable.operation = Operation::Other(Box::default());
            self.at += self
                .rest()
                .bytes()
                .take(64)
                .position(|b| b == b')')
                .map_or(1, |p| p + 1);
        }
        variable.name = self.variable_name()?;
        if self.eat("[") {
            variable.index = if self.eat("@]") {
                Index::All { joins: false }
            } else if self.eat("*]") {
                Index::All { joins: true }
            } else {
                Index::At(Box::new(self.index()?))
            };
        }
        if self.eat("}") {
            return Ok(variable);
        }
        variable.operation = if matches!(variable.operation, Operation::None) {
            self.operation(quoted)?
        } else {
            // Nothing may follow a length; zsh's flags may come with anything.
            Operation::Other(Box::new(self.parts(Until::Brace)?))
        };
        self.require("}", "`}` is missing")?;
        Ok(variable)
    }

    fn variable_name(&mut self) -> Read<String> {
        match self.peek() {
            Some(b) if b.is_ascii_digit() => {
                let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
                let name = self.slice(self.at, self.at + length).to_owned();
                self.at += length;
                Ok(name)
            }
            Some(b @ (b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-')) => {
                self.at += 1;
                Ok(char::from(b).to_string())
            }
            _ => self.name(),
        }
    }

    fn operation(&mut self, quoted: bool) -> Read<Operation> {
        let rest = self.rest();
        let starts = |token: &str| rest.starts_with(token);
        let after = |p: &mut Self, length: usize| {
            p.at += length;
            p.parts(Until::Brace).map(Box::new)
        };
        let text = |p: &mut Self, length: usize| {
            p.at += length;
            let until = if quoted {
                Until::QuotedBrace
            } else {
                Until::Brace
            };
            p.parts(until).map(Box::new)
        };
        let colon = starts(":");
        let mark = usize::from(colon);
        let kind = rest.as_bytes().get(mark).copied();
        Ok(if matches!(kind, Some(b'-' | b'=')) {
            Operation::Default {
                word: text(self, mark + 1)?,
                assigns: kind == Some(b'='),
                colon,
            }
        } else if kind == Some(b'+') {
            Operation::Alternative {
                word: text(self, mark + 1)?,
                colon,
            }
        } else if kind == Some(b'?') {
            Operation::Message(text(self, mark + 1)?)
        } else if starts("#") || starts("%") {
            let from_end = starts("%");
            let longest = starts("##") || starts("%%");
            Operation::Remove {
                pattern: after(self, if longest { 2 } else { 1 })?,
                from_end,
                longest,
            }
        } else if starts("/") {
            self.replacement()?
        } else if starts(":") {
            self.at += 1;
            let offset = Box::new(self.parts(Until::Colon)?);
            let length = if self.eat(":") {
                Some(Box::new(self.parts(Until::Brace)?))
            } else {
                None
            };
            Operation::Slice(offset, length)
        } else if starts("@") {
            let word = after(self, 1)?;
            let mut letters = word.as_plain().unwrap_or("").chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) => Operation::Transform(letter),
                _ => Operation::Other(word),
            }
        } else if starts("^") {
            let all = starts("^^");
            Operation::Upper(all, after(self, if all { 2 } else { 1 })?)
        } else if starts(",") {
            let all = starts(",,");
            Operation::Lower(all, after(self, if all { 2 } else { 1 })?)
        } else {
            Operation::Other(after(self, 0)?)
        })
    }

    fn replacement(&mut self) -> Read<Operation> {
        self.at += 1;
        let all = self.eat("/");
        // A slash may be the pattern itself: `${x////…}`.
        let pattern = if !all && self.rest().starts_with("//")
            || all && self.rest().starts_with('/') && !self.rest().starts_with("/}")
        {
            self.at += 1;
            Word::quoted("/")
        } else {
            self.parts(Until::Slash)?
        };
        let with = if self.eat("/") {
            self.parts(Until::Brace)?
        } else {
            Word::default()
        };
        Ok(Operation::Replace {
            pattern: Box::new(pattern),
            with: Box::new(with),
            all,
        })
    }
}

fn plain_variable(name: String, quoted: bool) -> Variable {
    Variable {
        name,
        indirect: false,
        index: Index::None,
        operation: Operation::None,
        quoted,
    }
}
