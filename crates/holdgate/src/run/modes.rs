//! Which of a terminal's modes an agent has switched on and off, and whether its bytes end within a sequence.

use memchr::memchr;
use std::collections::BTreeSet;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 7;
/// Modes that show the other screen.
const OTHER_SCREEN: [u16; 3] = [47, 1047, 1049];
/// Modes in which a terminal sends what nobody typed: the mouse, focus, marks around what is
/// pasted.
const REPORTS: [u16; 6] = [1000, 1002, 1003, 1004, 1006, 2004];
pub(super) const CURSOR: u16 = 25;
/// Numbers of one sequence; no sequence uses more.
const MAX_PARAMETERS: usize = 64;

/// What the agent has switched on and off.
#[derive(Debug, Default)]
pub(super) struct Modes {
    pub(super) on: BTreeSet<u16>,
    pub(super) off: BTreeSet<u16>,
    reading: Reading,
    /// The last character is not whole.
    cut_character: bool,
}

/// Where in a sequence `ESC [ ? … h` the bytes are.
#[derive(Debug, Default)]
enum Reading {
    #[default]
    Text,
    Escape,
    Bracket,
    Parameters(Vec<u8>),
    /// In any other sequence that begins with `ESC [`.
    Control,
    /// In a text for the terminal, which ends with BEL or `ESC \`.
    Message,
}

impl Modes {
    pub(super) fn reports(&self) -> Vec<u16> {
        let on = |mode: &u16| self.on.contains(mode);
        REPORTS.into_iter().filter(on).collect()
    }

    pub(super) fn on_other_screen(&self) -> bool {
        OTHER_SCREEN.iter().any(|mode| self.on.contains(mode))
    }

    /// Whether the bytes so far end within a sequence or a character.
    pub(super) fn is_amid(&self) -> bool {
        !matches!(self.reading, Reading::Text) || self.cut_character
    }

    pub(super) fn see(&mut self, mut bytes: &[u8]) {
        if let Some(last) = bytes
            .len()
            .checked_sub(3)
            .map_or(Some(bytes), |at| bytes.get(at..))
        {
            self.cut_character = last.utf8_chunks().last().is_some_and(|chunk| {
                let rest = chunk.invalid();
                rest.first()
                    .is_some_and(|byte| (0xc2..=0xf4).contains(byte))
                    && last.ends_with(rest)
            });
        }
        while let Some((&byte, rest)) = bytes.split_first() {
            if matches!(self.reading, Reading::Text) {
                let Some(at) = memchr(ESCAPE, bytes) else {
                    return;
                };
                self.reading = Reading::Escape;
                bytes = bytes.get(at + 1..).unwrap_or_default();
                continue;
            }
            bytes = rest;
            self.reading = match (std::mem::take(&mut self.reading), byte) {
                // Which characters follow is said with one byte more.
                (_, ESCAPE) | (Reading::Escape, b' '..=b'/') => Reading::Escape,
                (Reading::Escape, b'[') => Reading::Bracket,
                (Reading::Escape, b']' | b'P' | b'X' | b'^' | b'_') => Reading::Message,
                (Reading::Message, byte) if byte != BELL => Reading::Message,
                (Reading::Bracket, b'?') => Reading::Parameters(Vec::new()),
                (Reading::Parameters(mut list), b'0'..=b'9' | b';')
                    if list.len() < MAX_PARAMETERS =>
                {
                    list.push(byte);
                    Reading::Parameters(list)
                }
                (Reading::Parameters(list), b'h' | b'l') => {
                    self.switch(&list, byte == b'h');
                    Reading::Text
                }
                (Reading::Bracket | Reading::Control | Reading::Parameters(_), b' '..=b'?') => {
                    Reading::Control
                }
                (
                    Reading::Text
                    | Reading::Escape
                    | Reading::Bracket
                    | Reading::Parameters(_)
                    | Reading::Control
                    | Reading::Message,
                    _,
                ) => Reading::Text,
            };
        }
    }

    fn switch(&mut self, list: &[u8], on: bool) {
        let known =
            |mode: &u16| *mode == CURSOR || OTHER_SCREEN.contains(mode) || REPORTS.contains(mode);
        let list = String::from_utf8_lossy(list);
        for mode in list.split(';').filter_map(|n| n.parse().ok()).filter(known) {
            let (to, from) = if on {
                (&mut self.on, &mut self.off)
            } else {
                (&mut self.off, &mut self.on)
            };
            from.remove(&mode);
            to.insert(mode);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_switched_on_is_known_however_it_was_cut() {
        let check = |text: &str, other: bool, reports: &[u16], hidden: bool| {
            for size in 1..=text.len() {
                let mut modes = Modes::default();
                for piece in text.as_bytes().chunks(size) {
                    modes.see(piece);
                }
                let found = (modes.on_other_screen(), modes.reports());
                assert_eq!(found, (other, reports.to_vec()), "{text:?} by {size}");
                assert_eq!(modes.off.contains(&CURSOR), hidden, "{text:?} by {size}");
            }
        };
        check("plain \x1b[1mbold\x1b[0m", false, &[], false);
        check("\x1b[?1049h\x1b[?25l\x1b[?2004hx", true, &[2004], true);
        check(
            "\x1b[?1049;1006;1000hx\x1b[?1049lx",
            false,
            &[1000, 1006],
            false,
        );
        check("\x1b\x1b[?47h\x1b[?\x1b[?25l\x1b[?25h", true, &[], false);
        check("\x1b[?1049$p\x1b[?12x47h", false, &[], false);
    }

    #[test]
    fn a_question_does_not_cut_a_sequence() {
        let check = |text: &[u8], amid: bool| {
            let mut modes = Modes::default();
            modes.see(text);
            assert_eq!(modes.is_amid(), amid, "{text:?}");
        };
        for whole in [
            "a",
            "é日",
            "\x1b[31mx",
            "\x1b]0;title\x07",
            "\x1b]8;;x\x1b\\",
            "\x1b(B",
            "\x1b[?25l",
            "\x1b[>4;2m",
            "\x1b7",
        ] {
            check(whole.as_bytes(), false);
            let cuts = 1..whole.len();
            for cut in cuts.filter(|_| whole.starts_with('\x1b')) {
                let is_text = cut == whole.len() - 1 && whole.ends_with('x');
                check(&whole.as_bytes()[..cut], !is_text);
            }
        }
        check(&"日".as_bytes()[..1], true);
        check(&"日".as_bytes()[..2], true);
        check(b"\xff", false);
    }
}
