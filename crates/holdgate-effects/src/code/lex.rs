//! Cuts code of any C-like or scripting language into tokens.
//!
//! Forgiving: what is not understood becomes a mark of one character, and nothing is an error.
//! Linear: no byte is looked at more than a fixed number of times.

mod here;
mod mark;
mod quote;
mod special;
mod text;
mod token;

pub(super) use text::{Part, parts, unescape};
pub(super) use token::{Escapes, Holes, Kind, Meaning, Quote, Token, Tokens};

use crate::code::Language;

/// Cuts `code` into tokens.
pub(super) fn tokens(code: &str, language: Language) -> Tokens<'_> {
    let mut lexer = Lexer::new(code, language);
    lexer.all();
    let list = lexer.list;
    let partners = partners(&list);
    let lines = outer_lines(&list, &partners);
    Tokens {
        code,
        list,
        partners,
        lines,
    }
}

fn outer_lines(list: &[Token<'_>], partners: &[u32]) -> Vec<(usize, u32)> {
    let mut lines = Vec::new();
    let mut inside_until = 0;
    for (index, (token, partner)) in list.iter().zip(partners).enumerate() {
        if let Kind::Line(indent) = token.kind
            && index >= inside_until
        {
            lines.push((index, indent));
        }
        inside_until = inside_until.max(usize::try_from(*partner).unwrap_or(0));
    }
    lines
}

fn partners(list: &[Token<'_>]) -> Vec<u32> {
    let mut partners = vec![0; list.len()];
    let mut open: Vec<(usize, u8)> = Vec::new();
    for (index, token) in list.iter().enumerate() {
        if token.kind != Kind::Mark {
            continue;
        }
        match token.text {
            "(" => open.push((index, b')')),
            "[" => open.push((index, b']')),
            "{" => open.push((index, b'}')),
            ")" | "]" | "}" => {
                let wanted = token.text.as_bytes().first().copied();
                // A stray closing bracket is skipped; a missing one is made up for by the next.
                let near = open.iter().rev().take(4);
                if let Some(depth) = near.clone().position(|(_, b)| Some(*b) == wanted) {
                    open.truncate(open.len() - depth);
                    if let Some((opening, _)) = open.pop()
                        && let Some(slot) = partners.get_mut(opening)
                    {
                        *slot = u32::try_from(index).unwrap_or(0);
                    }
                }
            }
            _ => {}
        }
    }
    partners
}

/// Whether PHP starts with the text of a page. `php -r` takes code at once, in which a literal may hold
/// a page.
fn starts_as_page(code: &str) -> bool {
    let before = code.split_once("<?").map(|(before, _)| before.trim_start());
    before.is_some_and(|text| {
        text.is_empty() || text.starts_with(['<', '#']) || !text.contains([';', '(', '$', '{'])
    })
}

/// The part of PHP that is code if it all is a page, where that cannot be told.
pub(super) fn code_of_page(code: &str) -> Option<&str> {
    let at = code.find("<?").filter(|_| !starts_as_page(code))?;
    code.get(at..)
}

struct Lexer<'a> {
    code: &'a str,
    bytes: &'a [u8],
    at: usize,
    language: Language,
    list: Vec<Token<'a>>,
    /// Where the code goes on after the here-documents that the current line has started.
    resume: Option<usize>,
    /// Whether `'a` may be a lifetime.
    lifetimes: bool,
    spaced: bool,
    /// For each open bracket, whether a statement may start behind its partner.
    open: Vec<bool>,
    /// Whether a statement may start behind the bracket that was closed last.
    closed_block: bool,
    /// How many more literals there may be in code in literals. None once code in a literal has had
    /// no end: from there on braces are plain text.
    holes: u32,
}

impl<'a> Lexer<'a> {
    fn new(code: &'a str, language: Language) -> Self {
        Lexer {
            code,
            bytes: code.as_bytes(),
            at: 0,
            language,
            list: Vec::new(),
            resume: None,
            lifetimes: language == Language::Compiled
                && ["fn ", "let ", "macro_rules!"]
                    .iter()
                    .any(|word| code.contains(word)),
            spaced: false,
            open: Vec::new(),
            closed_block: false,
            holes: quote::MAX_NESTING,
        }
    }

    fn all(&mut self) {
        self.list.reserve(self.code.len() / 5);
        if self.language == Language::Php && starts_as_page(self.code) {
            self.skip_page();
        }
        self.line_start();
        while self.step() {}
    }

    /// Reads one piece of code. `false` where the code ends.
    fn step(&mut self) -> bool {
        let Some(byte) = self.peek(0) else {
            return false;
        };
        match byte {
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                self.at += 1;
                self.spaced = true;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => return self.name(),
            b'\n' => {
                self.at = self.resume.take().unwrap_or(self.at + 1);
                self.line_start();
            }
            b'#' | b'/' | b'-' | b'=' if self.comment(byte) => self.spaced = true,
            b'\\' if self.peek(1) == Some(b'\n') => {
                self.at += 2;
                self.spaced = true;
            }
            b'?' if self.language == Language::Php && self.peek(1) == Some(b'>') => {
                self.at += 2;
                self.skip_page();
            }
            b'"' | b'\'' | b'`' => self.quoted(),
            b'0'..=b'9' => self.number(),
            b'$' | b'@' | b'%' if self.begins_variable(byte) => return self.name(),
            _ if self.special_literal(byte) => {}
            _ => self.mark(),
        }
        true
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.code.get(from..to).unwrap_or("")
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    fn push(&mut self, kind: Kind, text: &'a str, start: usize) {
        self.list.push(Token {
            kind,
            text,
            // Calls are far below 4 GiB.
            start: u32::try_from(start).unwrap_or(u32::MAX),
            end: u32::try_from(self.at).unwrap_or(u32::MAX),
            spaced: self.spaced,
        });
        self.spaced = false;
    }

    fn line_start(&mut self) {
        let start = self.at;
        while let Some(b' ' | b'\t') = self.peek(0) {
            self.at += 1;
        }
        let indent = u32::try_from(self.at - start).unwrap_or(u32::MAX);
        if matches!(self.peek(0), Some(b'\n' | b'\r') | None) {
            return;
        }
        self.push(Kind::Line(indent), "", self.at);
    }

    /// The text of a page around the code in it.
    fn skip_page(&mut self) {
        match memchr::memmem::find(self.rest(), b"<?") {
            Some(found) => {
                self.at += found + 2;
                if self.rest().starts_with(b"php") {
                    self.at += 3;
                } else if self.peek(0) == Some(b'=') {
                    self.at += 1;
                }
            }
            None => self.at = self.bytes.len(),
        }
    }

    /// Skips a comment, if one starts here.
    fn comment(&mut self, byte: u8) -> bool {
        use Language::{Lua, Perl, Php, Python, Ruby};
        match byte {
            b'#' => {
                let shebang = self.peek(1) == Some(b'!') && self.at == 0;
                let comments = shebang
                    || matches!(self.language, Python | Perl | Ruby)
                    || (self.language == Php && self.peek(1) != Some(b'['));
                // `$#array` is a length.
                if !comments || (self.at > 0 && self.bytes.get(self.at - 1) == Some(&b'$')) {
                    return false;
                }
                self.skip_line();
                true
            }
            b'/' if !matches!(self.language, Python | Perl | Ruby | Lua) => match self.peek(1) {
                Some(b'/') => {
                    self.skip_line();
                    true
                }
                Some(b'*') => {
                    self.at += 2;
                    self.skip_past(b"*/");
                    true
                }
                _ => false,
            },
            b'-' if self.language == Lua && self.peek(1) == Some(b'-') => {
                if self.rest().starts_with(b"--[[") {
                    self.skip_past(b"]]");
                } else {
                    self.skip_line();
                }
                true
            }
            b'=' if matches!(self.language, Perl | Ruby) && self.at_line_start() => {
                let letter = self.peek(1).is_some_and(|b| b.is_ascii_alphabetic());
                let end: &[u8] = if self.language == Ruby && self.rest().starts_with(b"=begin") {
                    b"\n=end"
                } else if self.language == Perl && letter {
                    b"\n=cut"
                } else {
                    return false;
                };
                self.skip_past(end);
                self.skip_line();
                true
            }
            _ => false,
        }
    }

    fn at_line_start(&self) -> bool {
        self.at == 0 || self.bytes.get(self.at - 1) == Some(&b'\n')
    }

    fn skip_line(&mut self) {
        self.at = memchr::memchr(b'\n', self.rest()).map_or(self.bytes.len(), |n| self.at + n);
    }

    fn skip_past(&mut self, end: &[u8]) {
        self.at = memchr::memmem::find(self.rest(), end)
            .map_or(self.bytes.len(), |n| self.at + n + end.len());
    }

    /// Whether a sigil starts a variable here.
    fn begins_variable(&self, byte: u8) -> bool {
        use Language::{JavaScript, Perl, Php, Ruby};
        let next = self.peek(1).unwrap_or(0);
        let names = |b: u8| b.is_ascii_alphabetic() || b == b'_' || b >= 0x80;
        let language = self.language;
        match byte {
            b'$' if language == Perl => names(next) || next == b'$' || next.is_ascii_digit(),
            b'$' => language == JavaScript || (matches!(language, Php | Ruby) && names(next)),
            b'@' if language == Ruby => names(next) || next == b'@',
            b'@' => language == Perl && names(next),
            _ => language == Perl && names(next) && !self.value_before(),
        }
    }

    /// A name, or a literal that starts like one. `false` where the code ends.
    fn name(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        // `$$x`, `@@x`
        let sigil = matches!(self.bytes.get(start), Some(b'$' | b'@'));
        if sigil && matches!(self.peek(0), Some(b'$' | b'@')) {
            self.at += 1;
        }
        let dollar = self.language == Language::JavaScript;
        let length = self
            .rest()
            .iter()
            .take_while(|b| {
                b.is_ascii_alphanumeric() || **b == b'_' || **b >= 0x80 || (dollar && **b == b'$')
            })
            .count();
        self.at += length;
        let text = self.slice(start, self.at);
        let ends = (text == "__END__" && self.language == Language::Ruby)
            || (matches!(text, "__END__" | "__DATA__") && self.language == Language::Perl);
        if ends {
            return false;
        }
        if self.prefixed(text, start) || self.is_scalar(text) {
            return true;
        }
        if self.language == Language::Ruby
            && matches!(self.peek(0), Some(b'?' | b'!'))
            && self.peek(1) != Some(b'=')
        {
            self.at += 1;
        }
        self.push(Kind::Name, text, start);
        // Rust's macros that read when it is compiled are called like functions.
        let macros = [
            "include_str",
            "include_bytes",
            "include",
            "concat",
            "env",
            "option_env",
        ];
        if self.language == Language::Compiled
            && self.rest().starts_with(b"!(")
            && macros.contains(&text)
        {
            self.at += 1;
        }
        true
    }

    /// Perl's `scalar` before an expression changes nothing about constants.
    fn is_scalar(&self, name: &str) -> bool {
        let mut after = self.rest().iter().skip_while(|b| **b == b' ');
        self.language == Language::Perl
            && name == "scalar"
            && self.peek(0) == Some(b' ')
            && !matches!(after.next(), Some(b'=' | b',' | b';' | b')'))
    }
}
