//! Shell text to [`Block`]s: bash's grammar, and of zsh's and ksh's what agents write.
//!
//! The reader is total and linear: it looks at each byte a bounded number of times and pays for what
//! it makes of them, its recursion is bounded, and what it cannot read is an error that says where.
//! Nothing is guessed here.

use super::syntax::{Assignment, Block, Node, Redirect, RedirectKind, Simple, Word};
use crate::fuel::{Fuel, OutOfFuel};
use std::sync::Arc;

/// Groups in groups, substitutions in substitutions.
pub(super) const MAX_DEPTH: u32 = 64;

/// How often each byte may be looked at ahead of its turn, on average.
const LOOKS_AHEAD: usize = 16;

/// Where the text stops to make sense, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// What stops the reader when it has no fuel.
const COSTS_TOO_MUCH: &str = "too costly to read";

pub(super) type Read<T> = Result<T, SyntaxError>;

/// A here-document whose body starts after the line.
#[derive(Debug)]
struct Waiting {
    end: String,
    quoted: bool,
    strip_tabs: bool,
    /// Which of the bodies it is.
    number: usize,
}

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

    /// One level deeper, as long as that is sane.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return self.fail("nested too deep");
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
                while self.rest().starts_with("-p") || self.rest().starts_with("--") {
                    let option = self.rest().starts_with("-p ") || self.rest().starts_with("-- ");
                    if !option {
                        break;
                    }
                    self.at += 2;
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

    fn command(&mut self) -> Read<Node> {
        self.pay(6)?;
        self.skip_blanks();
        if self.rest().starts_with("((")
            && let Some(node) = self.arithmetic_command()?
        {
            return Ok(node);
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            let block = self.block(&[])?;
            if !self.eat(")") {
                return self.fail("`)` is missing");
            }
            let redirects = self.redirects()?;
            return Ok(Node::Subshell(block, redirects));
        }
        match self.keyword() {
            "{" => {
                self.at += 1;
                let block = self.block(&["}"])?;
                if !self.eat("}") {
                    return self.fail("`}` is missing");
                }
                let redirects = self.redirects()?;
                // zsh's `{ … } always { … }` runs both.
                Ok(Node::Group(block, redirects))
            }
            "if" => self.if_command(),
            "while" | "until" => self.loop_command(),
            "for" | "select" | "foreach" => self.for_command(),
            "case" => self.case_command(),
            "[[" => self.test_command(),
            "function" => self.function_command(),
            "coproc" => self.coproc_command(),
            "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}" | "]]" => {
                self.fail("a keyword stands where a command should")
            }
            _ => self.simple_command(),
        }
    }

    fn if_command(&mut self) -> Read<Node> {
        let mut blocks = Vec::new();
        self.at += 2;
        loop {
            blocks.push(self.block(&["then"])?);
            self.expect("then")?;
            blocks.push(self.block(&["elif", "else", "fi"])?);
            match self.keyword() {
                "elif" => self.at += 4,
                "else" => {
                    self.at += 4;
                    blocks.push(self.block(&["fi"])?);
                    self.expect("fi")?;
                    break;
                }
                _ => {
                    self.expect("fi")?;
                    break;
                }
            }
        }
        let redirects = self.redirects()?;
        Ok(Node::If(blocks, redirects))
    }

    fn loop_command(&mut self) -> Read<Node> {
        self.at += 5;
        let condition = self.block(&["do"])?;
        let body = self.do_body()?;
        let redirects = self.redirects()?;
        Ok(Node::Loop {
            condition,
            body,
            redirects,
        })
    }

    fn do_body(&mut self) -> Read<Block> {
        self.skip_lines()?;
        if self.keyword() == "{" {
            self.at += 1;
            let body = self.block(&["}"])?;
            if !self.eat("}") {
                return self.fail("`}` is missing");
            }
            return Ok(body);
        }
        self.expect("do")?;
        let body = self.block(&["done"])?;
        self.expect("done")?;
        Ok(body)
    }

    fn for_command(&mut self) -> Read<Node> {
        self.at += self.keyword().len();
        self.skip_blanks();
        if self.rest().starts_with("((") {
            let head = self.arithmetic_head()?;
            self.skip_blanks();
            let _ = self.eat(";");
            let mut body = self.do_body()?;
            body.insert(0, Node::Arithmetic(head));
            let redirects = self.redirects()?;
            return Ok(Node::Loop {
                condition: Vec::new(),
                body,
                redirects,
            });
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
        let redirects = self.redirects()?;
        Ok(Node::For {
            name,
            items,
            body,
            redirects,
        })
    }

    fn words_until_paren(&mut self) -> Read<Vec<Word>> {
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

    fn case_command(&mut self) -> Read<Node> {
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
        let redirects = self.redirects()?;
        Ok(Node::Case {
            word,
            patterns,
            arms,
            redirects,
        })
    }

    fn test_command(&mut self) -> Read<Node> {
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.rest().starts_with("]]") {
                self.at += 2;
                let redirects = self.redirects()?;
                return Ok(Node::Test(words, redirects));
            }
            match self.peek() {
                None => return self.fail("`]]` is missing"),
                Some(b'(' | b')' | b'<' | b'>' | b'&' | b'|' | b';') => self.at += 1,
                Some(_) => words.push(self.test_word()?),
            }
        }
    }

    fn function_command(&mut self) -> Read<Node> {
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

    fn function_body(&mut self, name: String) -> Read<Node> {
        self.skip_lines()?;
        let body = self.deeper(Self::command)?;
        Ok(Node::Function {
            name,
            body: Arc::new(body),
        })
    }

    /// `coproc command`, `coproc NAME { … }`: it runs.
    fn coproc_command(&mut self) -> Read<Node> {
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

    pub(super) fn name(&mut self) -> Read<String> {
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

    fn simple_command(&mut self) -> Read<Node> {
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
                    if !self.eat(")") {
                        return self.fail("unexpected `(`");
                    }
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

    fn redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    fn redirect(&mut self) -> Read<Option<Redirect>> {
        let start = self.at;
        if !matches!(self.peek(), Some(b'0'..=b'9' | b'<' | b'>' | b'&' | b'{')) {
            return Ok(None);
        }
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits;
        let mut descriptor = self.slice(start, self.at).parse().ok();
        if digits == 0 && self.peek() == Some(b'{') {
            // `{name}>file`
            let length = self.rest().bytes().take(64).position(|b| b == b'}');
            let after = length.and_then(|l| self.peek_at(l + 1));
            if let Some(length) = length
                && matches!(after, Some(b'<' | b'>'))
                && self
                    .slice(start + 1, start + length)
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_')
            {
                self.at += length + 1;
                descriptor = Some(10);
            }
        }
        let kinds: [(&str, RedirectKind); 13] = [
            ("&>>", RedirectKind::AppendBoth),
            ("&>", RedirectKind::WriteBoth),
            ("<<<", RedirectKind::Text),
            ("<<-", RedirectKind::Text),
            ("<<", RedirectKind::Text),
            ("<&", RedirectKind::Duplicate),
            ("<>", RedirectKind::ReadWrite),
            ("<", RedirectKind::Read),
            (">>", RedirectKind::Append),
            (">&", RedirectKind::Duplicate),
            (">|", RedirectKind::Write),
            (">!", RedirectKind::Write),
            (">", RedirectKind::Write),
        ];
        let is_process = |p: &Self| p.rest().starts_with("<(") || p.rest().starts_with(">(");
        let found = kinds
            .iter()
            .find(|(token, _)| self.rest().starts_with(token));
        let Some((token, kind)) = found.filter(|_| !is_process(self)) else {
            self.at = start;
            return Ok(None);
        };
        let from = self.at;
        self.at += token.len();
        self.skip_blanks();
        if *token == ">!" && !self.begins_word() {
            // To bash, a file of that name.
            self.at = from + 1;
        }
        if *token == "<<" || *token == "<<-" {
            let body = Some(self.here_document(*token == "<<-")?);
            return Ok(Some(Redirect {
                descriptor,
                kind: RedirectKind::Text,
                target: Word::default(),
                body,
            }));
        }
        let descriptor = descriptor.or(Some(u32::from(self.slice(from, from + 1) == ">")));
        let target = self.word()?;
        let mut kind = *kind;
        if kind == RedirectKind::Duplicate && *token == ">&" {
            let text = target.as_literal().unwrap_or_default();
            let number = text
                .trim_end_matches('-')
                .bytes()
                .all(|b| b.is_ascii_digit());
            if !number && !text.is_empty() {
                kind = RedirectKind::WriteBoth;
            }
        }
        Ok(Some(Redirect {
            descriptor,
            kind,
            target,
            body: None,
        }))
    }

    fn begins_word(&self) -> bool {
        !matches!(
            self.peek(),
            None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
        )
    }

    /// Notes a here-document; its body comes after the line.
    fn here_document(&mut self, strip_tabs: bool) -> Read<usize> {
        let start = self.at;
        let word = self.word()?;
        let raw = self.slice(start, self.at);
        let Some(end) = word.as_literal() else {
            return self.fail("the end of a here-document must be plain");
        };
        let number = self.bodies.len();
        self.bodies.push(None);
        self.waiting.push(Waiting {
            end,
            quoted: raw.contains(['\'', '"', '\\']),
            strip_tabs,
            number,
        });
        Ok(number)
    }

    fn read_bodies(&mut self) -> Read<()> {
        for waiting in std::mem::take(&mut self.waiting) {
            let body = super::here::body(self, &waiting.end, waiting.strip_tabs, waiting.quoted)?;
            if let Some(place) = self.bodies.get_mut(waiting.number) {
                *place = Some(body);
            }
        }
        Ok(())
    }

    fn fill_bodies(&mut self, block: &mut Block) {
        if !self.bodies.is_empty() {
            super::here::fill(block, &mut self.bodies);
        }
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
        if !self.eat(")") {
            return self.fail("`)` is missing");
        }
        self.fill_bodies(&mut block);
        (self.waiting, self.bodies) = outer;
        Ok(block)
    }

    /// `(( … ))` as a command; `None` if it turns out to be a subshell in a subshell.
    fn arithmetic_command(&mut self) -> Read<Option<Node>> {
        if !self.closes_as_arithmetic(self.at)? {
            return Ok(None);
        }
        let node = Node::Arithmetic(self.arithmetic_head()?);
        let redirects = self.redirects()?;
        Ok(Some(if redirects.is_empty() {
            node
        } else {
            Node::Group(vec![node], redirects)
        }))
    }

    /// Whether the `((` at `from` ends with `))` and so is arithmetic, not two subshells. A scan, so
    /// that nothing is read twice on the way.
    pub(super) fn closes_as_arithmetic(&mut self, from: usize) -> Read<bool> {
        let mut open = 0usize;
        let end = self.scan(from, |byte| {
            match byte {
                b'(' => open += 1,
                b')' if open == 2 => return true,
                b')' => open = open.saturating_sub(1),
                _ => {}
            }
            false
        })?;
        let bytes = self.text.as_bytes();
        Ok(end.is_some_and(|at| bytes.get(at + 1) == Some(&b')')))
    }

    /// Where the bracket that stands here is closed.
    fn closing_bracket(&mut self) -> Read<Option<usize>> {
        let mut open = 0usize;
        self.scan(self.at, |byte| {
            match byte {
                b'[' => open += 1,
                b']' if open == 1 => return true,
                b']' => open = open.saturating_sub(1),
                _ => {}
            }
            false
        })
    }

    /// Where `ends` first says so of a byte that is neither quoted nor escaped.
    fn scan(&mut self, from: usize, mut ends: impl FnMut(u8) -> bool) -> Read<Option<usize>> {
        let bytes = self.text.as_bytes();
        let mut at = from;
        let mut quote = None;
        let mut end = None;
        while let Some(byte) = bytes.get(at).copied() {
            match (byte, quote) {
                (b'\\', None | Some(b'"')) => at += 1,
                (b'\'' | b'"', None) => quote = Some(byte),
                (_, Some(by)) if by == byte => quote = None,
                (_, None) if ends(byte) => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
            at += 1;
            if at - from > self.ahead {
                return self.fail("too much stands open");
            }
        }
        self.ahead = self.ahead.saturating_sub(at - from);
        self.pay((at - from) as u64 / 16)?;
        Ok(end)
    }

    fn arithmetic_head(&mut self) -> Read<Word> {
        self.at += 2;
        self.deeper(Self::arithmetic)
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
