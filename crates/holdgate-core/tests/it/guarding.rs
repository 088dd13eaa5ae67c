//! A guard for tests, and what came out of it.

use crate::client::calls;
use crate::script::{self, Step, StreamOptions};
use bytes::Bytes;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{
    ANTHROPIC, Action, Answer, CallLimits, GuardSettings, Job, JudgeLimits, OnBlock, Output,
    Question, RateLimits, Record, RequestFacts, ResponseContext, Stack, StreamGuard, Subject, Tell,
    TextActions, guard_message, layers,
};
use holdgate_effects::Knowledge;
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long a person may take to answer.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn settings() -> GuardSettings {
    GuardSettings {
        on_block: OnBlock::Explain,
        hold_all: false,
        ask: None,
        keep_alive: Duration::from_secs(10),
        inert_blocks: Arc::default(),
        tell: Tell::All,
        text_actions: TextActions::Off,
        max_event_bytes: 1 << 20,
        max_held_bytes: 4 << 20,
        max_calls: 64,
    }
}

pub(crate) fn judge(settings: GuardSettings) -> ResponseContext {
    let limits = JudgeLimits {
        call: CallLimits {
            max_bytes: 1 << 20,
            max_depth: 64,
        },
        fuel: 1_000_000,
        deadline: Duration::from_millis(50),
    };
    let rules = RuleSet::built_in(Profile::Workstation).unwrap();
    let layers = layers(rules, RateLimits::default());
    let know = Knowledge::built_in().unwrap();
    let stack = Stack::new(layers, know, Arc::new(Duration::ZERO), limits);
    ResponseContext {
        request: Arc::new(RequestFacts {
            tools_with_required: ["Bash".to_owned()].into(),
            ..RequestFacts::default()
        }),
        ..ResponseContext::new(ANTHROPIC, Arc::new(stack), Arc::new(settings))
    }
}

/// Settings with which a person is asked.
pub(crate) fn asking(hold_all: bool) -> GuardSettings {
    GuardSettings {
        ask: Some(PATIENCE),
        hold_all,
        ..settings()
    }
}

/// What came out of a guarded stream.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) bytes: Vec<u8>,
    /// How many bytes had come out after each feed.
    pub(crate) after: Vec<usize>,
    pub(crate) records: Vec<Record>,
    pub(crate) questions: Vec<Question>,
    /// The call that is to be judged.
    pub(crate) job: Option<Job>,
    pub(crate) aborted: bool,
}

impl Seen {
    pub(crate) fn take(&mut self, outputs: &mut Vec<Output>) {
        for output in outputs.drain(..) {
            match output {
                Output::Send(bytes) => self.bytes.extend_from_slice(&bytes),
                Output::Record(record) => self.records.push(*record),
                Output::Ask(question) => self.questions.push(*question),
                Output::Judge(job) => {
                    assert!(self.job.replace(*job).is_none(), "one at a time");
                }
                Output::Abort => self.aborted = true,
            }
        }
        self.after.push(self.bytes.len());
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    /// The ids of the calls that a client gets.
    pub(crate) fn sent(&self) -> Vec<String> {
        let calls = calls(&self.bytes);
        calls.into_iter().map(|call| call.id).collect()
    }

    /// The calls that were cleared: tool, id and arguments.
    pub(crate) fn cleared(&self) -> Vec<(String, String, Value)> {
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
            Subject::Call { .. } | Subject::Response | Subject::Result { .. } => {
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

/// A guard, and what came out of it. Virtual time.
pub(crate) struct Play {
    pub(crate) guard: StreamGuard,
    pub(crate) seen: Seen,
    pub(crate) now: Duration,
}

impl Play {
    pub(crate) fn new(judge: ResponseContext) -> Play {
        Play {
            guard: StreamGuard::new(judge, Duration::ZERO),
            seen: Seen::default(),
            now: Duration::ZERO,
        }
    }

    pub(crate) fn act(&mut self, act: impl FnOnce(&mut StreamGuard, Duration, &mut Vec<Output>)) {
        let mut outputs = Vec::new();
        act(&mut self.guard, self.now, &mut outputs);
        self.seen.take(&mut outputs);
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let chunk = Bytes::copy_from_slice(bytes);
        self.act(|guard, now, out| guard.feed(chunk, now, out));
        assert!(
            self.guard.kept() <= 6 << 20,
            "more is kept than the limits allow"
        );
    }

    pub(crate) fn finish(&mut self) {
        self.act(StreamGuard::finish);
    }

    /// Answers the question that is open.
    pub(crate) fn answer(&mut self, answer: Answer) {
        let id = self.guard.question().unwrap().to_owned();
        self.act(|guard, now, out| guard.answer(&id, answer, now, out));
    }
}

/// Feeds `chunks` and the end of the stream.
pub(crate) fn run(settings: GuardSettings, chunks: &[&[u8]]) -> Seen {
    play(judge(settings), chunks)
}

/// The same in any protocol.
pub(crate) fn play(context: ResponseContext, chunks: &[&[u8]]) -> Seen {
    let mut play = Play::new(context);
    for chunk in chunks {
        play.feed(chunk);
    }
    play.finish();
    play.seen
}

/// A message that is not streamed, as the client gets it.
pub(crate) fn whole(judge: ResponseContext, body: &Value) -> Result<Value, String> {
    let body = format!("{body:#}\r\n");
    let got = guard_message(judge, body.as_bytes(), Duration::ZERO, &mut Vec::new());
    let got = got.map_err(|violation| violation.to_string())?;
    assert!(!got.contains(&b'\n') && !got.contains(&b'\r'));
    Ok(serde_json::from_slice(&got).unwrap())
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
