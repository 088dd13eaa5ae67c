//! Text that has JSON escapes but is not JSON.

use std::borrow::Cow;

/// Text that looks like an event but is not, without its escapes, one string per line.
pub(super) fn escapes_resolved(text: &str) -> Cow<'_, str> {
    let event = text.trim_start().starts_with("{\"");
    if event || text.contains("\\u00") {
        Cow::Owned(unescaped(text, event))
    } else {
        Cow::Borrowed(text)
    }
}

/// Text without its escapes, if it looks like JSON but cannot be parsed. With `apart`, each of its
/// strings gets a separate line.
fn unescaped(text: &str, apart: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(if apart && c == '"' { '\n' } else { c });
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('u') => match unit(&mut chars) {
                Some(high @ 0xd800..0xdc00) => {
                    let mut ahead = chars.clone();
                    let low = (ahead.next() == Some('\\') && ahead.next() == Some('u'))
                        .then(|| unit(&mut ahead))
                        .flatten()
                        .filter(|low| (0xdc00..0xe000).contains(low));
                    match low {
                        Some(low) => {
                            chars = ahead;
                            let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                            out.extend(char::from_u32(code));
                        }
                        None => out.push('\u{fffd}'),
                    }
                }
                Some(code) => out.push(char::from_u32(code).unwrap_or('\u{fffd}')),
                None => out.push_str("\\u"),
            },
            Some(c @ ('"' | '\\' | '/')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}

/// Four digits.
fn unit(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    let mut ahead = chars.clone();
    let mut code = 0;
    for _ in 0..4 {
        code = code << 4 | ahead.next()?.to_digit(16)?;
    }
    *chars = ahead;
    Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_without_a_reader() {
        assert_eq!(
            unescaped(r#"{"a":"\u0072m\n\ud83d\ude00\ud800x\/"#, false),
            "{\"a\":\"rm\n😀\u{fffd}x/"
        );
    }
}
