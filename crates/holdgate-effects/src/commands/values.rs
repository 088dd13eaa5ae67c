//! Arguments that need more than a role: modes, mounts, lines that others add.

use super::args::Parsed;
use super::argument::role_of;
use super::role::Role;
use crate::effect::{Actor, Kind};
use crate::language::programs;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, Value};

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
) -> Vec<Value> {
    let mut words = words.to_vec();
    let Some(stdin) = stdin.filter(|_| role == Role::ArgvAndInput) else {
        return words;
    };
    let added: Vec<Value> = stdin
        .text
        .split([' ', '\n', '\t', '\0'])
        .filter(|w| !w.is_empty())
        .take(64)
        .map(|w| stdin.map(w))
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
    modes.flat_map(|mode| mode_tags(&mode.text)).collect()
}

/// What a mode gives away or takes: `u+s`, `777`, `o+w`, `000`; or an owner: `nobody`.
pub(super) fn mode_tags(mode: &str) -> Vec<Tag> {
    let mut tags: Vec<Tag> = Vec::new();
    let owner = mode.split(':').next().unwrap_or("");
    if matches!(owner, "nobody" | "root" | "daemon" | "nogroup") {
        tags.push(Tag::OtherOwner);
    }
    let octal = !mode.is_empty() && mode.bytes().all(|b| b.is_ascii_digit());
    if octal {
        let digits: Vec<u32> = mode.chars().filter_map(|c| c.to_digit(8)).collect();
        let special = if digits.len() > 3 {
            digits.get(digits.len() - 4).copied()
        } else {
            None
        };
        let digit = |from_end: usize| {
            digits
                .len()
                .checked_sub(from_end)
                .and_then(|at| digits.get(at))
                .copied()
                .unwrap_or(0)
        };
        if special.is_some_and(|d| d & 6 != 0) {
            tags.push(Tag::Setuid);
        }
        if digit(1) & 2 != 0 {
            tags.push(Tag::WorldWritable);
        }
        if digit(3) & 1 != 0 {
            tags.push(Tag::Executable);
        }
        if digits.len() >= 3 && digit(3) & 4 == 0 {
            tags.push(Tag::Locked);
        }
        return tags;
    }
    for clause in mode.split(',') {
        let Some(at) = clause.find(['+', '=', '-']) else {
            continue;
        };
        let (who, what) = clause.split_at_checked(at).unwrap_or((clause, ""));
        let rights = what.get(1..).unwrap_or("");
        let is_mode =
            who.chars().all(|c| "ugoa".contains(c)) && rights.chars().all(|c| "rwxXst".contains(c));
        let takes = what == "=" || what.starts_with('-') && rights.contains(['r', 'w', 'x', 'X']);
        if is_mode && takes {
            tags.push(Tag::Locked);
        }
        if what.starts_with('-') {
            continue;
        }
        if what.contains('s') && who != "o" {
            tags.push(Tag::Setuid);
        }
        if what.contains('w') && (who.contains('o') || who.contains('a')) {
            tags.push(Tag::WorldWritable);
        }
        if what.contains('x') {
            tags.push(Tag::Executable);
        }
    }
    tags
}

/// `host:container[:options]`, `type=bind,source=…`.
pub(super) fn mount(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let text = value.text.as_str();
    let named = ["source=", "src=", "device="];
    let source = if named.iter().any(|name| text.contains(name)) {
        text.split(',')
            .find_map(|p| named.iter().find_map(|name| p.strip_prefix(name)))
            .unwrap_or("")
    } else {
        text.split(':').next().unwrap_or("")
    };
    // A plain name is a volume of the container engine's own.
    if !(source.starts_with(['/', '.', '~']) || source.starts_with(HOLE)) {
        return Ok(());
    }
    let place = scene.place(&value.map(source));
    let mut effect = actor.does(Kind::Container).tagged(Tag::Mount);
    // By whatever path: some engines keep it in a folder of their own.
    let is_socket = |path: &str| SOCKETS.iter().any(|name| path.ends_with(name));
    if text.split([':', ',', '=']).any(is_socket) {
        effect = effect.tagged(Tag::DockerSocket);
    }
    scene.emit(effect.at(place).about(text))
}

/// The sockets over which container engines take orders.
const SOCKETS: [&str; 4] = [
    "/docker.sock",
    "/podman.sock",
    "/containerd.sock",
    "/crio.sock",
];
