//! Calls that a proxy has sent to its client: the client's hook asks about them once more, and they
//! are neither judged nor counted twice.
//!
//! Only the proxy that has judged a call puts it here, and each is found once. What the agent says
//! about itself, such as a variable, counts for nothing.

use crate::threads::lock;
use holdgate_core::{Action, Record, Subject};
use holdgate_effects::json::{Json, LoneSurrogates};
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Calls that are remembered, how many texts each may have, and for how long: a user may be asked by
/// the client before its hook runs.
const MAX_CALLS: usize = 256;
const MAX_TEXTS: usize = 256;
const MAX_AGE: Duration = Duration::from_mins(10);
const MAX_DEPTH: usize = 80;

/// The calls that were sent last.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    sent: Mutex<VecDeque<Sent>>,
    /// Hashes are keyed at random: nobody can write a text that passes for another one.
    keys: RandomState,
}

#[derive(Debug)]
struct Sent {
    id: String,
    tool: String,
    /// The texts in its arguments, as hashes.
    texts: HashSet<u64>,
    /// All of its arguments, as a hash.
    whole: u64,
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
        if record.action != Action::Sent {
            return;
        }
        let Ok(json) = Json::read(input.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse) else {
            return;
        };
        let texts = self.hashes(&json);
        if texts.len() > MAX_TEXTS {
            return;
        }
        let mut calls = lock(&self.sent);
        if calls.len() == MAX_CALLS {
            calls.pop_front();
        }
        calls.push_back(Sent {
            id: id.clone(),
            tool: tool.clone(),
            texts,
            whole: self.keys.hash_one(json.text()),
            at: Instant::now(),
        });
    }

    /// Whether this call was sent. With an id, the hook may show less of the call, and under another
    /// name, as Codex does, but nothing else; without one, it must be the same.
    pub(crate) fn take(&self, id: Option<&str>, tool: &str, input: &Json<'_>) -> bool {
        let shown = self.hashes(input);
        let whole = self.keys.hash_one(input.text());
        let mut calls = lock(&self.sent);
        calls.retain(|sent| sent.at.elapsed() < MAX_AGE);
        let is_same = |sent: &Sent| {
            let all_known = shown.is_subset(&sent.texts);
            match id {
                Some(id) => sent.id == id && all_known && !shown.is_empty(),
                None => sent.tool == tool && sent.whole == whole,
            }
        };
        let at = calls.iter().position(is_same);
        at.and_then(|at| calls.remove(at)).is_some()
    }

    fn hashes(&self, json: &Json<'_>) -> HashSet<u64> {
        let texts = texts(json).into_iter();
        texts.map(|text| self.keys.hash_one(text)).collect()
    }
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
