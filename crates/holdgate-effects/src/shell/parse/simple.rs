//! A program and its arguments, with what is assigned before it.

use super::{Parser, Read};
use crate::shell::syntax::{Assignment, Node, Simple, Word};

impl Parser<'_> {
    pub(super) fn simple_command(&mut self) -> Read<Node> {
        let start = self.at;
        let mut simple = Simple::default();
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some(b'\n' | b';' | b')' | b'|') => break,
                Some(b'&') if self.peek_at(1) != Some(b'>') => break,
                Some(b'(') => {
                    // `name () { … }`
                    let name = match simple.words.as_slice() {
                        [name] if simple.assignments.is_empty() => name.as_literal(),
                        _ => None,
                    };
                    self.at += 1;
                    self.skip_blanks();
                    let Some(name) = name else {
                        return self.fail("unexpected `(`");
                    };
                    self.require(")", "unexpected `(`")?;
                    return self.function_body(name);
                }
                Some(_) => {}
            }
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
            } else if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
            } else {
                self.argument(&mut simple)?;
            }
        }
        if self.at == start {
            return self.fail("unexpected token");
        }
        Ok(Node::Simple(simple))
    }

    /// A word; after `export`, `declare` and their like, `NAME=(…)` is an assignment.
    fn argument(&mut self, simple: &mut Simple) -> Read<()> {
        let by = simple.words.first().and_then(Word::as_plain);
        let declares = by.is_some_and(|name| {
            let names = [
                "export", "declare", "typeset", "local", "readonly", "eval", "alias",
            ];
            names.contains(&name)
        });
        if declares
            && self.assigns_array()
            && let Some(assignment) = self.assignment()?
        {
            simple.declared.push(assignment);
            return Ok(());
        }
        let word = self.word()?;
        simple.words.push(word);
        Ok(())
    }

    /// Whether `NAME=(` stands here.
    fn assigns_array(&self) -> bool {
        let rest = self.rest().as_bytes();
        let name = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let after = rest.get(name..).unwrap_or(&[]);
        name > 0 && (after.starts_with(b"=(") || after.starts_with(b"+=("))
    }

    /// `NAME=…`, if that is what stands here.
    fn assignment(&mut self) -> Read<Option<Assignment>> {
        let start = self.at;
        let rest = self.rest().as_bytes();
        let after = rest
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'));
        if !after.is_some_and(|at| matches!(rest.get(at), Some(b'=' | b'+' | b'['))) {
            return Ok(None);
        }
        let Ok(name) = self.name() else {
            self.at = start;
            return Ok(None);
        };
        let mut index = None;
        if self.peek() == Some(b'[') {
            let Some(close) = self.closing_bracket()? else {
                self.at = start;
                return Ok(None);
            };
            let after = self.text.get(close + 1..).unwrap_or("");
            if !(after.starts_with('=') || after.starts_with("+=")) {
                self.at = start;
                return Ok(None);
            }
            self.at += 1;
            index = Some(self.deeper(Self::index)?);
        }
        let append = self.eat("+=");
        if !append && !self.eat("=") {
            if index.is_some() {
                return self.fail("`]` is missing");
            }
            self.at = start;
            return Ok(None);
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            let values = self.words_until_paren()?;
            return Ok(Some(Assignment {
                name,
                index,
                append,
                values,
                array: true,
            }));
        }
        let ends = matches!(
            self.peek(),
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')')
        );
        let value = if ends { Word::default() } else { self.word()? };
        Ok(Some(Assignment {
            name,
            index,
            append,
            values: vec![value],
            array: false,
        }))
    }

    pub(super) fn words_until_paren(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            match self.peek() {
                Some(b')') => {
                    self.at += 1;
                    return Ok(words);
                }
                None => return self.fail("`)` is missing"),
                Some(_) => words.push(self.word()?),
            }
        }
    }

    pub(in crate::shell) fn name(&mut self) -> Read<String> {
        let rest = self.rest().as_bytes();
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let length = rest.iter().take_while(|b| is_name(b)).count();
        if length == 0 || rest.first().is_some_and(u8::is_ascii_digit) {
            return self.fail("a name is missing");
        }
        let name = self.slice(self.at, self.at + length).to_owned();
        self.at += length;
        Ok(name)
    }
}
