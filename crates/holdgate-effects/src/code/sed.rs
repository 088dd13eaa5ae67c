//! sed: scripts that run commands, read files or write them.

use crate::effect::Actor;
use crate::scene::{Fueled, Scene};
use crate::value::{Origins, Value};

/// Says what a sed script does.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 2)?;
    let actor = Actor::new("sed", &crate::json::shorten(&code.text, 200));
    let mut rest = code.text.as_str();
    while !rest.is_empty() {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}', '!']);
        rest = without_address(rest);
        rest = rest.trim_start_matches([' ', '\t', '!', '{']);
        let Some(command) = rest.chars().next() else {
            break;
        };
        let after = rest.get(command.len_utf8()..).unwrap_or("");
        match command {
            '#' | ':' | 'a' | 'i' | 'c' => rest = after_line(after),
            's' | 'y' => rest = substitution(scene, &actor, code, after, command)?,
            'e' => {
                let (line, next) = split_line(after);
                let command = code.map(line.trim().to_owned());
                super::act::heard("shell", std::slice::from_ref(&command));
                // Without a command it runs what it has read.
                let command = if command.text.is_empty() {
                    Value::unknown(Origins::OUTPUT)
                } else {
                    command
                };
                scene.shell(&actor, &command)?;
                rest = next;
            }
            'w' | 'W' | 'r' | 'R' => {
                let (line, next) = split_line(after);
                let path = code.map(line.trim().to_owned());
                touch(scene, &actor, command, &path)?;
                rest = next;
            }
            _ => rest = after,
        }
    }
    Ok(Value::default())
}

fn touch(scene: &mut Scene<'_>, actor: &Actor, command: char, path: &Value) -> Fueled {
    // Longer than any path can be.
    if path.text.is_empty() || path.text.len() > 4096 {
        return Ok(());
    }
    if matches!(command, 'w' | 'W') {
        let content = Value::unknown(Origins::NONE);
        scene.write(actor, path, &content, false)
    } else {
        scene.read(actor, path).map(drop)
    }
}

/// `s/x/y/flags`: the flags `e` and `w file` act.
fn substitution<'c>(
    scene: &mut Scene<'_>,
    actor: &Actor,
    code: &Value,
    after: &'c str,
    command: char,
) -> Fueled<&'c str> {
    let Some(delimiter) = after.chars().next() else {
        return Ok("");
    };
    let body = after.get(delimiter.len_utf8()..).unwrap_or("");
    let (_, body) = split_at_delimiter(body, delimiter);
    let (replacement, flags) = split_at_delimiter(body, delimiter);
    if command == 'y' {
        return Ok(flags);
    }
    let mut rest = flags;
    while let Some(flag) = rest.chars().next() {
        let next = rest.get(flag.len_utf8()..).unwrap_or("");
        match flag {
            'e' => {
                let command = code.map(replacement.to_owned());
                super::act::heard("shell", std::slice::from_ref(&command));
                scene.shell(actor, &command)?;
                rest = next;
            }
            'w' => {
                let (line, next) = split_line(next);
                touch(scene, actor, 'w', &code.map(line.trim().to_owned()))?;
                return Ok(next);
            }
            'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => rest = next,
            _ => break,
        }
    }
    Ok(rest)
}

/// A script without the line numbers and patterns that it starts with.
fn without_address(script: &str) -> &str {
    let mut rest = script;
    for _ in 0..2 {
        rest = match rest.chars().next() {
            Some('/') => {
                let (_, after) = split_at_delimiter(rest.get(1..).unwrap_or(""), '/');
                after.trim_start_matches(['I', 'M'])
            }
            Some('0'..='9' | '$') => rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | '~' | '+')),
            _ => return rest,
        };
        match rest.strip_prefix(',') {
            Some(second) => rest = second.trim_start_matches(['+', '~']),
            None => return rest,
        }
    }
    rest
}

fn split_at_delimiter(text: &str, delimiter: char) -> (&str, &str) {
    let mut escaped = false;
    // Inside `[…]` the delimiter is a character like any other.
    let mut class_until = 0;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match c {
            '\\' => escaped = true,
            '[' if at >= class_until => {
                let inside = text.bytes().skip(at + 2).take(64);
                let close = inside.take_while(|b| *b != b'\n').position(|b| b == b']');
                class_until = close.map_or(class_until, |n| at + 2 + n);
            }
            _ if c == delimiter && at >= class_until => {
                let after = text.get(at + c.len_utf8()..).unwrap_or("");
                return (text.get(..at).unwrap_or(""), after);
            }
            _ => {}
        }
    }
    (text, "")
}

fn split_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// What follows a text, whose lines go on while they end with a backslash.
fn after_line(text: &str) -> &str {
    let mut rest = text;
    loop {
        let (line, next) = split_line(rest);
        rest = next;
        if !line.ends_with('\\') || next.is_empty() {
            return rest;
        }
    }
}
