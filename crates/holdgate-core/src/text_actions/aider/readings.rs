//! What aider does with a text, in each of its edit formats. Which one it uses is its user's choice,
//! so all are read.

use super::lines::{
    FENCES, PATCHES, is_divider, is_fence, is_head, is_shell, is_space, is_updated, split, strip,
};
use holdgate_effects::json::Json;

/// Names of files that one block may mean.
const MAX_NAMES: usize = 8;
/// Characters of a name; aider takes a longer one for a sentence.
const MAX_NAME: usize = 250;

/// Something that aider does: a tool that does the same, and its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Action {
    pub(in super::super) tool: &'static str,
    pub(in super::super) input: Json<'static>,
}

impl Action {
    fn new<const N: usize>(tool: &'static str, input: [(&'static str, &str); N]) -> Self {
        let input = input.map(|(key, value)| (key, value.to_owned().into()));
        Action {
            tool,
            input: Json::object(input),
        }
    }

    fn write(path: &str, content: &str) -> Self {
        Action::new("Write", [("file_path", path), ("content", content)])
    }

    /// The part `old` of a file becomes `new`. Without an old part the file is new, or gets a new end.
    fn edit(path: &str, old: &str, new: &str) -> Self {
        if strip(old).is_empty() {
            return Action::write(path, new);
        }
        let input = [
            ("file_path", path),
            ("old_string", old),
            ("new_string", new),
        ];
        Action::new("Edit", input)
    }
}

/// What earlier blocks of the message have named.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    /// Files of search-and-replace blocks.
    blocks: Vec<String>,
    /// The file of a diff.
    diff: Option<String>,
    /// The last name in backticks.
    pub(super) seen: Option<String>,
}

/// What aider does with the lines from `start` on, the first of which may be the first of all. Lines
/// before them may name files.
pub(super) fn actions(
    lines: &[&str],
    start: (usize, bool),
    named: &mut Named,
    distinct: &mut Vec<Action>,
) {
    let mut found = Vec::new();
    blocks(lines, start.0, named, &mut found);
    for fence in FENCES {
        whole(lines, start, fence, named, &mut found);
    }
    diffs(lines, start, named, &mut found);
    patch(lines, start, &mut found);
    for action in found {
        if !distinct.contains(&action) {
            distinct.push(action);
        }
    }
}

/// `diff` and `diff-fenced`: search-and-replace blocks, and commands.
fn blocks(lines: &[&str], start: usize, named: &mut Named, found: &mut Vec<Action>) {
    let is_head_at = |at: usize| lines.get(at).is_some_and(|line| is_head(line));
    let mut at = start;
    while let Some(line) = lines.get(at) {
        if is_shell(line) && !is_head_at(at + 1) && !is_head_at(at + 2) {
            let commands = take(lines, &mut at, |line| strip(line).starts_with("```"));
            for command in split(strip(&commands)) {
                let command = strip(command);
                if !command.is_empty() && !command.starts_with('#') {
                    found.push(Action::new("Bash", [("command", command)]));
                }
            }
        } else if is_head(line) {
            let names = names(lines.get(at.saturating_sub(3)..at).unwrap_or_default());
            let old = take(lines, &mut at, is_divider);
            let new = take(lines, &mut at, |line| is_updated(line) || is_divider(line));
            // A block that was refused has named nothing for the client, so earlier names stay.
            named.blocks.retain(|name| !names.contains(name));
            named.blocks.splice(0..0, names.iter().cloned());
            named.blocks.truncate(MAX_NAMES);
            let files = if names.is_empty() {
                &named.blocks
            } else {
                &names
            };
            found.extend(files.iter().map(|name| Action::edit(name, &old, &new)));
        }
        at += 1;
    }
}

/// The lines behind the one at `at`, up to one that ends them, to which `at` moves.
fn take(lines: &[&str], at: &mut usize, ends: impl Fn(&str) -> bool) -> String {
    let mut taken = String::new();
    *at += 1;
    while let Some(line) = lines.get(*at).filter(|line| !ends(line)) {
        taken.push_str(line);
        *at += 1;
    }
    taken
}

/// The names that the lines before a block may give it.
fn names(before: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |name: &str| {
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    for line in before.iter().rev() {
        let text = strip(line);
        for (fence, _) in FENCES {
            let name = text.strip_prefix(fence).unwrap_or_default();
            if name.contains(['.', '/']) {
                add(name);
            }
        }
        // Marks are a fence always; a tag is one only if aider has chosen it.
        if !text.starts_with("```") && text != "..." {
            let name = text.trim_end_matches(':').trim_start_matches('#');
            add(strip(name).trim_matches('`').trim_matches('*'));
        }
        if !FENCES.iter().any(|(fence, _)| line.starts_with(fence)) {
            break;
        }
    }
    names
}

/// `whole`: whatever stands in a fence is the text of the file that the line before names.
fn whole(
    lines: &[&str],
    start: (usize, bool),
    fence: (&str, &str),
    named: &Named,
    found: &mut Vec<Action>,
) {
    let mut open: Option<(String, String)> = None;
    for (at, line) in lines.iter().enumerate().skip(start.0) {
        let edge = edge(line, at, start);
        match &mut open {
            Some(_) if is_fence(edge, fence) => {
                found.extend(
                    open.take()
                        .and_then(|(name, text)| whole_file(&name, &text)),
                );
            }
            Some((_, text)) => text.push_str(line),
            None if is_fence(edge, fence) => {
                let before = at.checked_sub(1).and_then(|at| lines.get(at));
                let name = file_name(before.copied().unwrap_or_default());
                open = Some((or_other(name, line, named), String::new()));
            }
            None => {}
        }
    }
    found.extend(open.and_then(|(name, text)| whole_file(&name, &text)));
}

fn file_name(line: &str) -> String {
    let name = strip(line).trim_matches('*').trim_end_matches(':');
    let name = strip(name.trim_matches('`').trim_start_matches('#'));
    if name.chars().count() > MAX_NAME {
        return String::new();
    }
    name.to_owned()
}

/// Without a name, aider takes a file that it knows. Here the language says what kind of file that
/// may be; commands and diffs are read as what they are.
fn or_other(name: String, line: &str, named: &Named) -> String {
    if !name.is_empty() || is_shell(line) || line.starts_with("```diff") {
        return name;
    }
    if let Some(seen) = &named.seen {
        return seen.clone();
    }
    let language = strip(line).trim_start_matches('`').to_lowercase();
    match language.as_str() {
        "python" => "untitled.py".to_owned(),
        "javascript" => "untitled.js".to_owned(),
        "typescript" => "untitled.ts".to_owned(),
        "ruby" => "untitled.rb".to_owned(),
        "makefile" => "Makefile".to_owned(),
        "dockerfile" => "Dockerfile".to_owned(),
        other if !other.is_empty() && other.chars().all(|c| c.is_ascii_alphanumeric()) => {
            format!("untitled.{other}")
        }
        _ => "untitled".to_owned(),
    }
}

/// A file of this name gets this text. A sentence is a name too, but of a file that nothing uses.
fn whole_file(name: &str, text: &str) -> Option<Action> {
    let lines = split(text);
    let is_block = lines.first().is_some_and(|line| is_head(line))
        && lines.last().is_some_and(|line| is_updated(line));
    let (_, extension) = name.rsplit_once('.').unwrap_or_default();
    let is_sentence = name.contains(is_space)
        && !name.contains('/')
        && (extension.is_empty() || !extension.chars().all(|c| c.is_ascii_alphanumeric()));
    let acts = !name.is_empty() && !is_sentence && !is_block;
    acts.then(|| Action::write(name, text))
}

/// The line at `at` without the white space that aider cuts off.
fn edge(line: &str, at: usize, start: (usize, bool)) -> &str {
    if start == (at, true) {
        strip(line)
    } else {
        line
    }
}

/// `udiff`: diffs in a fence of their own.
fn diffs(lines: &[&str], start: (usize, bool), named: &mut Named, found: &mut Vec<Action>) {
    let mut at = start.0;
    while let Some(line) = lines.get(at) {
        if edge(line, at, start).starts_with("```diff") {
            let diff = take(lines, &mut at, |line| line.starts_with("```"));
            hunks(&split(&diff), named, found);
        }
        at += 1;
    }
}

fn hunks(lines: &[&str], named: &mut Named, found: &mut Vec<Action>) {
    let (mut old, mut new) = (String::new(), String::new());
    let mut changes = false;
    let mut from = None;
    for line in lines.iter().chain([&"@@ @@"]) {
        if let (Some(name), Some((before, had_changes))) = (line.strip_prefix("+++ "), from.take())
        {
            // The line before was none of the hunk.
            cut(&mut old, before);
            changes = had_changes;
            end(&mut old, &mut new, &mut changes, named, found);
            named.diff = Some(target(before, name));
            continue;
        }
        from = line.strip_prefix("--- ").map(|name| (name, changes));
        match line.chars().next() {
            _ if strip(line).is_empty() => {
                old.push('\n');
                new.push('\n');
            }
            Some('@') => end(&mut old, &mut new, &mut changes, named, found),
            Some('-') => {
                changes = true;
                old.push_str(line.get(1..).unwrap_or_default());
            }
            Some('+') => {
                changes = true;
                new.push_str(line.get(1..).unwrap_or_default());
            }
            Some(' ') => {
                let line = line.get(1..).unwrap_or_default();
                old.push_str(line);
                new.push_str(line);
            }
            _ => {}
        }
    }
}

/// Takes the line `--- NAME`, which was read as one that goes away, from the end.
fn cut(old: &mut String, name: &str) {
    let length = old.len().saturating_sub(name.len() + "-- ".len());
    old.truncate(old.floor_char_boundary(length));
}

fn end(
    old: &mut String,
    new: &mut String,
    changes: &mut bool,
    named: &Named,
    found: &mut Vec<Action>,
) {
    let (old, new) = (std::mem::take(old), std::mem::take(new));
    if let Some(name) = named.diff.as_ref().filter(|_| std::mem::take(changes)) {
        found.push(Action::edit(name, &old, &new));
    }
}

/// The file that a diff changes.
fn target(before: &str, after: &str) -> String {
    let (before, after) = (strip(before), strip(after));
    let is_usual = before.starts_with("a/") || before == "/dev/null";
    let name = after.strip_prefix("b/").filter(|_| is_usual);
    name.unwrap_or(after).to_owned()
}

/// `patch`: the form of `apply_patch`, from the first line of the message on.
fn patch(lines: &[&str], (start, first): (usize, bool), found: &mut Vec<Action>) {
    let patch = lines.get(start..).filter(|_| first).unwrap_or_default();
    let first = patch.first().copied().unwrap_or_default();
    if PATCHES.iter().any(|begin| first.starts_with(begin)) {
        found.push(Action::new("apply_patch", [("input", &patch.concat())]));
    }
}
