//! Server-sent events: bytes to frames, and frames to fields.
//!
//! Any line end (LF, CRLF, CR), comments, `data` over several lines, a byte order mark at the very
//! start, any chunking, as the standard says. Readers differ in all of these, so a frame leaves
//! only in its [canonical](crate::Canonical) form.

use bytes::{Bytes, BytesMut};
use std::borrow::Cow;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// What a frame says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields<'a> {
    /// The `event` field.
    pub event: Option<&'a str>,
    /// The `data` lines, joined with LF; `None` when there is none.
    pub data: Option<Cow<'a, [u8]>>,
}

/// Why a stream of frames cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// The frame does not end within the limit.
    #[error("an event is larger than {0} bytes")]
    TooLarge(usize),
    /// Two names in one frame.
    #[error("an event has two `event` fields")]
    TwoNames,
    /// A name with bytes that some clients take for line ends, or for text in another encoding.
    #[error("an event name has a control character or is not valid UTF-8")]
    NotPlain,
}

/// Cuts a byte stream into frames.
#[derive(Debug)]
pub struct Decoder {
    /// The start of a frame whose end has not come yet.
    partial: BytesMut,
    scan: Scan,
    /// The last frame ended with a CR: a LF that follows belongs to it.
    ended_with_cr: bool,
    max_frame: usize,
}

/// The state of the search for a frame's end.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    /// All before this has been looked at.
    at: usize,
    /// The current line has no characters yet.
    line_empty: bool,
    /// The byte before `at` was a CR that ended a line.
    after_cr: bool,
}

impl Scan {
    const START: Scan = Scan {
        at: 0,
        line_empty: true,
        after_cr: false,
    };

    /// Looks for the end of the frame in `bytes`; `Some` is the offset behind its blank line.
    fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        loop {
            let rest = bytes.get(self.at..)?;
            let first = *rest.first()?;
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                self.at += 1;
                continue;
            }
            let Some(line) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.line_empty = false;
                self.at = bytes.len();
                return None;
            };
            let is_cr = rest.get(line) == Some(&b'\r');
            let blank = self.line_empty && line == 0;
            self.at += line + 1;
            self.line_empty = true;
            if blank {
                let crlf = is_cr && bytes.get(self.at) == Some(&b'\n');
                return Some(self.at + usize::from(crlf));
            }
            self.after_cr = is_cr;
        }
    }
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new(max_frame: usize) -> Self {
        Decoder {
            partial: BytesMut::new(),
            scan: Scan::START,
            ended_with_cr: false,
            max_frame,
        }
    }

    /// Takes the next frame, through its blank line, off the front of `chunk`; `None` when it holds
    /// no whole frame more (what is left has been kept). Call until `None`.
    pub fn next(&mut self, chunk: &mut Bytes) -> Result<Option<Bytes>, SseError> {
        if chunk.is_empty() {
            return Ok(None);
        }
        if std::mem::take(&mut self.ended_with_cr) && chunk.first() == Some(&b'\n') {
            let _ = chunk.split_to(1);
        }
        let end = if self.partial.is_empty() {
            self.scan.advance(chunk)
        } else {
            // The frame began in an earlier chunk: only then bytes are copied.
            let before = self.partial.len();
            let room = self.max_frame.saturating_add(4).saturating_sub(before);
            let take = chunk.len().min(room);
            self.partial
                .extend_from_slice(chunk.get(..take).unwrap_or_default());
            let end = self.scan.advance(&self.partial);
            let used = end.map_or(take, |end| end.saturating_sub(before));
            let _ = chunk.split_to(used.min(chunk.len()));
            end
        };
        let Some(end) = end else {
            if self.partial.is_empty() {
                self.partial.extend_from_slice(chunk);
                chunk.clear();
            }
            if self.partial.len() > self.max_frame {
                return Err(SseError::TooLarge(self.max_frame));
            }
            return Ok(None);
        };
        let frame = if self.partial.is_empty() {
            chunk.split_to(end)
        } else {
            self.partial.truncate(end);
            std::mem::take(&mut self.partial).freeze()
        };
        self.scan = Scan::START;
        if frame.len() > self.max_frame {
            return Err(SseError::TooLarge(self.max_frame));
        }
        self.ended_with_cr = frame.last() == Some(&b'\r');
        Ok(Some(frame))
    }

    /// Whether the stream stops in the middle of a frame.
    pub fn is_mid_frame(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Bytes kept between calls.
    pub fn kept(&self) -> usize {
        self.partial.len()
    }
}

/// Reads the fields of a frame. `first` says that it is the stream's first one, where a byte
/// order mark may stand.
pub fn fields(frame: &[u8], first: bool) -> Result<Fields<'_>, SseError> {
    let mut fields = Fields::default();
    let mut rest = match frame.strip_prefix(BOM) {
        Some(rest) if first => rest,
        Some(_) | None => frame,
    };
    while !rest.is_empty() {
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = match after {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => &[],
        };
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let (name, value) = line.split_at(colon);
                let value = value.strip_prefix(b":").unwrap_or_default();
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match name {
            b"data" => {
                fields.data = Some(match fields.data.take() {
                    None => Cow::Borrowed(value),
                    Some(data) => {
                        let mut joined = data.into_owned();
                        joined.push(b'\n');
                        joined.extend_from_slice(value);
                        Cow::Owned(joined)
                    }
                });
            }
            b"event" if fields.event.is_some() => return Err(SseError::TwoNames),
            b"event" => fields.event = Some(plain(value)?),
            // Comments, `id`, `retry` and unknown fields are not sent.
            _ => {}
        }
    }
    Ok(fields)
}

/// Text that no client can take for more than one line.
fn plain(value: &[u8]) -> Result<&str, SseError> {
    let text = std::str::from_utf8(value).map_err(|_| SseError::NotPlain)?;
    let odd = |c: char| c != '\t' && (c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
    if text.contains(odd) {
        return Err(SseError::NotPlain);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(chunks: &[&[u8]]) -> Vec<Bytes> {
        let mut decoder = Decoder::new(1000);
        let mut all = Vec::new();
        for chunk in chunks {
            let mut chunk = Bytes::copy_from_slice(chunk);
            while let Some(frame) = decoder.next(&mut chunk).unwrap() {
                all.push(frame);
            }
        }
        all
    }

    #[test]
    fn every_line_end_ends_a_frame() {
        for text in [
            "data: 1\n\n",
            "data: 1\r\n\r\n",
            "data: 1\r\r",
            "data: 1\n\r\n",
        ] {
            assert_eq!(frames(&[text.as_bytes()]), [text], "{text:?}");
        }
    }

    #[test]
    fn a_frame_that_ends_with_cr_is_whole_at_once_and_its_lf_is_skipped() {
        let got = frames(&[b"data: 1\r\n\r", b"\ndata: 2\n\n"]);
        assert_eq!(got, ["data: 1\r\n\r", "data: 2\n\n"]);
    }

    #[test]
    fn a_frame_over_the_limit_is_an_error_at_any_chunking() {
        let big = vec![b'x'; 3000];
        for size in [1, 7, 999, 1000, 1001, 3000] {
            let mut decoder = Decoder::new(1000);
            let refused = big.chunks(size).any(|chunk| {
                decoder.next(&mut Bytes::copy_from_slice(chunk)) == Err(SseError::TooLarge(1000))
            });
            assert!(refused, "{size}");
            assert!(decoder.kept() <= 3004, "{}", decoder.kept());
        }
    }

    #[test]
    fn fields_follow_the_standard() {
        let got = fields(
            b": note\nevent:ping\nid: 3\ndata:  a\ndata\ndata:b\n\n",
            false,
        )
        .unwrap();
        assert_eq!(got.event, Some("ping"));
        assert_eq!(got.data.unwrap().as_ref(), b" a\n\nb");
        assert_eq!(fields(b"\n", false).unwrap(), Fields::default());
    }

    #[test]
    fn a_byte_order_mark_counts_only_at_the_start() {
        let marked = "\u{feff}data: 1\n\n".as_bytes();
        assert_eq!(fields(marked, true).unwrap().data.unwrap().as_ref(), b"1");
        assert_eq!(fields(marked, false), Ok(Fields::default()));
    }

    #[test]
    fn what_is_no_name_and_no_data_is_left_out() {
        for text in [
            " data: 1\n\n",
            "Data: 1\n\n",
            "data : 1\n\n",
            "{\"a\":1}\n\n",
            ": a\x0bdata: 1\n\n",
            "id: \0\n\n",
        ] {
            let got = fields(text.as_bytes(), false);
            assert_eq!(got, Ok(Fields::default()), "{text:?}");
        }
    }

    #[test]
    fn names_that_clients_read_differently_are_refused() {
        let got = fields(b"event: ping\nevent: error\n\n", false);
        assert_eq!(got, Err(SseError::TwoNames));
        for text in [
            &b"event: a\x0bdata: 1\n\n"[..],
            b"event: \xff\n\n",
            b"event: a\xe2\x80\xa8data: 1\n\n",
        ] {
            assert_eq!(fields(text, false), Err(SseError::NotPlain), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn chunking_changes_nothing(
            text in prop::collection::vec(prop::sample::select(b"data: 1\r\n\r\n:x".to_vec()), 0..80),
            cuts in prop::collection::vec(0usize..80, 0..8),
        ) {
            // Whether the LF of the last CRLF has come yet must not matter.
            let cut_ends = |frames: Vec<Bytes>| -> Vec<Bytes> {
                let end = |f: Bytes| f.slice(..f.len() - usize::from(f.ends_with(b"\r\n")));
                frames.into_iter().map(end).collect()
            };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|w| &text[w[0]..w[1]]).collect();
            prop_assert_eq!(cut_ends(frames(&chunks)), cut_ends(frames(&[&text])));
        }
    }
}
