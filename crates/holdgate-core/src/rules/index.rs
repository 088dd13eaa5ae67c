//! Which rules may match a call.

use super::sign::{Seen, Sign};
use super::{Rule, RuleLayer};
use holdgate_effects::effect::{Effect, Kind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Finds the rules that may match a call by the programs that it runs, and by the kinds, tags, places and
/// hosts of its effects: most rules are about a few of them, and most calls have few.
#[derive(Debug, Default)]
pub(super) struct Index {
    gate: Candidates,
    policy: Candidates,
    pub(super) allowing: Vec<usize>,
}

#[derive(Debug, Default)]
struct Candidates {
    /// Rules about any program, by the kinds that they are about.
    by_kind: Vec<Vec<(Sign, usize)>>,
    by_program: FxHashMap<String, Vec<Candidate>>,
}

/// A rule by its position, and what an effect must have for it: one of the signs.
type Candidate = (Arc<[Sign]>, usize);

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
                continue;
            }
            let signs: Arc<[Sign]> = rule.when.signs().unwrap_or_default().into();
            let Some(programs) = rule.when.programs() else {
                layer.add(&signs, at);
                continue;
            };
            for program in programs {
                let rules = layer.by_program.entry(program.to_owned()).or_default();
                if rules.last().is_none_or(|(_, last)| *last != at) {
                    rules.push((signs.clone(), at));
                }
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
        let seen = Seen::all_of(effects);
        let mut found = Vec::with_capacity(16);
        for seen in &seen {
            let rules = layer.by_kind.get(seen.kind as usize).into_iter().flatten();
            let rules = rules.filter(|(sign, _)| sign.may_be_in(seen));
            found.extend(rules.map(|(_, at)| *at));
        }
        let may_match = |signs: &[Sign]| {
            let is_seen = |sign: &Sign| {
                let mut seen = seen.iter().filter(|seen| sign.kinds.has(seen.kind));
                seen.any(|seen| sign.may_be_in(seen))
            };
            signs.iter().any(is_seen)
        };
        let mut last = "";
        for effect in effects {
            // The effects of one program are next to each other.
            if &*effect.program != last {
                last = &effect.program;
                let rules = layer.by_program.get(last).into_iter().flatten();
                let rules = rules.filter(|(signs, _)| may_match(signs));
                found.extend(rules.map(|(_, at)| *at));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Candidates {
    fn add(&mut self, signs: &[Sign], at: usize) {
        self.by_kind.resize_with(Kind::ALL.len(), Vec::new);
        for sign in signs {
            for kind in Kind::ALL {
                if sign.kinds.has(kind)
                    && let Some(rules) = self.by_kind.get_mut(kind as usize)
                {
                    rules.push((*sign, at));
                }
            }
        }
    }
}
