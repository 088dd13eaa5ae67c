//! Shell text to [`Block`]s: bash's grammar, and of zsh's and ksh's what agents write.
//!
//! The reader is total and linear: it looks at each byte a bounded number of times and pays for what
//! it makes of them, its recursion is bounded, and what it cannot read is an error that says where.
//! Nothing is guessed here.

mod ahead;
mod compound;
mod redirect;
mod simple;

use super::syntax::{Block, Node, Simple, Word};
use crate::fuel::{Fuel, OutOfFuel};
use ahead::LOOKS_AHEAD;
use redirect::Waiting;

/// Groups in groups, substitutions in substitutions.
pub(super) const MAX_DEPTH: u32 = 64;

/// Where the text stops to make sense, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// What stops the reader when it has no fuel.
const COSTS_TOO_MUCH: &str = "reading it takes too much work";

pub(super) type Read<T> = Result<T, SyntaxError>;

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: u32,
    pub(super) fuel: &'a Fuel,
    waiting: Vec<Waiting>,
    /// Bodies of here-documents, by number; the redirects hold the numbers until the end.
    bodies: Vec<Option<Word>>,
    /// Bytes that may yet be looked at ahead of their turn: it bounds the work on any text.
    ahead: usize,
}

/// Reads a whole script. What was read before an error is returned with it: a shell has run it by
/// the time that it sees the error.
pub(crate) fn parse(text: &str, fuel: &Fuel) -> Result<(Block, Option<SyntaxError>), OutOfFuel> {
    fuel.spend_on(text.len() * 4)?;
    let mut parser = Parser::new(text, 0, fuel);
    let mut block = Block::new();
    let error = parser.script(&mut block).err();
    if error.as_ref().is_some_and(|e| e.what == COSTS_TOO_MUCH) {
        return Err(OutOfFuel);
    }
    parser.fill_bodies(&mut block);
    Ok((block, error))
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, depth: u32, fuel: &'a Fuel) -> Self {
        Parser {
            text,
            at: 0,
            depth,
            fuel,
            waiting: Vec::new(),
            bodies: Vec::new(),
            ahead: text.len().saturating_mul(LOOKS_AHEAD),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    pub(super) fn fail<T>(&self, what: &'static str) -> Read<T> {
        Err(SyntaxError { at: self.at, what })
    }

    /// Pays for what is made of the text.
    pub(super) fn pay(&self, units: u64) -> Read<()> {
        match self.fuel.spend(units) {
            Ok(()) => Ok(()),
            Err(OutOfFuel) => self.fail(COSTS_TOO_MUCH),
        }
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Eats `token`; where it does not stand here, that is an error.
    pub(super) fn require(&mut self, token: &str, what: &'static str) -> Read<()> {
        if self.eat(token) {
            return Ok(());
        }
        self.fail(what)
    }

    /// One level deeper, as long as that is sane.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn script(&mut self, block: &mut Block) -> Read<()> {
        self.commands(block, |_| false)?;
        if self.peek().is_some() {
            return self.fail("unexpected token");
        }
        // A here-document may end with the text.
        self.read_bodies()
    }

    /// A text of its own, such as the inside of backticks.
    pub(super) fn whole(&mut self, block: &mut Block) -> Read<()> {
        self.script(block)?;
        self.fill_bodies(block);
        Ok(())
    }

    /// Blanks, line continuations, comments.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.rest().starts_with("\\\r\n") => self.at += 3,
                Some(b'\r') if matches!(self.peek_at(1), Some(b'\n') | None) => self.at += 1,
                Some(b'#') => {
                    let line = memchr::memchr(b'\n', self.rest().as_bytes());
                    self.at += line.unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    /// Blanks and line ends.
    fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    fn newline(&mut self) -> Read<()> {
        self.at += 1;
        self.read_bodies()
    }

    /// Commands until one of `stops` stands where a command could begin.
    fn commands(&mut self, block: &mut Block, stops: impl Fn(&str) -> bool + Copy) -> Read<()> {
        loop {
            self.skip_lines()?;
            match self.peek() {
                None | Some(b')') => return Ok(()),
                Some(b';') if self.peek_at(1) == Some(b';') || self.peek_at(1) == Some(b'&') => {
                    return Ok(());
                }
                _ => {}
            }
            if stops(self.keyword()) {
                return Ok(());
            }
            let start = block.len();
            self.and_or(block)?;
            self.skip_blanks();
            match self.peek() {
                Some(b'&') => {
                    self.at += 1;
                    loosen(block, start);
                }
                Some(b';') if !matches!(self.peek_at(1), Some(b';' | b'&')) => self.at += 1,
                Some(b'\n') => self.newline()?,
                None | Some(b')' | b';' | b'}') => {}
                Some(_) => return self.fail("unexpected token"),
            }
        }
    }

    /// `a && b || c`
    fn and_or(&mut self, block: &mut Block) -> Read<()> {
        let start = block.len();
        let first = self.pipeline()?;
        block.push(first);
        let mut alternative = false;
        loop {
            self.skip_blanks();
            if self.eat("||") {
                alternative = true;
            } else if !self.eat("&&") {
                if alternative {
                    loosen(block, start);
                }
                return Ok(());
            }
            self.skip_lines()?;
            let next = self.pipeline()?;
            block.push(Node::Maybe(Box::new(next)));
        }
    }

    fn pipeline(&mut self) -> Read<Node> {
        self.skip_blanks();
        // `!` and `time` change nothing about what runs.
        loop {
            // `!(…)` is a subshell unless extended globs are on, and then no command's name.
            let negates = matches!(self.peek_at(1), Some(b' ' | b'\t' | b'\n' | b'(') | None);
            if self.peek() == Some(b'!') && negates {
                self.at += 1;
            } else if self.keyword() == "time" {
                self.at += "time".len();
                self.skip_blanks();
                while self.eat("-p ") || self.eat("-- ") {
                    self.skip_blanks();
                }
            } else {
                break;
            }
            self.skip_blanks();
        }
        if matches!(self.peek(), None | Some(b'\n' | b';' | b')')) {
            // A lone `time` or `!`.
            return Ok(Node::Simple(Simple::default()));
        }
        let mut nodes = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.rest().starts_with("||") || !self.rest().starts_with('|') {
                break;
            }
            self.at += 1;
            if self.peek() == Some(b'&') {
                self.at += 1;
            }
            self.skip_lines()?;
            nodes.push(self.command()?);
        }
        match nodes.len() {
            1 => nodes.pop().map_or_else(|| self.fail("no command"), Ok),
            _ => Ok(Node::Pipe(nodes)),
        }
    }

    /// The plain word that stands here, if it could be a keyword.
    fn keyword(&self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .bytes()
            .take(12)
            .position(|b| {
                !(b.is_ascii_alphabetic() || matches!(b, b'{' | b'}' | b'!' | b'[' | b']'))
            })
            .unwrap_or(rest.len().min(12));
        let word = rest.get(..end).unwrap_or("");
        match rest.as_bytes().get(end) {
            // `if=…`, `for-each` and `"do"x` are no keywords.
            None
            | Some(b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>') => {
                word
            }
            Some(_) => "",
        }
    }

    fn expect(&mut self, keyword: &'static str) -> Read<()> {
        self.skip_lines()?;
        if self.keyword() != keyword {
            return self.fail("a keyword is missing");
        }
        self.at += keyword.len();
        Ok(())
    }

    fn block(&mut self, stops: &'static [&'static str]) -> Read<Block> {
        let mut block = Block::new();
        self.deeper(|p| p.commands(&mut block, |word| stops.contains(&word)))?;
        Ok(block)
    }

    /// `{ … }`
    fn braced_block(&mut self) -> Read<Block> {
        self.at += 1;
        let block = self.block(&["}"])?;
        self.require("}", "`}` is missing")?;
        Ok(block)
    }

    fn command(&mut self) -> Read<Node> {
        self.pay(6)?;
        self.skip_blanks();
        if self.rest().starts_with("((")
            && let Some(node) = self.arithmetic_command()?
        {
            return self.with_redirects(node);
        }
        if self.eat("(") {
            let block = self.block(&[])?;
            self.require(")", "`)` is missing")?;
            return self.with_redirects(Node::Subshell(block));
        }
        let node = match self.keyword() {
            // zsh's `{ … } always { … }` runs both.
            "{" => Node::Group(self.braced_block()?),
            "if" => self.if_command()?,
            "while" | "until" => self.loop_command()?,
            "for" | "select" | "foreach" => self.for_command()?,
            "case" => self.case_command()?,
            "[[" => self.test_command()?,
            "function" => return self.function_command(),
            "coproc" => return self.coproc_command(),
            "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}" | "]]" => {
                return self.fail("a keyword where a command is expected");
            }
            _ => return self.simple_command(),
        };
        self.with_redirects(node)
    }

    fn with_redirects(&mut self, node: Node) -> Read<Node> {
        let redirects = self.redirects()?;
        Ok(if redirects.is_empty() {
            node
        } else {
            Node::Redirected(Box::new(node), redirects)
        })
    }

    /// The inside of `$( … )`, up to its parenthesis.
    pub(super) fn substitution(&mut self) -> Read<Block> {
        let mut block = Block::new();
        let outer = (
            std::mem::take(&mut self.waiting),
            std::mem::take(&mut self.bodies),
        );
        self.deeper(|p| p.commands(&mut block, |_| false))?;
        self.read_bodies()?;
        self.require(")", "`)` is missing")?;
        self.fill_bodies(&mut block);
        (self.waiting, self.bodies) = outer;
        Ok(block)
    }
}

/// Marks the commands from `start` on as ones that the script can succeed without.
fn loosen(block: &mut Block, start: usize) {
    for node in block.iter_mut().skip(start) {
        if !matches!(node, Node::Loose(_)) {
            let tight = std::mem::replace(node, Node::Pipe(Vec::new()));
            *node = Node::Loose(Box::new(tight));
        }
    }
}
