//! Rules over time: what must have been done before a call, or after what a rule applies.

use super::condition::Reader;
use super::reach;
use super::report::Mark;
use super::sets::Kinds;
use super::spec::{ConditionSpec, RuleSpec};
use super::when::{Call, Met, PathMatch, Pattern};
use crate::history::{History, Outcome};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::fuel::{Fuel, OutOfFuel};
use holdgate_effects::value::HOLE;
use holdgate_effects::worded;
use serde_saphyr::Spanned;

/// Fuel for the whole history: a long one must not use up the fuel of the call itself.
const FUEL: u64 = 1_000_000;

/// How a rule depends on what was done before.
#[derive(Debug)]
pub(super) struct Timing {
    /// What must have been done before; `None` for a rule that only a person can satisfy, and for
    /// one that is not a REQUIRE.
    before: Option<Pattern>,
    /// What makes `before` stale: it counts only if it came later than this.
    since: Option<Pattern>,
    /// The rule applies only after this.
    after: Option<Pattern>,
    /// How many calls back.
    within: usize,
    /// How many calls with `after` must have been refused; none: one must have been made.
    refused: usize,
    same: Option<Same>,
    earlier_call: bool,
}

worded! {
    /// What the earlier effect has in common with the one that is judged.
    enum Same as "value of `same`" {
        Path = "path": "Their path.",
        Host = "host": "Their host.",
    }
}

impl Reader {
    /// The rule's timing, if it has one.
    pub(super) fn timing(&mut self, spec: &RuleSpec, requires: bool) -> Option<Timing> {
        let at = Mark::from(spec.verdict.referenced);
        if requires && spec.before.is_none() && !spec.approval {
            let what = "REQUIRE needs `before`, or `approval: true`";
            self.report.absent(at, what);
        }
        if !requires && (spec.before.is_some() || spec.since.is_some() || spec.approval) {
            let what = "`before`, `since` and `approval` belong to REQUIRE; to match only \
                        after something was done, use `after`";
            self.report.absent(at, what);
        }
        if let Some(since) = spec.since.as_ref().filter(|_| spec.before.is_none()) {
            let what = "`since` says when `before` no longer counts: add `before`";
            self.report.absent(since.referenced, what);
        }
        let past = spec.before.is_some() || spec.after.is_some();
        let refers = spec.within.is_some() || spec.same.is_some() || spec.earlier_call;
        if refers && !past {
            let what = "`within`, `same` and `earlier_call` are about an earlier call: add \
                        `before` or `after`";
            self.report.absent(at, what);
        }
        let same = spec.same.as_ref();
        let same = same.and_then(|word| self.report.word(word, Same::read));
        if let Some(word) = spec.same.as_ref().filter(|_| spec.when.value.all.is_some()) {
            let what = "`same` needs a `when` that matches one effect, without `all`";
            self.error(word.referenced, what);
        }
        if let Some(refused) = spec.refused.as_ref().filter(|_| spec.after.is_none()) {
            let what = "`refused` counts calls with `after`: add `after`";
            self.report.absent(refused.referenced, what);
        }
        if let Some(within) = spec.within.as_ref().filter(|within| within.value == 0) {
            self.error(
                within.referenced,
                "`within` is a number of calls, at least 1",
            );
        }
        if !requires && !past {
            return None;
        }
        Some(Timing {
            // What must have been done must be certain.
            before: self.negated(|reader| reader.past(spec.before.as_ref())),
            since: self.past(spec.since.as_ref()),
            after: self.past(spec.after.as_ref()),
            within: spec.within.as_ref().map_or(usize::MAX, |n| {
                usize::try_from(n.value).unwrap_or(usize::MAX)
            }),
            refused: spec.refused.as_ref().map_or(0, |n| n.value as usize),
            same,
            earlier_call: spec.earlier_call,
        })
    }

    fn past(&mut self, spec: Option<&Spanned<ConditionSpec>>) -> Option<Pattern> {
        Some(self.pattern(spec?))
    }
}

impl Timing {
    /// Whether it is about calls that were refused.
    pub(super) fn counts_refusals(&self) -> bool {
        self.refused > 0
    }

    /// Whether a rule with this condition and this timing matches.
    pub(super) fn met<'e>(
        &self,
        when: &Call,
        effects: &'e [Effect],
        history: &History,
        fuel: &Fuel,
    ) -> Result<Met<'e>, OutOfFuel> {
        let past = Fuel::new(FUEL);
        if let Call::Some(pattern) = when {
            for (at, effect) in effects.iter().enumerate() {
                if pattern.matches(effect, fuel)?
                    && self.applies(effects.get(..at).unwrap_or(&[]), effect, history, &past)?
                {
                    return Ok(Met::Yes(Some(effect)));
                }
            }
            return Ok(Met::No);
        }
        match when.met(effects, fuel)? {
            Met::Yes(Some(effect)) if self.applies(&[], effect, history, &past)? => {
                Ok(Met::Yes(Some(effect)))
            }
            Met::Yes(_) | Met::No => Ok(Met::No),
        }
    }

    /// Whether it applies to `effect`, which follows those in `so_far` in the same call.
    fn applies(
        &self,
        so_far: &[Effect],
        effect: &Effect,
        history: &History,
        fuel: &Fuel,
    ) -> Result<bool, OutOfFuel> {
        let past = Past {
            timing: self,
            so_far,
            effect,
            history,
            fuel,
        };
        if let Some(after) = &self.after {
            let applies = match self.refused {
                0 => past.may_have(after, self.before.is_none())?,
                times => past.was_refused(after, times)?,
            };
            if !applies {
                return Ok(false);
            }
        }
        match &self.before {
            Some(before) => Ok(!past.certainly_has(before, self.since.as_ref())?),
            None => Ok(true),
        }
    }
}

/// What came before an effect.
struct Past<'a> {
    timing: &'a Timing,
    so_far: &'a [Effect],
    effect: &'a Effect,
    history: &'a History,
    fuel: &'a Fuel,
}

impl Past<'_> {
    /// What was tried, looking back from now; `None` where a step's effects were too many to keep
    /// or are not known. The flag says whether it was certainly done.
    fn tried(&self) -> impl Iterator<Item = (Option<&Effect>, &[Kind], bool)> {
        let here = if self.timing.earlier_call {
            &[]
        } else {
            self.so_far
        };
        let none: &[Kind] = &[];
        let here = here.iter().rev();
        let here = here.map(move |effect| (Some(effect), none, effect.unconditional));
        let steps = self.history.steps().rev().take(self.timing.within);
        let tried = steps.filter(|step| step.outcome != Outcome::Refused);
        let earlier = tried.flat_map(move |step| {
            let done = step.outcome == Outcome::Done && step.local;
            let effects = step.effects.iter().rev();
            let effects =
                effects.map(move |effect| (Some(effect), none, done && effect.unconditional));
            let cut = (!step.cut.is_empty()).then_some((None, step.cut.as_slice(), false));
            cut.into_iter().chain(effects)
        });
        here.chain(earlier)
    }

    /// Whether `wanted` may have been done.
    fn may_have(&self, wanted: &Pattern, shares: bool) -> Result<bool, OutOfFuel> {
        for (effect, cut, _) in self.tried() {
            self.fuel.spend(1)?;
            let Some(effect) = effect else {
                if may_be_among(wanted, cut) {
                    return Ok(true);
                }
                continue;
            };
            // Most effects are of another kind; comparing paths takes longer than that test.
            if wanted.kinds.has(effect.kind)
                && (!shares || self.shares(effect, PathMatch::Possible))
                && wanted.matches_as(effect, PathMatch::Possible, self.fuel)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether so many calls that wanted this were refused.
    fn was_refused(&self, wanted: &Pattern, times: usize) -> Result<bool, OutOfFuel> {
        let steps = self.history.steps().rev().take(self.timing.within);
        let mut left = times;
        for step in steps.filter(|step| step.outcome == Outcome::Refused) {
            for effect in step.effects.iter() {
                self.fuel.spend(1)?;
                if wanted.kinds.has(effect.kind)
                    && self.shares(effect, PathMatch::Possible)
                    && wanted.matches_as(effect, PathMatch::Possible, self.fuel)?
                {
                    left = left.saturating_sub(1);
                    break;
                }
            }
            if left == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether `wanted` was certainly done; what came before `stale` does not count.
    fn certainly_has(&self, wanted: &Pattern, stale: Option<&Pattern>) -> Result<bool, OutOfFuel> {
        for (effect, cut, unconditional) in self.tried() {
            self.fuel.spend(1)?;
            let Some(effect) = effect else {
                if stale.is_some_and(|stale| may_be_among(stale, cut)) {
                    return Ok(false);
                }
                continue;
            };
            if unconditional
                && wanted.kinds.has(effect.kind)
                && self.shares(effect, PathMatch::Said)
                && wanted.matches(effect, self.fuel)?
            {
                return Ok(true);
            }
            if let Some(stale) = stale
                && stale.matches_as(effect, PathMatch::Possible, self.fuel)?
            {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Whether `earlier` shares what `same` names with the effect that is judged: certainly, or possibly.
    fn shares(&self, earlier: &Effect, how: PathMatch) -> bool {
        let now = self.effect;
        match self.timing.same {
            None => true,
            Some(Same::Path) => match (&earlier.path, &now.path, how) {
                (Some(before), Some(now), PathMatch::Said) => {
                    reach::certainly_was(&before.text, &now.text)
                }
                (Some(before), Some(now), PathMatch::Possible) => {
                    reach::may_be(earlier, before, now)
                }
                _ => false,
            },
            Some(Same::Host) => match (&earlier.host, &now.host) {
                (Some(before), Some(now)) => {
                    let unknown = before.name.contains(HOLE) || now.name.contains(HOLE);
                    match how {
                        PathMatch::Said => before.name == now.name && !unknown,
                        PathMatch::Possible => before.name == now.name || unknown,
                    }
                }
                _ => false,
            },
        }
    }
}

fn may_be_among(pattern: &Pattern, kinds: &[Kind]) -> bool {
    pattern.kinds.meets(Kinds::of(kinds.iter().copied()))
}
