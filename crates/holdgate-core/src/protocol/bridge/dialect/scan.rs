//! One call in a text, from its first tag to its end, as far as the text has come. Each byte is looked
//! at once, however the text arrives.

use super::coerce::coerced;
use super::next::{Name, Next, name, next, rest};
use super::{CALL, CALL_END, FUNCTION, FUNCTION_END, PARAMETER, PARAMETER_END, TextCall, Watched};
use crate::call::Fault;
use crate::request::Bridged;
use holdgate_effects::json::{Json, LoneSurrogates};
use std::borrow::Cow;

/// Depth of a call that is written as JSON; its own depth is bounded when it is read.
const MAX_DEPTH: usize = 128;

/// Parameters of one call.
const MAX_PARAMETERS: usize = 256;

/// How a tag in a value begins that may have an end like a parameter's.
const NESTED: &str = "<parameter";

/// What the text from the first tag on is.
#[derive(Debug)]
pub(super) enum Found {
    /// More of it is needed.
    More,
    /// Its first bytes, as many, are no part of a call.
    Text(usize),
    /// Its first bytes, as many, are this call.
    Call(usize, TextCall),
}

/// The state of the search for a call's end.
#[derive(Debug)]
pub(super) struct Scan {
    /// All before this has been looked at.
    at: usize,
    stage: Stage,
    name: String,
    parameters: Vec<(Cow<'static, str>, String)>,
    fault: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Before the first tag.
    Start,
    /// Behind `<tool_call>`.
    Body,
    /// In a JSON object that began here.
    Object {
        from: usize,
        depth: usize,
        in_string: bool,
        escaped: bool,
    },
    /// In the name of a function.
    Name,
    /// Between parameters.
    Between,
    /// In the value of a parameter that began here.
    Value {
        from: usize,
        /// Whether it has a tag in it that begins like a parameter.
        nested: bool,
    },
}

impl Scan {
    pub(super) fn new() -> Self {
        Scan {
            at: 0,
            stage: Stage::Start,
            name: String::new(),
            parameters: Vec::new(),
            fault: None,
        }
    }

    /// Looks further in `text`, which begins with the first tag. `ended`: no more follows.
    pub(super) fn advance(
        &mut self,
        text: &str,
        ended: bool,
        watched: Watched,
        request: &Bridged,
    ) -> Found {
        loop {
            let found = match self.stage {
                Stage::Start => self.start(text),
                Stage::Body => self.body(text, ended, watched),
                Stage::Object { .. } => self.object(text, request),
                Stage::Name => self.function(text, ended, request),
                Stage::Between => self.between(text, ended, request),
                Stage::Value { from, nested } => self.value(text, ended, (from, nested), request),
            };
            match found {
                // A call that never ends is not run, nor what came of it.
                Some(Found::More) if ended => return Found::Text(text.len()),
                Some(found) => return found,
                None => {}
            }
        }
    }

    fn start(&mut self, text: &str) -> Option<Found> {
        let (tag, stage) = if text.starts_with(CALL) {
            (CALL, Stage::Body)
        } else {
            (FUNCTION, Stage::Name)
        };
        self.at = tag.len();
        self.stage = stage;
        None
    }

    fn body(&mut self, text: &str, ended: bool, watched: Watched) -> Option<Found> {
        match next(text, self.at, ended, &[FUNCTION]) {
            Next::Tag(_, at) if watched.functions => {
                self.at = at + FUNCTION.len();
                self.stage = Stage::Name;
                None
            }
            Next::Other(at) if watched.json && rest(text, at).starts_with('{') => {
                self.at = at;
                self.stage = Stage::Object {
                    from: at,
                    depth: 0,
                    in_string: false,
                    escaped: false,
                };
                None
            }
            Next::Unknown => Some(Found::More),
            Next::Tag(..) | Next::Other(_) | Next::End => Some(Found::Text(CALL.len())),
        }
    }

    fn object(&mut self, text: &str, request: &Bridged) -> Option<Found> {
        let Stage::Object {
            from,
            depth,
            in_string,
            escaped,
        } = &mut self.stage
        else {
            return None;
        };
        let bytes = text.as_bytes().get(self.at..).unwrap_or_default();
        for byte in bytes {
            self.at += 1;
            match byte {
                _ if *escaped => *escaped = false,
                b'\\' if *in_string => *escaped = true,
                b'"' => *in_string = !*in_string,
                _ if *in_string => {}
                b'{' | b'[' => *depth += 1,
                b'}' | b']' => *depth = depth.saturating_sub(1),
                _ => {}
            }
            if *depth == 0 {
                let object = text.get(*from..self.at).unwrap_or_default();
                return Some(match from_json(object, request) {
                    Some(call) => Found::Call(self.at, call),
                    None => Found::Text(self.at),
                });
            }
        }
        Some(Found::More)
    }

    fn function(&mut self, text: &str, ended: bool, request: &Bridged) -> Option<Found> {
        let no_call = Some(Found::Text(self.at));
        match name(rest(text, self.at)) {
            Name::Unknown => Some(Found::More),
            Name::Invalid(_) => no_call,
            Name::Whole(name) if request.tool(name).is_none() => no_call,
            Name::Whole(name) => {
                let behind = self.at + name.len() + 1;
                // Without anything that belongs to a call, the tag is only mentioned.
                match next(text, behind, ended, &[PARAMETER, FUNCTION_END]) {
                    Next::Tag(..) => {
                        name.clone_into(&mut self.name);
                        self.at = behind;
                        self.stage = Stage::Between;
                        None
                    }
                    Next::Unknown => Some(Found::More),
                    Next::Other(_) | Next::End => no_call,
                }
            }
        }
    }

    fn between(&mut self, text: &str, ended: bool, request: &Bridged) -> Option<Found> {
        match next(text, self.at, ended, &[PARAMETER, FUNCTION_END, CALL_END]) {
            Next::Tag(PARAMETER, at) => {
                let key_at = at + PARAMETER.len();
                match name(rest(text, key_at)) {
                    Name::Unknown => return Some(Found::More),
                    Name::Invalid(length) => {
                        self.fault("the name of a parameter is not valid");
                        self.at = key_at + length;
                    }
                    Name::Whole(key) => {
                        if self.parameters.iter().any(|(known, _)| known == key) {
                            self.fault("a parameter comes twice");
                        }
                        self.at = key_at + key.len() + 1;
                        self.stage = Stage::Value {
                            from: self.at,
                            nested: false,
                        };
                        if self.parameters.len() < MAX_PARAMETERS {
                            self.parameters.push((key.to_owned().into(), String::new()));
                        } else {
                            self.fault("it has too many parameters");
                        }
                    }
                }
                None
            }
            Next::Tag(FUNCTION_END, at) => Some(self.end(at + FUNCTION_END.len(), request)),
            Next::Tag(_, at) => Some(self.end(at, request)),
            Next::Other(at) => {
                self.fault("there is text between its parameters");
                let step = rest(text, at).chars().next().map_or(1, char::len_utf8);
                let more = rest(text, at + step);
                self.at = at + step + memchr::memchr(b'<', more.as_bytes()).unwrap_or(more.len());
                None
            }
            Next::Unknown | Next::End => Some(Found::More),
        }
    }

    fn value(
        &mut self,
        text: &str,
        ended: bool,
        (from, nested): (usize, bool),
        request: &Bridged,
    ) -> Option<Found> {
        let Some(found) = memchr::memchr(b'<', rest(text, self.at).as_bytes()) else {
            self.at = text.len();
            return Some(Found::More);
        };
        let at = self.at + found;
        self.at = at;
        let tail = rest(text, at);
        let value = text.get(from..at).unwrap_or_default();
        if tail.starts_with(PARAMETER_END) {
            let behind = at + PARAMETER_END.len();
            let ends = [PARAMETER, FUNCTION_END, CALL_END, PARAMETER_END];
            match next(text, behind, ended, &ends) {
                // A doubled end, unless the value has such a tag itself.
                Next::Tag(PARAMETER_END, again) if !nested => {
                    self.take(value);
                    self.at = again + PARAMETER_END.len();
                }
                Next::Tag(PARAMETER_END, _) | Next::Other(_) => self.at = behind,
                Next::Tag(_, at) => {
                    self.take(value);
                    self.at = at;
                }
                Next::Unknown | Next::End => return Some(Found::More),
            }
        } else if tail.starts_with(FUNCTION_END) {
            let behind = at + FUNCTION_END.len();
            match next(text, behind, ended, &[CALL_END, CALL, FUNCTION]) {
                Next::Tag(..) | Next::End => {
                    self.take(value);
                    return Some(self.end(behind, request));
                }
                Next::Other(_) => self.at = behind,
                Next::Unknown => return Some(Found::More),
            }
        } else if let Some(key) = tail.strip_prefix(PARAMETER) {
            match name(key) {
                Name::Unknown => return Some(Found::More),
                Name::Whole(key) if value.ends_with('\n') && self.takes(key, request) => {
                    self.take(value);
                }
                Name::Whole(_) | Name::Invalid(_) => self.nested(from),
            }
        } else if [PARAMETER_END, FUNCTION_END, PARAMETER]
            .iter()
            .any(|tag| tag.starts_with(tail))
        {
            return Some(Found::More);
        } else if tail.starts_with(NESTED) {
            self.nested(from);
        } else {
            self.at += 1;
        }
        None
    }

    /// The value has a tag in it that begins like a parameter.
    fn nested(&mut self, from: usize) {
        self.at += 1;
        self.stage = Stage::Value { from, nested: true };
    }

    /// Whether the tool has another parameter with this name.
    fn takes(&self, key: &str, request: &Bridged) -> bool {
        let tool = request.tool(&self.name);
        let properties = tool.and_then(|tool| tool.schema.get("properties"));
        let is_declared = properties.is_some_and(|all| all.get(key).is_some());
        is_declared && !self.parameters.iter().any(|(known, _)| known == key)
    }

    /// The value of the last parameter is whole. One line end on each side belongs to the tags.
    fn take(&mut self, value: &str) {
        let (value, end) = match value.strip_prefix("\r\n") {
            Some(value) => (value, "\r\n"),
            None => (value.strip_prefix('\n').unwrap_or(value), "\n"),
        };
        let value = value.strip_suffix(end).unwrap_or(value);
        if let Some((_, last)) = self.parameters.last_mut() {
            value.clone_into(last);
        }
        self.stage = Stage::Between;
    }

    fn fault(&mut self, why: &'static str) {
        self.fault.get_or_insert(why);
    }

    /// The call is whole and takes this many bytes.
    fn end(&mut self, length: usize, request: &Bridged) -> Found {
        let name = std::mem::take(&mut self.name);
        let parameters = std::mem::take(&mut self.parameters);
        let input = match (self.fault, request.tool(&name)) {
            (Some(why), _) => Err(Fault::Garbled(why)),
            (None, tool) => {
                let schema = tool.map_or(&Json::Null, |tool| &tool.schema);
                let value = |(key, text): (Cow<'static, str>, String)| {
                    let value = coerced(schema, &key, &text);
                    (key, value)
                };
                Ok(Json::Object(parameters.into_iter().map(value).collect()).text())
            }
        };
        Found::Call(length, TextCall { name, input })
    }
}

/// The call that is written as this object; `None` if it calls no declared tool.
fn from_json(object: &str, request: &Bridged) -> Option<TextCall> {
    let json = match Json::read(object.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse) {
        Ok(json) => json,
        Err(error) => {
            let name = named(object).filter(|name| request.tool(name).is_some())?;
            let (name, input) = (name.to_owned(), Err(Fault::Json(error)));
            return Some(TextCall { name, input });
        }
    };
    let name = json
        .get_str("name")
        .filter(|name| request.tool(name).is_some())?;
    let arguments = json.get("arguments").or_else(|| json.get("parameters"));
    let input = match arguments {
        None | Some(Json::Null) => Ok("{}".to_owned()),
        Some(arguments @ Json::Object(_)) => Ok(arguments.text()),
        // Encoded twice.
        Some(Json::String(text)) => Ok(text.clone().into_owned()),
        Some(Json::Bool(_) | Json::Number(_) | Json::Array(_)) => Err(Fault::NotAnObject),
    };
    let name = name.to_owned();
    Some(TextCall { name, input })
}

/// The first name in what is no acceptable JSON: only the refusal shows it.
fn named(object: &str) -> Option<&str> {
    let (_, behind) = object.split_once("\"name\"")?;
    let quoted = behind.trim_start().strip_prefix(':')?.trim_start();
    let (name, _) = quoted.strip_prefix('"')?.split_once('"')?;
    Some(name)
}
