//! The stack as the commands use it: the same judging as in the proxy, without a proxy.

use crate::clock::SystemClock;
use crate::config::{Config, LIMITS};
use crate::threads::spawn;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::trajectory::SharedModels;
use holdgate_core::{
    Canaries, Classification, Executor, HeldCall, JudgeLimits, Layer, LayerName, Projects,
    RateLimits, Session, SharedProjects, Stack, Trajectory, prepare_masking,
};
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use std::sync::Arc;

/// Starts to read the built-in rules in the background, and the expressions of masking: the tables
/// take about as long, and all are needed. Code that needs the rules waits for them, and reports
/// errors then.
pub(crate) fn read_ahead() {
    // Without the threads they are read when they are needed.
    let _ = spawn("rules", || drop(RuleSet::built_in(Profile::default())));
    let _ = spawn("masking", prepare_masking);
}

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

/// What a stack knows besides rules: labelled projects, and what was learned of sequences.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    pub(crate) labelled: Arc<SharedProjects>,
    pub(crate) models: Arc<SharedModels>,
}

/// A stack with all layers, which knows all that, and what a project has learned of calls. Without
/// a classification, calls are not scored.
pub(crate) fn stack_beside(
    beside: &Beside,
    config: &Config,
    classification: Option<Classification>,
    rules: Arc<RuleSet>,
) -> anyhow::Result<Stack> {
    let trajectory = config.trajectory;
    let mut without = vec![LayerName::Trajectory, LayerName::Classifier];
    if !trajectory.drift {
        without.push(LayerName::Drift);
    }
    let mut layers = layers(rules, &without, config.rates);
    if !config.canaries.is_empty() {
        layers.push(Box::new(Canaries::clone(&config.canaries)));
    }
    if let Some(classification) = classification {
        layers.push(Box::new(classification));
    }
    layers.push(Box::new(Projects::new(beside.labelled.clone())));
    layers.push(Box::new(Trajectory::new(
        trajectory.mode,
        beside.models.clone(),
    )));
    stack_of(layers, config.judge)
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
