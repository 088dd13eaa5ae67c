//! What one agent has done so far: the only state that outlives a response.

mod fingerprint;
mod probing;
mod store;
mod tree;
mod visit;

pub(crate) use fingerprint::{Fingerprint, fingerprint};
use probing::Probing;
pub use store::Sessions;
pub use visit::{SharedSession, Visit, lock};

use crate::answer::Approval;
use crate::call::ToolCall;
use crate::conversation::SharedConversations;
use crate::history::History;
use crate::marking::SharedExamined;
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::path::World;
use holdgate_effects::traces::Traces;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// Calls that are remembered by time, at the most.
const RECENT_CALLS: usize = 4096;
/// After this many calls in a minute that were too costly to interpret, each call gets less fuel.
const COSTLY_CALLS: u32 = 4;
const COSTLY_WINDOW: Duration = Duration::from_mins(1);
/// Approvals that a session remembers, and bytes of one.
const MAX_APPROVALS: usize = 256;
const MAX_APPROVED_BYTES: usize = 64 << 10;
/// How long the result of a call is waited for, and of how many calls.
const MAX_PENDING: Duration = Duration::from_mins(10);
const MAX_PENDING_CALLS: usize = 256;
/// Results with secrets that are recorded.
const MAX_SHOWN: usize = 1024;
/// Folders in which the shell may be.
const MAX_FOLDERS: usize = 3;

/// What a person has approved: a rule's question about one call, made from the same folders.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Approved {
    rule: String,
    tool: String,
    input: String,
    cwd: String,
    folders: Vec<String>,
}

impl Pending {
    fn bytes(&self) -> usize {
        let calls = self.calls.iter().map(|(id, _)| 64 + id.len());
        // As long as what the traces hold of them.
        let moves = self.moves.iter().flat_map(|(_, moved)| moved);
        let moves = moves.map(|(to, from)| 128 + to.len() + from.len());
        calls.chain(moves).sum::<usize>() + self.traces.bytes()
    }
}

/// One agent's session.
#[derive(Debug, Default)]
pub struct Session {
    /// Where the agent works.
    pub world: Arc<World>,
    /// What its conversations have shown.
    pub conversations: SharedConversations,
    /// The calls whose results have shown what must not get around, as far as that is recorded.
    shown: HashSet<u64>,
    keys: RandomState,
    /// Which of its messages were examined for orders in results.
    pub examined: SharedExamined,
    /// When the calls of the last minute were cleared, and of which agent they were.
    recent: VecDeque<(Duration, u64)>,
    /// The call that came last, and how often in a row.
    last: Option<Fingerprint>,
    in_a_row: u32,
    refusals_in_a_row: u32,
    /// Where the agent's shell may be besides the folder that the client names, latest last.
    folders: Vec<String>,
    /// What a person has approved for the session.
    approved: HashSet<Approved>,
    /// The rules and folders for which a person has approved writing.
    trees: Vec<(String, String)>,
    /// Calls that were too costly to understand, and when the first of them came.
    costly: (u32, Duration),
    /// What cleared calls without results will change.
    pending: Pending,
    /// Whether a call was refused or asked about.
    disturbed: bool,
    /// What was refused lately.
    probing: Probing,
}

/// Calls without results, and what they will change.
#[derive(Debug, Default)]
struct Pending {
    /// Their ids, each with how many results for it had come before: ids can be used again.
    calls: Vec<(String, usize)>,
    /// What they move, by their ids: a call that is denied moves nothing.
    moves: Vec<(String, Vec<(String, String)>)>,
    traces: Arc<Traces>,
    /// Whether all of them have run.
    ran: bool,
    /// When the last one was cleared.
    since: Duration,
    /// The history that it was last compared with: where it lies, and its length.
    settled_by: Option<(usize, usize)>,
}

impl Session {
    /// How many calls were cleared in the minute before `now`.
    pub fn calls_in_last_minute(&self, now: Duration) -> usize {
        let start = now.saturating_sub(Duration::from_mins(1));
        self.recent_since(start).count()
    }

    fn recent_since(&self, start: Duration) -> impl Iterator<Item = &(Duration, u64)> {
        let recent = self.recent.iter().rev();
        recent.take_while(move |(t, _)| *t > start || start.is_zero())
    }

    /// How many calls have come, this one included, which is not understood yet if it has no
    /// fingerprint.
    pub(crate) fn counts(&self, print: Option<Fingerprint>, agent: &str, now: Duration) -> Counts {
        let start = now.saturating_sub(Duration::from_mins(1));
        let agent = self.keys.hash_one(agent);
        let own = |(_, of): &&(Duration, u64)| *of == agent;
        Counts {
            of_agent: self.recent_since(start).filter(own).count(),
            of_session: self.calls_in_last_minute(now),
            in_a_row: self.times_in_a_row(print),
        }
    }

    /// How often a call has come in a row, this time included.
    fn times_in_a_row(&self, print: Option<Fingerprint>) -> u32 {
        if print.is_some_and(Fingerprint::counts) && self.last == print {
            self.in_a_row.saturating_add(1)
        } else {
            1
        }
    }

    /// The state that a call is judged by, whatever happens to the session meanwhile.
    pub(crate) fn moment(&self, now: Duration) -> Moment {
        let (costly, since) = self.costly;
        Moment {
            world: self.place(),
            strained: costly >= COSTLY_CALLS && now.saturating_sub(since) < COSTLY_WINDOW,
            folders: self.folders.clone(),
            recent_calls: self.calls_in_last_minute(now),
        }
    }

    /// Remembers that a call was too costly to understand.
    pub(crate) fn note_costly(&mut self, now: Duration) {
        let (costly, since) = &mut self.costly;
        if *costly == 0 || now.saturating_sub(*since) >= COSTLY_WINDOW {
            (*costly, *since) = (0, now);
        }
        *costly = costly.saturating_add(1);
    }

    /// What results have shown that must not get around, with the names of tool and call: each
    /// once, to be recorded.
    pub fn new_shown(&mut self, history: &History) -> Vec<(Finding, String, String)> {
        if !history.has_sensitive() {
            return Vec::new();
        }
        let mut new = Vec::new();
        for (step, shown) in history.shown() {
            let Some(finding) = shown.finding() else {
                continue;
            };
            let number = self.keys.hash_one((&step.call, step.digest));
            if self.shown.len() < MAX_SHOWN && self.shown.insert(number) {
                new.push((finding, step.tool.clone(), step.call.clone()));
            }
        }
        new
    }

    /// Remembers which rule has refused a call. Returns a finding if the session feels for its edge.
    pub(crate) fn note_refused(
        &mut self,
        call: &ToolCall,
        findings: &[Finding],
        now: Duration,
    ) -> Option<Finding> {
        let by = findings
            .iter()
            .find(|finding| finding.verdict >= Verdict::Block)?;
        let variants = self.probing.note(&by.rule, &call.text, now);
        probing::is_alarming(variants).then(|| {
            let reason = format!(
                "{variants} different calls were refused by {} within ten minutes: the session feels \
                 for the edge of the rule",
                by.rule
            );
            Finding::audit(LayerName::Gate, "probing", reason)
        })
    }

    /// How long the next call has to wait, because the session feels for the edge of a rule.
    pub fn delay(&self, now: Duration) -> Duration {
        self.probing.delay(now)
    }

    /// How many calls were refused since one was cleared.
    pub fn refusals_in_a_row(&self) -> u32 {
        self.refusals_in_a_row
    }

    /// A person has let this call pass, which was recorded as refused. If the approval lasts,
    /// exactly the same call passes again; a call that only contains this one does not, because it
    /// may do more. An approved write covers the folder tree that it is in.
    pub(crate) fn approve(
        &mut self,
        call: &ToolCall,
        findings: &[Finding],
        approval: &Approval,
        (agent, now): (&str, Duration),
    ) {
        self.note(None, true, agent, now);
        if !approval.lasts() || call.text.len() > MAX_APPROVED_BYTES {
            return;
        }
        for finding in findings.iter().filter(|f| f.verdict == Verdict::Ask) {
            if self.approved.len() < MAX_APPROVALS {
                self.approved.insert(self.approved_by(call, finding));
            }
            if let Some(folder) = tree::approved_with(finding)
                && self.trees.len() < MAX_APPROVALS
            {
                self.trees.push((finding.rule.to_string(), folder));
            }
        }
    }

    /// Whether a person has approved this for the session, and it is still made from the same
    /// folders.
    pub(crate) fn has_approved(
        &self,
        call: &ToolCall,
        finding: &Finding,
        effects: &[Effect],
        from: &Moment,
    ) -> bool {
        let covers = |(rule, folder): &(String, String)| {
            *rule == finding.rule && tree::covers(folder, finding, effects)
        };
        if self.trees.iter().any(covers) {
            return true;
        }
        !self.approved.is_empty()
            && call.text.len() <= MAX_APPROVED_BYTES
            && from.folders == self.folders
            && from.world.cwd == self.world.cwd
            && self.approved.contains(&self.approved_by(call, finding))
    }

    fn approved_by(&self, call: &ToolCall, finding: &Finding) -> Approved {
        Approved {
            rule: finding.rule.to_string(),
            tool: call.name.clone(),
            input: call.text.to_string(),
            cwd: self.world.cwd.clone(),
            folders: self.folders.clone(),
        }
    }

    /// About how many bytes it takes in memory, its conversations left out.
    pub fn bytes(&self) -> usize {
        let approved = self.approved.iter().map(|approval| {
            let folders = approval.folders.iter().map(String::len).sum::<usize>();
            256 + approval.input.len() + approval.cwd.len() + folders
        });
        let times = self.recent.capacity() * size_of::<(Duration, u64)>();
        let trees = self.trees.iter().map(|(_, folder)| 96 + folder.len());
        let own = times + approved.sum::<usize>() + trees.sum::<usize>() + self.pending.bytes();
        own + self.examined.bytes() + 16 * self.shown.len() + self.probing.bytes()
    }

    /// Where the agent works, with all folders that its shell may be in.
    pub fn place(&self) -> Arc<World> {
        if self.folders.is_empty() && self.pending.traces.is_empty() {
            return self.world.clone();
        }
        let mut world = World::clone(&self.world);
        world.pending = self.pending.traces.clone();
        world.folders.clone_from(&self.folders);
        world.folders.retain(|folder| *folder != world.cwd);
        Arc::new(world)
    }

    /// Forgets the traces of calls whose results the conversation shows, as far as the disk shows
    /// them too.
    pub(crate) fn settle(&mut self, history: &History, now: Duration) {
        let pending = &mut self.pending;
        // For each response there is one history.
        let this = (std::ptr::from_ref(history).addr(), history.len());
        if pending.ran
            || pending.traces.is_empty()
            || pending.settled_by.replace(this) == Some(this)
        {
            return;
        }
        pending
            .calls
            .retain(|(id, before)| results(history, id) <= *before);
        let old = now.saturating_sub(pending.since) > MAX_PENDING;
        if pending.calls.is_empty() || old {
            *pending = Pending {
                traces: Arc::new(pending.traces.ran()),
                ran: true,
                ..Pending::default()
            };
        }
    }

    /// Remembers what a call will leave behind when it runs; `results` have come before for its id.
    pub(crate) fn note_traces(&mut self, id: &str, results: usize, traces: Traces, now: Duration) {
        let pending = &mut self.pending;
        if traces.is_empty() && (!pending.ran || pending.traces.is_empty()) {
            return;
        }
        let traces = traces.earlier();
        let moved = traces.moved_after(&pending.traces);
        if !moved.is_empty() {
            pending.moves.push((id.to_owned(), moved));
            let old = pending.moves.len().saturating_sub(MAX_PENDING_CALLS);
            pending.moves.drain(..old);
        }
        if pending.ran {
            // All that was written has been written: what it held before is gone.
            pending.traces = Arc::new(traces.after(&pending.traces));
        } else {
            Arc::make_mut(&mut pending.traces).add(traces);
        }
        pending.calls.push((id.to_owned(), results));
        let old = pending.calls.len().saturating_sub(MAX_PENDING_CALLS);
        pending.calls.drain(..old);
        pending.since = now;
        pending.ran = false;
    }

    /// A recorded call does not run: a person has denied it.
    pub(crate) fn forget_traces(&mut self, id: &str) {
        let pending = &mut self.pending;
        pending.calls.retain(|(known, _)| known != id);
        let denied = pending.moves.extract_if(.., |(known, _)| known == id);
        for (_, moved) in denied {
            Arc::make_mut(&mut pending.traces).stays(&moved);
        }
    }

    /// Remembers where a call may have left the shell.
    pub fn note_folders(&mut self, folders: Vec<String>) {
        for folder in folders {
            self.folders.retain(|known| *known != folder);
            self.folders.push(folder);
        }
        let old = self.folders.len().saturating_sub(MAX_FOLDERS);
        self.folders.drain(..old);
    }

    /// Records a judged call; `None` for one that was not interpreted.
    pub(crate) fn note(
        &mut self,
        print: Option<Fingerprint>,
        cleared: bool,
        agent: &str,
        now: Duration,
    ) {
        if print.is_some() {
            self.in_a_row = self.times_in_a_row(print);
            self.last = print;
        }
        if cleared {
            self.refusals_in_a_row = 0;
            if self.recent.len() == RECENT_CALLS {
                self.recent.pop_front();
            }
            let agent = self.keys.hash_one(agent);
            self.recent.push_back((now, agent));
        } else {
            self.refusals_in_a_row = self.refusals_in_a_row.saturating_add(1);
            self.disturbed = true;
        }
    }

    /// Whether no call was refused or asked about: what it did may be learned from.
    pub fn is_clean(&self) -> bool {
        !self.disturbed
    }
}

/// How many calls have come in a session.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Calls of the agent that were cleared in the last minute.
    pub of_agent: usize,
    /// Calls of all agents of the session that were.
    pub of_session: usize,
    /// How often this call has come in a row, this time included; 1 if that is not known yet.
    pub in_a_row: u32,
}

/// How many results for this id a conversation shows.
pub(crate) fn results(history: &History, id: &str) -> usize {
    history.steps().filter(|step| step.call == id).count()
}

/// What judging takes from a session at its start.
#[derive(Debug)]
pub(crate) struct Moment {
    /// Where the agent works.
    pub(crate) world: Arc<World>,
    /// Whether several calls of the last minute were too costly to understand.
    pub(crate) strained: bool,
    /// How many calls were cleared in the last minute.
    pub(crate) recent_calls: usize,
    folders: Vec<String>,
}
