//! One entry of `tool_calls`, or a `function_call`: a call, or a piece of one.

use super::chunk::could_act;
use crate::call::{Executor, Fault, HeldCall};
use crate::event::Violation;
use holdgate_effects::json::{Json, fold, shorten, write_string};
use std::borrow::Cow;

/// The members of a call.
const MEMBERS: &[&str] = &["index", "id", "type", "function", "custom"];

/// What kind of call it is, which decides how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `{"type":"function","function":{"name","arguments"}}`, the arguments as JSON in a string.
    Function,
    /// `{"type":"custom","custom":{"name","input"}}`, the input as plain text.
    Custom,
    /// The member `function_call` of older clients: one a choice, without an id.
    Legacy,
    /// A kind that the protocol does not define.
    Unknown(String),
}

impl Kind {
    /// The word for it in an envelope.
    fn word(&self) -> &'static str {
        match self {
            Kind::Function => "function",
            Kind::Custom => "custom",
            Kind::Legacy => "legacy",
            Kind::Unknown(_) => "unknown",
        }
    }
}

/// A call, or a piece of one.
#[derive(Debug)]
pub(in super::super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(in super::super) id: Option<&'a str>,
    pub(super) kind: Kind,
    pub(in super::super) name: Option<&'a str>,
    /// A piece of the arguments, as JSON text, or of the input of a custom tool.
    pub(in super::super) input: Result<Cow<'a, str>, Fault>,
    /// Members that only the provider understands, such as signatures.
    others: Vec<(Cow<'a, str>, Json<'a>)>,
    /// Why no call may begin with this.
    fault: Option<Fault>,
}

impl<'a> Fragment<'a> {
    /// Reads an entry of `tool_calls`.
    pub(in super::super) fn read(call: &'a Json<'a>) -> Result<Self, Violation> {
        let Some(members) = call.as_object() else {
            return Err(Violation::Incomplete("a tool call is not an object"));
        };
        let index = match call.get("index") {
            None | Some(Json::Null) => None,
            Some(index) => Some(index.as_u64().ok_or(Violation::Incomplete(
                "the index of a tool call is not a number",
            ))?),
        };
        let function = object(call, "function")?;
        let custom = object(call, "custom")?;
        let kind = match (text(call, "type")?, custom) {
            (Some("function"), _) | (None, None) => Kind::Function,
            (Some("custom"), _) | (None, Some(_)) => Kind::Custom,
            (Some(other), _) => Kind::Unknown(shorten(other, 80)),
        };
        let (part, input) = match kind {
            Kind::Custom => (custom, "input"),
            Kind::Function | Kind::Legacy | Kind::Unknown(_) => (function, "arguments"),
        };
        let others = members.iter().filter(|(key, _)| !MEMBERS.contains(&&**key));
        let others: Vec<_> = others.cloned().collect();
        let mut folded = others.iter();
        let folded = folded.find(|(key, _)| MEMBERS.contains(&fold(key).as_str()));
        let mut fragment = Fragment::part(part, input)?;
        if function.is_some() && custom.is_some() {
            fragment.fault = Some(Fault::TwoInputs);
        } else if let Some((key, _)) = folded {
            // The call is written with all of its members, and this would be one of them once more.
            fragment.fault = Some(Fault::AmbiguousKey(shorten(key, 40)));
        } else if others.iter().any(|(key, value)| could_act(key, value)) {
            fragment.fault = Some(Fault::NestedCall);
        }
        Ok(Fragment {
            index,
            id: text(call, "id")?,
            kind,
            others,
            ..fragment
        })
    }

    /// Reads a `function_call`.
    pub(in super::super) fn legacy(call: &'a Json<'a>) -> Result<Self, Violation> {
        if call.as_object().is_none() {
            return Err(Violation::Incomplete("a function call is not an object"));
        }
        let fragment = Fragment::part(Some(call), "arguments")?;
        Ok(Fragment {
            kind: Kind::Legacy,
            ..fragment
        })
    }

    /// Reads the object that holds name and input.
    fn part(part: Option<&'a Json<'a>>, key: &str) -> Result<Self, Violation> {
        let name = part.map_or(Ok(None), |part| text(part, "name"))?;
        let input = match part.and_then(|part| part.get(key)) {
            None | Some(Json::Null) => Ok(Cow::Borrowed("")),
            Some(Json::String(text)) => Ok(Cow::Borrowed(text.as_ref())),
            // Some servers write the arguments as an object.
            Some(object @ Json::Object(_)) if key == "arguments" => Ok(Cow::Owned(object.text())),
            Some(_) => Err(Fault::NotAnObject),
        };
        let members = part.and_then(Json::as_object).unwrap_or_default().iter();
        let mut others = members.filter(|(other, _)| other != "name" && other != key);
        let nested = others.any(|(key, value)| could_act(key, value));
        Ok(Fragment {
            index: None,
            id: None,
            kind: Kind::Function,
            name,
            input,
            others: Vec::new(),
            fault: nested.then_some(Fault::NestedCall),
        })
    }

    /// Why a call with this piece is refused.
    pub(in super::super) fn fault(&self) -> Option<Fault> {
        self.fault.clone()
    }

    /// The kind of the call, if the protocol does not define it.
    pub(in super::super) fn unknown_kind(&self) -> Option<Fault> {
        match &self.kind {
            Kind::Unknown(kind) => Some(Fault::UnknownKind(kind.clone())),
            Kind::Function | Kind::Custom | Kind::Legacy => None,
        }
    }

    /// The call that begins with this, in this choice. `id` is its id if it has none of its own.
    pub(super) fn begin(&self, choice: u64, id: String) -> HeldCall {
        let runs = match &self.kind {
            Kind::Function | Kind::Custom | Kind::Legacy => Executor::AtClient,
            Kind::Unknown(kind) => Executor::Unknown(kind.clone()),
        };
        let id = self.id.map_or(id, str::to_owned);
        let envelope = Json::object([
            ("choice", choice.into()),
            ("kind", self.kind.word().into()),
            ("others", Json::Object(self.others.clone())),
        ]);
        let name = self.name.map(str::to_owned);
        let mut held = HeldCall::new(runs, Some(id), name, None).with_envelope(envelope);
        if let Some(fault) = &self.fault {
            held.fail(fault.clone());
        }
        held
    }
}

fn object<'a>(json: &'a Json<'a>, key: &str) -> Result<Option<&'a Json<'a>>, Violation> {
    match json.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(object @ Json::Object(_)) => Ok(Some(object)),
        Some(_) => Err(Violation::Incomplete(
            "a part of a tool call has no members",
        )),
    }
}

/// The text of a member; an empty one says nothing.
fn text<'a>(json: &'a Json<'a>, key: &str) -> Result<Option<&'a str>, Violation> {
    match json.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.as_ref()).filter(|text| !text.is_empty())),
        Some(_) => Err(Violation::Incomplete("a part of a tool call is not a text")),
    }
}

/// How the input of a custom tool is judged: an object that has it as its only member.
pub(super) const CUSTOM_START: &str = "{\"input\":\"";
pub(super) const CUSTOM_END: &str = "\"}";

/// A piece of a custom tool's input as a piece of such an object.
pub(super) fn custom_piece(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 16);
    write_string(text, &mut quoted);
    let inner = quoted.strip_prefix('"').and_then(|q| q.strip_suffix('"'));
    inner.unwrap_or_default().to_owned()
}

/// Counts brackets, to know where the arguments of a call end that another call follows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Brackets {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Brackets {
    pub(super) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// Whether all brackets that were opened are closed: what could follow belongs to no object.
    pub(super) fn is_whole(self) -> bool {
        self.closed && self.depth == 0 && !self.in_string
    }
}
