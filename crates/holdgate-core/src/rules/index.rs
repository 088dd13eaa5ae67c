//! Which rules may match a call.

use super::{Rule, RuleLayer};
use holdgate_effects::effect::Effect;
use std::collections::HashMap;
use std::sync::Arc;

/// Finds the rules that may match a call by the programs that it runs: most rules are about a few
/// programs, and most calls run one.
#[derive(Debug, Default)]
pub(super) struct Index {
    gate: Candidates,
    policy: Candidates,
    pub(super) allowing: Vec<usize>,
}

#[derive(Debug, Default)]
struct Candidates {
    any_program: Vec<usize>,
    by_program: HashMap<String, Vec<usize>>,
}

impl Index {
    pub(super) fn of(rules: &[Arc<Rule>]) -> Index {
        let mut index = Index::default();
        for (at, rule) in rules.iter().enumerate() {
            let layer = match rule.layer {
                RuleLayer::Gate => &mut index.gate,
                RuleLayer::Policy => &mut index.policy,
            };
            if rule.allows {
                index.allowing.push(at);
            } else if let Some(programs) = rule.when.programs() {
                for program in programs {
                    let rules = layer.by_program.entry(program.to_owned()).or_default();
                    if rules.last() != Some(&at) {
                        rules.push(at);
                    }
                }
            } else {
                layer.any_program.push(at);
            }
        }
        index
    }

    /// In the order in which they were written.
    pub(super) fn candidates(&self, layer: RuleLayer, effects: &[Effect]) -> Vec<usize> {
        let layer = match layer {
            RuleLayer::Gate => &self.gate,
            RuleLayer::Policy => &self.policy,
        };
        let mut found = layer.any_program.clone();
        let mut last = "";
        for effect in effects {
            // The effects of one program are next to each other.
            if &*effect.program != last {
                last = &effect.program;
                found.extend(layer.by_program.get(last).into_iter().flatten());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
