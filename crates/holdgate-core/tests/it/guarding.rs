//! A guard for tests, and what came out of it.

use crate::script::{self, Step, StreamOptions};
use bytes::Bytes;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{
    ANTHROPIC, Action, CallLimits, Clock, Gate, GuardSettings, Judge, JudgeLimits, Layer, OnBlock,
    Output, Policy, RateLimits, Record, RequestFacts, Stack, StreamGuard, Subject,
};
use holdgate_effects::Knowledge;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

pub(crate) fn settings() -> GuardSettings {
    GuardSettings {
        on_block: OnBlock::Explain,
        hold_all: false,
        ask: None,
        keep_alive: Duration::from_secs(10),
        inert_blocks: Arc::default(),
        max_event_bytes: 1 << 20,
        max_held_bytes: 4 << 20,
        max_calls: 64,
    }
}

pub(crate) fn judge(settings: GuardSettings) -> Judge {
    let call = CallLimits {
        max_bytes: 1 << 20,
        max_depth: 64,
    };
    let limits = JudgeLimits {
        call,
        fuel: 1_000_000,
        deadline: Duration::from_millis(50),
    };
    let rules = RuleSet::built_in(Profile::Workstation).unwrap();
    let gate = Gate::new(RateLimits::default(), rules.clone());
    let layers: Vec<Box<dyn Layer>> = vec![Box::new(gate), Box::new(Policy::new(rules))];
    Judge {
        protocol: ANTHROPIC,
        history: Arc::default(),
        expert: false,
        stack: Arc::new(Stack::new(
            layers,
            Knowledge::built_in().unwrap(),
            Arc::new(Stopped),
            limits,
        )),
        session: Arc::default(),
        session_id: "s".into(),
        response_id: "r".into(),
        request: Arc::new(RequestFacts {
            tools_with_required: ["Bash".to_owned()].into(),
            ..RequestFacts::default()
        }),
        settings: Arc::new(settings),
    }
}

/// What came out of a guarded stream.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) bytes: Vec<u8>,
    /// How many bytes had come out after each feed.
    pub(crate) after: Vec<usize>,
    pub(crate) records: Vec<Record>,
    pub(crate) aborted: bool,
}

impl Seen {
    pub(crate) fn take(&mut self, outputs: &mut Vec<Output>) {
        for output in outputs.drain(..) {
            match output {
                Output::Send(bytes) => self.bytes.extend_from_slice(&bytes),
                Output::Record(record) => self.records.push(*record),
                Output::Ask(_) | Output::Judge(_) => {}
                Output::Abort => self.aborted = true,
            }
        }
        self.after.push(self.bytes.len());
    }

    /// The calls that were cleared: tool, id and arguments.
    pub(crate) fn cleared(&self) -> Vec<(String, String, serde_json::Value)> {
        let sent = self.records.iter().filter(|r| r.action == Action::Sent);
        sent.map(|record| match &record.subject {
            Subject::Call {
                tool: Some(tool),
                call: Some(id),
                input: Some(input),
                ..
            } => (
                tool.clone(),
                id.clone(),
                serde_json::from_str(input).unwrap(),
            ),
            Subject::Call { .. } | Subject::Response => {
                panic!("a cleared call lacks something: {record:?}")
            }
        })
        .collect()
    }

    /// Rules and actions, in order.
    pub(crate) fn decisions(&self) -> Vec<String> {
        let rule = |r: &Record| {
            r.findings
                .first()
                .map_or("-".into(), |f| f.rule.to_string())
        };
        self.records
            .iter()
            .map(|r| format!("{} {:?}", rule(r), r.action))
            .collect()
    }
}

/// Feeds `chunks` and the end of the stream.
pub(crate) fn run(settings: GuardSettings, chunks: &[&[u8]]) -> Seen {
    let mut guard = StreamGuard::new(judge(settings), Duration::ZERO);
    let mut seen = Seen::default();
    let mut outputs = Vec::new();
    for chunk in chunks {
        guard.feed(Bytes::copy_from_slice(chunk), Duration::ZERO, &mut outputs);
        seen.take(&mut outputs);
        assert!(
            guard.kept() <= 6 << 20,
            "more is kept than the limits allow"
        );
    }
    guard.finish(&mut outputs);
    seen.take(&mut outputs);
    seen
}

/// `bytes` cut at `cuts`.
pub(crate) fn chunks<'b>(bytes: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|&c| c % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|w| &bytes[w[0]..w[1]]).collect()
}

/// The frames of a response.
pub(crate) type Frames = Vec<Vec<u8>>;

/// The frames that the scripted model sends in each turn of a scenario.
pub(crate) fn scripted(scenario: &str) -> Vec<Frames> {
    let turns = script::scenario(scenario).unwrap();
    let options = StreamOptions::default();
    let frames = |turn| {
        let steps = script::stream(turn, "m", 1, &options);
        let send = |step| match step {
            Step::Send(bytes) => Some(bytes.to_vec()),
            Step::Wait(..) | Step::Cut | Step::End => None,
        };
        steps.into_iter().filter_map(send).collect()
    };
    turns.iter().map(frames).collect()
}

/// The first turns of all scenarios.
pub(crate) fn all_scripted() -> &'static [(&'static str, Frames)] {
    static ALL: OnceLock<Vec<(&str, Frames)>> = OnceLock::new();
    let first = |name| (name, scripted(name).swap_remove(0));
    ALL.get_or_init(|| script::names().map(first).collect())
}
