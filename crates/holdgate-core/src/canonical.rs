//! The one form in which bytes leave for a client.
//!
//! Readers of server-sent events differ: about a lone CR, comments, several `data` lines, and the
//! characters that Unicode counts as line ends. So every frame leaves as `event: T`, LF, `data: J`,
//! LF, LF, with J on one line, without the first line in protocols whose events have no names, and
//! nothing else ever leaves. Where a stream has one JSON value a line, a frame is that line and LF. Only this module makes a [`Canonical`], and
//! [`Output::Send`](crate::Output::Send) takes nothing else:
//!
//! ```compile_fail,E0423
//! use holdgate_core::{Canonical, Output};
//! Output::Send(Canonical(bytes::Bytes::from_static(b"raw")));
//! ```

use crate::sse::Fields;
use bytes::Bytes;
use std::borrow::Cow;

/// Bytes that every reader reads alike: whole frames, or one JSON value on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Canonical(Bytes);

impl Canonical {
    /// The frame that was read as `fields`, whose data has been accepted as JSON. A frame that is
    /// canonical keeps its bytes; any other is rewritten. `None`: it has no data, or its data is
    /// not UTF-8.
    pub(crate) fn of_frame(raw: &Bytes, fields: &Fields<'_>) -> Option<Canonical> {
        let (event, data) = (fields.event, fields.data.as_ref()?);
        let unchanged = || {
            let mut rest = &**raw;
            if let Some(event) = event {
                let named = rest.strip_prefix(b"event: ")?;
                rest = named.strip_prefix(event.as_bytes())?.strip_prefix(b"\n")?;
            }
            let rest = rest.strip_prefix(b"data: ")?.strip_prefix(&**data)?;
            (rest == b"\n\n" && line_end(data).is_none()).then(|| Canonical(raw.clone()))
        };
        unchanged().or_else(|| {
            let mut frames = Frames::default();
            frames.push(event, std::str::from_utf8(data).ok()?);
            Some(frames.finish())
        })
    }

    /// The line that was read as `fields`, whose data has been accepted as JSON: the data, then LF.
    /// `None`: it has no data, or its data is not UTF-8.
    pub(crate) fn of_line(raw: &Bytes, fields: &Fields<'_>) -> Option<Canonical> {
        let data = fields.data.as_ref()?;
        if raw.strip_suffix(b"\n") == Some(&**data) && line_end(data).is_none() {
            return Some(Canonical(raw.clone()));
        }
        let mut frames = Frames::default();
        frames.push_line(&[std::str::from_utf8(data).ok()?]);
        Some(frames.finish())
    }

    /// One JSON value that has been accepted, as a whole body.
    pub(crate) fn of_value(json: &str) -> Canonical {
        Canonical(one_line(json.trim()).into_owned().into())
    }

    /// The two as one slice of `chunk`, if they are neighbours in it.
    pub(crate) fn join(&self, next: &Canonical, chunk: &Bytes) -> Option<Canonical> {
        let place = |part: &Bytes| {
            // The address shows whether this is a slice of the chunk.
            let at = part.as_ptr().addr().checked_sub(chunk.as_ptr().addr())?;
            let end = at.checked_add(part.len())?;
            (end <= chunk.len()).then_some((at, end))
        };
        let ((start, middle), (follows, end)) = (place(&self.0)?, place(&next.0)?);
        (middle == follows).then(|| Canonical(chunk.slice(start..end)))
    }

    /// The same bytes in memory of their own: a slice would keep all that was read with it.
    pub(crate) fn detached(&self) -> Canonical {
        Canonical(Bytes::copy_from_slice(&self.0))
    }
}

impl std::ops::Deref for Canonical {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Canonical> for Bytes {
    fn from(canonical: Canonical) -> Bytes {
        canonical.0
    }
}

/// Writes frames.
#[derive(Debug, Default)]
pub(crate) struct Frames(String);

impl Frames {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Frames(String::with_capacity(bytes))
    }

    /// Appends a frame. `event` is one line, and `data` is JSON, or an end mark on one line.
    pub(crate) fn push(&mut self, event: Option<&str>, data: &str) {
        self.push_pieces(event, &[data]);
    }

    /// The same, with data in pieces: the one large frame is not copied together first.
    pub(crate) fn push_pieces(&mut self, event: Option<&str>, data: &[&str]) {
        if let Some(event) = event {
            self.0.push_str("event: ");
            self.0.push_str(&one_line(event));
            self.0.push('\n');
        }
        self.0.push_str("data: ");
        for piece in data {
            self.0.push_str(&one_line(piece));
        }
        self.0.push_str("\n\n");
    }

    /// Appends a frame of a stream that has one JSON value a line.
    pub(crate) fn push_line(&mut self, data: &[&str]) {
        for piece in data {
            self.0.push_str(&one_line(piece));
        }
        self.0.push('\n');
    }

    pub(crate) fn finish(self) -> Canonical {
        Canonical(self.0.into())
    }
}

/// JSON on one line that means the same. Outside of strings, line ends are white space; inside of
/// them only non-ASCII ones are possible, which become escapes.
fn one_line(json: &str) -> Cow<'_, str> {
    if line_end(json.as_bytes()).is_none() {
        return Cow::Borrowed(json);
    }
    let mut line = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match c {
            '\u{85}' => line.push_str("\\u0085"),
            '\u{2028}' => line.push_str("\\u2028"),
            '\u{2029}' => line.push_str("\\u2029"),
            c if c < ' ' && c != '\t' => line.push(' '),
            c => line.push(c),
        }
    }
    Cow::Owned(line)
}

/// The position of something that some reader takes for the end of a line.
fn line_end(text: &[u8]) -> Option<usize> {
    let beyond_ascii = |at: &usize| {
        let rest = text.get(*at..).unwrap_or_default();
        rest.starts_with("\u{85}".as_bytes())
            || rest.starts_with("\u{2028}".as_bytes())
            || rest.starts_with("\u{2029}".as_bytes())
    };
    // Tabs are the only control characters that no reader splits at.
    let control = |byte: u8| byte < 0x20 && byte != b'\t';
    let ascii = text
        .chunks(64)
        .position(|chunk| chunk.iter().fold(false, |found, &b| found | control(b)))
        .map(|chunk| chunk * 64);
    ascii.or_else(|| memchr::memchr2_iter(0xc2, 0xe2, text).find(beyond_ascii))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sse;
    use proptest::prelude::*;

    #[track_caller]
    fn check(frame: &str, expected: &str) {
        let raw = Bytes::copy_from_slice(frame.as_bytes());
        let fields = sse::fields(&raw, true).unwrap();
        let canonical = Canonical::of_frame(&raw, &fields).unwrap();
        assert_eq!(String::from_utf8_lossy(&canonical), expected, "{frame:?}");
        let same = frame == expected;
        assert_eq!(canonical.as_ptr() == raw.as_ptr(), same, "{frame:?}");
    }

    #[test]
    fn a_canonical_frame_keeps_its_bytes_and_any_other_is_rewritten() {
        const PING: &str = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
        check(PING, PING);
        for other in [
            "event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n",
            "event: ping\rdata: {\"type\": \"ping\"}\r\r",
            "event:ping\ndata: {\"type\": \"ping\"}\n\n",
            "data: {\"type\": \"ping\"}\nevent: ping\n\n",
            ": note\nevent: ping\ndata: {\"type\": \"ping\"}\n\n",
            "event: ping\nid: 3\ndata: {\"type\": \"ping\"}\n\n",
            "event: ping\ndata: {\"type\":\ndata: \"ping\"}\n\n",
            "\u{feff}event: ping\ndata: {\"type\": \"ping\"}\n\n",
            "event: ping\nother: x\ndata: {\"type\": \"ping\"}\n\n",
        ] {
            check(other, PING);
        }
        check(
            "event: x\ndata: \"a\u{85}b\u{2028}c\u{2029}…Å\"\n\n",
            "event: x\ndata: \"a\\u0085b\\u2028c\\u2029…Å\"\n\n",
        );
    }

    proptest! {
        #[test]
        fn one_line_means_the_same(
            text in any::<String>(),
            spaces in prop::collection::vec(prop::sample::select(vec![" ", "\n", "\r", "\r\n", "\t"]), 3),
        ) {
            let text = format!("{text}\u{2028}\u{85}");
            let value = serde_json::to_string(&text).unwrap();
            let [a, b, c] = [0, 1, 2].map(|i| spaces[i]);
            let json = format!("{a}[{b}{value}{c}]");
            let line = one_line(&json);
            prop_assert!(line_end(line.as_bytes()).is_none());
            let read: Vec<String> = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(read, vec![text]);
        }
    }
}
