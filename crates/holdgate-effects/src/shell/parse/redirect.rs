//! Where input comes from and output goes, and the bodies of here-documents after the line.

use super::{Parser, Read};
use crate::shell::here;
use crate::shell::syntax::{Block, Redirect, RedirectKind, Word};

/// A here-document whose body starts after the line.
#[derive(Debug)]
pub(super) struct Waiting {
    end: String,
    quoted: bool,
    strip_tabs: bool,
    /// Which of the bodies it is.
    number: usize,
}

/// The tokens, those that begin with others first.
const KINDS: [(&str, RedirectKind); 13] = [
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

impl Parser<'_> {
    pub(super) fn redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        let start = self.at;
        if !matches!(self.peek(), Some(b'0'..=b'9' | b'<' | b'>' | b'&' | b'{')) {
            return Ok(None);
        }
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits;
        let mut descriptor = self.slice(start, self.at).parse().ok();
        if let Some(length) = self.named_descriptor().filter(|_| digits == 0) {
            self.at += length;
            descriptor = Some(10);
        }
        let is_process = |p: &Self| p.rest().starts_with("<(") || p.rest().starts_with(">(");
        let found = KINDS
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

    /// The length of `{name}` before `>` or `<`.
    fn named_descriptor(&self) -> Option<usize> {
        let name = self.rest().strip_prefix('{')?;
        let length = name.bytes().take(63).position(|b| b == b'}')?;
        let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let named = name.bytes().take(length).all(is_name);
        let redirects = matches!(self.peek_at(length + 2), Some(b'<' | b'>'));
        (named && redirects).then_some(length + 2)
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
            return self.fail("the delimiter of a here-document must be plain text");
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

    pub(super) fn read_bodies(&mut self) -> Read<()> {
        for waiting in std::mem::take(&mut self.waiting) {
            let body = here::body(self, &waiting.end, waiting.strip_tabs, waiting.quoted)?;
            if let Some(place) = self.bodies.get_mut(waiting.number) {
                *place = Some(body);
            }
        }
        Ok(())
    }

    pub(super) fn fill_bodies(&mut self, block: &mut Block) {
        if !self.bodies.is_empty() {
            here::fill(block, &mut self.bodies);
        }
    }
}
