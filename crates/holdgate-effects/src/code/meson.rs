//! Meson: the programs that it runs while a build is set up or made, put as commands of a shell.

use super::cmake;
use crate::scene::{Fueled, Scene};
use crate::value::Value;

/// Invocations of one file that are looked at, and the words of one.
const MAX_INVOCATIONS: usize = 128;
const MAX_WORDS: usize = 128;
/// Where a list of a program and its arguments begins.
const STARTS: [&str; 3] = ["run_command(", "command: [", "command : ["];

/// Whether a file holds what is read here.
pub(super) fn is_meson(text: &str) -> bool {
    text.contains("run_command(") || text.contains("custom_target(") || text.contains("run_target(")
}

/// Reads the file as a script of what it does.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled {
    scene.fuel.spend_on(code.text.len())?;
    let text = code.text.as_str();
    let mut script = String::new();
    for start in STARTS {
        for (at, _) in text.match_indices(start).take(MAX_INVOCATIONS) {
            let line = text.get(..at).and_then(|before| before.rsplit('\n').next());
            let rest = text.get(at + start.len()..).unwrap_or("");
            if line.is_some_and(|line| !line.contains('#')) {
                push(&mut script, &words(text, rest));
            }
        }
    }
    cmake::judge(scene, "meson", code, script)
}

fn push(script: &mut String, words: &[String]) {
    // A name that nothing explains, or one word alone, says too little.
    if words.len() < 2 {
        return;
    }
    for word in words {
        script.push('\'');
        script.push_str(&word.replace('\'', "'\\''"));
        script.push_str("' ");
    }
    script.push('\n');
}

/// The words from here to the end of the list. What has a name is what it was set to.
fn words(text: &str, list: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = list.trim_start();
    while words.len() < MAX_WORDS {
        let quoted = rest.strip_prefix("find_program(").unwrap_or(rest);
        if let Some((word, behind)) = literal(quoted) {
            words.push(word);
            rest = behind.trim_start_matches([')', ' ']);
        } else {
            let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            // `check: false`
            if name.is_empty() || behind.trim_start().starts_with(':') {
                break;
            }
            words.push(program(text, name));
            rest = behind;
        }
        let Some(next) = rest.trim_start().strip_prefix(',') else {
            break;
        };
        rest = next.trim_start().trim_start_matches('[');
    }
    words
}

/// A text in quotes, and what follows.
fn literal(text: &str) -> Option<(String, &str)> {
    if let Some(text) = text.strip_prefix("'''") {
        let (word, behind) = text.split_once("'''")?;
        return Some((word.to_owned(), behind));
    }
    let text = text.strip_prefix('\'')?;
    let mut word = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return Some((word, text.get(at + 1..)?)),
            '\\' => word.extend(chars.next().map(|(_, c)| c)),
            c => word.push(c),
        }
    }
    None
}

/// The program that a name was set to, as far as that is said.
fn program(text: &str, name: &str) -> String {
    let set = text.lines().find_map(|line| {
        let value = line.trim().strip_prefix(name)?.trim_start();
        let value = value.strip_prefix('=')?.trim_start();
        Some(value.strip_prefix("find_program(").unwrap_or(value))
    });
    let known = set.and_then(literal).map(|(word, _)| word);
    let python = set.is_some_and(|set| set.contains("python"));
    let usual = if python { "python3" } else { name };
    known.unwrap_or_else(|| usual.to_owned())
}
