//! Where in a text of Markdown the next character stands: in code, or in the middle of a sentence.
//! A tag of a call that stands there is talked about, not meant.

/// Marks of a fence, at the least.
const FENCE: usize = 3;

/// The place of the next character.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they have nothing to do with each other"
)]
pub(super) struct Place {
    /// The fence that is open: its mark, and how many of them.
    fence: Option<(u8, usize)>,
    /// Whether it was opened in this line.
    opening: bool,
    /// How many marks opened the code span that is open in this line; 0 if none is.
    span: usize,
    /// Marks of the same kind that have just come, and whether they began their line.
    run: (u8, usize),
    run_begins_line: bool,
    /// Whether the line has no character but white space yet.
    blank: bool,
    /// Whether the line quotes somebody: it begins with `>`.
    quoted: bool,
    /// The last two characters of the line.
    last: (char, char),
}

impl Default for Place {
    fn default() -> Self {
        Place {
            fence: None,
            opening: false,
            span: 0,
            run: (0, 0),
            run_begins_line: false,
            blank: true,
            quoted: false,
            last: ('\n', '\n'),
        }
    }
}

impl Place {
    /// Moves behind `text`.
    pub(super) fn pass(&mut self, text: &str) {
        let special = memchr::memchr3(b'\n', b'`', b'~', text.as_bytes());
        if special.is_none() && self.run.1 == 0 {
            let said = text.trim_start();
            if !said.is_empty() {
                self.quoted |= self.blank && said.starts_with('>');
                self.blank = false;
            }
            let mut back = text.chars().rev();
            match (back.next(), back.next()) {
                (Some(last), Some(before)) => self.last = (before, last),
                (Some(last), None) => self.last = (self.last.1, last),
                (None, _) => {}
            }
            return;
        }
        for c in text.chars() {
            self.step(c);
        }
    }

    fn step(&mut self, c: char) {
        let mark = match c {
            '`' => b'`',
            '~' => b'~',
            _ => 0,
        };
        if mark == 0 || mark != self.run.0 {
            self.settle(Some(c));
        }
        if mark != 0 {
            if self.run.1 == 0 {
                self.run_begins_line = self.blank;
            }
            self.run = (mark, self.run.1 + 1);
        }
        if c == '\n' {
            // A mark that is not closed in its line is taken for an apostrophe or the like.
            self.span = 0;
            self.blank = true;
            self.quoted = false;
            self.opening = false;
        } else if !c.is_whitespace() {
            self.quoted |= self.blank && c == '>';
            self.blank = false;
        }
        self.last = (self.last.1, c);
    }

    /// The marks that came last are complete; `next` follows them, if that is known.
    fn settle(&mut self, next: Option<char>) {
        let (mark, count) = std::mem::take(&mut self.run);
        if count == 0 {
            return;
        }
        match self.fence {
            // Marks behind it in its line: it was a code span.
            Some((b'`', open)) if mark == b'`' && self.opening => {
                self.fence = None;
                self.span = if count == open { 0 } else { open };
            }
            Some((open, least)) if mark == open && count >= least && self.run_begins_line => {
                // With the name of a language, it begins one in a text about Markdown.
                if next.is_none_or(char::is_whitespace) {
                    self.fence = None;
                }
            }
            None if count >= FENCE && self.run_begins_line => {
                self.fence = Some((mark, count));
                self.opening = true;
            }
            None if mark == b'`' && self.span == 0 => self.span = count,
            None if mark == b'`' && self.span == count => self.span = 0,
            Some(_) | None => {}
        }
    }

    /// Whether the next character is a part of code.
    pub(super) fn is_code(&self) -> bool {
        let mut here = self.clone();
        here.settle(None);
        here.fence.is_some() || here.span > 0
    }

    /// Whether the next character begins its line.
    pub(super) fn begins_line(&self) -> bool {
        self.blank
    }

    /// Whether the next character stands in a sentence that goes on, or in quotes.
    pub(super) fn is_mid_sentence(&self) -> bool {
        if self.quoted {
            return true;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == ',';
        match self.last {
            (_, '"' | '\'' | '(' | '“' | '‘' | '«') => true,
            (before, ' ') => is_word(before),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: bool, mid_sentence: bool) {
        for cut in 0..=text.len() {
            let Some((a, b)) = text.split_at_checked(cut) else {
                continue;
            };
            let mut place = Place::default();
            place.pass(a);
            place.pass(b);
            assert_eq!(place.is_code(), code, "{a:?} {b:?}");
            assert_eq!(place.is_mid_sentence(), mid_sentence, "{a:?} {b:?}");
        }
    }

    #[test]
    fn code_and_sentences_are_known_however_the_text_is_split() {
        check("", false, false);
        check("Look:\n```xml\n", true, false);
        check("Look:\n```xml\na\n```\n", false, false);
        check("Look:\n```xml\na\n``` \t\r\n", false, false);
        check("```xml\na\n``` Now.\n", false, false);
        check("```md\n```xml\n", true, false);
        check("```md\n```xml\n```\n", false, false);
        check("```md\n```", false, false);
        check("```ls``` ", false, false);
        check("```ls``` is it\n", false, false);
        check("```ls`` ", true, false);
        check("~~~ a`b\n", true, false);
        check("> ", false, true);
        check(" > a\n", false, false);
        check("a > ", false, false);
        check("~~~\n```\n", true, false);
        check("````\n```\n", true, false);
        check("Write `", true, false);
        check("Write `a` ", false, false);
        check("Write ``a` ", true, false);
        check("don`t\n", false, false);
        check("The tag ", false, true);
        check("I do it now. ", false, false);
        check("Done:", false, false);
        check("the tag \"", false, true);
    }
}
