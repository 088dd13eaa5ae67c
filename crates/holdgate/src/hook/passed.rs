//! Calls that a proxy has sent to its client: the client's hook asks about them once more, and they
//! are neither judged nor counted twice.
//!
//! Only the proxy that has judged a call puts it here, and each is found once. What the agent says
//! about itself, such as a variable, counts for nothing.

use crate::threads::lock;
use holdgate_core::{Action, Record, Subject};
use holdgate_effects::json::{Json, LoneSurrogates};
use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Calls that are remembered, how large each may be, and for how long: a user may be asked by the
/// client before its hook runs.
const MAX_CALLS: usize = 256;
const MAX_BYTES: usize = 256 << 10;
const MAX_AGE: Duration = Duration::from_mins(10);
const MAX_DEPTH: usize = 80;

/// The calls that were sent last.
#[derive(Debug, Default)]
pub(crate) struct Passed(Mutex<VecDeque<Sent>>);

#[derive(Debug)]
struct Sent {
    id: String,
    tool: String,
    /// The texts in its arguments.
    texts: HashSet<String>,
    at: Instant,
}

impl Passed {
    /// Takes note of a decision, if it lets a call go to the client.
    pub(crate) fn note(&self, record: &Record) {
        let Subject::Call {
            tool: Some(tool),
            call: Some(id),
            runs: "client",
            input: Some(input),
            ..
        } = &record.subject
        else {
            return;
        };
        if record.action != Action::Sent || input.len() > MAX_BYTES {
            return;
        }
        let Ok(json) = Json::read(input.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse) else {
            return;
        };
        let mut calls = lock(&self.0);
        if calls.len() == MAX_CALLS {
            calls.pop_front();
        }
        calls.push_back(Sent {
            id: id.clone(),
            tool: tool.clone(),
            texts: texts(&json).into_iter().map(str::to_owned).collect(),
            at: Instant::now(),
        });
    }

    /// Whether this call was sent. With an id, the hook may show less of the call, and under another
    /// name, as Codex does, but nothing else; without one, it must be the same.
    pub(crate) fn take(&self, id: Option<&str>, tool: &str, input: &Json<'_>) -> bool {
        let shown = texts(input);
        let mut calls = lock(&self.0);
        calls.retain(|sent| sent.at.elapsed() < MAX_AGE);
        let is_same = |sent: &Sent| {
            let all_known = shown.iter().all(|text| sent.texts.contains(*text));
            match id {
                Some(id) => sent.id == id && all_known && !shown.is_empty(),
                None => sent.tool == tool && all_known && sent.texts.len() == distinct(&shown),
            }
        };
        let at = calls.iter().position(is_same);
        at.and_then(|at| calls.remove(at)).is_some()
    }
}

fn distinct(texts: &[&str]) -> usize {
    texts.iter().collect::<HashSet<_>>().len()
}

/// All texts in a value, keys left out.
pub(crate) fn texts<'j>(json: &'j Json<'_>) -> Vec<&'j str> {
    let mut found = Vec::new();
    let mut open = vec![json];
    while let Some(value) = open.pop() {
        match value {
            Json::String(text) => found.push(text.as_ref()),
            Json::Array(items) => open.extend(items),
            Json::Object(members) => open.extend(members.iter().map(|(_, value)| value)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    found
}
