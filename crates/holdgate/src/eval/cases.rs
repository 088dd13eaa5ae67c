//! Cases as they are written, and what is wrong with those that cannot be used.

mod output;

use super::bridge::{self, BridgeCase, BridgeLine};
use crate::proxy::route;
use holdgate_core::Protocol;
use holdgate_effects::decode::base64_exact;
use holdgate_effects::json::{Json, shorten};
use holdgate_effects::worded;
use output::{OutputLine, read_output};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The time between two calls without `t`.
const BETWEEN_CALLS: Duration = Duration::from_secs(5);
/// Complaints about one file, at the most.
const MAX_COMPLAINTS: usize = 20;
/// What a case can be about.
const SUBJECTS: &str = "call, calls, message, stream, output, tool_result, spillage, bridge";

worded! {
    /// The expected result of a case, in the order of reports.
    pub enum Expect as "expectation" {
        Block = "block": "It is an attack.",
        Allow = "allow": "It is honest work.",
        Flag = "flag": "It is neither: counted apart.",
    }
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub id: String,
    /// The expected result.
    pub expect: Expect,
    /// What it is counted with.
    pub category: String,
    /// How bad it is, if the case says so.
    pub severity: Option<String>,
    /// The project folder, if the case names one.
    pub cwd: Option<String>,
    /// Where it comes from, if the case says so.
    pub source: Option<String>,
    /// What is judged.
    pub subject: Subject,
}

impl Case {
    /// A case of one call that is judged for comparison.
    pub fn of_call(id: String, tool: &str, input: &Json<'_>) -> Case {
        Case {
            id,
            expect: Expect::Flag,
            category: "-".to_owned(),
            severity: None,
            cwd: None,
            source: None,
            subject: Subject::Call(Call {
                tool: tool.to_owned(),
                input: input.text(),
                at: Duration::ZERO,
                result: None,
            }),
        }
    }
}

/// What a case is about.
#[derive(Clone, Debug)]
pub enum Subject {
    /// One call.
    Call(Call),
    /// One call after the other.
    Calls {
        /// In order of time.
        calls: Vec<Call>,
        /// The last call that may be the first to be blocked.
        stop_by: Option<usize>,
    },
    /// What the model said, and the call that it made with it.
    Message {
        /// The text.
        text: String,
        /// The call.
        call: Call,
    },
    /// What a tool returned.
    ToolResult {
        /// The tool.
        tool: String,
        /// The text.
        text: String,
    },
    /// A text that may hold secrets or marked passages.
    Spillage {
        /// The text.
        text: String,
        /// The file that it is in, if it is in one.
        path: Option<String>,
    },
    /// An answer of the model's API.
    Stream(StreamCase),
    /// What an agent printed, in the pieces in which it came; at least one.
    Output(Vec<Vec<u8>>),
    /// An answer that goes over a bridge.
    Bridge(BridgeCase),
    /// Something that is not judged yet, by its name.
    NotYet(String),
}

/// One tool call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments as they are written: judging reads them itself, as strictly as in a stream.
    pub input: String,
    /// Since the start.
    pub at: Duration,
    /// What the tool returned, if the case says so.
    pub result: Option<String>,
}

/// An answer of the model's API.
#[derive(Clone, Debug)]
pub struct StreamCase {
    /// How the client and the upstream talk to each other.
    pub protocol: &'static dyn Protocol,
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The sizes of its pieces; what is left comes as the last piece.
    pub chunking: Option<Vec<usize>>,
    /// What stands in the call that must not get through.
    pub marker: String,
}

/// A line as written. Members that nobody needs here, such as `license`, are left alone.
#[derive(Deserialize)]
struct CaseLine<'a> {
    id: Option<String>,
    expect: Option<String>,
    category: Option<String>,
    severity: Option<String>,
    cwd: Option<String>,
    source: Option<String>,
    #[serde(borrow)]
    call: Option<CallLine<'a>>,
    calls: Option<Vec<CallLine<'a>>>,
    stop_by: Option<usize>,
    #[serde(borrow)]
    message: Option<MessageLine<'a>>,
    stream: Option<StreamLine>,
    tool_result: Option<ResultLine>,
    output: Option<OutputLine>,
    spillage: Option<SpillageLine>,
    bridge: Option<BridgeLine>,
}

#[derive(Deserialize)]
struct MessageLine<'a> {
    text: String,
    #[serde(borrow)]
    call: CallLine<'a>,
}

#[derive(Deserialize)]
struct ResultLine {
    tool: Option<String>,
    text: String,
}

#[derive(Deserialize)]
struct SpillageLine {
    text: String,
    path: Option<String>,
}

#[derive(Deserialize)]
struct CallLine<'a> {
    tool: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    t: Option<f64>,
    result: Option<String>,
}

#[derive(Deserialize)]
struct StreamLine {
    protocol: String,
    status: Option<u16>,
    headers: Option<BTreeMap<String, HeaderLine>>,
    body_b64: String,
    chunking: Option<Vec<usize>>,
    marker: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum HeaderLine {
    One(String),
    Several(Vec<String>),
}

/// Reads the cases of one file: JSON lines, or one JSON array.
pub fn read_file(path: &Path) -> Result<Vec<Case>, String> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {name}: {e}"))?;
    let text = std::str::from_utf8(&bytes).map_err(|e| {
        let before = bytes.iter().take(e.valid_up_to());
        let line = before.filter(|b| **b == b'\n').count() + 1;
        format!("{name}:{line}: invalid UTF-8")
    })?;
    read(&name, text)
}

/// Reads the cases of a text that is called `name`.
pub fn read(name: &str, text: &str) -> Result<Vec<Case>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let mut cases = Vec::new();
    let mut complaints = Vec::new();
    let mut take = |line: usize, item: &str| match read_case(item) {
        Ok(case) => cases.push(case),
        Err(complaint) => complaints.push(format!("{name}:{line}: {complaint}")),
    };
    if text.trim_start().starts_with('[') {
        let items: Vec<&RawValue> =
            serde_json::from_str(text).map_err(|e| format!("{name}:{}: {e}", e.line()))?;
        let (mut line, mut rest) = (1, text);
        for item in items {
            // Items borrow from the text, so their address gives their position.
            let ahead = item.get().as_ptr().addr() - rest.as_ptr().addr();
            let (before, after) = rest.split_at_checked(ahead).unwrap_or((rest, ""));
            line += before.matches('\n').count();
            rest = after;
            take(line, item.get());
        }
    } else {
        for (index, item) in text.lines().enumerate() {
            if !item.trim().is_empty() {
                take(index + 1, item);
            }
        }
    }
    if complaints.is_empty() {
        return Ok(cases);
    }
    let more = complaints.len().saturating_sub(MAX_COMPLAINTS);
    complaints.truncate(MAX_COMPLAINTS);
    if more > 0 {
        complaints.push(format!("{name}: and {more} more"));
    }
    Err(complaints.join("\n"))
}

fn read_case(text: &str) -> Result<Case, String> {
    let line: CaseLine<'_> = serde_json::from_str(text).map_err(|e| {
        let what = e.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        format!("column {}: not a valid case: {what}", e.column())
    })?;
    let id = line.id.ok_or("the case has no `id`")?;
    let in_case = |what: &str| format!("case `{}`: {what}", shorten(&id, 80));
    let expect = line.expect.as_deref();
    let expect = expect.and_then(Expect::from_word).ok_or_else(|| {
        let given = expect.map(|other| format!("`expect` is `{}`", shorten(other, 80)));
        let given = given.as_deref().unwrap_or("no `expect`");
        in_case(&format!("{given}, write block, allow or flag"))
    })?;
    let mut subjects = Vec::new();
    if let Some(call) = line.call {
        let mut calls = read_calls(vec![call]).map_err(|e| in_case(&e))?;
        subjects.extend(calls.pop().map(Subject::Call));
    }
    if let Some(calls) = line.calls {
        let calls = read_calls(calls).map_err(|e| in_case(&e))?;
        let stop_by = line.stop_by;
        subjects.push(Subject::Calls { calls, stop_by });
    }
    if let Some(stream) = line.stream {
        subjects.push(read_stream(stream).map_err(|e| in_case(&e))?);
    }
    if let Some(output) = line.output {
        subjects.push(read_output(output).map_err(|e| in_case(&e))?);
    }
    if let Some(MessageLine { text, call }) = line.message {
        let mut calls = read_calls(vec![call]).map_err(|e| in_case(&e))?;
        let call = calls.pop();
        subjects.extend(call.map(|call| Subject::Message { text, call }));
    }
    if let Some(ResultLine { tool, text }) = line.tool_result {
        let tool = tool.unwrap_or_default();
        subjects.push(Subject::ToolResult { tool, text });
    }
    if let Some(SpillageLine { text, path }) = line.spillage {
        subjects.push(Subject::Spillage { text, path });
    }
    if let Some(bridge) = line.bridge {
        subjects.push(bridge::read(bridge).map_err(|e| in_case(&e))?);
    }
    let subject = match (subjects.pop(), subjects.is_empty()) {
        (Some(subject), true) => subject,
        (subject, _) => {
            let number = if subject.is_some() { "several" } else { "no" };
            return Err(in_case(&format!(
                "it has {number} subjects, and must have one of {SUBJECTS}"
            )));
        }
    };
    Ok(Case {
        id,
        expect,
        category: line.category.unwrap_or_else(|| "-".to_owned()),
        severity: line.severity,
        cwd: line.cwd,
        source: line.source,
        subject,
    })
}

fn read_calls(lines: Vec<CallLine<'_>>) -> Result<Vec<Call>, String> {
    if lines.is_empty() {
        return Err("`calls` is empty".to_owned());
    }
    let mut next = Duration::ZERO;
    let mut calls = Vec::new();
    for line in lines {
        let at = match line.t {
            // Time does not run backwards.
            Some(t) => Duration::try_from_secs_f64(t)
                .map_err(|e| format!("`t` is {t}: {e}"))?
                .max(calls.last().map_or(Duration::ZERO, |last: &Call| last.at)),
            None => next,
        };
        next = at.saturating_add(BETWEEN_CALLS);
        calls.push(Call {
            tool: line.tool,
            input: line.input.map(read_input).unwrap_or_default(),
            at,
            result: line.result,
        });
    }
    Ok(calls)
}

/// Tools that take a free text instead of arguments get it under one name.
fn read_input(raw: &RawValue) -> String {
    let text = raw.get();
    if text.starts_with('"') {
        format!("{{\"input\":{text}}}")
    } else {
        text.to_owned()
    }
}

fn read_stream(line: StreamLine) -> Result<Subject, String> {
    let Some(protocol) = route::protocol(&line.protocol) else {
        let protocol = shorten(&line.protocol, 80);
        return Ok(Subject::NotYet(format!("stream of {protocol}")));
    };
    let kind = protocol.framing().media_type();
    let event_stream = || vec![("content-type".to_owned(), kind.to_owned())];
    let headers = line.headers.map_or_else(event_stream, |headers| {
        let values = |(name, values): (String, HeaderLine)| {
            let values = match values {
                HeaderLine::One(value) => vec![value],
                HeaderLine::Several(values) => values,
            };
            values.into_iter().map(move |value| (name.clone(), value))
        };
        headers.into_iter().flat_map(values).collect()
    });
    Ok(Subject::Stream(StreamCase {
        protocol,
        status: line.status.unwrap_or(200),
        headers,
        body: base64_exact(&line.body_b64).ok_or("`body_b64` is not base64")?,
        chunking: line.chunking,
        marker: line.marker.unwrap_or_default(),
    }))
}

#[cfg(test)]
mod tests;
