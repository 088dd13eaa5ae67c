//! A line of output as a terminal shows it, and as it was written.
//!
//! Colours, cursor moves, carriage returns and backspaces can hide words from a search, and show
//! other words than were written. So there are two readings; each takes linear time.

use std::borrow::Cow;

/// Where a cursor may jump to beyond what is written: no terminal is wider.
const MAX_COLUMN: usize = 1000;
/// A cell that nothing was written into, or that was erased.
const EMPTY: char = '\0';
/// Empty cells that are read as that many blanks. More blanks would add nothing, and a jump takes
/// few bytes.
const MAX_EMPTY: usize = 8;

/// One line, as bytes between line ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plain<'a> {
    /// What a terminal shows in the end. A jump to another line is a line end.
    pub(super) shown: Cow<'a, str>,
    /// All that was written, in order, if that is more: what was overwritten or erased, titles,
    /// links.
    pub(super) written: Option<String>,
}

/// Reads a line.
pub(super) fn plain(line: &[u8]) -> Plain<'_> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = String::from_utf8_lossy(line);
    if !text.contains(is_control) {
        return Plain {
            shown: text,
            written: None,
        };
    }
    let mut screen = Screen::default();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => escape(&mut chars, &mut screen),
            '\u{9b}' => control_sequence(&mut chars, &mut screen),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
                string(&mut chars, &mut screen);
            }
            '\r' => screen.move_to(0),
            '\u{8}' => screen.back(1),
            '\t' => screen.put('\t'),
            '\u{b}' | '\u{c}' | '\u{84}' | '\u{85}' | '\u{8d}' => screen.leave(),
            c if is_control(c) => {}
            c => screen.put(c),
        }
    }
    screen.finish()
}

fn is_control(c: char) -> bool {
    c.is_control() && c != '\t'
}

/// What is on the line, and the cursor.
#[derive(Default)]
struct Screen {
    cells: Vec<char>,
    column: usize,
    /// Where the cursor was put: which line of the screen, and the column in which that began.
    row: Option<usize>,
    origin: usize,
    /// All cells before it are empty, so that erasing them again costs nothing.
    empty_until: usize,
    shown: String,
    written: String,
    /// Something was written that is no longer visible.
    lost: bool,
}

impl Screen {
    fn put(&mut self, c: char) {
        self.written.push(c);
        if let Some(cell) = self.cells.get_mut(self.column) {
            self.lost |= *cell != c && *cell != EMPTY;
            *cell = c;
        } else {
            self.cells.resize(self.column, EMPTY);
            self.cells.push(c);
        }
        self.empty_until = self.empty_until.min(self.column);
        self.column += 1;
    }

    fn move_to(&mut self, column: usize) {
        if column < self.column {
            self.written.push('\n');
        } else if column > self.column {
            self.written.push(' ');
        }
        self.column = column.min(MAX_COLUMN.max(self.cells.len()));
    }

    fn back(&mut self, by: usize) {
        // Without a line end: what is typed again after a backspace belongs to the same word.
        self.column = self.column.saturating_sub(by);
    }

    fn erase(&mut self, how: usize) {
        let gone = match how {
            0 => {
                self.cells.len() > self.column && {
                    self.cells.truncate(self.column);
                    true
                }
            }
            1 => {
                let until = (self.column + 1).min(self.cells.len());
                let before = self.cells.get_mut(self.empty_until..until);
                let any = before.is_some_and(|cells| {
                    cells.fill(EMPTY);
                    !cells.is_empty()
                });
                self.empty_until = self.empty_until.max(until);
                any
            }
            _ => {
                let any = !self.cells.is_empty();
                self.cells.clear();
                any
            }
        };
        self.empty_until = self.empty_until.min(self.cells.len());
        self.lost |= gone;
    }

    /// The cursor is put somewhere. Programs that paint a screen leave out what is blank anyway, so
    /// that the words of a line come one by one.
    fn put_cursor(&mut self, row: usize, column: usize) {
        if self.row == Some(row) && column >= self.origin {
            self.move_to(column - self.origin);
        } else {
            self.leave();
            self.row = Some(row);
            self.origin = column;
        }
    }

    /// The cursor goes to another line.
    fn leave(&mut self) {
        self.written.push('\n');
        self.show();
        self.shown.push('\n');
        self.column = 0;
        self.row = None;
        self.origin = 0;
    }

    fn show(&mut self) {
        let mut empty = 0;
        for cell in self.cells.drain(..) {
            if cell == EMPTY {
                empty += 1;
                if empty <= MAX_EMPTY {
                    self.shown.push(' ');
                }
            } else {
                empty = 0;
                self.shown.push(cell);
            }
        }
        self.empty_until = 0;
    }

    fn finish(mut self) -> Plain<'static> {
        self.show();
        Plain {
            shown: Cow::Owned(self.shown),
            written: self.lost.then_some(self.written),
        }
    }
}

/// What follows an escape.
fn escape(chars: &mut std::str::Chars<'_>, screen: &mut Screen) {
    let mut ahead = chars.clone();
    match ahead.next() {
        Some('[') => {
            *chars = ahead;
            control_sequence(chars, screen);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            *chars = ahead;
            string(chars, screen);
        }
        // Another line.
        Some('D' | 'E' | 'M' | 'c') => {
            *chars = ahead;
            screen.leave();
        }
        // Which letters: one more character.
        Some(' ' | '#' | '%' | '(' | ')' | '*' | '+') => {
            ahead.next();
            *chars = ahead;
        }
        Some('\u{30}'..='\u{7e}') => *chars = ahead,
        Some(_) | None => {}
    }
}

/// Numbers, then a letter that says what to do.
fn control_sequence(chars: &mut std::str::Chars<'_>, screen: &mut Screen) {
    let mut numbers: [Option<usize>; 2] = [None; 2];
    let mut which = 0;
    loop {
        let before = chars.clone();
        let Some(c) = chars.next() else {
            return;
        };
        match c {
            '0'..='9' => {
                let digit = c.to_digit(10).unwrap_or_default() as usize;
                if let Some(number) = numbers.get_mut(which) {
                    *number = Some((number.unwrap_or(0) * 10 + digit).min(MAX_COLUMN));
                }
            }
            ';' => which += 1,
            ' '..='?' => which = numbers.len(),
            '@'..='~' => {
                let [first, second] = numbers;
                let by = first.unwrap_or(1).max(1);
                match c {
                    'C' | 'a' => screen.move_to(screen.column + by),
                    'D' => screen.back(by),
                    'G' | '`' => screen.move_to((by - 1).saturating_sub(screen.origin)),
                    'K' => screen.erase(first.unwrap_or(0)),
                    'H' | 'f' => screen.put_cursor(by, second.unwrap_or(1).max(1) - 1),
                    'A' | 'B' | 'E' | 'F' | 'J' | 'd' | 'e' | 'u' => screen.leave(),
                    _ => {}
                }
                return;
            }
            // Not a part of it: a terminal gives up here, too.
            _ => {
                *chars = before;
                return;
            }
        }
    }
}

/// A title, a link or the like: not shown, but written.
fn string(chars: &mut std::str::Chars<'_>, screen: &mut Screen) {
    screen.written.push('\n');
    loop {
        let before = chars.clone();
        let Some(c) = chars.next() else {
            break;
        };
        match c {
            '\u{7}' | '\u{9c}' => break,
            '\u{1b}' => {
                let mut ahead = chars.clone();
                // Another escape ends it as well, and is the caller's: a string never calls for
                // the next one, or a line of them would take all of the stack.
                *chars = if ahead.next() == Some('\\') {
                    ahead
                } else {
                    before
                };
                break;
            }
            c if is_control(c) => {}
            c => {
                screen.lost = true;
                screen.written.push(c);
            }
        }
    }
    screen.written.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, shown: &str, written: Option<&str>) {
        let plain = plain(line.as_bytes());
        assert_eq!(
            (plain.shown.as_ref(), plain.written.as_deref()),
            (shown, written),
            "{line:?}"
        );
    }

    #[test]
    fn a_line_as_a_terminal_shows_it() {
        check("plain\ttext\r", "plain\ttext", None);
        check("\x1b[1;31mrm\x1b[0m -rf \x1b[4m/\x1b[m", "rm -rf /", None);
        check("r\x1b[0mm\x1b(B -rf", "rm -rf", None);
        check("rm\x1b[1C-rf\x1b[2C/", "rm -rf  /", None);
        check("\u{9b}31mred", "red", None);
        check("10%\r20%\r30%", "30%", Some("10%\n20%\n30%"));
        check(
            "wrong\x08\x08\x08\x08\x08right",
            "right",
            Some("wrongright"),
        );
        check("l\x08 \x08ls", "ls", Some("l ls"));
        check("secret\x1b[2K\rfine", "fine", Some("secret\nfine"));
        check("one\x1b[1Atwo", "one\ntwo", None);
        check("\x1b]0;title\x07text", "text", Some("\n0;title\ntext"));
        check(
            "\x1b]8;;http://a.example\x1b\\here\x1b]8;;\x1b\\",
            "here",
            Some("\n8;;http://a.example\nhere\n8;;\n"),
        );
        check("a\x1b[3;5Hb\x1b[3;7Hc\x1b[4;1Hd", "a\nb c\nd", None);
        check("x\x1b[1K\x1b[4Gy", "   y", Some("x y"));
        check("cut \x1b[31", "cut ", None);
        check("cut \x1b]0;rm", "cut ", Some("cut \n0;rm\n"));
    }

    #[test]
    fn jumps_take_no_memory() {
        for jump in ["\x1b[99999999Cx", "\x1b[99999999Gx\x1b[A", "\x1b[9;9999Hx"] {
            let line = jump.repeat(1000);
            assert!(plain(line.as_bytes()).shown.len() < line.len(), "{jump:?}");
        }
    }

    #[test]
    fn many_sequences_take_neither_stack_nor_time() {
        for part in ["\x1b]0;x", "\x1bP", "\x1b[1Kx", "\x1b", "\u{9d}\x1b["] {
            plain(part.repeat(200_000).as_bytes());
        }
    }
}
