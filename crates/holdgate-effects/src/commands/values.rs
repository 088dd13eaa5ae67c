//! Arguments that need more than a role: modes, mounts, lines that others add.

use super::args::Parsed;
use super::argument::role_of;
use super::role::Role;
use crate::effect::Actor;
use crate::language::programs;
use crate::path;
use crate::scene::{Fueled, Scene};
use crate::tag::{self, Tag};
use crate::value::Value;

/// The lines of a table of times, without the times.
pub(super) fn schedule_lines(stdin: &Value) -> Value {
    let command = |line| programs::schedule(line).map_or("", |(_, command)| command);
    let lines: Vec<&str> = stdin.text.lines().map(command).collect();
    stdin.map(lines.join("\n"))
}

/// `xargs` and its like add what they read to the arguments.
pub(super) fn with_input(
    words: &[Value],
    role: Role,
    stdin: Option<&Value>,
    mark: &str,
    whole_lines: bool,
) -> Vec<Value> {
    let mut words = words.to_vec();
    let Some(stdin) = stdin.filter(|_| role == Role::ArgvAndInput) else {
        return words;
    };
    let added: Vec<Value> = stdin
        .text
        .split(|c| matches!(c, '\n' | '\0') || !whole_lines && matches!(c, ' ' | '\t'))
        .filter(|w| !w.is_empty())
        .take(64)
        .map(|w| stdin.map(w.trim_end_matches('\n')))
        .collect();
    let mut placed = false;
    for word in &mut words {
        if !mark.is_empty() && word.text.contains(mark) {
            placed = true;
            // With a mark the whole line goes there.
            let with = stdin.map(stdin.text.lines().next().unwrap_or(""));
            let text = word.text.replace(mark, &with.text);
            word.text = text;
            word.taint(&with);
        }
    }
    if !placed {
        if words.is_empty() {
            words.push(Value::known("echo"));
        }
        words.extend(added);
    }
    words
}

/// What the modes among the arguments give away.
pub(super) fn mode_tags_of(parsed: &Parsed) -> Vec<Tag> {
    let options = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let options = options.filter(|(role, _)| *role == Role::ModeBits);
    let count = parsed.operands.len();
    let role = |at| role_of(&parsed.spec.operands, at, count);
    let operands = parsed.operands.iter().enumerate();
    let operands = operands.filter(|(at, _)| role(*at) == Role::ModeBits);
    let modes = options
        .map(|(_, mode)| mode)
        .chain(operands.map(|(_, o)| o));
    modes.flat_map(|mode| tag::of_mode(&mode.text)).collect()
}

/// `host:container[:options]`, `type=bind,source=…`.
pub(super) fn mount(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    scene.mounts_folder(actor, value)
}

/// What the mounts among the options show, by the names that they have inside; and where it starts.
pub(super) fn enter_container(scene: &mut Scene<'_>, parsed: &Parsed) {
    let options = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let mut mounts = Vec::new();
    for (_, value) in options.filter(|(role, _)| *role == Role::Mount).take(32) {
        if let Some((outside, inside, _)) = path::container_mount(&value.text) {
            let outside = scene.place(&value.map(outside)).text;
            mounts.push((inside.trim_end_matches('/').to_owned(), outside));
        }
    }
    if mounts.is_empty() {
        return;
    }
    scene.mounts = mounts;
    if let Some(folder) = parsed.value_of(&["-w", "--workdir"]).cloned() {
        scene.enter(&folder);
    }
}
