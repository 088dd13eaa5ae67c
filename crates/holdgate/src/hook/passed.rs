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
    /// The project in which it was judged, if that was known.
    project: Option<String>,
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
            project: record.project.clone(),
            texts,
            whole: self.keys.hash_one(json.text()),
            at: Instant::now(),
        });
    }

    /// Whether this call was sent. With an id, the hook may show less of the call, and under another
    /// name, as Codex does, but nothing else; without one, it must be the same, and not in another
    /// project.
    pub(crate) fn take(
        &self,
        id: Option<&str>,
        tool: &str,
        input: &Json<'_>,
        project: Option<&str>,
    ) -> bool {
        let shown = self.hashes(input);
        let whole = self.keys.hash_one(input.text());
        let mut calls = lock(&self.sent);
        calls.retain(|sent| sent.at.elapsed() < MAX_AGE);
        let is_same = |sent: &Sent| {
            let all_known = shown.is_subset(&sent.texts);
            let known = sent.project.as_deref().zip(project);
            let elsewhere = known.is_some_and(|(there, here)| there != here);
            match id {
                Some(id) => sent.id == id && all_known && !shown.is_empty(),
                None => sent.tool == tool && sent.whole == whole && !elsewhere,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_in_one_project_says_nothing_about_another() {
        let mut record = Record::of_response("i".to_owned(), "s".to_owned(), "rule", "");
        record.action = Action::Sent;
        record.project = Some("/home/dev/a".to_owned());
        record.subject = Subject::Call {
            tool: Some("run_shell_command".to_owned()),
            call: Some("c".to_owned()),
            runs: "client",
            input: Some(std::sync::Arc::new(
                r#"{"command":"rm -rf build"}"#.to_owned(),
            )),
            held: Duration::ZERO,
            judged: Duration::ZERO,
        };
        let passed = Passed::default();
        passed.note(&record);
        let input = Json::object([("command", "rm -rf build".into())]);
        let take = |project: &str| passed.take(None, "run_shell_command", &input, Some(project));
        assert!(!take("/home/dev"), "there it deletes something else");
        assert!(take("/home/dev/a"));
        assert!(!take("/home/dev/a"), "once");
    }
}
