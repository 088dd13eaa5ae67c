//! Pieces of code in any language: names and their words, arguments, sides of comparisons and assignments.

use super::find::has_any;

/// Bytes of a call's arguments that are looked at.
const MAX_CALL: usize = 400;

/// Whether a character may stand in a name.
pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The names in a piece of code.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split(|c: char| !is_name(c));
    names.filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$'))
}

/// Whether a word is one of the words that a name is made of: `pw` in `pw_text`, `card` in `cardNumber`.
pub(super) fn has_part(name: &str, word: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.match_indices(word).any(|(at, _)| {
        let before = name.get(..at).and_then(|t| t.chars().next_back());
        let first = name.get(at..).and_then(|t| t.chars().next());
        let last = lower
            .get(at..at + word.len())
            .and_then(|t| t.chars().next_back());
        let after = name.get(at + word.len()..).and_then(|t| t.chars().next());
        let begins = match (before, first) {
            (None, _) => true,
            (Some(before), Some(first)) => {
                !before.is_alphabetic() || before.is_lowercase() && first.is_uppercase()
            }
            (Some(_), None) => false,
        };
        let ends =
            after.is_none_or(|c| !c.is_lowercase()) && last.is_some_and(char::is_alphanumeric);
        begins && ends
    })
}

/// Whether one of the words is part of the name.
pub(super) fn has_parts(name: &str, words: &[&str]) -> bool {
    has_any(&name.to_ascii_lowercase(), words) && words.iter().any(|word| has_part(name, word))
}

/// The arguments of a call, given what stands behind its bracket.
pub(super) fn arguments(rest: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut depth = 0i32;
    let mut from = 0;
    for (at, byte) in rest.bytes().enumerate().take(MAX_CALL) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => {
                found.push(rest.get(from..at).unwrap_or("").trim());
                return found;
            }
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                found.push(rest.get(from..at).unwrap_or("").trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    Vec::new()
}

/// The name before a bracket, with what it belongs to.
pub(super) fn called(before: &str) -> &str {
    let part = |c: char| is_name(c) || matches!(c, '.' | ':' | '?' | '!');
    let from = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| part(*c))
        .last()
        .map_or(before.len(), |(at, _)| at);
    before.get(from..).unwrap_or("")
}

/// Where comparisons stand in a line, and how long their signs are.
pub(super) fn comparisons(line: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b'=', bytes).filter_map(move |at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let after = bytes.get(at + 1).copied();
        match (before, after) {
            (Some(b'!'), Some(b'=')) => Some((at - 1, 3)),
            (Some(b'!'), _) => Some((at - 1, 2)),
            (Some(b'='), _) => None,
            (_, Some(b'=')) => {
                let long = bytes.get(at + 2) == Some(&b'=');
                Some((at, if long { 3 } else { 2 }))
            }
            _ => None,
        }
    })
}

/// The operand that ends a text.
pub(super) fn left(text: &str) -> &str {
    let text = text.trim_end();
    let from = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_name(*c) || matches!(c, '.' | '[' | ']' | '\'' | '"'))
        .last()
        .map_or(text.len(), |(at, _)| at);
    text.get(from..).unwrap_or("")
}

/// The operand that begins a text.
pub(super) fn right(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !(is_name(c) || matches!(c, '.' | '[' | ']' | '\'' | '"')));
    text.get(..end.unwrap_or(text.len())).unwrap_or("")
}

/// The name that a line gives a value to, and that value: `const a = b`, `a: b`, `"a": b`, `a := b`.
pub(super) fn assigned(line: &str) -> Option<(&str, &str)> {
    let bytes = line.as_bytes();
    let at = bytes.iter().enumerate().position(|(at, byte)| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let after = bytes.get(at + 1).copied();
        match byte {
            b'=' => {
                !matches!(before, Some(b'=' | b'!' | b'<' | b'>'))
                    && !matches!(after, Some(b'=' | b'>' | b'~'))
            }
            b':' => !matches!(after, Some(b':' | b'=' | b'/')) && before != Some(b':'),
            _ => false,
        }
    })?;
    let name = line.get(..at)?.trim_end_matches([':', ' ', '"', '\'', '?']);
    let name = name.rsplit(|c: char| !is_name(c)).next().unwrap_or("");
    // `let key: [u8; 32] = …`
    let value = line.get(at + 1..)?.trim();
    let typed = bytes.get(at) == Some(&b':');
    let value = match value.split_once(" = ") {
        Some((_, value)) if typed => value.trim(),
        Some(_) | None => value,
    };
    (!name.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found() {
        assert!(has_part("pw_text", "pw"));
        assert!(has_part("cardNumber", "card"));
        assert!(has_part("userPassword", "password"));
        assert!(!has_part("expand", "exp"));
        assert!(!has_part("company", "pan"));
        assert_eq!(arguments("a, f(b, c))"), ["a", "f(b, c)"]);
        assert_eq!(called("if !hmac.Equal"), "!hmac.Equal");
        let line = "if (a.b !== c) x == y";
        let found: Vec<_> = comparisons(line)
            .map(|(at, _)| left(line.get(..at).unwrap()))
            .collect();
        assert_eq!(found, ["a.b", "x"]);
        assert_eq!(assigned("  const iv = f(1)"), Some(("iv", "f(1)")));
        assert_eq!(assigned("  \"to\": a.b,"), Some(("to", "a.b,")));
        assert_eq!(assigned("let key: [u8; 32] = x;"), Some(("key", "x;")));
        assert_eq!(assigned("key := x"), Some(("key", "x")));
    }
}
