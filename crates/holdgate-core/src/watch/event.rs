//! Agents that print one JSON object per line: its calls, and its texts without escapes.

use super::Weight;
use super::command::SeenCommand;
use holdgate_effects::json::{Json, LoneSurrogates};
use std::borrow::Cow;

/// Nesting of an event.
const MAX_DEPTH: usize = 64;
/// Events within texts of events.
const MAX_NESTED: usize = 2;
/// Names of the members that say which tool is called, and with what.
const NAMES: [&str; 4] = ["name", "tool_name", "tool", "toolName"];
const INPUTS: [&str; 5] = ["input", "arguments", "parameters", "args", "params"];
const COMMANDS: [&str; 2] = ["command", "cmd"];
/// Parts of the type of an event about a command.
const RUNS: [&str; 4] = ["exec", "command", "shell", "bash"];
/// Parts of the type of what an agent does, and of what it got.
const DONE: [&str; 7] = [
    "assistant",
    "tool",
    "call",
    "exec",
    "command",
    "shell",
    "bash",
];
const GOT: [&str; 4] = ["user", "result", "output", "system"];
/// Parts of the names of members that contain secrets.
const SECRETS: [&str; 4] = ["secret", "password", "api_key", "apikey"];
/// Members of a piece of text that goes on in the next event.
const PIECES: [&str; 3] = ["text", "content", "thinking"];

/// What an event contains, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Text(Cow<'a, str>, Weight),
    /// A piece of a text that goes on in the next event.
    Piece(Cow<'a, str>),
    /// A piece of the input of a call, likewise.
    Input(Cow<'a, str>),
    Call(SeenCommand, Weight),
}

/// The event that a line is, if it is one.
pub(super) fn read(line: &[u8]) -> Option<Json<'_>> {
    let line = line.trim_ascii();
    if !line.starts_with(b"{") || !line.ends_with(b"}") {
        return None;
    }
    Json::read(line, MAX_DEPTH, LoneSurrogates::Replace).ok()
}

/// All calls and texts of an event. Text that a call would write to a file belongs to the call.
///
/// Data has no types. Calls and texts in data are only shown, like calls in what an agent has read:
/// printing a file that contains calls is not a call.
pub(super) fn parts<'a>(event: &'a Json<'a>) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    collect(event, MAX_NESTED, Voice::default(), &mut parts);
    parts
}

/// Whose words a part of an event is.
#[derive(Clone, Copy, Default)]
struct Voice {
    kind: Kind,
    /// The agent does something.
    does: bool,
    /// Somebody else's words.
    got: bool,
}

/// What the part belongs to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    /// Nothing with a type, so far.
    #[default]
    Untyped,
    /// Something with a type.
    Event,
    /// A text of something without one.
    Data,
}

impl Voice {
    fn within(self, object: &Json<'_>) -> Voice {
        let kinds = ["type", "role"].map(|key| object.get_str(key));
        let is = |parts: &[&str]| {
            let mut kinds = kinds.iter().flatten();
            kinds.any(|kind| parts.iter().any(|part| kind.contains(part)))
        };
        let typed = kinds.iter().flatten().next().is_some();
        let got = is(&GOT);
        Voice {
            kind: if typed && self.kind == Kind::Untyped {
                Kind::Event
            } else {
                self.kind
            },
            does: self.does || (is(&DONE) && !got),
            got: self.got || got,
        }
    }

    /// Within a text.
    fn printed(self) -> Voice {
        Voice {
            kind: if self.kind == Kind::Untyped {
                Kind::Data
            } else {
                self.kind
            },
            got: true,
            ..self
        }
    }

    fn of_text(self) -> Weight {
        match self.kind {
            Kind::Event => Weight::Done,
            Kind::Untyped | Kind::Data => Weight::Shown,
        }
    }

    fn of_call(self) -> Weight {
        if self.does && !self.got {
            Weight::Done
        } else {
            Weight::Shown
        }
    }
}

fn collect<'a>(value: &'a Json<'a>, nested: usize, voice: Voice, parts: &mut Vec<Part<'a>>) {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
        Json::String(text) => {
            let inner = (nested > 0).then(|| read(text.as_bytes())).flatten();
            match inner {
                Some(event) => {
                    let mut within = Vec::new();
                    collect(&event, nested - 1, voice.printed(), &mut within);
                    parts.extend(within.into_iter().map(|part| -> Part<'a> { part.owned() }));
                }
                None => parts.push(Part::Text(Cow::Borrowed(text), voice.of_text())),
            }
        }
        Json::Array(items) => {
            for item in items {
                collect(item, nested, voice, parts);
            }
        }
        Json::Object(members) => {
            let voice = voice.within(value);
            let call = call(value);
            let input = if call.is_none() {
                input_piece(value)
            } else {
                None
            };
            let piece = if input.is_none() { piece(value) } else { None };
            let taken = [
                call.as_ref().map(|(key, _)| *key),
                input.map(|(key, _)| key),
                piece.map(|(key, _)| key),
            ];
            for (key, member) in members {
                if taken.contains(&Some(&**key)) {
                    continue;
                }
                match member.as_str().filter(|_| names_secret(key)) {
                    // The name says what the value is.
                    Some(value) => parts.push(Part::Text(
                        Cow::Owned(format!("{key}={value}")),
                        voice.of_text(),
                    )),
                    None => collect(member, nested, voice, parts),
                }
            }
            parts.extend(input.map(|(_, text)| Part::Input(Cow::Borrowed(text))));
            parts.extend(piece.map(|(_, text)| Part::Piece(Cow::Borrowed(text))));
            parts.extend(call.map(|(_, said)| Part::Call(said, voice.of_call())));
        }
    }
}

/// Whether a member with this name contains a secret.
fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|part| name.contains(part))
}

/// The piece of a call's input that an object adds to the previous pieces, and its member.
fn input_piece<'a>(object: &'a Json<'a>) -> Option<(&'static str, &'a str)> {
    if let Some(delta) = object.get("delta") {
        if let Some(json) = delta.get_str("partial_json") {
            return Some(("delta", json));
        }
        let of_call = |kind: &str| kind.contains("arguments");
        let json = delta.as_str()?;
        return object
            .get_str("type")
            .is_some_and(of_call)
            .then_some(("delta", json));
    }
    let json = object.get("function")?.get("arguments")?;
    match arguments(json) {
        Some(_) => None,
        None => Some(("function", json.as_str()?)),
    }
}

/// The piece of text that an object adds to the previous pieces, and its member.
fn piece<'a>(object: &'a Json<'a>) -> Option<(&'static str, &'a str)> {
    let of = |value: &'a Json<'a>| {
        PIECES
            .iter()
            .find_map(|key| Some((*key, value.get(key)?.as_str()?)))
    };
    match object.get("delta")? {
        Json::String(text) => Some(("delta", text)),
        Json::Object(_) => Some(("delta", of(object.get("delta")?)?.1)),
        Json::Bool(true) => of(object),
        Json::Bool(false) | Json::Null | Json::Number(_) | Json::Array(_) => None,
    }
}

impl Part<'_> {
    fn owned(self) -> Part<'static> {
        match self {
            Part::Text(text, weight) => Part::Text(Cow::Owned(text.into_owned()), weight),
            Part::Piece(text) => Part::Piece(Cow::Owned(text.into_owned())),
            Part::Input(text) => Part::Input(Cow::Owned(text.into_owned())),
            Part::Call(said, weight) => Part::Call(said, weight),
        }
    }
}

/// The call whose JSON this is, or whose input.
pub(super) fn logged(text: &str) -> Option<SeenCommand> {
    let json = read(text.as_bytes())?;
    if let Some((_, call)) = call(&json) {
        return Some(call);
    }
    COMMANDS.iter().find_map(|key| json.get(key))?;
    Some(SeenCommand::new("Bash", json.into_owned()))
}

/// The call that an object is, and the member that holds its input.
fn call(object: &Json<'_>) -> Option<(&'static str, SeenCommand)> {
    let text = |key: &str| object.get_str(key);
    if let Some(tool) = NAMES.iter().find_map(|key| text(key)) {
        let input = INPUTS
            .iter()
            .find_map(|key| Some((*key, arguments(object.get(key)?)?)));
        if let Some((key, input)) = input {
            return Some((key, SeenCommand::new(tool, input)));
        }
        // Opencode keeps the input beside the output.
        let input = object.get("state").and_then(|state| state.get("input"));
        if let Some(input) = input.and_then(arguments) {
            return Some(("", SeenCommand::new(tool, input)));
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
    Some((key, SeenCommand::new(tool, input)))
}

/// Arguments are an object, or the text of one.
fn arguments(value: &Json<'_>) -> Option<Json<'static>> {
    match value {
        Json::Object(_) => Some(value.clone().into_owned()),
        Json::String(text) => read(text.as_bytes()).map(Json::into_owned),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => None,
    }
}

#[cfg(test)]
mod tests;
