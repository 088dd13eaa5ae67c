//! Which records teach what: labels with weights, and what keeps one session from teaching too much.

use holdgate_core::classifier::lesson::Lesson;
use holdgate_core::{Action, Answer, LayerName, Verdict};
use holdgate_effects::json::Json;
use std::collections::{HashMap, HashSet};

/// Calls of one session that teach as honest work, and as attacks.
const HONEST_PER_SESSION: usize = 40;
const ATTACKS_PER_SESSION: usize = 20;
/// How much a label counts. What a person says counts most.
const BY_RULE: f32 = 0.3;
const UNEVENTFUL: f32 = 0.1;
const BY_PERSON: f32 = 1.0;
/// Rules that say nothing about what a call does.
const NOT_ABOUT_CALLS: [&str; 6] = [
    "call-rate",
    "repeated-call",
    "judging-too-costly",
    "judging-too-slow",
    "judging-overload",
    "judging-failure",
];

/// A call with a label.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// The number of its record.
    pub seq: u64,
    /// Whether it was an attack.
    pub is_attack: bool,
    /// How much the label counts.
    pub weight: f32,
    /// What is learned from it.
    pub lesson: Lesson,
}

/// Where labels come from, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// A rule refused the call.
    pub blocked: u64,
    /// A person said no.
    pub denied: u64,
    /// The agent was killed after the call.
    pub killed: u64,
    /// A person let the call pass.
    pub approved: u64,
    /// The call passed, and nothing happened in its session.
    pub uneventful: u64,
    /// Calls that taught nothing, because their session had taught enough.
    pub capped: u64,
}

/// Records of the ledger, one after the other.
#[derive(Debug, Default)]
pub struct Labels {
    /// In the order of records.
    calls: Vec<Labelled>,
    /// Those that count if nothing happens in their session, with the session.
    quiet: Vec<(String, Labelled)>,
    eventful: HashSet<String>,
    /// The last call that each session was sent.
    last: HashMap<String, Labelled>,
    taught: HashMap<String, Taught>,
    /// Where they come from.
    pub sources: Sources,
    /// The last record.
    pub read_to: u64,
}

/// What a session has taught so far.
#[derive(Debug, Default)]
struct Taught {
    honest: usize,
    attacks: usize,
    shapes: HashSet<u32>,
}

impl Labels {
    /// Takes one record.
    pub fn take(&mut self, record: &Json<'_>) {
        let text = |key: &str| record.get(key).and_then(Json::as_str).unwrap_or_default();
        let Some(seq) = number(record.get("seq")) else {
            return;
        };
        self.read_to = self.read_to.max(seq);
        let session = text("session").to_owned();
        let verdict = Verdict::from_word(text("verdict"));
        if text("door") == "monitor" && verdict == Some(Verdict::Kill) {
            self.eventful.insert(session.clone());
            if let Some(last) = self.last.remove(&session) {
                self.sources.killed += 1;
                self.attack(&session, last, BY_PERSON);
            }
            return;
        }
        let Some(lesson) = record.get("lesson").and_then(Lesson::read) else {
            return;
        };
        let (Some(verdict), Some(action)) = (verdict, Action::from_word(text("action"))) else {
            return;
        };
        let call = Labelled {
            seq,
            is_attack: false,
            weight: 0.0,
            lesson,
        };
        self.call(
            &session,
            call,
            verdict,
            action,
            Answer::from_word(text("answer")),
            record,
        );
    }

    fn call(
        &mut self,
        session: &str,
        call: Labelled,
        verdict: Verdict,
        action: Action,
        answer: Option<Answer>,
        record: &Json<'_>,
    ) {
        match answer {
            Some(Answer::Deny) => {
                self.eventful.insert(session.to_owned());
                self.sources.denied += 1;
                return self.attack(session, call, BY_PERSON);
            }
            Some(Answer::Once | Answer::Session | Answer::Rule) => {
                if self.may_teach(session, &call) {
                    self.sources.approved += 1;
                    let weight = BY_PERSON;
                    self.calls.push(Labelled { weight, ..call });
                }
                return;
            }
            Some(
                Answer::Judge
                | Answer::Timeout
                | Answer::Nobody
                | Answer::NoPin
                | Answer::Withdrawn,
            ) => return,
            None => {}
        }
        if verdict >= Verdict::Block {
            if is_about_call(record) {
                self.eventful.insert(session.to_owned());
                self.sources.blocked += 1;
                self.attack(session, call, BY_RULE);
            }
        } else if action == Action::Sent {
            self.last.insert(session.to_owned(), call.clone());
            if self.may_teach(session, &call) {
                let weight = UNEVENTFUL;
                self.quiet
                    .push((session.to_owned(), Labelled { weight, ..call }));
            }
        }
    }

    /// The labelled calls in the order of their records.
    pub fn finish(mut self) -> (Vec<Labelled>, Sources) {
        for (session, call) in self.quiet {
            if !self.eventful.contains(&session) {
                self.sources.uneventful += 1;
                self.calls.push(call);
            }
        }
        self.calls.sort_by_key(|call| call.seq);
        (self.calls, self.sources)
    }

    fn attack(&mut self, session: &str, call: Labelled, weight: f32) {
        let taught = self.taught.entry(session.to_owned()).or_default();
        taught.attacks += 1;
        if taught.attacks > ATTACKS_PER_SESSION {
            self.sources.capped += 1;
            return;
        }
        self.calls.push(Labelled {
            is_attack: true,
            weight,
            ..call
        });
    }

    /// Whether a session may teach one more honest call: each shape once, and not too many.
    fn may_teach(&mut self, session: &str, call: &Labelled) -> bool {
        let taught = self.taught.entry(session.to_owned()).or_default();
        let wholes = call
            .lesson
            .units
            .iter()
            .filter_map(|unit| unit.shape.last());
        let mut is_new = false;
        for shape in wholes {
            is_new |= taught.shapes.insert(*shape);
        }
        if is_new && taught.honest < HONEST_PER_SESSION {
            taught.honest += 1;
            return true;
        }
        self.sources.capped += 1;
        false
    }
}

/// Whether another layer than the classifier refused the call for what it does. What the classifier
/// itself refused must not teach it.
fn is_about_call(record: &Json<'_>) -> bool {
    let findings = record.get("findings").and_then(Json::as_array);
    findings.unwrap_or(&[]).iter().any(|finding| {
        let text = |key: &str| finding.get(key).and_then(Json::as_str).unwrap_or_default();
        let refuses = Verdict::from_word(text("verdict")).is_some_and(|v| v >= Verdict::Block);
        let layer = LayerName::from_word(text("layer"));
        let judges = matches!(
            layer,
            Some(LayerName::Gate | LayerName::Policy | LayerName::Spillage | LayerName::Divergence)
        );
        refuses && judges && !NOT_ABOUT_CALLS.contains(&text("rule"))
    })
}

pub(super) fn number(json: Option<&Json<'_>>) -> Option<u64> {
    match json? {
        Json::Number(text) => text.parse().ok(),
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
    }
}
