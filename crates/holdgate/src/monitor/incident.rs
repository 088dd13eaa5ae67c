//! What the monitor did and why, as it goes into the ledger.

use crate::judge::Ruling;
use holdgate_core::watch::Hit;
use holdgate_core::{Answer, Finding, LayerName, Masked, Members, Verdict};
use holdgate_effects::json::Json;
use std::time::{Duration, SystemTime};

/// Characters of output that are kept.
const OUTPUT_KEPT: usize = 2000;
const EVIDENCE_KEPT: usize = 400;

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// The agent went on.
    LetGo,
    /// The agent went on, and it is written down.
    Noted,
    /// The agent went on, and somebody should look at it.
    Warned,
    /// The whole tree was killed.
    Killed {
        /// How many processes.
        processes: usize,
        /// Those that are still there.
        left: Vec<i32>,
    },
}

impl Done {
    /// There was nobody to kill any more.
    pub(super) const NOTHING_LEFT: Done = Done::Killed {
        processes: 0,
        left: Vec::new(),
    };

    fn word(&self) -> &'static str {
        match self {
            Done::LetGo => "let-go",
            Done::Noted => "noted",
            Done::Warned => "warned",
            Done::Killed { left, .. } if left.is_empty() => "killed",
            Done::Killed { .. } => "kill-incomplete",
        }
    }

    fn verdict(&self) -> Verdict {
        match self {
            Done::LetGo => Verdict::Allow,
            Done::Noted | Done::Warned => Verdict::Audit,
            Done::Killed { .. } => Verdict::Kill,
        }
    }
}

/// How the decision came about.
#[derive(Clone, Debug)]
pub enum Decided {
    /// The pattern is certain: nobody was asked.
    ByPattern,
    /// The judge was asked.
    ByRuling(Ruling),
    /// The judge was asked, gave no verdict, and a person decided.
    ByPerson(Ruling, Answer),
    /// The pattern is of low severity: it is written down, and that is all.
    Noted,
    /// A call of an agent whose requests come through the proxy, which judges the call itself.
    AtTheDoor,
    /// The agent had ended, or was killed because of something else, before it was this one's turn.
    TooLate,
}

/// How long it all took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// From the hit until the tree stood still; `None` if it was not stopped.
    pub frozen: Option<Duration>,
    /// Whether every process of it was seen to stand still.
    pub verified: bool,
    /// From the question to the answer.
    pub asked: Duration,
    /// From the hit until all that could be found at once was sent SIGKILL.
    pub signalled: Option<Duration>,
    /// From the hit until the tree was killed or went on.
    pub acted: Duration,
}

/// One hit and what came of it.
#[derive(Clone, Debug)]
pub struct Incident {
    /// Unique.
    pub id: String,
    /// Whose output it was.
    pub session: String,
    /// When the hit was.
    pub at: SystemTime,
    /// Where: `stdout`, `stderr`, `terminal`.
    pub stream: &'static str,
    /// What was found, with the agent's output.
    pub hit: Hit,
    /// How it was decided.
    pub decided: Decided,
    /// What was done.
    pub done: Done,
    /// How long it took.
    pub timings: Timings,
}

impl Incident {
    /// What is suspicious, and why it was decided so.
    pub fn reason(&self) -> String {
        let decided = match &self.decided {
            Decided::ByPattern => "the pattern is certain, so nobody was asked".to_owned(),
            Decided::ByRuling(Ruling::Said { reason, .. }) => format!("the judge says: {reason}"),
            Decided::ByRuling(Ruling::Down { why }) => {
                format!(
                    "there is no ruling ({why}); without one, only harm in progress ends an agent"
                )
            }
            Decided::ByPerson(_, answer) => format!("a person says: {}", said(*answer)),
            Decided::Noted => "it is only recorded".to_owned(),
            Decided::AtTheDoor => "the proxy judges the call itself".to_owned(),
            Decided::TooLate => "the agent had exited before anyone was asked".to_owned(),
        };
        format!("{}; {decided}", self.hit.because)
    }

    /// The word for the judge's answer.
    pub fn verdict(&self) -> &'static str {
        match &self.decided {
            Decided::ByPattern => "certain",
            Decided::ByRuling(ruling) | Decided::ByPerson(ruling, _) => ruling.word(),
            Decided::Noted | Decided::AtTheDoor | Decided::TooLate => "not_asked",
        }
    }

    /// The members of its record in the ledger.
    pub(crate) fn members(&self) -> Members {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let pattern = self.hit.pattern.to_string();
        let finding = Finding {
            verdict: self.done.verdict(),
            evidence: Some(Masked::start(&self.hit.evidence, EVIDENCE_KEPT)),
            ..Finding::audit(LayerName::Monitor, pattern, self.reason())
        };
        let mut json = Json::object([
            ("id", self.id.clone().into()),
            ("session", self.session.clone().into()),
            ("door", "monitor".into()),
            ("verdict", self.done.verdict().word().into()),
            ("action", self.done.word().into()),
            ("subject", "output".into()),
            ("stream", self.stream.into()),
            (
                "at",
                humantime::format_rfc3339_micros(self.at).to_string().into(),
            ),
            ("pattern", self.hit.pattern.to_string().into()),
            ("family", self.hit.family.to_string().into()),
            ("severity", self.hit.severity.word().into()),
            ("judge", self.verdict().into()),
            (
                "output",
                Masked::end(&self.hit.context, OUTPUT_KEPT)
                    .into_string()
                    .into(),
            ),
            ("asked_us", micros(self.timings.asked).into()),
            ("acted_us", micros(self.timings.acted).into()),
        ]);
        if let Decided::ByPerson(_, answer) = &self.decided {
            json.set("answer", answer.word().into());
        }
        if let Some(frozen) = self.timings.frozen {
            json.set("frozen_us", micros(frozen).into());
            json.set("frozen_whole", Json::Bool(self.timings.verified));
        }
        if let Some(signalled) = self.timings.signalled {
            json.set("signalled_us", micros(signalled).into());
        }
        if let Done::Killed { processes, left } = &self.done {
            let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
            json.set("killed", count(*processes).into());
            json.set("left", count(left.len()).into());
        }
        json.set("findings", Json::Array(vec![finding.to_json()]));
        Members::of(json)
    }
}

/// What an answer means for output.
fn said(answer: Answer) -> &'static str {
    match answer {
        Answer::Once => "go on",
        Answer::Session | Answer::Rule => {
            "continue, and do not ask about this pattern again \
                                           in this run"
        }
        Answer::Deny => "end the agent",
        Answer::Judge | Answer::Timeout | Answer::Nobody | Answer::NoPin | Answer::Withdrawn => {
            "nothing"
        }
    }
}
