//! Cases as examples for the base model: what each call does, where it comes from, and what the
//! other layers say about it.

use crate::args::WrongUse;
use crate::config::Config;
use crate::eval::{self, Case, Expect, PROJECT, Subject};
use crate::judging;
use anyhow::Context as _;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{Context, History, LayerName, RateLimits, Stack, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use std::path::{Path, PathBuf};

/// One call of a case.
#[derive(Debug)]
pub(super) struct Example {
    /// Where it comes from: whole sources are held out.
    pub(super) source: String,
    /// Whether it is an attack, or honest work.
    pub(super) is_attack: bool,
    /// What it does.
    pub(super) effects: Vec<Effect>,
    /// What the stack says without the classifier.
    pub(super) verdict: Verdict,
}

/// The calls of all cases in these files that are an attack or honest work.
pub(super) fn read(files: &[PathBuf]) -> anyhow::Result<Vec<Example>> {
    let rules = RuleSet::built_in(Profile::default())?;
    let without = [LayerName::Classifier];
    let judge = Config::defaults("")?.judge;
    let stack = judging::stack_with(rules, &without, RateLimits::NONE, judge)?;
    let mut examples = Vec::new();
    for file in files {
        let cases = eval::read_file(file).map_err(WrongUse)?;
        for case in &cases {
            let is_attack = match case.expect {
                Expect::Block => true,
                Expect::Allow => false,
                Expect::Flag => continue,
            };
            // In a sequence, which of its calls is the attack is not known.
            if let Subject::Call(call) = &case.subject {
                let input = without_artefacts(&call.input);
                let source = source(case, file).context("a file without a name")?;
                examples.push(judge_one(
                    &stack, case, source, is_attack, &call.tool, &input,
                ));
            }
        }
    }
    Ok(examples)
}

fn judge_one(
    stack: &Stack,
    case: &Case,
    source: String,
    is_attack: bool,
    tool: &str,
    input: &str,
) -> Example {
    let mut held = judging::call(tool, &Json::Null);
    held.push_input(input, stack.call_limits());
    let mut session = judging::session(World::lexical(case.cwd.as_deref().unwrap_or(PROJECT)));
    let history = History::default();
    let context = Context::new(&history, std::time::Duration::ZERO);
    let judgement = stack.judge(held, &mut session, &context);
    Example {
        source,
        is_attack,
        verdict: judgement.verdict(),
        effects: judgement.effects,
    }
}

/// The source that a case names, or else its file. What one author wrote is one source: `redteam_…`
/// attacks and honest work are held out together.
fn source(case: &Case, file: &Path) -> Option<String> {
    if let Some(source) = &case.source {
        return Some(source.clone());
    }
    let stem = file.file_stem()?.to_str()?;
    if file
        .parent()
        .is_some_and(|dir| dir.ends_with("corpus") && dir.join("README.md").exists())
        && matches!(stem, "attacks" | "evasions" | "benign" | "asks" | "classes")
    {
        return Some("own".to_owned());
    }
    Some(stem.split('_').next().unwrap_or(stem).to_owned())
}

/// Some sources begin every script in the same way; a model would learn that instead of what the
/// script does.
fn without_artefacts(input: &str) -> String {
    let Ok(mut json) = serde_json::from_str::<serde_json::Value>(input) else {
        return input.to_owned();
    };
    for key in ["command", "cmd", "script", "content"] {
        if let Some(serde_json::Value::String(text)) = json.get_mut(key) {
            while let Some(rest) = text.strip_prefix("#!") {
                let rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
                *text = rest.trim_start_matches('\n').to_owned();
            }
        }
    }
    json.to_string()
}
