//! Which rules may match a call.

use super::sets::{Kinds, Tags};
use super::{Rule, RuleLayer};
use holdgate_effects::effect::Effect;
use std::collections::HashMap;
use std::sync::Arc;

/// Finds the rules that may match a call by the programs that it runs, and by the kinds and tags of
/// its effects: most rules are about a few of them, and most calls have few.
#[derive(Debug, Default)]
pub(super) struct Index {
    gate: Candidates,
    policy: Candidates,
    pub(super) allowing: Vec<usize>,
}

#[derive(Debug, Default)]
struct Candidates {
    any_program: Vec<Needs>,
    by_program: HashMap<String, Vec<usize>>,
}

/// What a call must have for a rule to match it. Most rules are never looked at beyond this.
#[derive(Debug)]
struct Needs {
    kinds: Kinds,
    tags: Option<Tags>,
    at: usize,
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
                layer.any_program.push(Needs {
                    kinds: rule.needs,
                    tags: rule.when.tags(),
                    at,
                });
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
        let kinds = Kinds::of(effects.iter().map(|effect| effect.kind));
        let tags = effects
            .iter()
            .flat_map(|effect| effect.tags.iter().copied());
        let tags = Tags::of(tags);
        let may_match = |needs: &&Needs| {
            needs.kinds.meets(kinds) && needs.tags.is_none_or(|needed| needed.meets(tags))
        };
        let any_program = layer.any_program.iter().filter(may_match);
        let mut found: Vec<usize> = any_program.map(|needs| needs.at).collect();
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
