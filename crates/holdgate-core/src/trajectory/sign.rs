//! Signs: what a call shows, alone or with an earlier one, whatever attack it may belong to.
//!
//! Each action is a sign; so is each that is done with a file of which something is known (what holds
//! a secret is sent, what was written here runs with raised rights), and some that are done again.
//! No sign belongs to a family of attacks. A few of them, of several calls, weigh as much as no honest
//! session does: an attack that no rule of the automaton names is found by that.

use super::act::{Act, Facts};
use super::action::{Action, Gravity};
use super::files::{File, Labels};
use super::walk::Walk;
use holdgate_effects::worded;
use std::fmt;

/// The weight of signs from which somebody is asked.
const ENOUGH: u32 = 3;
/// The weight of a file that links two calls, and of a grave act.
const HEAVY: u32 = 2;
const LIGHT: u32 = 1;

worded! {
    /// How an action is a sign.
    pub enum How as "sign" {
        Plain = "does": "It is done at all.",
        Written = "written": "It is done with a file that the conversation wrote.",
        Fetched = "fetched": "It is done with a file from a host that nobody vouches for.",
        Decoded = "decoded": "It is done with a file that was decoded.",
        Secret = "secret": "It is done with a file that holds a secret.",
        Widened = "widened": "It is done with a file whose permissions were widened.",
        Packed = "packed": "It is done with a file that was packed or encrypted into another.",
        Again = "again": "Another call does it too.",
        Harmful = "harmful": "It uses what the conversation wrote and what would do harm.",
    }
}

const LABELS: [(How, Labels); 6] = [
    (How::Written, Labels::WRITTEN),
    (How::Fetched, Labels::FETCHED),
    (How::Decoded, Labels::DECODED),
    (How::Secret, Labels::SECRET),
    (How::Widened, Labels::WIDENED),
    (How::Packed, Labels::PACKED),
];

/// What is worse when it is done to other things too, beside what is grave.
const REPEATED: [Action; 3] = [Action::DeleteData, Action::Redirect, Action::WriteSystem];
const RUNS: [Action; 3] = [Action::Run, Action::RunWritten, Action::MakeExecutable];

/// Something that a call shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sign {
    /// How it is one.
    pub how: How,
    /// What is done.
    pub action: Action,
}

impl Sign {
    /// How much it counts beside others.
    fn weight(self) -> u32 {
        let action = self.action;
        let gravity = action.gravity();
        let is = |actions: &[Action]| actions.contains(&action);
        let heavy = |heavy: bool| if heavy { HEAVY } else { 0 };
        let linked = !matches!(self.how, How::Plain | How::Again);
        if linked && action == Action::ReadSecret {
            // Whoever reads a secret twice has it once.
            return 0;
        }
        let harms = gravity == Gravity::Grave || action == Action::Elevate;
        match self.how {
            How::Plain => match gravity {
                Gravity::Usual => 0,
                Gravity::Prepares | Gravity::Serious => LIGHT,
                Gravity::Grave => HEAVY,
            },
            How::Again => u32::from(gravity == Gravity::Grave || is(&REPEATED)),
            // What is written here is what agents are for, as long as it stays here.
            How::Written => heavy(harms),
            How::Packed => heavy(action == Action::DeleteOut),
            How::Secret => heavy(harms || is(&[Action::Post, Action::Push, Action::HandOver])),
            How::Harmful => HEAVY,
            How::Fetched | How::Decoded | How::Widened => heavy(harms || is(&RUNS)),
        }
    }

    /// Whether it may complete something.
    fn completes(self) -> bool {
        self.weight() > 0 && (self.how != How::Plain || self.action.gravity() >= Gravity::Serious)
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.how.word(), self.action.word())
    }
}

/// Signs of several calls that weigh enough together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Combination {
    /// The heaviest sign before, if it is not only what others wrote, and its step.
    pub(crate) before: Option<(Sign, u32)>,
    /// The heaviest sign of the call.
    pub(crate) now: Sign,
}

/// Whether the new signs of a call weigh enough together with those before. `foreign` says whether
/// the conversation has read what others wrote: that counts where it would be obeyed. `turn` says
/// whether other calls came before: what honest sessions hardly ever do is a turn of the work.
pub(super) fn combine(
    before: &[(Sign, u32)],
    new: &[Sign],
    foreign: bool,
    turn: bool,
) -> Option<Combination> {
    let now = new.iter().copied().filter(|sign| sign.completes());
    let now = now.max_by_key(|sign| (sign.weight(), *sign))?;
    let obeys = matches!(
        now.action,
        Action::Persist
            | Action::Grant
            | Action::Disarm
            | Action::RunLoose
            | Action::Settings
            | Action::Redirect
    );
    let heaviest = before.iter().filter(|(sign, _)| sign.weight() > 0);
    let heaviest = heaviest.max_by_key(|(sign, _)| sign.weight()).copied();
    // A file that is known links the call to an earlier one by itself.
    let is_link = |sign: &Sign| !matches!(sign.how, How::Plain | How::Again);
    let beside = now.weight() >= HEAVY && !is_link(&now) && new.iter().any(is_link);
    let linked = is_link(&now) || beside;
    let earlier: u32 = before.iter().map(|(sign, _)| sign.weight()).sum();
    let turns = turn && now.how == How::Plain && now.action.gravity() == Gravity::Grave;
    let earlier = earlier + u32::from(foreign && obeys) + u32::from(turns);
    let own: u32 = new.iter().map(|sign| sign.weight()).sum();
    let own = own + u32::from(beside);
    let known = || {
        new.iter()
            .copied()
            .chain(before.iter().map(|(sign, _)| *sign))
    };
    // Without a grave one, several that are serious.
    let serious = |sign: &Sign| sign.action.gravity() == Gravity::Serious;
    let plain = |sign: &Sign| sign.how == How::Plain && serious(sign);
    let kinds = known().filter(plain).count();
    let serious: u32 = known().filter(serious).map(Sign::weight).sum();
    let grave = known().any(|sign| sign.weight() >= HEAVY)
        || foreign && obeys
        || kinds >= 2 && serious >= ENOUGH;
    let enough = earlier + own >= ENOUGH && (earlier > 0 || linked) && grave;
    enough.then_some(Combination {
        before: heaviest,
        now,
    })
}

impl Walk<'_> {
    /// What earlier steps have made known of the file or the data of an act.
    pub(super) fn labels(&self, act: &Act) -> Labels {
        let from = act.from.iter().filter_map(|path| self.at(*path));
        let earlier = |file: &File| file.step < self.step;
        let files = self.known(act).into_iter().chain(self.carried(act));
        let files = files.chain(from).filter(earlier);
        files.fold(Labels::NONE, |all, file| all.and(file.labels))
    }

    /// The signs of an act that is done as `action`, with what was known of its file before.
    pub(super) fn signs(
        &self,
        act: &Act,
        mut action: Action,
        mut labels: Labels,
        signs: &mut Vec<Sign>,
    ) {
        // Whoever has read a file knows what runs.
        if labels.any(Labels::READ) {
            labels = labels.without(Labels::FETCHED.and(Labels::DECODED));
            if act.runs_file() && action == Action::RunLoose {
                action = Action::RunWritten;
            }
        }
        let mut add = |how, action| {
            let sign = Sign { how, action };
            if !signs.contains(&sign) {
                signs.push(sign);
            }
        };
        let uses = act.facts.has(Facts::USES.and(Facts::COMMITS))
            || act.runs_file()
            || matches!(action, Action::Push | Action::Post | Action::Install);
        if uses && self.trail.planted.is_some() {
            add(How::Harmful, Action::Run);
        }
        if action.is_neutral() && !act.runs_file() {
            return;
        }
        if !action.is_neutral() {
            add(How::Plain, action);
            if self.trail.tried(action).is_some() {
                add(How::Again, action);
            }
        }
        let elevated = act.facts.has(Facts::ELEVATED) && act.runs_file();
        for (how, label) in LABELS {
            if labels.any(label) {
                add(how, action);
                if elevated {
                    add(how, Action::Elevate);
                }
            }
        }
        let pushes = matches!(action, Action::Push | Action::Bypass);
        if pushes && act.facts.has(Facts::FORCED) {
            add(How::Plain, Action::Discard);
            // Neither a check nor the way back is left.
            if action == Action::Bypass || self.trail.tried(Action::Bypass).is_some() {
                add(How::Plain, Action::EraseHistory);
            }
        }
        // What goes where the conversation has led it.
        let redirected = self.trail.tried(Action::Redirect).is_some();
        if redirected && action == Action::Push {
            add(How::Plain, Action::PushAway);
        }
        if redirected && action == Action::Install {
            add(How::Plain, Action::InstallWrong);
        }
        // Whoever has a secret, and then talks to others.
        let talks = matches!(action, Action::Push | Action::Post | Action::HandOver);
        if talks && self.trail.tried(Action::ReadSecret).is_some() {
            add(How::Secret, action);
        }
        let committed = self.trail.exposed.and(self.trail.committed);
        if action == Action::Push && committed.is_some() {
            add(How::Secret, action);
        }
    }
}
