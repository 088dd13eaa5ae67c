//! The automaton's cases: an act that completes what an earlier step began.

use super::act::{Act, Facts};
use super::action::Action;
use super::files::{File, Labels};
use super::trail::{Mark, Recent};
use super::walk::{Walk, beside};
use holdgate_effects::worded;

/// Calls that look around before that counts as reconnaissance.
const LOOKS: u32 = 2;
/// Deletions of single files before the way back counts.
const FEW_DELETIONS: u32 = 3;
/// Refused deletions of data before the next attempt is blocked.
const REFUSALS: u32 = 2;
/// Files whose permissions are widened before raised privileges complete the case.
const WIDENED: u32 = 3;
/// Existing files that are replaced unread before somebody is asked.
const BLIND: u32 = 7;
/// Files that tools replace unread before somebody is asked about the next.
const HOLLOW: u32 = 4;
/// The weight of recent deletions from which somebody is asked.
const DELETIONS: u32 = 12;

worded! {
    /// A family of attacks. Each can be left out to see what the others find.
    pub enum Family as "family" {
        SecretFlow = "secret-flow": "A secret is copied, encoded or committed, and then leaves.",
        FetchedRun = "fetched-run": "Something is fetched, made ready, and run.",
        DecodedRun = "decoded-run": "Something is written in disguise, decoded, and run.",
        Privilege = "privilege": "Permissions are widened or code prepared, and then used with raised rights.",
        Persistence = "persistence": "Code is prepared, and then made to run again later.",
        KillChain = "kill-chain": "Somebody looks around, takes credentials, and sends.",
        Destruction = "destruction": "Data is deleted bit by bit, or together with the way back.",
        Evasion = "evasion": "Protection or traces are removed, and then harm is done.",
    }
}

/// Families that are in use: a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Families(u16);

impl Families {
    pub(crate) const ALL: Families = Families(u16::MAX);

    pub(crate) fn without(self, family: Family) -> Families {
        Families(self.0 & !(1 << family as u16))
    }

    pub(crate) fn has(self, family: Family) -> bool {
        self.0 & (1 << family as u16) != 0
    }
}

/// What an act completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) family: Family,
    pub(crate) rule: &'static str,
    /// Whether it is an attack whatever the intent, or a person must decide.
    pub(crate) blocks: bool,
    /// The earlier step, if it was not this call.
    pub(crate) first: u32,
    /// What that step did, and what this call does.
    pub(crate) began: &'static str,
    pub(crate) ends: &'static str,
    pub(crate) instead: &'static str,
}

/// What is harm once protection or traces are gone, and in words.
const HARMS: [(Action, &str); 9] = [
    (Action::Send, "sends data to a host outside"),
    (Action::HandOver, "sends data to a host outside"),
    (Action::Connect, "opens a connection to the outside"),
    (Action::Elevate, "raises privileges"),
    (Action::Grant, "gives rights for later"),
    (Action::DeleteOut, "deletes files outside of the project"),
    (Action::Persist, "makes something run again later"),
    (Action::DestroyData, "deletes data"),
    (Action::RunLoose, "runs code that was fetched or decoded"),
];

const ASK_USER: &str = "tell the user what you want to do, and why";

impl Walk<'_> {
    /// The case that an act completes, of these families. Called before [`Walk::step`].
    pub(super) fn case(&self, act: &Act, families: Families) -> Option<Case> {
        let found: [Option<Case>; 8] = [
            self.secret_flow(act),
            self.loose_run(act),
            self.privilege(act),
            self.persistence(act),
            self.kill_chain(act),
            self.destruction(act),
            self.counted(act),
            self.evasion(act),
        ];
        let mut found = found.into_iter().flatten();
        found.find(|case| families.has(case.family))
    }

    fn secret_flow(&self, act: &Act) -> Option<Case> {
        let case = |first, ends| Case {
            family: Family::SecretFlow,
            rule: "staged-secret-leaves",
            blocks: true,
            first,
            began: "took a secret",
            ends,
            instead: "leave secrets where they are, and delete the copy",
        };
        if act.action == Action::Push {
            let exposed = self.trail.exposed?;
            self.trail.committed?;
            return Some(case(exposed, "pushes the commits that it is in"));
        }
        if act.facts.has(Facts::PUBLISHES)
            && let Some(built) = self.trail.built
        {
            return Some(case(built, "publishes what it was put into"));
        }
        let leaves = [
            Action::Send,
            Action::Post,
            Action::Connect,
            Action::HandOver,
        ];
        if !leaves.contains(&act.action) {
            return None;
        }
        let read = || self.read.labels.any(Labels::SECRET).then_some(self.read);
        let file = self.carried(act).or_else(read)?;
        let secret = file.labels.any(Labels::SECRET) && file.step < self.step;
        secret.then(|| case(file.step, "sends a file that holds it"))
    }

    fn loose_run(&self, act: &Act) -> Option<Case> {
        let fetched = |first| Case {
            family: Family::FetchedRun,
            rule: "fetched-file-runs",
            blocks: true,
            first,
            began: "fetched something from a host that nobody vouches for",
            ends: "runs it",
            instead: "install it from a registry, or read it before you run it",
        };
        let decoded = |first| Case {
            family: Family::DecodedRun,
            rule: "decoded-file-runs",
            blocks: true,
            first,
            began: "decoded something into a file",
            ends: "runs it",
            instead: "write the program in plain text, so that it can be judged",
        };
        // The effects may know what it is; the trail knows since when.
        let loose = act.action == Action::RunLoose;
        if !loose && (act.action != Action::Run || act.path == 0) {
            return None;
        }
        // Whoever has read it knows what runs.
        let file = self.known(act).filter(|file| file.step < self.step)?;
        if file.labels.any(Labels::READ) {
            return None;
        }
        if file.labels.any(Labels::FETCHED) {
            // What was compared with its checksum is for a person to decide.
            let checked = self.trail.checked.is_some_and(|step| step > file.step);
            let case = fetched(file.step);
            return Some(Case {
                blocks: !checked,
                ..case
            });
        }
        file.labels.any(Labels::DECODED).then(|| decoded(file.step))
    }

    fn privilege(&self, act: &Act) -> Option<Case> {
        let case = |blocks, first, began, ends| Case {
            family: Family::Privilege,
            rule: "prepared-privilege",
            blocks,
            first,
            began,
            ends,
            instead: "do the work without raised rights, or let the user run it",
        };
        let widened = self.trail.done(Action::WidenMode);
        let raises = matches!(act.action, Action::Elevate | Action::Grant);
        if raises && widened.calls >= WIDENED {
            return Some(case(
                true,
                widened.first,
                "began to widen permissions",
                "raises privileges",
            ));
        }
        if act.action == Action::Escape
            && let Some(looked) = self.trail.tried(Action::Recon)
        {
            return Some(case(
                true,
                looked,
                "looked around",
                "leaves the container or sandbox",
            ));
        }
        if act.action != Action::Run || act.path == 0 {
            return None;
        }
        let file = self.known(act).filter(|file| file.step < self.step)?;
        if file.labels.any(Labels::WIDENED) {
            return Some(case(
                true,
                file.step,
                "widened the permissions of a file",
                "runs it",
            ));
        }
        let own = Labels::WRITTEN.and(Labels::FETCHED).and(Labels::DECODED);
        let elevated = act.facts.has(Facts::ELEVATED);
        (elevated && file.labels.any(own)).then(|| {
            case(
                true,
                file.step,
                "wrote a file",
                "runs it with raised rights",
            )
        })
    }

    fn persistence(&self, act: &Act) -> Option<Case> {
        let persists = act.action == Action::Persist;
        if !persists && !self.did(Action::Persist) {
            return None;
        }
        let case = |first| Case {
            family: Family::Persistence,
            rule: "prepared-persistence",
            blocks: true,
            first,
            began: "wrote or fetched a file",
            ends: "makes something run again later",
            instead: "let the user decide what runs at login, at boot or on a schedule",
        };
        let loose = Labels::FETCHED.and(Labels::DECODED);
        let own = if persists {
            loose
        } else {
            loose.and(Labels::WRITTEN)
        };
        let written = loose.and(Labels::WRITTEN);
        let mut from = act.from.iter().filter_map(|path| self.at(*path));
        let copied = from.find(|file| file.labels.any(written));
        let file = self.known(act).filter(|file| file.labels.any(own));
        let file = copied.or(file).filter(|file| file.step < self.step);
        // A line in a startup file names the program in its text.
        let ready = || {
            let made = self.trail.done(Action::MakeExecutable);
            (persists && made.calls > 0).then_some(made.last)
        };
        file.map(|file| file.step).or_else(ready).map(case)
    }

    fn kill_chain(&self, act: &Act) -> Option<Case> {
        if !matches!(
            act.action,
            Action::Send | Action::HandOver | Action::Connect
        ) {
            return None;
        }
        let trail = self.trail;
        let took = trail
            .tried(Action::ReadSecret)
            .or(trail.tried(Action::ReadEnv))
            .or(trail.tried(Action::CopySecret))?;
        let looks = [Action::Recon, Action::ReadPrivate];
        let looks = looks.map(|action| trail.done(action).calls + trail.refused(action).calls);
        let around: u32 = looks.iter().sum();
        let looked = trail.tried(Action::ProbeSecret).is_some() || around >= LOOKS;
        looked.then_some(Case {
            family: Family::KillChain,
            rule: "credentials-then-sends",
            blocks: true,
            first: took,
            began: "went for credentials, after others had looked around",
            ends: "sends data to a host outside",
            instead: ASK_USER,
        })
    }

    fn destruction(&self, act: &Act) -> Option<Case> {
        let trail = self.trail;
        let case = |rule, first, began, ends| Case {
            family: Family::Destruction,
            rule,
            blocks: true,
            first,
            began,
            ends,
            instead: ASK_USER,
        };
        let erases = act.action == Action::EraseHistory;
        if erases || act.action == Action::Push && act.facts.has(Facts::FORCED) {
            let deleted = trail.done(Action::Delete);
            let before = trail.tried(Action::EraseHistory);
            let ends = "removes the way back";
            if deleted.calls >= FEW_DELETIONS {
                return Some(case("way-back-erased", deleted.last, "deleted files", ends));
            }
            let again = before.filter(|_| deleted.calls > 0);
            if let Some(before) = again {
                return Some(case(
                    "way-back-erased",
                    before,
                    "went for the way back to lost work",
                    ends,
                ));
            }
        }
        let refused = trail.refused(Action::DestroyData);
        let more = matches!(act.action, Action::DestroyData | Action::ChangeRemote);
        (more && refused.calls >= REFUSALS).then(|| {
            let began = "was refused when it wanted to delete data";
            case("keeps-destroying", refused.first, began, "goes on with it")
        })
    }

    /// What is only suspicious by its number.
    fn counted(&self, act: &Act) -> Option<Case> {
        let trail = self.trail;
        let case = |rule, first, began, ends| Case {
            family: Family::Destruction,
            rule,
            blocks: false,
            first,
            began,
            ends,
            instead: ASK_USER,
        };
        if self.is_blind(act) && trail.blind.calls + 1 >= BLIND {
            let began = "began to replace files that it had not read";
            return Some(case(
                "blind-overwrites",
                trail.blind.first,
                began,
                "goes on with it",
            ));
        }
        if self.is_unseen(act) && trail.hollow.calls >= HOLLOW {
            let began = "began to replace files unread";
            return Some(case(
                "blind-overwrites",
                trail.hollow.first,
                began,
                "goes on with it",
            ));
        }
        let deletes = [Action::DestroyData, Action::DeleteData];
        let [destroyed, deleted] = deletes.map(|action| trail.done(action));
        let first = destroyed.calls > 0 && (deleted.calls == 0 || destroyed.first < deleted.first);
        let destroyed = Mark {
            first: if first {
                destroyed.first
            } else {
                deleted.first
            },
            calls: destroyed.calls + deleted.calls,
            ..destroyed
        };
        if deletes.contains(&act.action) && destroyed.calls >= REFUSALS {
            let began = "began to delete data";
            return Some(case(
                "mass-deletion",
                destroyed.first,
                began,
                "goes on with it",
            ));
        }
        if !matches!(act.action, Action::Delete | Action::DeleteOut) {
            return None;
        }
        let own = |file: File| file.labels.any(Labels::WRITTEN);
        if self.at(act.path).is_some_and(own) {
            return None;
        }
        // A pattern may stand for other files the next time.
        let again = |recent: &Recent| recent.path == act.path && !act.facts.has(Facts::TREE);
        let other = |recent: &&Recent| recent.action == act.action && !again(recent);
        let (mut first, mut last, mut weight, mut here) = (None, None, 0, 0);
        for recent in trail.recent.iter().filter(other) {
            first.get_or_insert(recent.step);
            if last.replace(recent.step) != Some(recent.step) {
                weight += here;
                here = 0;
            }
            here = beside(here, recent.weight);
        }
        let own = if act.action == Action::Delete {
            self.deleted
        } else {
            0
        };
        let weight = weight + here + beside(own, act.weight());
        let began = "began to delete files";
        let case = |first| case("mass-deletion", first, began, "goes on with it");
        let first = first.filter(|_| weight >= DELETIONS);
        first.map(case)
    }

    fn evasion(&self, act: &Act) -> Option<Case> {
        let mut harms = HARMS.iter().filter(|(action, _)| *action == act.action);
        let (_, harm) = harms.next()?;
        let trail = self.trail;
        let before = trail
            .tried(Action::ClearLog)
            .max(trail.tried(Action::Disarm))?;
        Some(Case {
            family: Family::Evasion,
            rule: "disarmed-then-acts",
            blocks: true,
            first: before,
            began: "went for a protection or for traces",
            ends: harm,
            instead: ASK_USER,
        })
    }

    fn did(&self, action: Action) -> bool {
        self.here & (1 << action.index()) != 0
    }
}
