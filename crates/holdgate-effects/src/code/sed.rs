//! sed: a script to its commands, and what they run, read and write.

use crate::effect::Actor;
use crate::scene::{Fueled, Scene};
use crate::value::{Origins, Value};

/// One command of a script, with its parts as they are written.
pub(crate) struct Command<'s> {
    /// The lines that it is for: `2`, `$`, `/x/,5`; empty for all.
    pub(crate) address: &'s str,
    /// Whether it stands at the start, behind `;` or on a new line.
    pub(crate) is_separate: bool,
    pub(crate) action: Action<'s>,
}

pub(crate) enum Action<'s> {
    /// `s/pattern/with/flags`, with the file of the flag `w`.
    Substitute {
        mark: char,
        pattern: &'s str,
        with: &'s str,
        flags: &'s str,
        file: Option<&'s str>,
    },
    /// `y/from/to/`
    Exchange {
        mark: char,
        from: &'s str,
        to: &'s str,
    },
    /// Lines that `a`, `i` or `c` puts in, as they are written.
    Insert(&'s str),
    Execute(&'s str),
    Read(&'s str),
    Write(&'s str),
    /// Any other command, also `{`, `}` and `!`.
    Other(char),
}

/// Says what a sed script does.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 2)?;
    let actor = Actor::new("sed", &crate::json::shorten(&code.text, 200));
    // No path is longer.
    let is_path = |file: &&str| !file.is_empty() && file.len() <= 4096;
    let content = Value::unknown(Origins::NONE);
    for command in commands(&code.text) {
        match command.action {
            // Without a command it runs what it has read.
            Action::Execute("") => execute(scene, &actor, &Value::unknown(Origins::OUTPUT))?,
            Action::Execute(command) => execute(scene, &actor, &code.map(command))?,
            Action::Substitute {
                with, flags, file, ..
            } => {
                if flags.contains('e') {
                    execute(scene, &actor, &code.map(with))?;
                }
                if let Some(file) = file.filter(is_path) {
                    scene.write(&actor, &code.map(file), &content, false)?;
                }
            }
            Action::Write(file) if is_path(&file) => {
                scene.write(&actor, &code.map(file), &content, false)?;
            }
            Action::Read(file) if is_path(&file) => {
                scene.read(&actor, &code.map(file))?;
            }
            Action::Write(_)
            | Action::Read(_)
            | Action::Exchange { .. }
            | Action::Insert(_)
            | Action::Other(_) => {}
        }
    }
    Ok(Value::default())
}

fn execute(scene: &mut Scene<'_>, actor: &Actor, command: &Value) -> Fueled {
    super::act::heard("shell", std::slice::from_ref(command));
    scene.shell(actor, command).map(drop)
}

/// The commands of a script, also of one with errors.
pub(crate) fn commands(script: &str) -> impl Iterator<Item = Command<'_>> {
    let mut rest = script;
    std::iter::from_fn(move || {
        let start = rest.trim_start_matches([' ', '\t', '\n', ';']);
        let between = rest.strip_suffix(start).unwrap_or("");
        let is_separate = rest.len() == script.len() || between.contains([';', '\n']);
        let after = without_address(start);
        let address = start.strip_suffix(after).unwrap_or("");
        let mut chars = after.trim_start_matches([' ', '\t']).chars();
        let letter = chars.next()?;
        let (action, after) = action(letter, chars.as_str());
        rest = after;
        Some(Command {
            address,
            is_separate,
            action,
        })
    })
}

/// What the command `letter` does, and what follows it.
fn action(letter: char, after: &str) -> (Action<'_>, &str) {
    let (line, next) = split_line(after);
    match letter {
        // Without all its marks it is an error, and sed runs nothing.
        's' | 'y' => delimited(letter, after).unwrap_or((Action::Other(letter), "")),
        'e' => (Action::Execute(line.trim()), next),
        'r' | 'R' => (Action::Read(line.trim()), next),
        'w' | 'W' => (Action::Write(line.trim()), next),
        '#' => (Action::Other(letter), next),
        'a' | 'i' | 'c' => {
            let next = after_text(after);
            let text = after.strip_suffix(next).unwrap_or(after);
            (Action::Insert(text), next)
        }
        ':' | 'b' | 't' | 'T' => {
            let label = after.trim_start_matches([' ', '\t']);
            let next = label.trim_start_matches(|c| !matches!(c, ';' | '\n' | ' ' | '}'));
            (Action::Other(letter), next)
        }
        _ => (Action::Other(letter), after),
    }
}

/// `/pattern/with/flags` of `s`, `/from/to/` of `y`.
fn delimited(letter: char, after: &str) -> Option<(Action<'_>, &str)> {
    let mark = after.chars().next()?;
    let body = after.get(mark.len_utf8()..)?;
    if letter == 'y' {
        let (from, body) = split_at_mark(body, mark, false)?;
        let (to, rest) = split_at_mark(body, mark, false)?;
        return Some((Action::Exchange { mark, from, to }, rest));
    }
    let (pattern, body) = split_at_mark(body, mark, true)?;
    let (with, body) = split_at_mark(body, mark, false)?;
    let is_flag = |c| matches!(c, 'e' | 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9');
    let rest = body.trim_start_matches(is_flag);
    let flags = body.strip_suffix(rest)?;
    let (file, rest) = match rest.strip_prefix('w') {
        Some(file) => {
            let (line, next) = split_line(file);
            (Some(line.trim()), next)
        }
        None => (None, rest),
    };
    let action = Action::Substitute {
        mark,
        pattern,
        with,
        flags,
        file,
    };
    Some((action, rest))
}

/// A script without the line numbers and patterns that it starts with.
fn without_address(script: &str) -> &str {
    let mut rest = script;
    for _ in 0..2 {
        let mut chars = rest.chars();
        rest = match chars.next() {
            Some(first @ ('/' | '\\')) => {
                let mark = if first == '/' {
                    Some('/')
                } else {
                    chars.next()
                };
                let pattern = mark.and_then(|mark| split_at_mark(chars.as_str(), mark, true));
                pattern.map_or("", |(_, after)| after.trim_start_matches(['I', 'M']))
            }
            Some('0'..='9' | '$') => rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | '~' | '+')),
            _ => return rest,
        };
        match rest.strip_prefix(',') {
            Some(second) => rest = second.trim_start_matches([' ', '+', '~']),
            None => return rest,
        }
    }
    rest
}

/// Splits `text` at the first `mark` that is not escaped, nor inside `[…]` if it is a `pattern`.
fn split_at_mark(text: &str, mark: char, pattern: bool) -> Option<(&str, &str)> {
    let mut escaped = false;
    let mut class_until = 0;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match c {
            '\\' => escaped = true,
            '[' if pattern && at >= class_until => {
                let inside = text.bytes().skip(at + 2).take(64);
                let close = inside.take_while(|b| *b != b'\n').position(|b| b == b']');
                class_until = close.map_or(class_until, |n| at + 2 + n);
            }
            _ if c == mark && at >= class_until => {
                return Some((text.get(..at)?, text.get(at + c.len_utf8()..)?));
            }
            _ => {}
        }
    }
    None
}

fn split_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// What follows a text, whose lines go on while they end with a backslash.
fn after_text(text: &str) -> &str {
    let mut rest = text;
    loop {
        let (line, next) = split_line(rest);
        rest = next;
        if !line.ends_with('\\') || next.is_empty() {
            return rest;
        }
    }
}
