//! What tools replace in files: an old text and a new one, lines below a line, hunks of a diff.

use super::Role;
use super::fields::Fields;
use crate::json::Json;
use crate::patch::{self, Hunk};

/// Replacements of one call that are followed.
const MAX_EDITS: usize = 64;
/// A longer text is not followed.
const MAX_TEXT: usize = 256 << 10;

/// One change of a text.
pub(super) enum Replacement {
    /// A text by another: once, or wherever it stands.
    Text { hunk: Hunk, all: bool },
    /// Lines below the line of this number.
    Below(usize, String),
}

/// The replacements that the arguments of `input` describe.
pub(super) fn of(fields: &Fields<'_>, input: &Json<'_>) -> Vec<Replacement> {
    let mut found = Vec::new();
    let contents = || {
        let texts = fields.all(Role::Content);
        texts.filter_map(|(_, value)| value.as_str())
    };
    let old = fields.all(Role::Label).find(|(key, _)| is_old(key));
    let old = old.and_then(|(_, value)| value.as_str());
    if let (Some(old), Some(new)) = (old, contents().next()) {
        let hunk = Hunk {
            old: old.to_owned(),
            new: new.to_owned(),
        };
        found.push(Replacement::Text {
            hunk,
            all: replaces_all(input),
        });
        return found;
    }
    if let Some(Json::Number(line)) = input.get("insert_line")
        && let (Ok(line), Some(text)) = (line.parse(), contents().next())
    {
        found.push(Replacement::Below(line, text.to_owned()));
        return found;
    }
    let diffs = fields.texts(Role::Diff);
    for text in diffs.into_iter().chain(contents()) {
        if !text.contains("@@") && !text.contains("SEARCH") {
            continue;
        }
        let hunks = patch::hunks(text).into_iter().take(MAX_EDITS);
        found.extend(hunks.map(|hunk| Replacement::Text { hunk, all: false }));
    }
    found.truncate(MAX_EDITS);
    found
}

/// All texts that are replaced.
pub(super) fn replaced(edits: &[Replacement]) -> String {
    let olds = edits.iter().filter_map(|edit| match edit {
        Replacement::Text { hunk, .. } => Some(hunk.old.as_str()),
        Replacement::Below(..) => None,
    });
    olds.collect::<Vec<_>>().join("\n")
}

/// What `text` becomes; `None` if a replacement does not fit.
pub(super) fn apply(text: &str, edits: &[Replacement]) -> Option<String> {
    let mut text = text.to_owned();
    for edit in edits {
        text = match edit {
            Replacement::Text { hunk, all: true } if !hunk.old.is_empty() => {
                text.replace(hunk.old.as_str(), &hunk.new)
            }
            Replacement::Text { hunk, .. } => patch::changed(&text, std::slice::from_ref(hunk))?,
            Replacement::Below(line, new) => below(&text, *line, new),
        };
        if text.len() > MAX_TEXT {
            return None;
        }
    }
    Some(text)
}

fn below(text: &str, line: usize, new: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(line.min(lines.len()), new.trim_end_matches('\n'));
    lines.join("\n") + "\n"
}

/// Whether an argument holds the text that is replaced.
fn is_old(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let words = ["search", "find", "original", "needle", "target"];
    key.starts_with("old") || words.iter().any(|word| key.starts_with(word))
}

fn replaces_all(input: &Json<'_>) -> bool {
    let names = [
        "replace_all",
        "replaceAll",
        "allow_multiple",
        "AllowMultiple",
    ];
    names
        .iter()
        .any(|name| input.get(name) == Some(&Json::Bool(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(old: &str, new: &str, all: bool) -> Replacement {
        let (old, new) = (old.to_owned(), new.to_owned());
        Replacement::Text {
            hunk: Hunk { old, new },
            all,
        }
    }

    #[test]
    fn replacements_are_made_in_order() {
        let becomes = |edits: &[Replacement]| apply("a\nb\na\n", edits);
        assert_eq!(
            becomes(&[text("a", "c", false)]).as_deref(),
            Some("c\nb\na\n")
        );
        assert_eq!(
            becomes(&[text("a", "c", true)]).as_deref(),
            Some("c\nb\nc\n")
        );
        let both = [text("a\nb", "x", false), text("x\na", "y", false)];
        assert_eq!(becomes(&both).as_deref(), Some("y\n"));
        assert_eq!(becomes(&[text("absent", "c", false)]), None);
        let below = [Replacement::Below(1, "new".to_owned())];
        assert_eq!(becomes(&below).as_deref(), Some("a\nnew\nb\na\n"));
    }
}
