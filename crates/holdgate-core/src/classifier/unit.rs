//! The parts of a call that are scored: its simple commands, and the actions of tools and functions.

use super::base::Base;
use super::facts::{self, Novelty};
use super::shape::Shape;
use holdgate_effects::effect::Effect;
use holdgate_effects::tag::Tag;
use std::sync::Arc;

/// Units of one call. What comes after them counts as part of the last one, so that nothing is
/// left out.
const MAX_UNITS: usize = 48;

/// One program, tool or function, and what it does.
#[derive(Clone, Debug)]
pub struct Unit<'e> {
    /// What it does, in order.
    pub effects: Vec<&'e Effect>,
}

impl<'e> Unit<'e> {
    /// Who does it.
    pub fn program(&self) -> &'e str {
        self.effects.first().map_or("", |effect| &effect.program)
    }

    /// The command or action as it was evaluated.
    pub fn text(&self) -> &'e str {
        self.effects.first().map_or("", |effect| &effect.evidence)
    }

    fn has(&self, effect: &Effect) -> bool {
        self.effects.first().is_some_and(|first| {
            let same = |a: &Arc<str>, b: &Arc<str>| Arc::ptr_eq(a, b) || a == b;
            same(&first.program, &effect.program) && same(&first.evidence, &effect.evidence)
        })
    }
}

/// The units of a call with these effects. What happens in a container stays there.
pub fn units(effects: &[Effect]) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit<'_>> = Vec::with_capacity(effects.len().min(8));
    for effect in effects.iter().filter(|effect| !effect.is(Tag::Container)) {
        let is_full = units.len() >= MAX_UNITS;
        // A program's effects stand together, as a rule; nothing that stands between may part them.
        match units.iter_mut().rev().find(|unit| unit.has(effect)) {
            Some(unit) => unit.effects.push(effect),
            None if is_full => {
                if let Some(last) = units.last_mut() {
                    last.effects.push(effect);
                }
            }
            None => units.push(Unit {
                effects: vec![effect],
            }),
        }
    }
    units
}

/// What is seen of a unit, compared with the honest work that a base model knows.
#[derive(Clone, Debug)]
pub struct Look {
    /// Its shape.
    pub shape: Shape,
    /// What is new about that.
    pub novelty: Novelty,
    /// What it does.
    pub facts: Vec<u16>,
}

impl Look {
    /// A look at one unit.
    pub fn at(unit: &Unit<'_>, base: &Base) -> Look {
        let shape = Shape::of(unit, |marker| base.seen.has(marker));
        let novelty = Novelty::of(&shape, |hash| base.seen.has(hash));
        Look {
            facts: facts::facts(unit, novelty),
            shape,
            novelty,
        }
    }
}

/// The units of a call, each looked at once: the classifier and the record of the call need the same.
#[derive(Clone, Debug)]
pub struct Looked<'e> {
    /// The units.
    pub units: Vec<Unit<'e>>,
    /// What is seen of each.
    pub looks: Vec<Look>,
    base: Arc<Base>,
}

impl<'e> Looked<'e> {
    /// The units of a call with these effects, compared with what `base` knows.
    pub fn at(effects: &'e [Effect], base: Arc<Base>) -> Looked<'e> {
        let units = units(effects);
        Looked {
            looks: units.iter().map(|unit| Look::at(unit, &base)).collect(),
            units,
            base,
        }
    }

    /// Whether this is the base model that they were compared with.
    pub fn is_by(&self, base: &Arc<Base>) -> bool {
        Arc::ptr_eq(&self.base, base)
    }
}
