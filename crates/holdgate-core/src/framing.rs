//! How a streamed response is cut into frames: server-sent events, or one JSON value a line.
//!
//! The guard asks the protocol for its framing, and sees frames and their fields only.

use crate::canonical::Canonical;
use crate::sse::{self, Fields, SseError};
use bytes::{Bytes, BytesMut};

/// What separates the frames of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events (`text/event-stream`).
    Events,
    /// One JSON value a line (`application/x-ndjson`).
    Lines,
}

impl Framing {
    /// The media type of such a stream.
    pub fn media_type(self) -> &'static str {
        match self {
            Framing::Events => "text/event-stream",
            Framing::Lines => "application/x-ndjson",
        }
    }

    pub(crate) fn decoder(self, max_frame: usize) -> Decoder {
        match self {
            Framing::Events => Decoder::Events(sse::Decoder::new(max_frame)),
            Framing::Lines => Decoder::Lines(LineDecoder {
                partial: BytesMut::new(),
                max_frame,
            }),
        }
    }

    /// Reads the fields of a frame. `first` says that it is the stream's first one.
    pub(crate) fn fields(self, frame: &[u8], first: bool) -> Result<Fields<'_>, SseError> {
        match self {
            Framing::Events => sse::fields(frame, first),
            Framing::Lines => {
                // An empty line only shows that the upstream is alive.
                let line = frame.trim_ascii();
                Ok(Fields {
                    event: None,
                    data: (!line.is_empty()).then(|| line.into()),
                })
            }
        }
    }

    /// The frame in its canonical form; `None` if it has no data, or its data is not UTF-8.
    pub(crate) fn canonical(self, raw: &Bytes, fields: &Fields<'_>) -> Option<Canonical> {
        match self {
            Framing::Events => Canonical::of_frame(raw, fields),
            Framing::Lines => Canonical::of_line(raw, fields),
        }
    }
}

/// Cuts a byte stream into frames.
#[derive(Debug)]
pub(crate) enum Decoder {
    Events(sse::Decoder),
    Lines(LineDecoder),
}

impl Decoder {
    /// Takes the next frame off the front of `chunk`; `None` when it holds no whole frame more
    /// (what is left has been kept). Call until `None`.
    pub(crate) fn next(&mut self, chunk: &mut Bytes) -> Result<Option<Bytes>, SseError> {
        match self {
            Decoder::Events(decoder) => decoder.next(chunk),
            Decoder::Lines(decoder) => decoder.next(chunk),
        }
    }

    /// Whether the stream stops in the middle of a frame.
    pub(crate) fn is_mid_frame(&self) -> bool {
        self.kept() > 0
    }

    /// Bytes kept between calls.
    pub(crate) fn kept(&self) -> usize {
        match self {
            Decoder::Events(decoder) => decoder.kept(),
            Decoder::Lines(decoder) => decoder.partial.len(),
        }
    }
}

/// Cuts a byte stream into lines. Only LF ends one: a CR is white space to JSON, and leaves with no
/// frame.
#[derive(Debug)]
pub(crate) struct LineDecoder {
    /// The start of a line whose end has not come yet.
    partial: BytesMut,
    max_frame: usize,
}

impl LineDecoder {
    fn next(&mut self, chunk: &mut Bytes) -> Result<Option<Bytes>, SseError> {
        let end = memchr::memchr(b'\n', chunk).map(|at| at + 1);
        if self.partial.len() + end.unwrap_or(chunk.len()) > self.max_frame {
            return Err(SseError::TooLarge(self.max_frame));
        }
        let Some(end) = end else {
            self.partial.extend_from_slice(chunk);
            chunk.clear();
            return Ok(None);
        };
        let line = chunk.split_to(end);
        if self.partial.is_empty() {
            return Ok(Some(line));
        }
        self.partial.extend_from_slice(&line);
        Ok(Some(std::mem::take(&mut self.partial).freeze()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(chunks: &[&[u8]]) -> Vec<Bytes> {
        let mut decoder = Framing::Lines.decoder(100);
        let mut all = Vec::new();
        for chunk in chunks {
            let mut chunk = Bytes::copy_from_slice(chunk);
            while let Some(frame) = decoder.next(&mut chunk).unwrap() {
                all.push(frame);
            }
        }
        all
    }

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let raw = Bytes::copy_from_slice(line.as_bytes());
        let fields = Framing::Lines.fields(&raw, true).unwrap();
        let canonical = Framing::Lines.canonical(&raw, &fields);
        let text = canonical.as_ref().map(|c| std::str::from_utf8(c).unwrap());
        assert_eq!(text, expected, "{line:?}");
        if let Some(canonical) = canonical.filter(|_| expected == Some(line)) {
            assert_eq!(canonical.as_ptr(), raw.as_ptr(), "it is not copied");
        }
    }

    #[test]
    fn a_line_leaves_in_one_form() {
        check("{\"a\":1}\n", Some("{\"a\":1}\n"));
        check(" {\"a\":\r1}\r\n", Some("{\"a\": 1}\n"));
        check("\"a\u{2028}b\"\n", Some("\"a\\u2028b\"\n"));
        check("\r\n", None);
    }

    #[test]
    fn a_line_over_the_limit_is_an_error_at_any_chunking() {
        let big = [b'x'; 300];
        for size in [1, 99, 100, 101, 300] {
            let mut decoder = Framing::Lines.decoder(100);
            let refused = big
                .chunks(size)
                .any(|chunk| decoder.next(&mut Bytes::copy_from_slice(chunk)).is_err());
            assert!(refused && decoder.kept() <= 100, "{size}");
        }
    }

    proptest! {
        #[test]
        fn chunking_changes_nothing(
            text in prop::collection::vec(prop::sample::select(b"{1}\r\n".to_vec()), 0..80),
            cuts in prop::collection::vec(0usize..80, 0..8),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|w| &text[w[0]..w[1]]).collect();
            prop_assert_eq!(lines(&chunks), lines(&[&text]));
        }
    }
}
