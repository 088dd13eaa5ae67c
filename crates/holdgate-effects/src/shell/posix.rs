//! The regular expressions of sed.

/// Quantifiers of extended expressions, and of basic ones after a backslash.
const QUANTIFIERS: [char; 4] = ['*', '+', '?', '{'];

/// A basic or extended regular expression, as the regex crate writes it. The longest match counts
/// here and the first one there: `None` where that may not be the same.
pub(super) fn translated(pattern: &str, extended: bool) -> Option<String> {
    let mut out = String::new();
    let mut chars = pattern.chars();
    // Whether a quantifier may follow: not after another one, nor after a group.
    let mut repeats = false;
    while let Some(char) = chars.next() {
        let (char, escaped) = match char {
            '\\' => (chars.next()?, true),
            char => (char, false),
        };
        let special = escaped != (extended || char == '*');
        match char {
            '*' if !escaped && (out.is_empty() || out == "^") => {
                out.push_str("\\*");
                repeats = true;
            }
            _ if QUANTIFIERS.contains(&char) && special => {
                if !std::mem::take(&mut repeats) {
                    return None;
                }
                out.push(char);
                if char == '{' {
                    let end = if extended { "}" } else { "\\}" };
                    let (counts, rest) = chars.as_str().split_once(end)?;
                    let is_count = |c: char| c.is_ascii_digit() || c == ',';
                    if counts.starts_with(',') || !counts.chars().all(is_count) {
                        return None;
                    }
                    out.push_str(counts);
                    out.push('}');
                    chars = rest.chars();
                }
            }
            '|' | '}' if special => return None,
            '(' | ')' if special => {
                out.push(char);
                repeats = false;
            }
            '[' if !escaped => {
                chars = bracket(chars.as_str(), &mut out)?.chars();
                repeats = true;
            }
            '^' if !escaped && out.is_empty() => out.push(char),
            '$' if !escaped && chars.as_str().is_empty() => out.push(char),
            '^' | '$' if !escaped => return None,
            '.' if !escaped => {
                out.push('.');
                repeats = true;
            }
            'n' | 't' if escaped => {
                out.push(if char == 'n' { '\n' } else { '\t' });
                repeats = true;
            }
            's' | 'S' | 'w' | 'W' if escaped => {
                out.extend(['\\', char]);
                repeats = true;
            }
            _ if escaped && (char.is_ascii_alphanumeric() || "<>`'".contains(char)) => return None,
            _ => {
                out.push_str(&regex::escape(char.encode_utf8(&mut [0; 4])));
                repeats = true;
            }
        }
    }
    (!out.is_empty()).then_some(out)
}

/// The inside of `[…]`, in which a backslash means itself. Returns what follows.
fn bracket<'t>(text: &'t str, out: &mut String) -> Option<&'t str> {
    out.push('[');
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    loop {
        if rest.starts_with("[:") {
            let (class, after) = rest.split_once(":]")?;
            out.push_str(class);
            out.push_str(":]");
            rest = after;
        } else {
            let char = rest.chars().next()?;
            rest = rest.get(char.len_utf8()..)?;
            match char {
                ']' if !first => {
                    out.push(']');
                    return Some(rest);
                }
                '[' if rest.starts_with(['.', '=']) => return None,
                // To some `[\n]` is a line end.
                '\\' if rest.starts_with(|c: char| c.is_ascii_alphabetic()) => return None,
                '-' if rest.starts_with('-') => return None,
                '-' => out.push('-'),
                char => out.push_str(&regex::escape(char.encode_utf8(&mut [0; 4]))),
            }
        }
        first = false;
    }
}
