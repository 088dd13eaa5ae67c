//! The stack as the commands use it: the same judging as in the proxy, without a proxy.

use crate::clock::SystemClock;
use crate::config::LIMITS;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{
    Classification, Executor, HeldCall, JudgeLimits, Layer, LayerName, Projects, RateLimits,
    Session, SharedProjects, Stack,
};
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use std::sync::Arc;

/// A stack with the built-in rules, without the layers in `without`.
pub fn stack(profile: Profile, without: &[LayerName], limits: RateLimits) -> anyhow::Result<Stack> {
    let rules = RuleSet::built_in(profile)?;
    stack_with(rules, without, limits, LIMITS)
}

/// A stack with these rules, without the layers in `without`.
pub fn stack_with(
    rules: Arc<RuleSet>,
    without: &[LayerName],
    limits: RateLimits,
    judge: JudgeLimits,
) -> anyhow::Result<Stack> {
    stack_of(layers(rules, without, limits), judge)
}

/// A stack with all layers, which compares with these labelled projects and what a project has
/// learned. Without a classification, calls are not scored.
pub(crate) fn stack_beside(
    labelled: Arc<SharedProjects>,
    classification: Option<Classification>,
    rules: Arc<RuleSet>,
    limits: RateLimits,
    judge: JudgeLimits,
) -> anyhow::Result<Stack> {
    let mut layers = layers(rules, &[LayerName::Classifier], limits);
    if let Some(classification) = classification {
        layers.push(Box::new(classification));
    }
    layers.push(Box::new(Projects::new(labelled)));
    stack_of(layers, judge)
}

/// All layers but those in `without`.
pub fn layers(
    rules: Arc<RuleSet>,
    without: &[LayerName],
    limits: RateLimits,
) -> Vec<Box<dyn Layer>> {
    let mut layers = holdgate_core::layers(rules, limits);
    layers.retain(|layer| !without.contains(&layer.name()));
    layers
}

/// A stack of these layers, with a clock that runs.
pub fn stack_of(layers: Vec<Box<dyn Layer>>, judge: JudgeLimits) -> anyhow::Result<Stack> {
    let know = crate::own::knowledge()?;
    let clock = Arc::new(SystemClock::default());
    Ok(Stack::new(layers, know, clock, judge))
}

/// A call as a client would carry it out.
pub fn call(tool: &str, input: &Json<'_>) -> HeldCall {
    let (id, tool) = ("call".to_owned(), tool.to_owned());
    HeldCall::new(Executor::AtClient, Some(id), Some(tool), Some(input.text()))
}

/// A session in which nothing has been done yet.
pub fn session(world: World) -> Session {
    let mut session = Session::default();
    session.world = Arc::new(world);
    session
}
