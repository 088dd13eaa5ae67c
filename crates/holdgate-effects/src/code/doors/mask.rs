//! Code without its comments and without the texts in it, at the same places.

/// A file in two forms of the same length.
pub(in crate::code) struct Masked {
    /// Without comments.
    pub clean: String,
    /// Without comments and without what stands in texts, except for what is put into them.
    pub code: String,
}

/// Takes comments and texts out of code of any language.
pub(in crate::code) fn masked(text: &str) -> Masked {
    let bytes = text.as_bytes();
    let mut clean = bytes.to_vec();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while let Some(skipped) = bytes.get(at..).and_then(next_mark) {
        at += skipped;
        let byte = bytes.get(at).copied().unwrap_or_default();
        let rest = bytes.get(at..).unwrap_or(&[]);
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let blank_before = before.is_none_or(|b| b.is_ascii_whitespace());
        let length = match byte {
            b'/' if rest.starts_with(b"//") && before != Some(b':') => line(rest),
            b'/' if rest.starts_with(b"/*") => find(rest, b"*/").map_or(rest.len(), |at| at + 2),
            b'#' if blank_before && !rest.starts_with(b"#[") && !is_keyword(rest) => line(rest),
            b'"' | b'\'' | b'`' => {
                at += quoted(rest, byte, before, at, &mut code);
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        blank(&mut clean, at, length);
        blank(&mut code, at, length);
        at += length;
    }
    let text_of = |bytes| String::from_utf8(bytes).unwrap_or_default();
    Masked {
        clean: text_of(clean),
        code: text_of(code),
    }
}

/// Where the next byte stands with which a comment or a text may begin.
fn next_mark(rest: &[u8]) -> Option<usize> {
    let is_mark = |byte: &u8| matches!(byte, b'/' | b'#' | b'"' | b'\'' | b'`');
    rest.iter().position(is_mark)
}

/// `#:body`: an argument's name in Lisp.
fn is_keyword(rest: &[u8]) -> bool {
    matches!(rest, [b'#', b':', name, ..] if name.is_ascii_alphabetic())
}

fn line(rest: &[u8]) -> usize {
    memchr::memchr(b'\n', rest).unwrap_or(rest.len())
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, what)
}

fn blank(text: &mut [u8], at: usize, length: usize) {
    for byte in text.get_mut(at..at + length).unwrap_or_default() {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Blanks the text that begins `rest`; returns how long it is.
fn quoted(rest: &[u8], quote: u8, before: Option<u8>, at: usize, code: &mut [u8]) -> usize {
    let triple = [quote, quote, quote];
    let marks = if quote != b'`' && rest.starts_with(&triple) {
        3
    } else {
        1
    };
    let end = rest.get(marks..).and_then(|inner| {
        if marks == 3 {
            return find(inner, &triple);
        }
        let mut escaped = false;
        inner.iter().position(|byte| {
            let ends = (*byte == quote || (*byte == b'\n' && quote != b'`')) && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        })
    });
    let Some(end) = end else {
        return marks;
    };
    // An apostrophe, a lifetime.
    if marks == 1 && rest.get(1 + end) == Some(&b'\n') && quote != b'`' {
        return 1;
    }
    let formatted = matches!(before, Some(b'f' | b'F' | b'$'));
    let whole = rest.get(..marks + end).unwrap_or(&[]);
    // What is never closed is not looked for again and again.
    let last_of = [b'}', b')', b']'].map(|close| (close, memchr::memrchr(close, whole)));
    let is_closed = |close: u8, from: usize| {
        let mut last = last_of.iter().filter(|(mark, _)| *mark == close);
        last.any(|(_, last)| last.is_some_and(|last| last >= from))
    };
    let mut index = marks;
    while index < whole.len() {
        let inner = whole.get(index..).unwrap_or(&[]);
        let opens = |byte: &u8| matches!(byte, b'$' | b'#' | b'\\' | b'{');
        let plain = inner.iter().position(opens).unwrap_or(inner.len());
        if plain > 0 {
            blank(code, at + index, plain);
            index += plain;
            continue;
        }
        let closing = match inner {
            [b'$' | b'#', b'{', ..] => Some(b'}'),
            [b'\\', b'(', ..] => Some(b')'),
            [b'{', ..] if formatted => Some(b'}'),
            [b'$', b'_', ..] => Some(b']'),
            _ => None,
        };
        let closing = closing.filter(|close| is_closed(*close, index));
        let kept = closing.and_then(|close| memchr::memchr(close, inner));
        if let Some(length) = kept {
            index += length + 1;
        } else {
            blank(code, at + index, 1);
            index += 1;
        }
    }
    marks + end + marks
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn only_code_and_what_is_put_into_texts_is_left() {
        let masked = masked("f('a // b', `x ${y} z`) // c 'd'\n# e\ng(\"\"\"é\"\"\")");
        assert_eq!(
            masked.clean,
            "f('a // b', `x ${y} z`)         \n   \ng(\"\"\"é\"\"\")"
        );
        assert_eq!(
            masked.code,
            "f('      ', `  ${y}  `)         \n   \ng(\"\"\"  \"\"\")"
        );
    }
}
