//! What the effects of each call are to the layer, beside the rules that stop the call.

use super::replay::Session;
use holdgate::config::Config;
use holdgate::eval::{PROJECT, Subject};
use holdgate::judging;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::trajectory::actions;
use holdgate_core::{
    Context, History, LayerName, Outcome, RateLimits, Session as Judged, Step, Verdict,
};
use holdgate_effects::effect::Effect;
use holdgate_effects::json::Json;
use holdgate_effects::path::{PathClass, World};
use std::sync::Arc;

/// Prints a line for each call and one for each of its effects.
pub(crate) fn run(sessions: &[Session]) -> anyhow::Result<()> {
    let rules = RuleSet::built_in(Profile::default())?;
    let layers = judging::layers(rules, &[LayerName::Trajectory], RateLimits::NONE);
    let stack = judging::stack_of(layers, Config::defaults("")?.judge)?;
    for session in sessions {
        let case = &session.case;
        let calls = match &case.subject {
            Subject::Calls { calls, .. } => calls.clone(),
            Subject::Call(call) => vec![call.clone()],
            Subject::Message { .. }
            | Subject::ToolResult { .. }
            | Subject::Spillage { .. }
            | Subject::Stream(_)
            | Subject::Output(_)
            | Subject::Bridge(_)
            | Subject::NotYet(_) => continue,
        };
        let mut judged = Judged::default();
        judged.world = Arc::new(World::lexical(case.cwd.as_deref().unwrap_or(PROJECT)));
        let mut history = History::default();
        for (at, call) in calls.iter().enumerate() {
            let mut held = judging::call(&call.tool, &Json::Null);
            held.push_input(&call.input, stack.call_limits());
            let judgement = stack.judge(held, &mut judged, &Context::new(&history, call.at));
            let rules: Vec<String> = judgement
                .findings()
                .iter()
                .filter(|finding| finding.verdict >= Verdict::Ask)
                .map(|finding| format!("{}:{}", finding.verdict, finding.rule))
                .collect();
            println!(
                "CALL\t{}\t{}\t{}\t{at}\t{}",
                session.project,
                case.expect,
                case.id,
                rules.join(" ")
            );
            let actions = actions(&judgement.effects);
            for (effect, action) in judgement.effects.iter().zip(actions) {
                let action = action.map_or("-", |action| action.word());
                println!("EFFECT\t{action}\t{}", shown(effect));
            }
            let step = Step::new("call", &call.tool, Outcome::Done, judgement.effects);
            let step = match call.result.as_deref() {
                Some(result) => step.showing(&[result]),
                None => step,
            };
            history.push(Arc::new(step));
        }
    }
    Ok(())
}

fn shown(effect: &Effect) -> String {
    let tags: Vec<&str> = effect.tags.iter().map(|tag| tag.word()).collect();
    let place = effect.path.as_ref().map(|place| {
        let classes = PathClass::ALL.iter().filter(|class| place.is(**class));
        let classes: Vec<&str> = classes.map(|class| class.word()).collect();
        format!("{}({})", place.text, classes.join(","))
    });
    let host = effect
        .host
        .as_ref()
        .map(|host| format!("{}({:?})", host.name, host.class));
    let evidence: String = effect.evidence.chars().take(90).collect();
    format!(
        "{}\t{}\t{}\t{}\t{}\t{:?}\t{}",
        effect.kind.word(),
        effect.program,
        tags.join(","),
        place.unwrap_or_default(),
        host.unwrap_or_default(),
        effect.origins,
        evidence.replace(['\n', '\t'], " ")
    )
}
