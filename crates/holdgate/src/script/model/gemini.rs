//! A turn in Gemini's format: text in pieces, calls whole and without ids. What only the Messages
//! format has is left out.

use super::shape::{SIGNATURE, quoted};
use super::stream::{Step, StreamOptions, fragments};
use super::{Block, Call, Cut, Turn};
use bytes::Bytes;

/// What the tools of the scenarios are called in Gemini CLI.
const CLI_TOOLS: &[(&str, &str)] = &[
    ("Bash", "run_shell_command"),
    ("Read", "read_file"),
    ("Write", "write_file"),
    ("Edit", "replace"),
];

impl Turn {
    /// The same turn with the tools of Gemini CLI.
    #[must_use]
    pub fn for_gemini_cli(mut self) -> Turn {
        for block in &mut self.blocks {
            if let Block::Call(call) = block
                && let Some((_, name)) = CLI_TOOLS.iter().find(|(ours, _)| call.name == *ours)
            {
                (*name).clone_into(&mut call.name);
            }
        }
        self
    }
}

/// The stream of a turn as Gemini sends it.
pub fn gemini_stream(turn: &Turn, model: &str, n: u32, options: &StreamOptions) -> Vec<Step> {
    let send = |part: &str, end: &str| {
        let chunk = chunk(part, end, model, n);
        Step::Send(Bytes::from(format!("data: {chunk}\r\n\r\n")))
    };
    let mut steps = Vec::new();
    match turn.cut {
        Some(Cut::Start) => return vec![Step::Cut],
        Some(Cut::CleanStart) => return vec![Step::End],
        Some(Cut::MidTool | Cut::CleanMidTool | Cut::ErrorEvent | Cut::BeforeStop) | None => {}
    }
    for block in &turn.blocks {
        match block {
            Block::Gap | Block::Whole(_) => {}
            Block::Text { text, .. } => {
                let pieces = fragments(text, 12).into_iter();
                steps.extend(pieces.map(|piece| send(&text_part(&piece), "")));
            }
            Block::Thinking(text) => steps.push(send(&thought(text), "")),
            Block::Call(call) => {
                if let Some(hold) = turn.hold {
                    steps.push(Step::Wait(hold, None));
                }
                if call.slow {
                    steps.push(Step::Wait(options.slow, None));
                }
                let part = call_part(call);
                let half = part.len() / 2;
                let cut = || {
                    let piece = chunk(&part, "", model, n)
                        .get(..half)
                        .unwrap_or_default()
                        .to_owned();
                    Step::Send(Bytes::from(format!("data: {piece}")))
                };
                match turn.cut {
                    Some(Cut::MidTool) => return [steps, vec![cut(), Step::Cut]].concat(),
                    Some(Cut::CleanMidTool) => return [steps, vec![cut(), Step::End]].concat(),
                    Some(Cut::ErrorEvent) => {
                        let error = r#"{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}"#;
                        let error = Bytes::from(format!("data: {error}\r\n\r\n"));
                        return [steps, vec![Step::Send(error), Step::End]].concat();
                    }
                    Some(Cut::Start | Cut::CleanStart | Cut::BeforeStop) | None => {}
                }
                steps.push(send(&part, ""));
            }
        }
    }
    if turn.cut == Some(Cut::BeforeStop) {
        return [steps, vec![Step::Cut]].concat();
    }
    steps.extend([send(&text_part(""), finish(turn)), Step::End]);
    steps
}

/// The body of a turn that is not streamed, as Gemini.
pub fn gemini_message(turn: &Turn, model: &str, n: u32) -> String {
    chunk(&parts(turn).join(","), finish(turn), model, n)
}

/// The body of a turn that is streamed as a list, as Gemini: one part a chunk.
pub fn gemini_list(turn: &Turn, model: &str, n: u32) -> String {
    let chunks = parts(turn).into_iter();
    let mut chunks: Vec<String> = chunks.map(|part| chunk(&part, "", model, n)).collect();
    chunks.push(chunk(&text_part(""), finish(turn), model, n));
    format!("[{}\n]\n", chunks.join("\n,\r\n"))
}

fn parts(turn: &Turn) -> Vec<String> {
    let part = |block: &Block| match block {
        Block::Gap | Block::Whole(_) => None,
        Block::Text { text, .. } => Some(text_part(text)),
        Block::Thinking(text) => Some(thought(text)),
        Block::Call(call) => Some(call_part(call)),
    };
    turn.blocks.iter().filter_map(part).collect()
}

fn text_part(text: &str) -> String {
    format!(r#"{{"text":{}}}"#, quoted(text))
}

fn thought(text: &str) -> String {
    format!(r#"{{"text":{},"thought":true}}"#, quoted(text))
}

/// The arguments as they are written, also if they are not JSON. Only an id that is asked for is there.
fn call_part(call: &Call) -> String {
    let id = call.id.as_deref().map(quoted);
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    let name = quoted(&call.name);
    let args = call.raw.clone().unwrap_or_else(|| call.input.to_string());
    format!(
        r#"{{"functionCall":{{{id}"name":{name},"args":{args}}},"thoughtSignature":"{SIGNATURE}"}}"#
    )
}

fn finish(turn: &Turn) -> &'static str {
    match turn.stop.as_deref() {
        Some("max_tokens") => r#","finishReason":"MAX_TOKENS""#,
        Some("refusal") => r#","finishReason":"SAFETY""#,
        _ => r#","finishReason":"STOP""#,
    }
}

fn chunk(parts: &str, end: &str, model: &str, n: u32) -> String {
    let model = quoted(model);
    format!(
        r#"{{"candidates": [{{"content": {{"parts": [{parts}],"role": "model"}},"index": 0{end}}}],"usageMetadata": {{"promptTokenCount": 25,"candidatesTokenCount": 42,"totalTokenCount": 67}},"modelVersion": {model},"responseId": "fake{n:04}"}}"#
    )
}
