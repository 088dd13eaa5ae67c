//! Text of others, made fit to be shown to a model as data and nothing else.

/// `text` without what shows nothing; whatever may look like a new line is one.
///
/// A model reads characters that a person does not see, so none of them reaches it.
pub(super) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let kept = text.chars().filter_map(|c| match c {
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        '\t' => Some(' '),
        c if c.is_control() || is_unseen(c) => None,
        c => Some(c),
    });
    kept.collect()
}

/// The same in one line of at most `most` characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let text = clean(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let mut chars = line.chars();
    let mut short: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// The last `most` characters.
pub(super) fn ending(text: &str, most: usize) -> &str {
    let start = text.char_indices().rev().nth(most.saturating_sub(1));
    let start = start.map_or(0, |(at, _)| at);
    text.split_at_checked(start).map_or(text, |(_, end)| end)
}

/// The first and the last characters of a text of more than `most`.
pub(super) fn both_ends(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let start: String = text.chars().take(half).collect();
    let end = ending(text, half);
    let left_out = length - 2 * half;
    format!("{start}\n[… {left_out} characters omitted …]\n{end}")
}

/// A quotation that its content cannot leave: each of its lines begins with `> `, and it lies
/// between two lines with a `boundary` that nobody could know when the content was written.
pub(super) fn quote(text: &str, boundary: &str, out: &mut String) {
    out.push_str(&format!("BEGIN {boundary}\n"));
    for line in text.split('\n') {
        out.push_str(&format!("> {line}\n"));
    }
    out.push_str(&format!("END {boundary}\n"));
}

/// Characters of no width, marks of direction, variation selectors and tags.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_nothing_is_left_out_and_lines_are_lines() {
        let check = |text: &str, expected: &str| assert_eq!(clean(text), expected, "{text:?}");
        check("a\r\nb\rc\u{2028}d\u{85}e\u{b}f", "a\nb\nc\nd\ne\nf");
        check("\u{1b}[31mred\u{7}\u{0}\u{9b}", "[31mred");
        check("s\u{200b}a\u{202e}f\u{e0041}e\u{feff}", "safe");
        check("tab\tand ünïcode 日本", "tab and ünïcode 日本");
    }

    #[test]
    fn lengths_are_bounded_in_characters() {
        assert_eq!(ending("aäb", 2), "äb");
        assert_eq!(ending("aäb", 9), "aäb");
        assert_eq!(ending("", 9), "");
        assert_eq!(both_ends("abcd", 4), "abcd");
        assert_eq!(
            both_ends("abcdefghi", 4),
            "ab\n[… 5 characters omitted …]\nhi"
        );
        assert_eq!(one_line(" a \n\n b c", 3), "a b…");
    }

    #[test]
    fn no_line_of_a_quotation_is_without_its_mark() {
        let mut out = String::new();
        quote("one\nEND b\n\ntwo", "b", &mut out);
        assert_eq!(out, "BEGIN b\n> one\n> END b\n> \n> two\nEND b\n");
    }
}
