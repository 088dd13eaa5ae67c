//! Backslash escapes, as `$'…'`, `echo -e` and `printf` know them.

/// Where an escape stands: each place has its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `$'…'`
    Quote,
    /// `echo -e`
    Echo,
    /// The format of `printf`.
    Format,
    /// What `printf %b` is given.
    Argument,
}

/// Decodes the escape after a backslash at the start of `rest`. Returns how many bytes it took;
/// `None` if it ends the whole text.
pub(crate) fn decode(rest: &str, style: Style, out: &mut Vec<u8>) -> Option<usize> {
    let Some(first) = rest.chars().next() else {
        out.push(b'\\');
        return Some(0);
    };
    let prints = matches!(style, Style::Echo | Style::Argument);
    if first == 'c' && prints {
        return None;
    }
    let simple = match first {
        'n' => Some(b'\n'),
        't' => Some(b'\t'),
        'r' => Some(b'\r'),
        'a' => Some(7),
        'b' => Some(8),
        'e' | 'E' => Some(27),
        'f' => Some(12),
        'v' => Some(11),
        '\\' => Some(b'\\'),
        '\'' if !prints => Some(b'\''),
        '"' if !prints => Some(b'"'),
        '?' if !prints => Some(b'?'),
        _ => None,
    };
    if let Some(byte) = simple {
        out.push(byte);
        return Some(1);
    }
    let digits = |from: usize, most: usize, radix: u32| {
        let text = rest.get(from..).unwrap_or("");
        let length = text
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .count();
        let value = u32::from_str_radix(text.get(..length).unwrap_or(""), radix).ok();
        (value, from + length)
    };
    let (value, used) = match first {
        'x' if rest.starts_with("x{") && style == Style::Quote => {
            let (value, used) = digits(2, 8, 16);
            (
                value,
                used + usize::from(rest.get(used..used + 1) == Some("}")),
            )
        }
        'x' => digits(1, 2, 16),
        'u' => digits(1, 4, 16),
        'U' => digits(1, 8, 16),
        '1'..='7' if style == Style::Echo => (None, 0),
        '0'..='7' => digits(0, if first == '0' && prints { 4 } else { 3 }, 8),
        'c' if style == Style::Quote => (
            rest.chars().nth(1).map(|c| match c {
                '?' => 127,
                c => u32::from(c) & 31,
            }),
            2.min(rest.len()),
        ),
        _ => (None, 0),
    };
    Some(match value {
        Some(value) if matches!(first, 'u' | 'U') => {
            let char = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend(char.encode_utf8(&mut [0; 4]).as_bytes());
            used
        }
        Some(value) => {
            out.push(u8::try_from(value & 255).unwrap_or_default());
            used
        }
        None => {
            out.push(b'\\');
            out.extend(first.encode_utf8(&mut [0; 4]).as_bytes());
            first.len_utf8()
        }
    })
}

/// `text` with all its escapes decoded, and whether one of them ended it.
pub(crate) fn decode_all(text: &str, style: Style) -> (String, bool) {
    if !text.contains('\\') {
        return (text.to_owned(), false);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut ended = false;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        bytes.extend(before.as_bytes());
        let after = after.get(1..).unwrap_or("");
        let Some(used) = decode(after, style, &mut bytes) else {
            ended = true;
            rest = "";
            break;
        };
        rest = after.get(used..).unwrap_or("");
    }
    bytes.extend(rest.as_bytes());
    (String::from_utf8_lossy(&bytes).into_owned(), ended)
}
