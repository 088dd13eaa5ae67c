//! Parts of code: names, calls, arguments, assignments.

/// Bytes of a call's arguments that are looked at.
const MAX_CALL: usize = 800;
/// Bytes of the longest name with what it belongs to.
const MAX_NAME: usize = 96;

/// The end of a text, as much as a name may take.
pub(super) fn end_of(text: &str) -> &str {
    let from = text.len().saturating_sub(MAX_NAME);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at));
    text.get(from.unwrap_or(0)..).unwrap_or("")
}

/// Whether `before` ends with the name of one of these functions.
pub(super) fn calls(functions: &[String], before: &str) -> bool {
    functions.iter().any(|name| {
        before.strip_suffix(name.as_str()).is_some_and(|rest| {
            name.starts_with('.')
                || !rest.ends_with(|c: char| c.is_alphanumeric() || "_.:>$".contains(c))
        })
    })
}

/// Whether `name` stands in `text` by itself.
pub(super) fn names(text: &str, name: &str) -> bool {
    // To see that it is not there is much faster than to look at each place.
    if !text.contains(name) {
        return false;
    }
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let open = name.starts_with(|c: char| !part(c));
    let ends_open = name.ends_with(|c: char| !part(c));
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
        (open || !before.is_some_and(part)) && (ends_open || !after.is_some_and(part))
    })
}

/// What stands between the bracket that was just opened and its end.
pub(super) fn inside(rest: &str) -> &str {
    let mut depth = 1u32;
    for (at, byte) in rest.bytes().enumerate().take(MAX_CALL) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return rest.get(..at).unwrap_or("");
        }
    }
    crate::text::beginning(rest, MAX_CALL)
}

pub(super) fn first_argument(arguments: &str) -> &str {
    let mut depth = 0i32;
    for (at, byte) in arguments.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => return arguments.get(..at).unwrap_or(""),
            _ => {}
        }
    }
    arguments
}

/// The two sides of an assignment.
pub(super) fn assignment(line: &str) -> Option<(&str, &str)> {
    let bytes = line.as_bytes();
    let at = memchr::memchr_iter(b'=', bytes).find(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(at + 1);
        !before.is_some_and(|byte| b"=!<>+-*/|&(".contains(byte))
            && !after.is_some_and(|byte| b"=>~".contains(byte))
    })?;
    Some((line.get(..at)?, line.get(at + 1..)?))
}

/// The names in a text, without words of languages.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
    let keyword = |word: &&str| {
        matches!(
            *word,
            "const"
                | "let"
                | "var"
                | "val"
                | "final"
                | "auto"
                | "string"
                | "String"
                | "any"
                | "err"
                | "_"
                | "self"
                | "this"
                | "my"
                | "async"
                | "function"
        )
    };
    words.filter(move |word| {
        !word.is_empty() && !keyword(word) && !word.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Whether a word in code is one that somebody chose to be let in by.
pub(super) fn is_password(word: &str) -> bool {
    word.len() >= 8
        && !word.contains([' ', '{', '$', '%', '<'])
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_alphabetic())
}

/// Whether the loader among the arguments of `yaml.load` makes objects of every class.
pub(super) fn makes_any_object(arguments: &str) -> bool {
    arguments.contains("Loader") && !arguments.contains("Safe") && !arguments.contains("BaseLoader")
}
