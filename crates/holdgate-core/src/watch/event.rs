//! Agents that print one JSON object a line: the calls in it, and its texts without their escapes.

use super::command::Said;
use crate::json::{Json, LoneSurrogates};
use std::borrow::Cow;

/// Nesting of an event.
const MAX_DEPTH: usize = 64;
/// Events within texts of events.
const MAX_NESTED: usize = 2;
/// Names of the members that say which tool is called, and with what.
const NAMES: [&str; 4] = ["name", "tool_name", "tool", "toolName"];
const INPUTS: [&str; 5] = ["input", "arguments", "parameters", "args", "params"];
const COMMANDS: [&str; 2] = ["command", "cmd"];
/// Parts of the type of an event that tells of a command.
const RUNS: [&str; 4] = ["exec", "command", "shell", "bash"];

/// What an event holds, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Text(Cow<'a, str>),
    Call(Said),
}

/// The event that a line is, if it is one.
pub(super) fn read(line: &[u8]) -> Option<Json<'_>> {
    let line = line.trim_ascii();
    if !line.starts_with(b"{") || !line.ends_with(b"}") {
        return None;
    }
    Json::read(line, MAX_DEPTH, LoneSurrogates::Replace).ok()
}

/// All calls and texts of an event. Texts that a call would write somewhere are the call's.
pub(super) fn parts<'a>(event: &'a Json<'a>) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    collect(event, MAX_NESTED, &mut parts);
    parts
}

fn collect<'a>(value: &'a Json<'a>, nested: usize, parts: &mut Vec<Part<'a>>) {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
        Json::String(text) => {
            let inner = (nested > 0).then(|| read(text.as_bytes())).flatten();
            match inner {
                Some(event) => {
                    let mut within = Vec::new();
                    collect(&event, nested - 1, &mut within);
                    parts.extend(within.into_iter().map(|part| -> Part<'a> { part.owned() }));
                }
                None => parts.push(Part::Text(Cow::Borrowed(text))),
            }
        }
        Json::Array(items) => {
            for item in items {
                collect(item, nested, parts);
            }
        }
        Json::Object(members) => {
            let call = call(value);
            for (key, member) in members {
                match &call {
                    Some((input, _)) if key == input => {}
                    _ => collect(member, nested, parts),
                }
            }
            parts.extend(call.map(|(_, said)| Part::Call(said)));
        }
    }
}

impl Part<'_> {
    fn owned(self) -> Part<'static> {
        match self {
            Part::Text(text) => Part::Text(Cow::Owned(text.into_owned())),
            Part::Call(said) => Part::Call(said),
        }
    }
}

/// The call that an object is, and the member that holds its input.
fn call(object: &Json<'_>) -> Option<(&'static str, Said)> {
    let text = |key: &str| object.get(key).and_then(Json::as_str);
    if let Some(tool) = NAMES.iter().find_map(|key| text(key)) {
        let input = INPUTS
            .iter()
            .find_map(|key| Some((*key, arguments(object.get(key)?)?)));
        if let Some((key, input)) = input {
            return Some((key, Said::new(tool, input)));
        }
        // Opencode keeps the input beside the output.
        let input = object.get("state").and_then(|state| state.get("input"));
        if let Some(input) = input.and_then(arguments) {
            return Some(("", Said::new(tool, input)));
        }
    }
    let kind = text("type").or_else(|| text("tool"))?;
    if !RUNS.iter().any(|part| kind.contains(part)) {
        return None;
    }
    let (key, command) = COMMANDS
        .iter()
        .find_map(|key| Some((*key, object.get(key)?)))?;
    let tool = match command {
        Json::String(_) => "Bash",
        Json::Array(_) => "shell",
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => return None,
    };
    let input = Json::object([("command", command.clone().into_owned())]);
    Some((key, Said::new(tool, input)))
}

/// Arguments are an object, or the text of one.
fn arguments(value: &Json<'_>) -> Option<Json<'static>> {
    match value {
        Json::Object(_) => Some(value.clone().into_owned()),
        Json::String(text) => read(text.as_bytes()).map(Json::into_owned),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => None,
    }
}

/// A text without its escapes, for what looks like JSON and cannot be read as such. With `apart`,
/// each of its strings gets a line of its own.
pub(super) fn unescaped(text: &str, apart: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(if apart && c == '"' { '\n' } else { c });
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('u') => match unit(&mut chars) {
                Some(high @ 0xd800..0xdc00) => {
                    let mut ahead = chars.clone();
                    let low = (ahead.next() == Some('\\') && ahead.next() == Some('u'))
                        .then(|| unit(&mut ahead))
                        .flatten()
                        .filter(|low| (0xdc00..0xe000).contains(low));
                    match low {
                        Some(low) => {
                            chars = ahead;
                            let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                            out.extend(char::from_u32(code));
                        }
                        None => out.push('\u{fffd}'),
                    }
                }
                Some(code) => out.push(char::from_u32(code).unwrap_or('\u{fffd}')),
                None => out.push_str("\\u"),
            },
            Some(c @ ('"' | '\\' | '/')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}

/// Four digits.
fn unit(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    let mut ahead = chars.clone();
    let mut code = 0;
    for _ in 0..4 {
        code = code << 4 | ahead.next()?.to_digit(16)?;
    }
    *chars = ahead;
    Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, calls: &[&str], texts: &[&str]) {
        let event = read(line.as_bytes()).unwrap();
        let (mut found, mut said) = (Vec::new(), Vec::new());
        for part in parts(&event) {
            match part {
                Part::Text(text) => said.push(text.into_owned()),
                Part::Call(call) => found.push(format!("{}: {}", call.tool, call.text)),
            }
        }
        assert_eq!(
            (found, said),
            (
                calls.iter().map(ToString::to_string).collect(),
                texts.iter().map(ToString::to_string).collect()
            ),
            "{line}"
        );
    }

    #[test]
    fn the_events_of_agents() {
        check(
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a\u0062c"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}"#,
            &["Bash: ls"],
            &["assistant", "text", "abc", "tool_use", "t", "Bash"],
        );
        check(
            r#"{"type":"item.started","item":{"id":"i","type":"command_execution","command":"bash -lc 'ls'","status":"in_progress"}}"#,
            &["Bash: bash -lc 'ls'"],
            &["item.started", "i", "command_execution", "in_progress"],
        );
        check(
            r#"{"msg":{"type":"exec_command_begin","command":["bash","-lc","ls"]}}"#,
            &["shell: bash -lc ls"],
            &["exec_command_begin"],
        );
        check(
            r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}"}"#,
            &["shell: ls"],
            &["function_call", "shell"],
        );
        check(
            r#"{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"ls"}}"#,
            &["run_shell_command: ls"],
            &["tool_use", "run_shell_command"],
        );
        check(
            r#"{"part":{"tool":"bash","state":{"input":{"command":"ls"}}}}"#,
            &["bash: ls"],
            &["bash", "ls"],
        );
        check(r#"{"content":"{\"a\":\"x\\u0079\"}"}"#, &[], &["xy"]);
        check(
            r#"{"name":"Bash","description":"runs"}"#,
            &[],
            &["Bash", "runs"],
        );
    }

    #[test]
    fn escapes_without_a_reader() {
        assert_eq!(
            unescaped(r#"{"a":"\u0072m\n\ud83d\ude00\ud800x\/"#, false),
            "{\"a\":\"rm\n😀\u{fffd}x/"
        );
    }
}
