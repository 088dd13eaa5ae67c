//! Raw responses through the guard without sockets, so that foreign readers can be run over what
//! leaves it (`tests/clients/readers.py`).

use crate::config::LIMITS;
use crate::judging;
use crate::proxy::route;
use anyhow::Context as _;
use bytes::Bytes;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{
    Action, Dialect, GuardSettings, JudgeLimits, OnBlock, Output, RateLimits, Record,
    ResponseContext, Stack, StreamGuard, Subject, Tell, TextActions, bridged, guard_message,
};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

/// One line of input. Bytes are written as text, one character (U+0000 to U+00FF) for each.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    body: String,
    /// The protocol of the response, by its name; without one, Anthropic Messages.
    #[serde(default)]
    protocol: Option<String>,
    /// The protocol of the upstream, by its name, if a bridge leads to it: then `body` is in it.
    #[serde(default)]
    to: Option<String>,
    /// Whose text acts, as the setting says it.
    #[serde(default)]
    text_actions: Option<String>,
    /// Whether the response is not streamed.
    #[serde(default)]
    whole: bool,
    /// The size of the chunks that arrive from upstream; 0: one chunk.
    #[serde(default)]
    chunk: usize,
    /// `on_block = "continue"`, with an empty call in the place of a refused one.
    #[serde(default)]
    keep_going: bool,
    #[serde(default)]
    hold_all: bool,
    /// The request that the response answers.
    #[serde(default)]
    request: serde_json::Map<String, Value>,
}

/// Reads one JSON object a line from `input`, and writes one for each: the `body` that leaves
/// (`null` if an error of the proxy's own stands in its place), the calls that were `cleared`, and
/// the empty calls (`inert`) that stand in the place of refused ones.
pub fn guard_lines(input: impl BufRead, mut output: impl Write) -> anyhow::Result<()> {
    let rules = RuleSet::built_in(Profile::Workstation)?;
    let limits = JudgeLimits {
        // A busy machine does not change what comes out.
        deadline: Duration::from_mins(1),
        ..LIMITS
    };
    let stack = Arc::new(judging::stack_with(
        rules,
        &[],
        RateLimits::default(),
        limits,
    )?);
    for (number, line) in input.lines().enumerate() {
        let guarded = guard_line(&line?, stack.clone());
        let guarded = guarded.with_context(|| format!("line {}", number + 1))?;
        writeln!(output, "{guarded}")?;
    }
    Ok(())
}

fn guard_line(line: &str, stack: Arc<Stack>) -> anyhow::Result<Value> {
    let case: Case = serde_json::from_str(line)?;
    let body: Result<Vec<u8>, _> = case.body.chars().map(u8::try_from).collect();
    let body = body.context("`body` has a character above U+00FF")?;
    let protocol = match &case.protocol {
        None => route::DEFAULT,
        Some(name) => route::protocol(name).context("`protocol` is not one that is guarded")?,
    };
    let protocol = match &case.to {
        None => protocol,
        Some(to) => bridged(protocol, to).context("there is no such bridge")?,
    };
    let request = Bytes::from(Value::Object(case.request).to_string());
    let read = protocol.read_request(request.clone());
    let mut facts = (*read.map_err(|e| anyhow::anyhow!("`request`: {e}"))?.facts).clone();
    // The path says nothing here.
    if let Some(translated) = protocol.translate("/v1/x", &request, Dialect::Auto)? {
        facts.bridged = translated.bridged;
    }
    let settings = GuardSettings {
        on_block: if case.keep_going {
            OnBlock::Continue
        } else {
            OnBlock::Explain
        },
        tell: Tell::All,
        hold_all: case.hold_all,
        ask: None,
        keep_alive: Duration::from_secs(10),
        inert_blocks: Arc::default(),
        text_actions: case
            .text_actions
            .map_or(Ok(TextActions::Off), |client| TextActions::read(&client))
            .map_err(anyhow::Error::msg)?,
        max_event_bytes: 1 << 20,
        max_held_bytes: 4 << 20,
        max_calls: 64,
    };
    let judge = ResponseContext {
        request: Arc::new(facts),
        ..ResponseContext::new(protocol, stack, Arc::new(settings))
    };
    let mut outputs = Vec::new();
    let mut left = if case.whole {
        match guard_message(judge, &body, Duration::ZERO, &mut outputs) {
            Ok(left) => Some(left.to_vec()),
            Err(_) => None,
        }
    } else {
        let mut guard = StreamGuard::new(judge, Duration::ZERO);
        let size = if case.chunk == 0 {
            usize::MAX
        } else {
            case.chunk
        };
        for chunk in body.chunks(size) {
            guard.feed(Bytes::copy_from_slice(chunk), Duration::ZERO, &mut outputs);
        }
        guard.finish(Duration::ZERO, &mut outputs);
        Some(Vec::new())
    };
    let (mut cleared, mut inert) = (Vec::new(), Vec::new());
    for output in outputs {
        match output {
            Output::Send(bytes) => left.get_or_insert_default().extend_from_slice(&bytes),
            Output::Record(record) => match record.action {
                Action::Sent => cleared.push(call(&record)?),
                Action::ExplainedAndContinued => inert.push(inert_id(&record)),
                Action::Explained
                | Action::ResponseEnded
                | Action::LeftOut
                | Action::Asked
                | Action::Marked
                | Action::Forwarded
                | Action::LeftToClient => {}
            },
            // The guard here judges on its own.
            Output::Judge(_) | Output::Ask(_) | Output::Abort => {}
        }
    }
    let left = left.map(|bytes| bytes.into_iter().map(char::from).collect::<String>());
    Ok(json!({"name": case.name, "body": left, "cleared": cleared, "inert": inert}))
}

/// A call that was cleared. The arguments stay text: readers differ in what a number is.
fn call(record: &Record) -> anyhow::Result<Value> {
    let Subject::Call {
        tool: Some(tool),
        call: Some(id),
        input: Some(input),
        runs,
        ..
    } = &record.subject
    else {
        anyhow::bail!("a cleared call lacks something: {record:?}");
    };
    Ok(json!({"name": tool, "id": id, "input": input.as_str(), "runs": runs}))
}

fn inert_id(record: &Record) -> String {
    format!("toolu_holdgate_{}", record.id.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_and_what_was_cleared_come_out() {
        let body = r#"{"type":"message","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}"#;
        let line = json!({"name": "n", "body": body, "whole": true}).to_string();
        let mut out = Vec::new();
        guard_lines(line.as_bytes(), &mut out).unwrap();
        let out: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(out["body"], body);
        assert_eq!(
            out["cleared"],
            json!([{"name": "Bash", "id": "t", "input": "{\"command\":\"ls\"}", "runs": "client"}])
        );

        let refused = body.replace("ls", "rm -rf ~");
        let line = json!({"name": "n", "body": refused, "whole": true}).to_string();
        let mut out = Vec::new();
        guard_lines(line.as_bytes(), &mut out).unwrap();
        let out: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(out["cleared"], json!([]));
        assert!(!out["body"].as_str().unwrap().contains("tool_use"));
    }
}
