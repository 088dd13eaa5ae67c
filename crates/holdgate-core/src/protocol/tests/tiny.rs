//! A second protocol, as small as one can be, and as unlike the first: events have no names, texts
//! and calls share frames, arguments come as strings, calls are interleaved and end all at once.
//!
//! ```text
//! data: {"say":"…","call":{"at":0,"id":"a","tool":"Bash"},"args":{"at":0,"text":"{\"comm"}}
//! data: {"stop":"calls"}
//! data: [DONE]
//! ```

use super::super::said::Said;
use super::super::*;
use crate::call::{Executor, Fault};
use crate::canonical::Frames;
use crate::event::Block;
use crate::mask::Masked;
use crate::request::{Layout, Mention, ToolResult};

pub(super) const TINY: &dyn Protocol = &Tiny;

static LAYOUT: Layout = Layout {
    messages: "turns",
    content: "say",
    system: &[],
    mentions,
    results,
};

#[derive(Debug)]
struct Tiny;

impl Protocol for Tiny {
    fn name(&self) -> &'static str {
        "tiny"
    }

    fn serves(&self, path: &str) -> bool {
        path == "/tiny"
    }

    fn vendor(&self) -> Vendor {
        Vendor::OpenAi
    }

    fn read_request(&self, body: Bytes) -> Result<Request, JsonError> {
        Request::read(body, &LAYOUT, |facts: &mut RequestFacts, name, value| {
            if name == "session" {
                facts.session = value.as_str().map(str::to_owned);
            }
        })
    }

    fn reader(&self, _: Declared) -> Box<dyn Reader> {
        Box::new(TinyReader::default())
    }

    fn writer(&self) -> Box<dyn Writer> {
        Box::new(TinyWriter::default())
    }

    fn read_message<'b>(&self, body: &'b [u8], _: &Declared) -> Result<ReadMessage<'b>, Violation> {
        let json = read(body)?;
        let calls = json.get("calls").and_then(Json::as_array).unwrap_or(&[]);
        let said = json.get_str("say").unwrap_or_default();
        let calls = calls.iter().map(|call| {
            let args = call.get_str("args");
            let held = held(call, args.map(str::to_owned));
            let said = said.into();
            HeldCall { said, ..held }
        });
        let message = TinyMessage {
            said: said.to_owned(),
            calls: Vec::new(),
        };
        Ok(ReadMessage::Calls(Box::new(message), calls.collect()))
    }

    fn keep_alive(&self) -> Option<Canonical> {
        Some(frame(&Json::object([("alive", Json::Bool(true))])))
    }

    fn error_event(&self, message: &str) -> Canonical {
        frame(&member("error", message))
    }

    fn error_body(&self, status: u16, message: &str) -> Canonical {
        let mut error = member("error", message);
        error.set("status", u64::from(status).into());
        Canonical::of_value(&error.text())
    }
}

fn read(data: &[u8]) -> Result<Json<'_>, Violation> {
    let what = "the data";
    Json::read(data, 16, LoneSurrogates::Refuse).map_err(|error| Violation::Json { what, error })
}

fn held(call: &Json<'_>, input: Option<String>) -> HeldCall {
    let text = |key| call.get_str(key).map(str::to_owned);
    HeldCall::new(Executor::AtClient, text("id"), text("tool"), input)
}

fn member(key: &'static str, text: &str) -> Json<'static> {
    Json::object([(key, Masked::of(text).into_string().into())])
}

fn frame(json: &Json<'_>) -> Canonical {
    let mut frames = Frames::default();
    frames.push(None, &json.text());
    frames.finish()
}

#[derive(Debug, Default)]
struct TinyReader {
    open: Vec<Block>,
    said: Said,
}

impl Reader for TinyReader {
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation> {
        let Some(data) = &fields.data else {
            events.push(Event::Silent);
            return Ok(());
        };
        if **data == *b"[DONE]" {
            events.push(Event::Inert(Part::MessageStop));
            return Ok(());
        }
        let json = read(data)?;
        let members = json.as_object().unwrap_or_default();
        for (key, value) in members {
            let at = value.get("at").and_then(Json::as_u64);
            let at = at.ok_or(Violation::Incomplete("a call without a number"));
            if key == "say" {
                self.said.push(value.as_str().unwrap_or_default());
            }
            match &**key {
                "say" if members.len() == 1 => events.push(Event::Inert(Part::Other)),
                "say" => {
                    let piece = Json::object([("say", value.clone())]);
                    events.push(Event::Piece(Part::Other, frame(&piece)));
                }
                "call" => {
                    self.open.push(at.clone()?);
                    let said = self.said.end();
                    let held = HeldCall {
                        said,
                        ..held(value, None)
                    };
                    events.push(Event::CallStart(at?, Box::new(held)));
                }
                "args" => {
                    let text = value.get_str("text");
                    let text = text.ok_or(Fault::NotAnObject).map(str::to_owned);
                    events.push(Event::CallInput(at?, text));
                }
                "stop" => {
                    events.extend(self.open.drain(..).map(Event::CallEnd));
                    events.push(Event::Inert(Part::StopReason));
                }
                "error" => events.push(Event::UpstreamError),
                other => return Err(Violation::UnknownEvent(other.to_owned())),
            }
        }
        Ok(())
    }

    fn is_mid_block(&self) -> bool {
        !self.open.is_empty()
    }
}

#[derive(Debug, Default)]
struct TinyWriter {
    calls: u64,
}

impl TinyWriter {
    fn write_call(&mut self, id: &str, tool: &str, args: &str) -> Canonical {
        let call = [
            ("at", self.calls.into()),
            ("id", id.to_owned().into()),
            ("tool", tool.to_owned().into()),
        ];
        let args = [("at", self.calls.into()), ("text", args.to_owned().into())];
        self.calls += 1;
        frame(&Json::object([
            ("call", Json::object(call)),
            ("args", Json::object(args)),
        ]))
    }
}

impl Writer for TinyWriter {
    fn inert(&mut self, raw: Canonical, part: Part) -> Canonical {
        match part {
            Part::StopReason if self.calls == 0 => frame(&member("stop", "end")),
            Part::MessageStart
            | Part::BlockStart(_)
            | Part::BlockMore(_)
            | Part::BlockStop(_)
            | Part::StopReason
            | Part::MessageStop
            | Part::Other => raw,
        }
    }

    fn call(&mut self, cleared: &Cleared) -> Canonical {
        let call = cleared.call();
        self.write_call(&call.id, &call.name, &call.text)
    }

    fn notice(&mut self, text: &str, _: &Json<'_>) -> Canonical {
        frame(&member("say", text))
    }

    fn inert_call(&mut self, refusal: &Refusal, id: &str) -> Canonical {
        self.write_call(id, refusal.tool().unwrap_or_default(), "{}")
    }

    fn end(&mut self) -> Canonical {
        let mut frames = Frames::default();
        frames.push(None, "[DONE]");
        frames.finish()
    }

    fn failure(&mut self, message: &str) -> Canonical {
        frame(&member("error", message))
    }
}

#[derive(Debug)]
struct TinyMessage {
    said: String,
    calls: Vec<Json<'static>>,
}

impl TinyMessage {
    fn put(&mut self, id: &str, tool: &str, args: &str) {
        self.calls.push(Json::object([
            ("id", id.to_owned().into()),
            ("tool", tool.to_owned().into()),
            ("args", args.to_owned().into()),
        ]));
    }
}

impl GuardedMessage for TinyMessage {
    fn call(&mut self, cleared: &Cleared) {
        let call = cleared.call();
        self.put(&call.id, &call.name, &call.text);
    }

    fn refusal(&mut self, refusal: &Refusal, notice: String, inert_id: Option<String>) {
        self.said.push_str(&notice);
        if let Some(id) = inert_id {
            self.put(&id, refusal.tool().unwrap_or_default(), "{}");
        }
    }

    fn finish(self: Box<Self>) -> Canonical {
        let message = Json::object([
            ("say", self.said.into()),
            ("calls", Json::Array(self.calls)),
        ]);
        Canonical::of_value(&message.text())
    }
}

/// A turn of the model's has a `say` or a `call`, one of a tool's the id of the call as its `result`.
fn mentions<'m>(turn: &'m Json<'m>) -> Vec<Mention<'m>> {
    let text = |json: &'m Json<'m>, key| json.get_str(key);
    let said = text(turn, "say").map(Mention::Text);
    let called = turn.get("call").and_then(|call| {
        Some(Mention::Call {
            id: text(call, "id")?,
            tool: text(call, "tool")?.into(),
            runs: Executor::AtClient,
            input: text(call, "args").map(str::to_owned),
        })
    });
    let failed = turn.get("failed").is_some();
    let ended = text(turn, "result").map(|call| Mention::Result {
        call,
        in_order: false,
        failed,
        texts: Vec::new(),
    });
    said.into_iter().chain(called).chain(ended).collect()
}

/// What the tool returned is beside the id.
fn results<'m>(turn: &'m Json<'m>) -> Vec<ToolResult<'m>> {
    let call = turn.get_str("result");
    let texts = turn.get("printed").into_iter().collect();
    vec![ToolResult { call, texts }]
}
