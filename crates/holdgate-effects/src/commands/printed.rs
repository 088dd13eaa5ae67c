//! Places that programs print, so that what is done with them later is known.

use super::Call;
use crate::path::{self, PathClass};
use crate::scene::Scene;
use crate::value::{HOLE, HOLE_STR, Value};

/// Programs that print some of the lines that they read, as they are.
const SELECT: [&str; 12] = [
    "grep", "egrep", "fgrep", "rg", "sort", "uniq", "head", "tail", "tac", "shuf", "fzf", "sponge",
];

/// Programs that print parts of what they read.
const FILTERS: [&str; 12] = [
    "awk", "gawk", "mawk", "sed", "cut", "grep", "rg", "head", "tail", "tr", "perl", "xargs",
];

/// Variables that are put into one text.
const MAX_VARIABLES: usize = 64;

/// Programs that show what they read, changed or not.
const SHOW: [&str; 22] = [
    "cat", "tee", "sed", "awk", "gawk", "cut", "tr", "base64", "xxd", "od", "rev", "jq", "column",
    "less", "more", "nl", "fold", "fmt", "paste", "strings", "env", "printenv",
];

/// Whether what it reads can be seen in what it prints.
pub(super) fn shows_input(call: &Call<'_>) -> bool {
    SELECT.contains(&call.program) && selects(call) || SHOW.contains(&call.program)
}

/// Programs that go on as long as what they read.
const GO_ON: [&str; 6] = ["cat", "tee", "pv", "tr", "yes", "base64"];

/// What `call` prints: most programs end, whatever they read.
pub(super) fn ended(call: &Call<'_>, output: Value) -> Value {
    if output.sources.is_empty() || !output.is_endless() || GO_ON.contains(&call.program) {
        return output;
    }
    output.without_end()
}

/// What `call` prints, if it is a place, or lines of which a part is known; otherwise `output`.
pub(super) fn place(scene: &Scene<'_>, call: &Call<'_>, output: Value) -> Value {
    if let Some(named) = named(scene, call, &output) {
        return named;
    }
    match call.stdin {
        Some(stdin) if selects(call) && output.is_blank() && is_partly_known(stdin) => {
            output.map(stdin.text.clone())
        }
        // What a filter leaves of a text that names the place of a key is taken for that place.
        Some(stdin) if FILTERS.contains(&call.program) && output.text.contains(HOLE) => {
            match key_in(scene, stdin) {
                Some(place) => output.map(place),
                None => output,
            }
        }
        _ => output,
    }
}

/// The place of a key that a short known text names.
fn key_in(scene: &Scene<'_>, text: &Value) -> Option<String> {
    const MAX_LENGTH: usize = 4096;
    const MAX_WORDS: usize = 16;
    let is_plain = text.text.len() <= MAX_LENGTH && !text.text.contains(HOLE);
    let words = text.text.split_whitespace().filter(|_| is_plain);
    let paths = words.filter(|word| word.starts_with(['/', '~']));
    let secret = |path: &&str| scene.place(&Value::known(*path)).is(PathClass::Secret);
    paths.take(MAX_WORDS).find(secret).map(str::to_owned)
}

/// The place that the table says.
fn named(scene: &Scene<'_>, call: &Call<'_>, output: &Value) -> Option<Value> {
    let words: Vec<&str> = call.words.iter().map(|w| w.text.as_str()).collect();
    let entry = scene.know.printed.find(call.program, &words)?;
    let is_operand = |w: &&&str| !w.starts_with('-') && !entry.with.iter().any(|e| e == *w);
    let operand = words.iter().skip(1).find(is_operand).copied();
    let template = entry.prints.as_str();
    if template == "{variable}" {
        return variable(scene, operand?).filter(Value::is_known);
    }
    if template == "{input}" {
        return Some(call.stdin?.map(with_variables(scene, &call.stdin?.text)));
    }
    if operand.is_none() && template.contains("{1}") && !entry.with.is_empty() {
        // Called without the name that it would tell about, it tells about all.
        let whole = template.strip_suffix("/{1}")?;
        return Some(output.map(filled(scene, whole, "")));
    }
    Some(output.map(filled(scene, template, operand.unwrap_or(""))))
}

fn variable(scene: &Scene<'_>, name: &str) -> Option<Value> {
    match scene.variable(name) {
        Some(values) => values.last().cloned(),
        None => Some(scene.usual_variable(name)),
    }
}

/// `$HOME/x`, `${HOME}/x` with the values in place of the names.
fn with_variables(scene: &Scene<'_>, text: &str) -> String {
    let mut pieces = text.split('$');
    let mut whole = pieces.next().unwrap_or("").to_owned();
    for piece in pieces.take(MAX_VARIABLES) {
        let inner = piece.strip_prefix('{').unwrap_or(piece);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
        let (name, rest) = inner.split_at_checked(end).unwrap_or((inner, ""));
        let value = variable(scene, name).unwrap_or_default();
        whole.push_str(&value.text);
        whole.push_str(rest.strip_prefix('}').unwrap_or(rest));
    }
    whole
}

fn filled(scene: &Scene<'_>, template: &str, operand: &str) -> String {
    let world = scene.world;
    let folder = scene.folder();
    let inside = |project: &&String| path::is_under(folder, project);
    let project = world.project.as_ref().filter(inside);
    let project = project.map_or(folder, String::as_str);
    let user = world.home.rsplit('/').next().unwrap_or("");
    let text = template
        .replace("{project}", project)
        .replace("{cwd}", folder)
        .replace("{user}", user)
        .replace("{some}", HOLE_STR)
        .replace("{1}", operand);
    let text = match text.strip_prefix('~') {
        Some(rest) => format!("{}{rest}", world.home),
        None => text,
    };
    text + "\n"
}

/// Whether it only picks lines: its output is among its input.
fn selects(call: &Call<'_>) -> bool {
    let changes = |word: &Value| {
        let text = word.text.as_str();
        text.starts_with('-') && (text.contains(['c', 'o', 'q']) && !text.starts_with("--"))
    };
    SELECT.contains(&call.program) && !call.words.iter().skip(1).any(changes)
}

fn is_partly_known(input: &Value) -> bool {
    input.text.contains(HOLE)
        && input
            .text
            .lines()
            .all(|line| line.starts_with(['/', '.', '~']))
}
