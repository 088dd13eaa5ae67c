//! Judges what hooks hand over: the same stack, rules, settings and disk as the proxy.

use super::input::{self, Call, Event};
use super::passed::{Passed, texts};
use super::past;
use super::reply::{Decision, Reply};
use crate::args::HookAgent;
use crate::asks::once::Once;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::facts::Place;
use crate::in_force::{InForce, News};
use crate::ledger::Ledger;
use crate::threads::lock;
use anyhow::Context as _;
use holdgate_core::{
    Action, CallReader, Clock as _, Executor, Finding, HeldCall, Judgement, LiveSession, Masked,
    Record, Stack, Tell, Unbounded, Verdict,
};
use holdgate_effects::Knowledge;
use holdgate_effects::json::{Json, shorten};
use holdgate_effects::path::World;
use holdgate_effects::value::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Where records say that they come from.
pub(crate) const DOOR: &str = "hook";
/// Sessions that are remembered.
const MAX_SESSIONS: usize = 64;
/// How long a hook is made to wait.
const MAX_DELAY: Duration = Duration::from_secs(8);
/// A session's id in records.
const MAX_NAME: usize = 120;

/// What is in force where hooks are judged.
pub(crate) trait Around: Send + Sync {
    /// Settings and rules, now.
    fn in_force(&self) -> Arc<InForce>;
    /// Whether the operator has lifted the gate.
    fn expert(&self) -> bool;
    /// Takes note of a project's rules that have changed.
    fn report(&self, news: &News);
    /// Whether each call is judged in a process of its own.
    fn forgets(&self) -> bool {
        false
    }
}

/// What a hook hands over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handed<'a> {
    pub(crate) agent: HookAgent,
    /// The project's folder, as the client names it in the environment.
    pub(crate) project: Option<&'a str>,
    pub(crate) bytes: &'a [u8],
}

/// Judges the calls of hooks.
pub(crate) struct Engine {
    once: Arc<Once>,
    config: Config,
    know: Arc<Knowledge>,
    ledger: Arc<Ledger>,
    around: Box<dyn Around>,
    passed: Arc<Passed>,
    sessions: Mutex<HashMap<String, Used>>,
    clock: SystemClock,
    boot: u64,
    count: AtomicU64,
}

/// When a session was used last, and what is known of it.
type Used = (Instant, Arc<Mutex<Known>>);

/// What is known of one session.
#[derive(Debug, Default)]
struct Known {
    live: LiveSession,
    /// The project that it began in: an agent that moves elsewhere does not take it along.
    project: Option<String>,
    /// Whether its earlier calls were looked for.
    recalled: bool,
}

impl Engine {
    pub(crate) fn new(
        config: Config,
        ledger: Arc<Ledger>,
        around: Box<dyn Around>,
        passed: Arc<Passed>,
    ) -> anyhow::Result<Engine> {
        Ok(Engine {
            once: Once::of(&config.state_dir),
            know: crate::own::knowledge()?,
            config,
            ledger,
            around,
            passed,
            sessions: Mutex::default(),
            clock: SystemClock::default(),
            boot: RandomState::new().hash_one(std::process::id()) >> 40,
            count: AtomicU64::new(0),
        })
    }

    /// Answers a hook. A panic is a refusal.
    pub(crate) fn answer(&self, handed: &Handed<'_>) -> Reply {
        let answered = catch_unwind(AssertUnwindSafe(|| self.decide(handed)));
        match answered {
            Ok(Ok(decision)) => Reply::of(handed.agent, &decision),
            Ok(Err(error)) => Reply::fault(&format!("{error:#}")),
            Err(_) => Reply::fault("judging it failed"),
        }
    }

    fn decide(&self, handed: &Handed<'_>) -> anyhow::Result<Decision> {
        match input::read(handed.agent, handed.project, handed.bytes) {
            Ok(Event::Before(call)) => {
                let id = call.has_own_id.then_some(call.id.as_str());
                let folder = call.folder.as_deref();
                let world = id.is_none().then(|| {
                    let project = call.project.as_deref().or(folder);
                    self.world(project, folder)
                });
                let project = world.as_ref().and_then(|world| world.project.as_deref());
                if self.passed.take(id, &call.tool, &call.input, project) {
                    return Ok(Decision::Pass);
                }
                let session = name(handed.agent, &call.session);
                let read = call.shows.clone().map(|shows| (call.id.clone(), shows));
                let decision = self.judge(handed.agent, call)?;
                if let (Decision::Pass, Some((id, shows))) = (&decision, read) {
                    self.note_result(&session, &id, false, &shows)?;
                }
                Ok(decision)
            }
            Ok(Event::After {
                session,
                id,
                failed,
                result,
            }) => {
                let session = name(handed.agent, &session);
                self.note_result(&session, &id, failed, &result)?;
                Ok(Decision::Pass)
            }
            Ok(Event::AskedElsewhere) => Ok(Decision::Pass),
            Err(why) => {
                let mut record = Record::of_response(
                    self.next_id(),
                    name(handed.agent, "none"),
                    "unreadable-hook",
                    &why,
                );
                record.door = DOOR;
                self.ledger.append(&record).context(NOT_RECORDED)?;
                anyhow::bail!("{why}")
            }
        }
    }

    fn judge(&self, agent: HookAgent, call: Call) -> anyhow::Result<Decision> {
        let start = Instant::now();
        let session = name(agent, &call.session);
        let known = self.session(&session);
        let mut known = lock(&known);
        // A session that feels for the edge of a rule waits, but not until its client gives up.
        std::thread::sleep(known.live.session.delay(self.clock.now()).min(MAX_DELAY));
        let project = known
            .project
            .clone()
            .or(call.project.or(call.folder.clone()));
        known.project.clone_from(&project);
        let world = self.world(project.as_deref(), call.folder.as_deref());
        let stack = self.stack(&world);
        if !std::mem::replace(&mut known.recalled, true) && self.around.forgets() {
            let past = past::calls(&self.config.state_dir, &session);
            let limits = self.around.in_force().config.judge;
            let reader = CallReader {
                know: &self.know,
                world: &world,
                limits: limits.call,
                fuel: limits.fuel,
                room: &Unbounded,
            };
            for (held, outcome) in past.context("the ledger cannot be read")? {
                known.live.recall(&held, outcome, &reader);
            }
        }
        known.live.session.world = Arc::new(world);
        let held = HeldCall::new(
            Executor::AtClient,
            Some(call.id),
            Some(call.tool),
            Some(call.input.text()),
        );
        let expert = self.around.expert();
        let now = self.clock.now();
        let judgement = known
            .live
            .judge(&stack, held, (expert, Some(&*self.once)), now);
        let id = self.next_id();
        let tell = self.around.in_force().config.guard.tell;
        let (decision, action) = decision(&judgement, &id, call.can_ask, tell);
        match decision {
            Decision::Pass | Decision::Ask(_) => known.live.begun(&judgement),
            Decision::Deny(_) => known.live.refused(&judgement),
        }
        drop(known);
        let mut record = Record::of_call(id, session, &judgement, action, start.elapsed());
        record.door = DOOR;
        record.expert = expert;
        self.ledger.append(&record).context(NOT_RECORDED)?;
        Ok(decision)
    }

    /// What comes back from a call is what later ones are judged by.
    fn note_result(
        &self,
        session: &str,
        call: &str,
        failed: bool,
        result: &Json<'_>,
    ) -> anyhow::Result<()> {
        let known = self.session(session);
        let shown = lock(&known).live.ended(call, failed, &texts(result));
        if !failed && shown.is_empty() && self.around.forgets() {
            past::note(&self.ledger, session.to_owned(), call).context(NOT_RECORDED)?;
        }
        for (finding, tool, call) in shown {
            let names = (Some(tool), Some(call));
            let (id, action) = (self.next_id(), Action::Forwarded);
            let mut record =
                Record::of_result(id, session.to_owned(), names, vec![finding], action);
            record.door = DOOR;
            self.ledger.append(&record).context(NOT_RECORDED)?;
        }
        Ok(())
    }

    /// The session of this name, which is new if it is not known. Who was here last stays longest.
    fn session(&self, name: &str) -> Arc<Mutex<Known>> {
        let mut sessions = lock(&self.sessions);
        if !sessions.contains_key(name) && sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                sessions.remove(&oldest);
            }
        }
        let (used, known) = sessions
            .entry(name.to_owned())
            .or_insert_with(|| (Instant::now(), Arc::default()));
        *used = Instant::now();
        known.clone()
    }

    /// Where the agent works: in this folder of this project.
    fn world(&self, project: Option<&str>, folder: Option<&str>) -> World {
        let mut world = Place::of(&self.config, project).world(&self.know);
        if let Some(folder) = folder.filter(|dir| dir.starts_with('/')) {
            world.cwd = self
                .know
                .paths
                .place(&Value::known(folder), "/", &world)
                .text;
        }
        world
    }

    /// What judges the calls of a project.
    fn stack(&self, world: &World) -> Arc<Stack> {
        let in_force = self.around.in_force();
        let project = world.project.as_deref();
        in_force.stack(project).unwrap_or_else(|| {
            if let Some(news) = project.and_then(|project| in_force.look_at(project)) {
                self.around.report(&news);
            }
            let without = || in_force.stack_without_project();
            in_force.stack(project).unwrap_or_else(without)
        })
    }

    fn next_id(&self) -> String {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        format!("h{:06x}-{number}", self.boot)
    }
}

const NOT_RECORDED: &str = "the decision cannot be recorded";

/// A session's name in records.
pub(super) fn name(agent: HookAgent, session: &str) -> String {
    format!("{}:{}", agent.word(), shorten(session, MAX_NAME))
}

fn decision(judgement: &Judgement, id: &str, can_ask: bool, tell: Tell) -> (Decision, Action) {
    let Err(refusal) = &judgement.outcome else {
        return (Decision::Pass, Action::Sent);
    };
    if refusal.verdict() == Verdict::Ask && can_ask {
        let question = question(refusal.findings(), id);
        return (Decision::Ask(question), Action::LeftToClient);
    }
    (
        Decision::Deny(refusal.notice(id, None, tell)),
        Action::Explained,
    )
}

/// What the client's user reads.
fn question(findings: &[Finding], id: &str) -> String {
    let mut text = "[holdgate] Let this call run?".to_owned();
    for finding in findings
        .iter()
        .filter(|f| f.verdict == Verdict::Ask)
        .take(3)
    {
        text.push_str(&format!(" {} ({}).", finding.reason, finding.rule));
    }
    text.push_str(&format!(" (incident {id})"));
    Masked::of(&text).into_string()
}

/// Where no engine is resident: everything is loaded for one call.
pub(crate) struct Alone(Arc<InForce>);

impl Alone {
    /// What is in force by these settings.
    pub(crate) fn load(mut config: Config) -> anyhow::Result<Alone> {
        // All tables are read for the first time.
        config.judge.deadline = config.judge.deadline.max(Duration::from_secs(5));
        let in_force = InForce::load(config)?;
        in_force.read_labels();
        Ok(Alone(Arc::new(in_force)))
    }
}

impl Around for Alone {
    fn in_force(&self) -> Arc<InForce> {
        self.0.clone()
    }

    fn expert(&self) -> bool {
        false
    }

    fn report(&self, news: &News) {
        if let Some(problem) = &news.problem {
            crate::log::warn(&format!("{}:\n{problem}", news.now));
        }
    }

    fn forgets(&self) -> bool {
        true
    }
}
