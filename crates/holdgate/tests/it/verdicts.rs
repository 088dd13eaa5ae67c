//! Verdicts on single calls in a project, judged as the proxy judges them.

use holdgate::eval::PROJECT;
use holdgate::{config, judging, own};
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{Context, History, Judgement, RateLimits, Stack};
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use std::sync::Arc;
use std::time::Duration;

/// A stack whose clock stands still: how busy the machine is must not decide a test.
pub(crate) fn stack(limits: RateLimits) -> Stack {
    let rules = RuleSet::built_in(Profile::Workstation).unwrap();
    let layers = judging::layers(rules, &[], limits);
    let know = own::knowledge().unwrap();
    Stack::new(layers, know, Arc::new(Duration::ZERO), config::LIMITS)
}

pub(crate) fn judge(stack: &Stack, tool: &str, input: &Json<'_>) -> Judgement {
    let mut session = judging::session(World::lexical(PROJECT));
    let history = History::default();
    let context = Context::new(&history, Duration::ZERO);
    stack.judge(judging::call(tool, input), &mut session, &context)
}

pub(crate) fn judge_command(stack: &Stack, command: &str) -> Judgement {
    judge(stack, "Bash", &Json::object([("command", command.into())]))
}
