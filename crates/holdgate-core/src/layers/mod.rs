//! The layers that judge calls. To add one, write a file, name it in [`LayerName`] and list it in
//! [`layers`].
//!
//! [`LayerName`]: crate::LayerName

mod canaries;
mod classifier;
mod divergence;
mod drift;
mod gate;
mod policy;
mod projects;
mod spillage;
mod trajectory;

pub use canaries::Canaries;
pub use classifier::Classification;
pub use divergence::Divergence;
pub use drift::GoalDrift;
pub use gate::{Gate, RateLimits};
pub use policy::Policy;
pub use projects::{Labelled, LabelledProjects, Projects, SharedProjects};
pub use spillage::Spillage;
pub use trajectory::{Trajectory, TrajectoryMode};

use crate::rules::RuleSet;
use crate::stack::Layer;
use std::sync::Arc;

/// All layers, in the order in which they are asked.
pub fn layers(rules: Arc<RuleSet>, limits: RateLimits) -> Vec<Box<dyn Layer>> {
    vec![
        Box::new(Gate::new(limits, rules.clone())),
        Box::<Classification>::default(),
        Box::new(Policy::new(rules)),
        Box::new(Spillage),
        Box::new(Divergence),
        Box::new(Trajectory::default()),
        Box::new(GoalDrift),
    ]
}
