//! Looks ahead of the reader's turn, bounded over the whole text.

use super::{Parser, Read};

/// How often each byte may be looked at ahead of its turn, on average.
pub(super) const LOOKS_AHEAD: usize = 16;

impl Parser<'_> {
    /// Whether the `((` at `from` ends with `))` and so is arithmetic, not two subshells. A scan, so
    /// that nothing is read twice on the way.
    pub(in crate::shell) fn closes_as_arithmetic(&mut self, from: usize) -> Read<bool> {
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
    pub(super) fn closing_bracket(&mut self) -> Read<Option<usize>> {
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
                return self.fail("too many open brackets or quotes");
            }
        }
        self.ahead = self.ahead.saturating_sub(at - from);
        self.pay((at - from) as u64 / 16)?;
        Ok(end)
    }
}
