//! Commands that hold others: conditions, loops, functions, tests.

use super::{Parser, Read};
use crate::shell::syntax::{Block, Node, Word};
use std::sync::Arc;

impl Parser<'_> {
    pub(super) fn if_command(&mut self) -> Read<Node> {
        let mut blocks = Vec::new();
        self.at += 2;
        loop {
            blocks.push(self.block(&["then"])?);
            self.expect("then")?;
            blocks.push(self.block(&["elif", "else", "fi"])?);
            let keyword = self.keyword();
            if matches!(keyword, "elif" | "else") {
                self.at += 4;
            }
            if keyword == "else" {
                blocks.push(self.block(&["fi"])?);
            }
            if keyword != "elif" {
                self.expect("fi")?;
                break;
            }
        }
        Ok(Node::If(blocks))
    }

    pub(super) fn loop_command(&mut self) -> Read<Node> {
        self.at += 5;
        let condition = self.block(&["do"])?;
        let body = self.do_body()?;
        Ok(Node::Loop { condition, body })
    }

    fn do_body(&mut self) -> Read<Block> {
        self.skip_lines()?;
        if self.keyword() == "{" {
            return self.braced_block();
        }
        self.expect("do")?;
        let body = self.block(&["done"])?;
        self.expect("done")?;
        Ok(body)
    }

    pub(super) fn for_command(&mut self) -> Read<Node> {
        self.at += self.keyword().len();
        self.skip_blanks();
        if self.rest().starts_with("((") {
            let head = self.arithmetic_head()?;
            self.skip_blanks();
            let _ = self.eat(";");
            let mut body = self.do_body()?;
            body.insert(0, Node::Arithmetic(head));
            let condition = Vec::new();
            return Ok(Node::Loop { condition, body });
        }
        let name = self.name()?;
        self.skip_lines()?;
        let mut items = None;
        if self.keyword() == "in" {
            self.at += 2;
            let mut words = Vec::new();
            self.skip_blanks();
            while !matches!(self.peek(), None | Some(b'\n' | b';')) {
                words.push(self.word()?);
                self.skip_blanks();
            }
            items = Some(words);
        } else if self.peek() == Some(b'(') {
            // zsh: for x (a b) …
            self.at += 1;
            items = Some(self.words_until_paren()?);
        }
        self.skip_blanks();
        let _ = self.eat(";");
        let body = self.do_body()?;
        Ok(Node::For { name, items, body })
    }

    pub(super) fn case_command(&mut self) -> Read<Node> {
        self.at += 4;
        self.skip_blanks();
        let word = self.word()?;
        self.expect("in")?;
        let mut patterns = Vec::new();
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.keyword() == "esac" {
                self.at += 4;
                break;
            }
            if self.peek().is_none() {
                return self.fail("`esac` is missing");
            }
            let _ = self.eat("(");
            loop {
                self.skip_blanks();
                // A pattern may itself hold parentheses: `@(a|b)`.
                patterns.push(self.word()?);
                self.skip_blanks();
                if self.eat("|") {
                    continue;
                }
                if self.eat(")") {
                    break;
                }
                return self.fail("`)` is missing after a pattern");
            }
            arms.push(self.block(&["esac"])?);
            self.skip_lines()?;
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&") || self.eat(";|");
        }
        Ok(Node::Case {
            word,
            patterns,
            arms,
        })
    }

    pub(super) fn test_command(&mut self) -> Read<Node> {
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.rest().starts_with("]]") {
                self.at += 2;
                return Ok(Node::Test(words));
            }
            match self.peek() {
                None => return self.fail("`]]` is missing"),
                Some(b'(' | b')' | b'<' | b'>' | b'&' | b'|' | b';') => self.at += 1,
                Some(_) => words.push(self.test_word()?),
            }
        }
    }

    pub(super) fn function_command(&mut self) -> Read<Node> {
        self.at += "function".len();
        self.skip_blanks();
        let name = self.word()?.as_literal().unwrap_or_default();
        self.skip_blanks();
        let start = self.at;
        if self.eat("(") {
            self.skip_blanks();
            if !self.eat(")") {
                // The body is a subshell or arithmetic.
                self.at = start;
            }
        }
        self.function_body(name)
    }

    pub(super) fn function_body(&mut self, name: String) -> Read<Node> {
        self.skip_lines()?;
        let body = self.deeper(Self::command)?;
        Ok(Node::Function {
            name,
            body: Arc::new(body),
        })
    }

    /// `coproc command`, `coproc NAME { … }`: it runs.
    pub(super) fn coproc_command(&mut self) -> Read<Node> {
        self.at += "coproc".len();
        self.skip_blanks();
        let start = self.at;
        if self.name().is_ok() {
            self.skip_blanks();
            if matches!(
                self.keyword(),
                "{" | "[[" | "while" | "for" | "if" | "until" | "case" | "select"
            ) || self.peek() == Some(b'(')
            {
                return self.deeper(Self::command);
            }
        }
        self.at = start;
        self.deeper(Self::command)
    }

    /// `(( … ))` as a command; `None` if it turns out to be a subshell in a subshell.
    pub(super) fn arithmetic_command(&mut self) -> Read<Option<Node>> {
        if !self.closes_as_arithmetic(self.at)? {
            return Ok(None);
        }
        Ok(Some(Node::Arithmetic(self.arithmetic_head()?)))
    }

    fn arithmetic_head(&mut self) -> Read<Word> {
        self.at += 2;
        self.deeper(Self::arithmetic)
    }
}
