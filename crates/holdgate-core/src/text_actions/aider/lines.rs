//! Lines and marks as aider sees them: it is written in Python, whose idea of a line is its own.

/// What may stand around the text of a file.
pub(super) const FENCES: [(&str, &str); 7] = [
    ("```", "```"),
    ("````", "````"),
    ("<source>", "</source>"),
    ("<code>", "</code>"),
    ("<pre>", "</pre>"),
    ("<codeblock>", "</codeblock>"),
    ("<sourcecode>", "</sourcecode>"),
];
/// What begins commands.
pub(super) const SHELLS: [&str; 12] = [
    "```bash",
    "```sh",
    "```shell",
    "```cmd",
    "```batch",
    "```powershell",
    "```ps1",
    "```zsh",
    "```fish",
    "```ksh",
    "```csh",
    "```tcsh",
];
/// What begins a patch, if nothing stands before it.
pub(super) const PATCHES: [&str; 4] = [
    "*** Begin Patch",
    "*** Update File: ",
    "*** Add File: ",
    "*** Delete File: ",
];
/// What ends it.
pub(super) const PATCH_END: &str = "*** End Patch";
const SEARCH: &str = " SEARCH";
const REPLACE: &str = " REPLACE";

/// Tags around thinking: what stands between them is cut out before the rest is read.
pub(super) const THOUGHTS: [(&str, &str); 2] = [
    ("<think>", "</think>"),
    (
        "<thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>",
        "</thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>",
    ),
];

/// Whether a line ends with this character.
pub(super) fn is_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The bytes of the first line with its end, if that has come.
pub(super) fn line_length(text: &str) -> Option<usize> {
    let at = text.find(is_break)?;
    let end = text.get(at..)?;
    let length = if end.starts_with("\r\n") {
        2
    } else {
        end.chars().next()?.len_utf8()
    };
    Some(at + length)
}

/// The lines with their ends.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = line_length(rest).unwrap_or(rest.len());
        let (line, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        lines.push(line);
        rest = after;
    }
    lines
}

/// Whether the line begins what is searched for.
pub(super) fn is_head(line: &str) -> bool {
    let rest = behind(strip(line), '<');
    rest.is_some_and(|rest| rest.strip_suffix('>').unwrap_or(rest) == SEARCH)
}

/// Whether the start of a line, without white space before it, may become such a line.
pub(super) fn may_be_head(start: &str) -> bool {
    let rest = start.trim_start_matches('<');
    let count = start.len() - rest.len();
    if rest.is_empty() {
        return (1..=9).contains(&count);
    }
    let Some(rest) = behind(start, '<') else {
        return false;
    };
    SEARCH.starts_with(rest)
        || rest
            .strip_prefix(SEARCH)
            .is_some_and(|rest| strip(rest.strip_prefix('>').unwrap_or(rest)).is_empty())
}

pub(super) fn is_divider(line: &str) -> bool {
    behind(strip(line), '=') == Some("")
}

pub(super) fn is_updated(line: &str) -> bool {
    behind(strip(line), '>') == Some(REPLACE)
}

/// What follows five to nine marks.
fn behind(line: &str, mark: char) -> Option<&str> {
    let rest = line.trim_start_matches(mark);
    (5..=9).contains(&(line.len() - rest.len())).then_some(rest)
}

pub(super) fn is_shell(line: &str) -> bool {
    let line = strip(line);
    SHELLS.iter().any(|shell| line.starts_with(shell))
}

pub(super) fn is_fence(line: &str, fence: (&str, &str)) -> bool {
    line.starts_with(fence.0) || line.starts_with(fence.1)
}
