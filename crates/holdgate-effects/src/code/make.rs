//! Makefiles: recipes and `$(shell …)`.

mod texts;

use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::value::{HOLE_STR, Origins, Value};
use std::collections::HashMap;

/// Functions in functions.
const MAX_NESTED: u32 = 8;

/// Says what the recipes of a makefile do.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 2)?;
    let mut variables: HashMap<String, String> = HashMap::new();
    let lines = joined_lines(&code.text);
    // Recipes of just are indented as one likes.
    let tabs = lines.iter().any(|line| line.starts_with('\t'));
    let mut defined: Option<(String, String)> = None;
    for line in &lines {
        scene.fuel.spend(1)?;
        if let Some((name, body)) = &mut defined {
            if line.trim() == "endef" {
                variables.insert(std::mem::take(name), std::mem::take(body));
                defined = None;
            } else {
                // Whatever uses it runs its lines.
                let recipe = line.trim_start_matches(['@', '-', '+', ' ', '\t']);
                let command = expanded(scene, code, recipe, &variables)?;
                shell(scene, code, &command)?;
                body.push_str(recipe);
                body.push_str("; ");
            }
            continue;
        }
        if let Some(name) = line.trim_start().strip_prefix("define ") {
            let name = name.trim_end_matches([':', '=', '?', '+', ' ']);
            defined = Some((name.to_owned(), String::new()));
            continue;
        }
        let indented = !tabs && line.starts_with([' ']);
        if let Some(recipe) = line
            .strip_prefix('\t')
            .or(indented.then_some(line.as_str()))
        {
            let recipe = recipe.trim_start_matches(['@', '-', '+', ' ', '\t']);
            if !recipe.starts_with('#') {
                let command = expanded(scene, code, recipe, &variables)?;
                shell(scene, code, &command)?;
            }
            continue;
        }
        let line = line.trim_start();
        if line.starts_with('#') {
            continue;
        }
        if let Some((name, value)) = assignment(line) {
            let value = expanded(scene, code, value, &variables)?;
            variables.insert(name.to_owned(), value);
        } else {
            // `target: ; command`, and `$(shell …)` between other things.
            expanded(scene, code, line, &variables)?;
            if let Some((_, command)) = line.split_once(';').filter(|(l, _)| l.contains(':')) {
                let command = command.trim_start_matches(['@', '-', '+', ' ', '\t']);
                let command = expanded(scene, code, command, &variables)?;
                shell(scene, code, &command)?;
            }
        }
    }
    Ok(Value::default())
}

fn shell(scene: &mut Scene<'_>, code: &Value, command: &str) -> Fueled<Value> {
    if command.trim().is_empty() || command == HOLE_STR {
        return Ok(Value::unknown(Origins::OUTPUT));
    }
    let command = code.map(command);
    let actor = Actor::new("make", &crate::json::shorten(&command.text, 200));
    super::act::heard("shell", std::slice::from_ref(&command));
    scene.fuel.spend(command.text.len() as u64 / 8)?;
    let before = scene.effects.len();
    let printed = scene.apart(|scene| scene.shell(&actor, &command))?;
    // A program that the person who runs make chooses, as in `$(CARGO) build`, is theirs.
    if command.text.starts_with(HOLE_STR) {
        super::forget(scene, before, &[Kind::ExecuteOpaque]);
    }
    Ok(printed)
}

/// What variables hold that make knows by itself or that everybody sets to the same.
fn usual(name: &str) -> Option<&'static str> {
    Some(match name {
        "CC" => "cc",
        "CXX" => "c++",
        "MAKE" => "make",
        "RM" => "rm -f",
        "AR" => "ar",
        "LD" => "ld",
        "INSTALL" => "install",
        "PYTHON" => "python3",
        "CARGO" => "cargo",
        "GO" => "go",
        "NPM" => "npm",
        "NODE" => "node",
        "DOCKER" => "docker",
        "CURDIR" | "PWD" => ".",
        "HOME" => "~",
        _ => return None,
    })
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(plain)).then_some((name, value.trim()))
}

/// `$(X)` and `${X}` replaced, `$$` as `$`; what make alone knows is a hole.
fn expanded(
    scene: &mut Scene<'_>,
    code: &Value,
    text: &str,
    variables: &HashMap<String, String>,
) -> Fueled<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let Some(first) = after.chars().next() else {
            break;
        };
        let close = match first {
            '(' => ')',
            '{' => '}',
            '$' => {
                out.push('$');
                rest = after.get(1..).unwrap_or("");
                continue;
            }
            _ => {
                out.push_str(HOLE_STR);
                rest = after.get(first.len_utf8()..).unwrap_or("");
                continue;
            }
        };
        let end = matching(after, first, close);
        let inner = after.get(1..end).unwrap_or("");
        rest = after.get(end + 1..).unwrap_or("");
        if let Some(command) = inner.strip_prefix("shell ") {
            let command = inside(scene, code, command, variables)?;
            let printed = shell(scene, code, command.trim())?;
            // What it prints may be a command, or a part of one.
            let printed = printed.as_known().map(str::trim_end);
            let short = printed.filter(|p| !p.is_empty() && p.len() < 1 << 10);
            out.push_str(&short.map_or(HOLE_STR.to_owned(), |p| p.replace('\n', " ")));
        } else if let Some((name, arguments)) = texts::call(inner) {
            let arguments = inside(scene, code, arguments, variables)?;
            scene.fuel.spend_on(arguments.len())?;
            out.push_str(&texts::made(name, &arguments).unwrap_or_else(|| HOLE_STR.to_owned()));
        } else if let Some(made) = made_by(inner) {
            // What a function makes of its last argument is put here.
            out.push_str(&inside(scene, code, made, variables)?);
        } else {
            let set = variables.get(inner).map(String::as_str);
            let known = set.or_else(|| usual(inner)).unwrap_or(HOLE_STR);
            // What doubles line by line is not worth following.
            let small = out.len() + known.len() < 1 << 10;
            let known = if small { known } else { HOLE_STR };
            // Unknown next to unknown is unknown.
            if known != HOLE_STR || !out.ends_with(HOLE_STR) {
                out.push_str(known);
            }
        }
        scene.fuel.spend_on(out.len())?;
    }
    out.push_str(rest);
    Ok(out)
}

/// The same for what stands in a function, as deep as functions may stand in each other.
fn inside(
    scene: &mut Scene<'_>,
    code: &Value,
    text: &str,
    variables: &HashMap<String, String>,
) -> Fueled<String> {
    if scene.nesting >= MAX_NESTED {
        return Ok(HOLE_STR.to_owned());
    }
    scene.nesting += 1;
    let made = expanded(scene, code, text, variables);
    scene.nesting -= 1;
    made
}

/// The argument of a function whose value is made of it: `$(foreach x,1,…)`, `$(eval …)`.
fn made_by(call: &str) -> Option<&str> {
    let (name, arguments) = call.split_once(' ')?;
    let skipped = match name {
        "eval" | "strip" | "info" => 0,
        "if" | "call" => 1,
        "foreach" => 2,
        _ => return None,
    };
    arguments.splitn(skipped + 1, ',').nth(skipped)
}

fn matching(text: &str, open: char, close: char) -> usize {
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at;
            }
        }
    }
    text.len()
}

/// Lines, with those put together that a backslash at the end continues.
pub(super) fn joined_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let (body, continues) = match line.strip_suffix('\\') {
            Some(body) => (body, true),
            None => (line, false),
        };
        match lines.last_mut() {
            Some(last) if open => {
                last.truncate(last.trim_end().len());
                last.push(' ');
                last.push_str(body.trim_start());
            }
            _ => lines.push(body.to_owned()),
        }
        open = continues;
    }
    lines
}
