//! A turn in the formats of `OpenAI` Chat Completions and of Ollama. What only the Messages format has
//! (blocks that stand whole, event names, doubled starts and stops) is left out.

use super::shape::{call_id, quoted};
use super::stream::{Step, StreamOptions, call_fragments, fragments};
use super::{Block, Call, Cut, Turn};
use bytes::Bytes;
use std::ops::ControlFlow::{self, Break, Continue};

/// The stream of a turn as `OpenAI` Chat Completions.
pub fn chat_stream(turn: &Turn, model: &str, n: u32, options: &StreamOptions) -> Vec<Step> {
    let mut writer = Chunks {
        steps: Vec::new(),
        model: quoted(model),
        n,
    };
    let end = match writer.turn(turn, options) {
        Continue(()) => Step::End,
        Break(end) => end,
    };
    writer.steps.push(end);
    writer.steps
}

struct Chunks {
    steps: Vec<Step>,
    model: String,
    n: u32,
}

impl Chunks {
    fn turn(&mut self, turn: &Turn, options: &StreamOptions) -> ControlFlow<Step> {
        match turn.cut {
            Some(Cut::Start) => return Break(Step::Cut),
            Some(Cut::CleanStart) => return Break(Step::End),
            Some(Cut::MidTool | Cut::CleanMidTool | Cut::ErrorEvent | Cut::BeforeStop) | None => {}
        }
        self.delta(r#"{"role":"assistant","content":""}"#);
        let mut calls = 0;
        for (index, block) in turn.blocks.iter().enumerate() {
            match block {
                Block::Gap | Block::Whole(_) => {}
                Block::Text { text, .. } => self.text("content", text),
                Block::Thinking(text) => self.text("reasoning_content", text),
                Block::Call(call) => {
                    if let Some(hold) = turn.hold {
                        let ping = Bytes::from_static(b": ping\n\n");
                        let ping = (!turn.no_ping).then_some(ping);
                        self.steps.push(Step::Wait(hold, ping));
                    }
                    self.call(call, (index, calls), turn, options)?;
                    calls += 1;
                }
            }
        }
        if turn.cut == Some(Cut::BeforeStop) {
            return Break(Step::Cut);
        }
        let reason = quoted(finish_reason(turn));
        self.chunk(&format!(
            r#"[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":{reason}}}]"#
        ));
        self.steps.push(data("[DONE]"));
        Continue(())
    }

    fn text(&mut self, member: &str, text: &str) {
        for piece in fragments(text, 12) {
            self.delta(&format!(r#"{{"{member}":{}}}"#, quoted(&piece)));
        }
    }

    fn call(
        &mut self,
        call: &Call,
        (index, number): (usize, usize),
        turn: &Turn,
        options: &StreamOptions,
    ) -> ControlFlow<Step> {
        let (id, name) = (quoted(&call_id(call, self.n, index)), quoted(&call.name));
        let pieces = call_fragments(call);
        for (i, piece) in pieces.iter().enumerate() {
            if i == pieces.len() / 2 {
                self.cut_in_call(turn)?;
            }
            if call.slow {
                let share = u32::try_from(pieces.len()).unwrap_or(1);
                self.steps.push(Step::Wait(options.slow / share, None));
            }
            let piece = quoted(piece);
            let call = if i == 0 {
                format!(
                    r#""id":{id},"type":"function","function":{{"name":{name},"arguments":{piece}}}"#
                )
            } else {
                format!(r#""function":{{"arguments":{piece}}}"#)
            };
            self.delta(&format!(
                r#"{{"tool_calls":[{{"index":{number},{call}}}]}}"#
            ));
        }
        Continue(())
    }

    fn cut_in_call(&mut self, turn: &Turn) -> ControlFlow<Step> {
        match turn.cut {
            Some(Cut::MidTool) => Break(Step::Cut),
            Some(Cut::CleanMidTool) => Break(Step::End),
            Some(Cut::ErrorEvent) => {
                let error = r#"{"error":{"message":"Overloaded","type":"server_error","param":null,"code":null}}"#;
                self.steps.push(data(error));
                Break(Step::End)
            }
            Some(Cut::Start | Cut::CleanStart | Cut::BeforeStop) | None => Continue(()),
        }
    }

    fn delta(&mut self, delta: &str) {
        self.chunk(&format!(
            r#"[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":null}}]"#
        ));
    }

    fn chunk(&mut self, choices: &str) {
        let (model, n) = (&self.model, self.n);
        self.steps.push(data(&format!(
            r#"{{"id":"chatcmpl-fake{n:04}","object":"chat.completion.chunk","created":1700000000,"model":{model},"choices":{choices}}}"#
        )));
    }
}

fn data(data: &str) -> Step {
    Step::Send(Bytes::from(format!("data: {data}\n\n")))
}

/// The body of a turn that is not streamed, as `OpenAI` Chat Completions.
pub fn chat_message(turn: &Turn, model: &str, n: u32) -> String {
    let message = message(turn, n, |arguments| quoted(&arguments));
    let (model, reason) = (quoted(model), quoted(finish_reason(turn)));
    format!(
        r#"{{"id":"chatcmpl-fake{n:04}","object":"chat.completion","created":1700000000,"model":{model},"choices":[{{"index":0,"message":{message},"logprobs":null,"finish_reason":{reason}}}],"usage":{{"prompt_tokens":25,"completion_tokens":42,"total_tokens":67}}}}"#
    )
}

/// The stream of a turn as Ollama sends it: text in pieces, calls whole.
pub fn ollama_stream(turn: &Turn, model: &str, n: u32) -> Vec<Step> {
    let line = |message: &str| Step::Send(Bytes::from(ollama_line(model, message, false) + "\n"));
    let mut steps = Vec::new();
    for (index, block) in turn.blocks.iter().enumerate() {
        let word = |member: &str, piece: &str| {
            let piece = quoted(piece);
            match member {
                "content" => format!(r#"{{"role":"assistant","content":{piece}}}"#),
                _ => format!(r#"{{"role":"assistant","content":"","{member}":{piece}}}"#),
            }
        };
        match block {
            Block::Gap | Block::Whole(_) => {}
            Block::Text { text, .. } => {
                let pieces = fragments(text, 12).into_iter();
                steps.extend(pieces.map(|piece| line(&word("content", &piece))));
            }
            Block::Thinking(text) => steps.push(line(&word("thinking", text))),
            Block::Call(call) => {
                match turn.cut {
                    Some(Cut::Start | Cut::MidTool) => return [steps, vec![Step::Cut]].concat(),
                    Some(Cut::CleanStart | Cut::CleanMidTool) => {
                        return [steps, vec![Step::End]].concat();
                    }
                    Some(Cut::ErrorEvent) => {
                        let error = Bytes::from_static(b"{\"error\":\"Overloaded\"}\n");
                        return [steps, vec![Step::Send(error), Step::End]].concat();
                    }
                    Some(Cut::BeforeStop) | None => {}
                }
                let call = ollama_call(call, n, index);
                steps.push(line(&format!(
                    r#"{{"role":"assistant","content":"","tool_calls":[{call}]}}"#
                )));
            }
        }
    }
    if turn.cut == Some(Cut::BeforeStop) {
        return [steps, vec![Step::Cut]].concat();
    }
    let last = ollama_line(model, r#"{"role":"assistant","content":""}"#, true);
    steps.extend([Step::Send(Bytes::from(last + "\n")), Step::End]);
    steps
}

/// The body of a turn that is not streamed, as Ollama.
pub fn ollama_message(turn: &Turn, model: &str, n: u32) -> String {
    ollama_line(model, &message(turn, n, |arguments| arguments), true)
}

fn ollama_call(call: &Call, n: u32, index: usize) -> String {
    let (id, name) = (quoted(&call_id(call, n, index)), quoted(&call.name));
    let arguments = arguments(call);
    format!(r#"{{"id":{id},"function":{{"index":0,"name":{name},"arguments":{arguments}}}}}"#)
}

fn ollama_line(model: &str, message: &str, done: bool) -> String {
    let model = quoted(model);
    let end = if done {
        r#","done_reason":"stop","eval_count":42"#
    } else {
        ""
    };
    format!(
        r#"{{"model":{model},"created_at":"2026-01-01T00:00:00Z","message":{message},"done":{done}{end}}}"#
    )
}

/// A whole message, with arguments written as `form` does.
fn message(turn: &Turn, n: u32, form: impl Fn(String) -> String) -> String {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for (index, block) in turn.blocks.iter().enumerate() {
        match block {
            Block::Gap | Block::Whole(_) | Block::Thinking(_) => {}
            Block::Text { text: more, .. } => text.push_str(more),
            Block::Call(call) => {
                let (id, name) = (quoted(&call_id(call, n, index)), quoted(&call.name));
                let arguments = form(arguments(call));
                calls.push(format!(
                    r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}}}"#
                ));
            }
        }
    }
    let text = quoted(&text);
    let calls = if calls.is_empty() {
        String::new()
    } else {
        format!(r#","tool_calls":[{}]"#, calls.join(","))
    };
    format!(r#"{{"role":"assistant","content":{text}{calls}}}"#)
}

/// The arguments as they are written, also if they are not JSON.
fn arguments(call: &Call) -> String {
    call.raw.clone().unwrap_or_else(|| call.input.to_string())
}

fn finish_reason(turn: &Turn) -> &str {
    let calls = |block: &Block| matches!(block, Block::Call(_));
    match turn.stop.as_deref() {
        Some("max_tokens") => "length",
        Some("refusal") => "content_filter",
        Some("end_turn" | "stop_sequence") => "stop",
        _ if turn.blocks.iter().any(calls) => "tool_calls",
        _ => "stop",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::json::{Json, LoneSurrogates};

    #[test]
    fn turns_are_json_in_every_format() {
        for name in super::super::names() {
            for turn in super::super::scenario(name).unwrap() {
                let mut steps = chat_stream(turn, "m", 1, &StreamOptions::default());
                // Where arguments are no text, those that are no JSON break their line.
                if name == "parallel" {
                    steps.extend(ollama_stream(turn, "m", 1));
                }
                for step in steps {
                    let Step::Send(bytes) = step else { continue };
                    let text = std::str::from_utf8(&bytes).unwrap().trim_end();
                    let data = text.strip_prefix("data: ").unwrap_or(text);
                    let read = Json::read(data.as_bytes(), 128, LoneSurrogates::Replace);
                    assert!(read.is_ok() || data == "[DONE]", "{name}: {data}");
                }
            }
        }
    }
}
