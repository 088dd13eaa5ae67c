//! What an agent has drawn on the other screen, so that it can be drawn again: a terminal keeps only
//! one screen behind the one that is shown.

use memchr::memmem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use vt100::{Callbacks, Cell, Color, Parser, Screen};

/// A copy of a screen.
pub(super) struct Copy {
    parser: Parser<Unknown>,
}

/// Whether something was drawn that the copy does not have.
#[derive(Debug, Default)]
struct Unknown(bool);

impl Copy {
    /// A copy of an empty screen.
    pub(super) fn new((columns, rows): (usize, usize)) -> Copy {
        let (rows, columns) = (small(rows), small(columns));
        Copy {
            parser: Parser::new_with_callbacks(rows, columns, 0, Unknown::default()),
        }
    }

    /// The agent writes, on a terminal of this size.
    pub(super) fn see(&mut self, bytes: &[u8], (columns, rows): (usize, usize)) {
        let size = (small(rows), small(columns));
        let parser = &mut self.parser;
        let seen = catch_unwind(AssertUnwindSafe(|| {
            if parser.screen().size() != size {
                parser.screen_mut().set_size(size.0, size.1);
            }
            let mut rest = bytes;
            // The parser knows these two under their other names only.
            while let Some(at) = memmem::find_iter(rest, b"\x1b[")
                .find(|at| matches!(rest.get(at + 2), Some(b's' | b'u')))
            {
                let (before, after) = rest.split_at_checked(at).unwrap_or((rest, &[]));
                parser.process(before);
                let saves = after.get(2) == Some(&b's');
                parser.process(if saves { b"\x1b7" } else { b"\x1b8" });
                rest = after.get(3..).unwrap_or_default();
            }
            parser.process(rest);
        }));
        if seen.is_err() {
            parser.callbacks_mut().0 = true;
        }
    }

    /// What draws it again, if all of it is known.
    pub(super) fn drawn(&self) -> Option<Vec<u8>> {
        if self.parser.callbacks().0 {
            return None;
        }
        let screen = self.parser.screen();
        catch_unwind(AssertUnwindSafe(|| draw(screen))).ok()
    }
}

/// What draws a screen. (The parser's own way to do so mixes up bold and dim.)
fn draw(screen: &Screen) -> Vec<u8> {
    let mut out = String::from("\x1b[0m\x1b[2J");
    let (rows, columns) = screen.size();
    let mut style = String::new();
    for row in 0..rows {
        let mut next = None;
        for column in 0..columns {
            let Some(cell) = screen.cell(row, column) else {
                continue;
            };
            let now = style_of(cell);
            if cell.is_wide_continuation() || !cell.has_contents() && now.is_empty() {
                continue;
            }
            if next != Some(column) {
                out.push_str(&format!("\x1b[{};{}H", row + 1, column + 1));
            }
            if now != style {
                out.push_str(&format!("\x1b[0{now}m"));
                style = now;
            }
            let shown = cell.contents();
            out.push_str(if shown.is_empty() { " " } else { shown });
            next = Some(column + if cell.is_wide() { 2 } else { 1 });
        }
    }
    let (row, column) = screen.cursor_position();
    out.push_str(&format!("\x1b[0m\x1b[{};{}H", row + 1, column + 1));
    let mut out = out.into_bytes();
    out.extend(screen.attributes_formatted());
    out.extend(screen.input_mode_formatted());
    if screen.hide_cursor() {
        out.extend(b"\x1b[?25l");
    }
    out
}

/// The parameters of a cell's style, each after a semicolon.
fn style_of(cell: &Cell) -> String {
    let flags = [
        (cell.bold(), ";1"),
        (cell.dim(), ";2"),
        (cell.italic(), ";3"),
        (cell.underline(), ";4"),
        (cell.inverse(), ";7"),
    ];
    let set = flags.into_iter().filter(|(is, _)| *is);
    let mut style: String = set.map(|(_, parameter)| parameter).collect();
    for (color, base) in [(cell.fgcolor(), 30), (cell.bgcolor(), 40)] {
        match color {
            Color::Default => {}
            Color::Idx(number @ 0..8) => style.push_str(&format!(";{}", base + number)),
            Color::Idx(number @ 8..16) => style.push_str(&format!(";{}", base + 52 + number)),
            Color::Idx(number) => style.push_str(&format!(";{};5;{number}", base + 8)),
            Color::Rgb(r, g, b) => style.push_str(&format!(";{};2;{r};{g};{b}", base + 8)),
        }
    }
    style
}

impl std::fmt::Debug for Copy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copy").finish_non_exhaustive()
    }
}

fn small(size: usize) -> u16 {
    u16::try_from(size).unwrap_or(u16::MAX).max(1)
}

impl Callbacks for Unknown {
    fn unhandled_escape(&mut self, _: &mut Screen, first: Option<u8>, _: Option<u8>, byte: u8) {
        // Other characters than those of ASCII; moves of the cursor.
        self.0 |= match first {
            Some(b'(' | b')' | b'*' | b'+') => byte != b'B',
            Some(b'#') => true,
            None => matches!(byte, b'D' | b'E' | b'H'),
            Some(_) => false,
        };
    }

    fn unhandled_csi(
        &mut self,
        _: &mut Screen,
        first: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        end: char,
    ) {
        // Moves of the cursor, repeated characters, insertion; styles, but not the end of one.
        let draws = match end {
            'm' => parameters.iter().any(|parameter| match parameter {
                [4, more @ ..] => more.iter().any(|kind| *kind > 1),
                [first, ..] => matches!(first, 5 | 6 | 8 | 9 | 11..=21 | 26 | 51..=53 | 58),
                [] => false,
            }),
            'h' => parameters.contains(&[4].as_slice()),
            end => "JKfba`eIZsu".contains(end),
        };
        self.0 |= first.is_none() && draws;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (usize, usize) = (20, 5);

    fn copy(text: &str) -> Copy {
        let mut copy = Copy::new(SIZE);
        for byte in text.as_bytes() {
            copy.see(&[*byte], SIZE);
        }
        copy
    }

    #[test]
    fn what_was_drawn_can_be_drawn_again() {
        let text = "\x1b[?1049h\x1b[2J\x1b[?2026h\x1b[3;4H\x1b[1;38;2;1;2;3m日本 é\x1b[0m\x1b[4mx\
                    \x1b[0;1mb\x1b[22;2md\x1b[0;95;48;5;200mc\x1b[0m\x1b[4m\x1b[?25l";
        let first = copy(text);
        let drawn = String::from_utf8(first.drawn().unwrap()).unwrap();
        let again = copy(&format!("garbage\x1b[5;5Hmore\x1b[7m{drawn}"));
        assert_eq!(first.parser.screen().contents(), "\n\n   日本 éxbdc");
        assert!(
            drawn.contains("\x1b[0;2md\x1b[0;95;48;5;200mc"),
            "{drawn:?}"
        );
        assert_eq!(
            first.parser.screen().state_formatted(),
            again.parser.screen().state_formatted()
        );
    }

    #[test]
    fn the_cursor_goes_back_to_where_it_was() {
        let mut copy = Copy::new(SIZE);
        copy.see(b"ab\x1b[s\x1b[3;3Hc\x1b[ud\x1b[1", SIZE);
        copy.see(b"me", SIZE);
        assert_eq!(copy.parser.screen().contents(), "abde\n\n  c");
        assert!(copy.drawn().is_some());
    }

    #[test]
    fn the_end_of_a_style_is_no_style() {
        assert!(
            copy("\x1b[29m\x1b[25;59mx\x1b[4l\x1b[34h")
                .drawn()
                .is_some()
        );
    }

    #[test]
    fn what_is_not_known_is_not_drawn() {
        for text in [
            "\x1b(0lqqk",
            "\x1b[9mgone",
            "\x1b[4:3mx",
            "a\x1b[20b",
            "\x1b[2;2f",
        ] {
            assert!(copy(text).drawn().is_none(), "{text:?}");
        }
    }
}
