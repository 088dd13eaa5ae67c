//! Words: quotes, escapes, and in `variable.rs` what `$` begins.

mod variable;

use super::escape::{self, Style};
use super::parse::{Parser, Read};
use super::syntax::{Block, Part, Word};

/// Where a word ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// At blanks and operators.
    Word,
    /// At blanks only: inside of `[[ … ]]`, where `<`, `|` and parentheses are operators of tests.
    Test,
    /// At the closing quote.
    Quote,
    /// At the closing brace of `${…}`.
    Brace,
    /// The same for `"${x:-…}"`, where apostrophes mean themselves.
    QuotedBrace,
    /// At `/` or the closing brace: the pattern of `${x/pattern/with}`.
    Slash,
    /// At `:` or the closing brace: the offset of `${x:offset:length}`.
    Colon,
    /// At `]`: an index.
    Bracket,
    /// At `))`.
    Arithmetic,
    /// At the end of the text: a here-document.
    End,
}

impl Until {
    /// Whether a bracket must be closed before it ends.
    fn counts(self, bracket: u8) -> bool {
        match bracket {
            b'[' | b']' => self == Until::Bracket,
            _ => self == Until::Arithmetic,
        }
    }

    fn in_braces(self) -> bool {
        matches!(
            self,
            Until::Brace | Until::QuotedBrace | Until::Slash | Until::Colon
        )
    }
}

impl Parser<'_> {
    /// One word.
    pub(super) fn word(&mut self) -> Read<Word> {
        self.pay(2)?;
        let start = self.at;
        let word = self.parts(Until::Word)?;
        if self.at == start {
            return self.fail("a word is missing");
        }
        Ok(word)
    }

    pub(super) fn test_word(&mut self) -> Read<Word> {
        self.pay(2)?;
        let start = self.at;
        let word = self.parts(Until::Test)?;
        if self.at == start {
            self.at += 1;
        }
        Ok(word)
    }

    /// The body of a here-document that is open to expansion.
    pub(super) fn here_text(&mut self) -> Read<Word> {
        self.parts(Until::End)
    }

    /// An index and its bracket.
    pub(super) fn index(&mut self) -> Read<Word> {
        let index = self.parts(Until::Bracket)?;
        self.require("]", "`]` is missing")?;
        Ok(index)
    }

    /// Up to and with `))`.
    pub(super) fn arithmetic(&mut self) -> Read<Word> {
        let word = self.parts(Until::Arithmetic)?;
        self.require("))", "`))` is missing")?;
        Ok(word)
    }

    fn parts(&mut self, until: Until) -> Read<Word> {
        let mut word = Word::default();
        let mut open = 0usize;
        let in_quotes = matches!(until, Until::Quote | Until::QuotedBrace | Until::End);
        while let Some(byte) = self.peek() {
            self.pay(1)?;
            let start = self.at;
            if self.ends_here(byte, until, open) {
                break;
            }
            match byte {
                b'(' if until == Until::Word => {
                    if !self.glob_group(&mut word)? {
                        break;
                    }
                }
                b'<' | b'>'
                    if self.peek_at(1) == Some(b'(')
                        && matches!(until, Until::Word | Until::Brace | Until::Slash) =>
                {
                    self.at += 2;
                    let block = self.substitution()?;
                    word.parts.push(Part::Process {
                        block,
                        writes: byte == b'>',
                    });
                }
                b'[' | b']' | b'(' | b')' if until.counts(byte) => {
                    let opens = matches!(byte, b'[' | b'(');
                    open = if opens { open + 1 } else { open - 1 };
                    self.at += 1;
                    push_plain(&mut word, char::from(byte).encode_utf8(&mut [0; 4]));
                }
                b'\'' if !in_quotes => self.single_quotes(&mut word)?,
                b'"' if until != Until::End => self.double_quotes(&mut word)?,
                b'\\' => self.escape(&mut word, until),
                b'$' => self.dollar(&mut word, in_quotes)?,
                b'`' => {
                    let block = self.backticks()?;
                    word.parts.push(Part::Command {
                        block,
                        quoted: in_quotes,
                    });
                }
                _ => {
                    let rest = self.rest();
                    let ordinary = rest.bytes().take_while(|b| is_ordinary(*b, until));
                    let length = ordinary.count().max(1);
                    let end = ceil_boundary(rest, length);
                    let text = rest.get(..end).unwrap_or("");
                    if in_quotes {
                        push_quoted(&mut word, text);
                    } else {
                        push_plain(&mut word, text);
                    }
                    self.at += end;
                }
            }
            if self.at == start {
                return self.fail("unexpected character");
            }
        }
        Ok(word)
    }

    /// Whether `byte` ends what is read until `until`, with `open` brackets still open.
    fn ends_here(&self, byte: u8, until: Until, open: usize) -> bool {
        match byte {
            b' ' | b'\t' | b'\n' => matches!(until, Until::Word | Until::Test),
            b'\r' => until == Until::Word && matches!(self.peek_at(1), Some(b'\n') | None),
            b'<' | b'>' => until == Until::Word && self.peek_at(1) != Some(b'('),
            b';' | b'&' | b'|' => until == Until::Word,
            b')' => until == Until::Word || until == Until::Arithmetic && open == 0,
            b'"' => until == Until::Quote,
            b'}' => until.in_braces(),
            b'/' => until == Until::Slash,
            b':' => until == Until::Colon,
            b']' => until == Until::Bracket && open == 0,
            _ => false,
        }
    }

    fn single_quotes(&mut self, word: &mut Word) -> Read<()> {
        self.at += 1;
        let rest = self.rest();
        let Some(length) = memchr::memchr(b'\'', rest.as_bytes()) else {
            return self.fail("a quote is not closed");
        };
        push_quoted(word, rest.get(..length).unwrap_or(""));
        self.at += length + 1;
        Ok(())
    }

    fn double_quotes(&mut self, word: &mut Word) -> Read<()> {
        self.at += 1;
        let inner = self.deeper(|p| p.parts(Until::Quote))?;
        self.require("\"", "a quote is not closed")?;
        if inner.parts.is_empty() {
            push_quoted(word, "");
        }
        word.parts.extend(inner.parts);
        Ok(())
    }

    /// `@(a|b)`, `!(keep)`: an extended glob. zsh's qualifiers `*(.)` look alike.
    fn glob_group(&mut self, word: &mut Word) -> Read<bool> {
        let before = match word.parts.last() {
            Some(Part::Plain(text)) => text.chars().last(),
            _ => None,
        };
        if !matches!(before, Some('@' | '!' | '?' | '*' | '+')) {
            return Ok(false);
        }
        let rest = self.rest();
        let mut open = 0usize;
        for (at, byte) in rest.bytes().enumerate().take(4096) {
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        // What the alternatives are does not matter: the glob can mean anything.
                        push_plain(word, "*");
                        self.at += at + 1;
                        return Ok(true);
                    }
                }
                b'\n' => break,
                _ => {}
            }
        }
        self.fail("`)` is missing")
    }

    fn escape(&mut self, word: &mut Word, until: Until) {
        self.at += 1;
        let Some(next) = self.rest().chars().next() else {
            push_quoted(word, "\\");
            return;
        };
        self.at += next.len_utf8();
        if next == '\n' {
            return;
        }
        let escaped = match until {
            Until::Quote => matches!(next, '$' | '`' | '"' | '\\'),
            Until::QuotedBrace => matches!(next, '$' | '`' | '"' | '\\' | '}'),
            Until::End => matches!(next, '$' | '`' | '\\'),
            Until::Word
            | Until::Test
            | Until::Brace
            | Until::Slash
            | Until::Colon
            | Until::Bracket
            | Until::Arithmetic => true,
        };
        if !escaped {
            push_quoted(word, "\\");
        }
        push_quoted(word, next.encode_utf8(&mut [0; 4]));
    }

    /// The inside of `$'…'` and its quote.
    fn ansi_quoted(&mut self) -> Read<String> {
        let mut bytes = Vec::new();
        loop {
            let Some(char) = self.rest().chars().next() else {
                return self.fail("a quote is not closed");
            };
            self.at += char.len_utf8();
            match char {
                '\'' => break,
                '\\' => {
                    let used = escape::decode(self.rest(), Style::Quote, &mut bytes);
                    self.at += used.unwrap_or(0);
                }
                _ => bytes.extend(char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        // A NUL ends the text, though not the word.
        let end = memchr::memchr(0, &bytes).unwrap_or(bytes.len());
        bytes.truncate(end);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Backticks: their text is read anew, less one level of escapes.
    fn backticks(&mut self) -> Read<Block> {
        self.at += 1;
        let mut inner = String::new();
        loop {
            let rest = self.rest();
            let Some(length) = memchr::memchr2(b'`', b'\\', rest.as_bytes()) else {
                return self.fail("a backtick is not closed");
            };
            inner.push_str(rest.get(..length).unwrap_or(""));
            self.at += length;
            if self.eat("`") {
                break;
            }
            self.at += 1;
            match self.peek() {
                Some(b @ (b'`' | b'\\' | b'$')) => {
                    inner.push(char::from(b));
                    self.at += 1;
                }
                _ => inner.push('\\'),
            }
        }
        let start = self.at;
        let mut parser = Parser::new(&inner, self.depth, self.fuel);
        let mut block = Vec::new();
        match parser.deeper(|p| p.whole(&mut block)) {
            Ok(()) => Ok(block),
            // As documents mark code: no shell runs anything of it, nor fails for the rest.
            Err(_) if runs_nothing(inner.trim()) => Ok(Vec::new()),
            Err(mut error) => {
                error.at = start;
                Err(error)
            }
        }
    }
}

/// Whether a text that is no command has nothing in it that a shell could run: `;`, `name()`.
fn runs_nothing(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    text.chars().all(|c| ";&|<>()".contains(c))
        || text
            .strip_suffix("()")
            .is_some_and(|name| name.chars().all(is_name))
}

/// Bytes that mean nothing special here.
fn is_ordinary(byte: u8, until: Until) -> bool {
    let anywhere = byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(
            byte,
            b'-' | b'_' | b'.' | b',' | b'=' | b'+' | b'%' | b'@' | b'^' | b'~' | b'{'
        );
    let here = match until {
        Until::Quote => !matches!(byte, b'"' | b'\\' | b'$' | b'`'),
        Until::End => !matches!(byte, b'\\' | b'$' | b'`'),
        Until::Word | Until::Test => {
            matches!(
                byte,
                b'/' | b':' | b'}' | b'*' | b'?' | b'[' | b']' | b'#' | b'!'
            )
        }
        Until::Brace
        | Until::QuotedBrace
        | Until::Slash
        | Until::Colon
        | Until::Bracket
        | Until::Arithmetic => false,
    };
    anywhere || here
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn push_plain(word: &mut Word, text: &str) {
    match word.parts.last_mut() {
        Some(Part::Plain(last)) => last.push_str(text),
        _ => word.parts.push(Part::Plain(text.to_owned())),
    }
}

fn push_quoted(word: &mut Word, text: &str) {
    match word.parts.last_mut() {
        Some(Part::Quoted(last)) => last.push_str(text),
        _ => word.parts.push(Part::Quoted(text.to_owned())),
    }
}
