//! Replays sessions through the trajectory layer alone.

use anyhow::{Context as _, anyhow};
use holdgate::config::Config;
use holdgate::eval::{Case, Expect, PROJECT, Subject, read_file};
use holdgate::judging;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::trajectory::{Action, Family, Sign};
use holdgate_core::{
    Context, History, Layer, LayerName, Outcome, RateLimits, Session as Judged, Stack, Step,
    Trajectory, TrajectoryMode, Verdict,
};
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// A case, and the project that it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) case: Case,
    pub(crate) project: String,
}

impl Session {
    /// Whether it is real work. Whoever flagged one found a call worth a question, not an attack.
    pub(crate) fn is_honest(&self) -> bool {
        self.case.expect != Expect::Block
    }
}

/// The sessions of a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Session>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut projects = HashMap::new();
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line)?;
        let word = |key: &str| {
            line.get(key)
                .and_then(|value| value.as_str())
                .unwrap_or("own")
                .to_owned()
        };
        projects.insert(word("id"), word("source"));
    }
    let cases = read_file(path).map_err(|complaint| anyhow!(complaint))?;
    let cases = cases
        .into_iter()
        .filter(|case| matches!(case.subject, Subject::Calls { .. } | Subject::Call(_)));
    let session = |case: Case| Session {
        project: projects.get(&case.id).cloned().unwrap_or_default(),
        case,
    };
    Ok(cases.map(session).collect())
}

/// What was seen in a session.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) calls: usize,
    /// What the calls did, as if all had passed.
    pub(crate) sequence: Vec<Action>,
    /// The signs, each with the call that showed it first.
    pub(crate) signs: Vec<(Sign, u32)>,
    /// What the automaton found, and at which call.
    pub(crate) found: Vec<(usize, String)>,
    /// The first call that was blocked or asked about.
    pub(crate) stopped: Option<usize>,
}

impl Seen {
    /// The signs in words.
    pub(crate) fn signs(&self) -> String {
        let words = self.signs.iter();
        let words: Vec<String> = words.map(|(sign, step)| format!("{step}={sign}")).collect();
        words.join(" ")
    }
}

/// The layer or the whole stack, with all rules or without those of a family.
pub(crate) struct Replay {
    stack: Stack,
    /// Whether a call that is stopped does not run. Alone, the layer is shown the whole sequence.
    refuses: bool,
}

impl Replay {
    /// The layer alone.
    pub(crate) fn new(without: Option<Family>) -> anyhow::Result<Replay> {
        let limits = Config::defaults("")?.judge;
        Ok(Replay {
            stack: judging::stack_of(vec![layer(without)], limits)?,
            refuses: false,
        })
    }

    /// The whole stack.
    pub(crate) fn stack(without: Option<Family>) -> anyhow::Result<Replay> {
        let rules = RuleSet::built_in(Profile::default())?;
        let mut layers = judging::layers(rules, &[LayerName::Trajectory], RateLimits::NONE);
        layers.push(layer(without));
        Ok(Replay {
            stack: judging::stack_of(layers, Config::defaults("")?.judge)?,
            refuses: true,
        })
    }

    pub(crate) fn run(&self, case: &Case) -> Seen {
        let mut seen = Seen::default();
        seen.sequence = walk(&self.stack, case, self.refuses, &mut seen);
        seen
    }
}

fn layer(without: Option<Family>) -> Box<dyn Layer> {
    let layer = Trajectory::new(TrajectoryMode::On, Arc::default());
    Box::new(match without {
        Some(family) => layer.without(family),
        None => layer,
    })
}

fn walk(stack: &Stack, case: &Case, refuses: bool, seen: &mut Seen) -> Vec<Action> {
    let Subject::Calls { calls, .. } = &case.subject else {
        return Vec::new();
    };
    let project = case.cwd.as_deref().unwrap_or(PROJECT);
    let mut session = Judged::default();
    session.world = Arc::new(World::lexical(project));
    let mut history = History::default();
    for (at, call) in calls.iter().enumerate() {
        let mut held = judging::call(&call.tool, &Json::Null);
        held.push_input(&call.input, stack.call_limits());
        let judgement = stack.judge(held, &mut session, &Context::new(&history, call.at));
        let verdict = judgement.verdict();
        for finding in judgement
            .findings()
            .iter()
            .filter(|finding| finding.verdict >= Verdict::Ask)
        {
            seen.found.push((at, finding.rule.to_string()));
        }
        if !verdict.lets_pass() {
            seen.stopped.get_or_insert(at);
        }
        let refused = refuses && !verdict.lets_pass();
        let outcome = if refused {
            Outcome::Refused
        } else {
            Outcome::Done
        };
        let step = Step::new("call", &call.tool, outcome, judgement.effects);
        let step = match call.result.as_deref().filter(|_| !refused) {
            Some(result) => step.showing(&[result]),
            None => step,
        };
        history.push(Arc::new(step));
    }
    seen.calls = calls.len();
    seen.signs = history.signs().to_vec();
    history.sequence().to_vec()
}
