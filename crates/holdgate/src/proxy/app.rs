//! What all connections share: settings, rules, sessions, working folders, and the threads that
//! judge and record.

use super::budget::{Budget, Full, Growth, Remembered, Seldom};
use super::connections::Connections;
use super::judge_first::JudgeFirst;
use super::{judges, marking, records, reload};
use crate::asks::Asks;
use crate::asks::allow::RulesFile;
use crate::asks::once::Once;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::expert::Grant;
use crate::facts::Place;
use crate::in_force::InForce;
use crate::learning::trajectory::Trajectories;
use crate::ledger::Ledger;
use crate::threads::lock;
use anyhow::Context as _;
use holdgate_core::{
    CallReader, Clock, Finding, History, Request, Sessions, SharedSession, TrajectoryMode,
    lock_session, shared_bytes, shared_history,
};
use holdgate_effects::Knowledge;
use holdgate_effects::json::{Json, JsonError};
use holdgate_effects::path::{PathClass, World};
use holdgate_effects::value::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, SystemTime};

/// Working folders that are remembered.
const MAX_WORLDS: usize = 1024;

/// A history that is being found out.
pub(super) type Rebuilding = tokio::task::JoinHandle<Result<Arc<History>, NotRebuilt>>;

/// Why a history could not be found out.
#[derive(Debug)]
pub(super) enum NotRebuilt {
    Unreadable(JsonError),
    /// There is no room for it.
    Full,
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct App {
    /// The settings at the start; those that can change are in what is in force.
    pub(crate) config: Config,
    pub(super) in_force: RwLock<Arc<InForce>>,
    pub(super) reloads: reload::Counters,
    pub(crate) expert: Grant,
    pub(crate) ledger: Arc<Ledger>,
    pub(super) records: records::Records,
    pub(crate) asks: Arc<Asks>,
    pub(super) once: Arc<Once>,
    pub(super) judge_first: Option<JudgeFirst>,
    pub(super) budget: Arc<Budget>,
    pub(super) remembered: Mutex<Remembered>,
    pub(super) seldom: Seldom,
    /// By working folder.
    pub(super) worlds: Mutex<HashMap<Option<String>, Arc<World>>>,
    pub(super) know: Arc<Knowledge>,
    pub(super) judges: judges::Judges,
    pub(super) marking: marking::Marking,
    pub(super) clock: SystemClock,
    /// The time of day.
    pub(super) calendar: fn() -> SystemTime,
    pub(super) responses: AtomicU64,
    /// Requests to a model.
    pub(crate) asked: Arc<AtomicU64>,
    /// Tells this process's ids from another's.
    pub(super) boot: u64,
    pub(super) connections: Connections,
    learned: Trajectories,
}

impl App {
    pub(super) fn new(config: Config) -> anyhow::Result<App> {
        let ledger = Ledger::open(&config.state_dir, config.ledger)
            .with_context(|| format!("cannot open the ledger in {}", config.state_dir.display()))?;
        let ledger = Arc::new(ledger);
        let in_force = InForce::load(config.clone())?;
        let models = in_force.beside.models.clone();
        let know = crate::own::knowledge()?;
        let marking = marking::Marking::open(&config.state_dir)?;
        let budget = Budget::of(config.proxy.memory_budget);
        let sessions = Sessions::new(config.sessions.max, config.sessions.max_idle);
        Ok(App {
            in_force: RwLock::new(Arc::new(in_force)),
            reloads: reload::Counters::default(),
            expert: Grant::default(),
            records: records::Records::start(ledger.clone())?,
            ledger,
            once: Once::of(&config.state_dir),
            judge_first: JudgeFirst::new(&config)?,
            asks: Asks::new(config.ask.operator, RulesFile::of(&config, know.clone())),
            remembered: Remembered::new(sessions, &budget),
            budget,
            seldom: Seldom::default(),
            worlds: Mutex::default(),
            know,
            // Half as many as carry streams: however much there is to judge, text finds a core.
            judges: judges::Judges::start(config.proxy.workers.div_ceil(2))?,
            marking,
            clock: SystemClock::default(),
            calendar: SystemTime::now,
            responses: AtomicU64::new(0),
            asked: Arc::default(),
            boot: RandomState::new().hash_one(std::process::id()) >> 40,
            connections: Connections::default(),
            learned: Trajectories::new(&config.state_dir, models),
            config,
        })
    }

    pub(crate) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// An id that no other response has.
    pub(super) fn response_id(&self) -> String {
        let number = self.responses.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{:06x}-{number}", self.boot)
    }

    /// The session `id`, in which the client works in this folder now.
    pub(super) fn session(&self, id: &str, working_dir: Option<&str>) -> SharedSession {
        let session = self.known_session(id);
        // Not every request of a session says where it is; the settings go over those that do.
        let unknown = lock_session(&session).world.own.is_empty();
        let world = match &self.config.project {
            Some(_) => unknown.then(|| self.world(None)),
            None => (working_dir.is_some() || unknown).then(|| self.world(working_dir)),
        };
        if let Some(world) = world {
            lock_session(&session).world = world;
        }
        session
    }

    /// The same, on another thread if the folder is new here: the disk is asked about it.
    pub(super) async fn session_apart(
        self: &Arc<Self>,
        id: &str,
        working_dir: Option<&str>,
    ) -> Result<SharedSession, tokio::task::JoinError> {
        let folder = working_dir.filter(|_| self.config.project.is_none());
        if self.known_world(folder).is_some() {
            return Ok(self.session(id, working_dir));
        }
        let (app, id, folder) = (self.clone(), id.to_owned(), folder.map(str::to_owned));
        tokio::task::spawn_blocking(move || app.session(&id, folder.as_deref())).await
    }

    /// Finds out, on another thread, what has been done in the conversation that `request` goes on
    /// with. Understanding looks at the disk, and a long conversation that is new here takes time.
    pub(super) fn rebuild(
        self: &Arc<Self>,
        request: Request,
        id: &str,
        session: &SharedSession,
    ) -> Rebuilding {
        let known = lock_session(session);
        let (world, conversations) = (known.place(), known.conversations.clone());
        let (own, clean) = (known.bytes(), known.is_clean());
        drop(known);
        let (app, id) = (self.clone(), id.to_owned());
        let judge = self.in_force().config.judge;
        tokio::task::spawn_blocking(move || {
            let growth = Growth::new(&app);
            let reader = CallReader {
                know: &app.know,
                world: &world,
                limits: judge.call,
                fuel: judge.fuel,
                room: &growth,
            };
            let history = shared_history(&conversations, &request, &reader);
            let kept = shared_bytes(&conversations);
            // Before its memory counts as the session's, what the request took is gone.
            drop(request);
            growth
                .end(&id, own + kept)
                .map_err(|Full| NotRebuilt::Full)?;
            let history = history.map_err(NotRebuilt::Unreadable)?;
            if let Some(project) = world.project.as_deref().filter(|_| app.learns()) {
                app.learned.note(&id, project, &history, clean, app.now());
            }
            Ok(history)
        })
    }

    /// Whether sequences of calls are learned from.
    fn learns(&self) -> bool {
        let settings = self.in_force().config.trajectory;
        settings.learn && settings.mode != TrajectoryMode::Off
    }

    /// Does what a message about expert mode says, see [`Grant::message`].
    pub(crate) fn expert_message(&self, message: &Json<'_>) -> Json<'static> {
        let record = |finding: &Finding| self.ledger.append_event("expert", "told", finding);
        self.expert.message(message, record)
    }

    fn known_world(&self, working_dir: Option<&str>) -> Option<Arc<World>> {
        let worlds = lock(&self.worlds);
        worlds.get(&working_dir.map(str::to_owned)).cloned()
    }

    pub(super) fn world(&self, working_dir: Option<&str>) -> Arc<World> {
        if let Some(world) = self.known_world(working_dir) {
            return world;
        }
        let world = Arc::new(Place::of(&self.config, working_dir).world(&self.know));
        let folder = Value::known(world.cwd.as_str());
        let folder = self.know.paths.place(&folder, "/", &world);
        if folder.is(PathClass::Unresolved) {
            // The disk may say more next time.
            return world;
        }
        let mut worlds = lock(&self.worlds);
        if worlds.len() >= MAX_WORLDS {
            worlds.clear();
        }
        worlds.insert(working_dir.map(str::to_owned), world.clone());
        world
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn a_session_works_where_its_client_last_said() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&project).unwrap();
        let project = project.to_str().unwrap();
        let flags = Flags {
            state_dir: Some(dir.path().join("state")),
            ..Flags::default()
        };
        let home = ("HOME".to_owned(), "/home/someone".to_owned());
        let mut config = Config::load(&flags, [home]).unwrap();
        let app = App::new(config.clone()).unwrap();
        let world = |dir| lock_session(&app.session("s", dir)).world.clone();
        assert!(
            !world(None).own.is_empty(),
            "its own files are known at once"
        );
        assert_eq!(world(Some(project)).project.as_deref(), Some(project));
        assert_eq!(world(Some(project)).home, "/home/someone");
        assert!(world(Some(project)).facts.is_some());
        assert_eq!(world(None).cwd, project, "a request that does not say");
        assert_eq!(world(Some("/elsewhere/x")).cwd, "/elsewhere/x");
        assert!(world(Some("/elsewhere/x")).facts.is_none());
        drop(app);

        config.project = Some(project.into());
        let app = App::new(config).unwrap();
        let world = lock_session(&app.session("s", Some("/elsewhere/x")))
            .world
            .clone();
        assert_eq!(world.cwd, project, "the settings go over the request");
    }
}
