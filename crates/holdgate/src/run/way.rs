//! The way of an agent's requests: that it leads to the proxy when the agent starts, that it does
//! so while the agent runs, and what is said at the end if no request came.

use super::settings::{self, Found, Here, Leads, Watch};
use super::started::Started;
use crate::agents::{Agent, Takes, Whose};
use crate::args::WrongUse;
use crate::ledger::Ledger;
use crate::log;
use crate::monitor::Killer;
use crate::threads::spawn;
use holdgate_core::{Finding, LayerName, Masked, Members, Verdict};
use holdgate_effects::json::{Json, shorten};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often settings files are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// What is known about the way before the agent starts.
#[derive(Debug)]
pub(super) struct Way {
    /// The agent, if it is known, and whether it asks no model this time.
    agent: Option<(&'static Agent, bool)>,
    program: String,
    here: Here,
    found: Vec<Found>,
}

impl Way {
    /// What people call the agent.
    pub(super) fn agent_name(&self) -> &str {
        let program = self.program.rsplit('/').next().unwrap_or_default();
        self.agent.map_or(program, |(agent, _)| agent.name)
    }

    /// Looks at the environment, the command line and the settings files. What leads past the proxy
    /// is refused.
    pub(super) fn check(command: &[OsString], home: Option<&str>) -> Result<Way, WrongUse> {
        let here = Here {
            root: PathBuf::from("/"),
            home: home.map(PathBuf::from),
            // The folder may have been removed; the agent can be started anyway.
            folder: std::env::current_dir().ok(),
        };
        let program = command.first().map(|word| word.to_string_lossy());
        let program = shorten(&program.unwrap_or_default(), 80);
        let started = Started::of(command);
        let variable = |name: &str| std::env::var(name).ok();
        let look = |started: &Started<'_>| settings::look(started, &here, &variable);
        let way = Way {
            agent: started.map(|started| (started.agent, started.is_idle())),
            program,
            found: started.as_ref().map(look).unwrap_or_default(),
            here,
        };
        match way.refusal() {
            Some(why) => Err(WrongUse(why)),
            None => Ok(way),
        }
    }

    /// Whether the agent asks `OpenAI`.
    pub(super) fn is_codex(&self) -> bool {
        let takes = self.agent.map(|(agent, _)| agent.takes);
        takes == Some(Takes::CodexOverrides)
    }

    /// Why the agent is not started.
    fn refusal(&self) -> Option<String> {
        let (agent, _) = self.agent?;
        let refused = |found: &&Found| match found.leads {
            Leads::Past(_) => true,
            Leads::Elsewhere => found.goes_over_us(),
        };
        let found = self.found.iter().find(refused)?;
        let name = agent.name;
        let remedy = match (&found.leads, found.goes_over_us()) {
            (Leads::Elsewhere, _) => {
                "ask the administrator of this machine to remove the address from that file, \
                 and pass it to Holdgate with `--upstream`"
            }
            (Leads::Past(_), true) => {
                "ask the administrator of this machine to remove it from that file"
            }
            (Leads::Past(_), false) => {
                "remove it, and use the API directly or a gateway with the same protocol \
                 (`--upstream URL`)"
            }
        };
        Some(format!(
            "{name} was not started: {}, where Holdgate cannot see them\n  Instead: {remedy}",
            found.phrase()
        ))
    }

    /// The address that the user has set for this agent in a file, where requests go on to.
    pub(super) fn upstream(&self) -> Option<&Found> {
        let users = |found: &&Found| {
            found.whose == Whose::User
                && found.leads == Leads::Elsewhere
                && found.name.ends_with("ANTHROPIC_BASE_URL")
        };
        // What is read later goes over what is read before.
        self.found.iter().rev().find(users)
    }

    /// Says which addresses of the project are not used.
    pub(super) fn tell(&self, upstream: &str) {
        for found in self.found.iter().filter(|f| f.whose == Whose::Project) {
            log::warn(&format!(
                "{}: this is not used; requests go to Holdgate and from there to {upstream}; \
                 use `--upstream URL` to change that",
                found.phrase()
            ));
        }
    }

    /// Follows the settings files on a thread of its own, until the result is dropped.
    pub(super) fn watch(
        &self,
        told: Arc<Told>,
        killer: Killer,
    ) -> std::io::Result<Option<Sender<()>>> {
        let Some((agent, _)) = self.agent else {
            return Ok(None);
        };
        let mut watch = Watch::new(agent, self.here.clone(), self.found.clone());
        let (stop, stopped) = channel::<()>();
        let name = agent.name;
        let follow = move || {
            loop {
                for found in watch.look() {
                    let kills = found.goes_over_us();
                    told.redirected(name, &found, kills);
                    if kills {
                        killer.kill();
                    }
                }
                if stopped.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        spawn("settings", follow)?;
        Ok(Some(stop))
    }

    /// The agent has ended, and no request of it came through the proxy.
    pub(super) fn no_request(&self, acted: bool, told: &Told) {
        let name = match self.agent {
            Some((_, true)) | None if !acted => return,
            Some((agent, _)) => agent.name,
            None => &self.program,
        };
        let what = if acted {
            format!(
                "the output of {name} shows tool calls, but NO REQUEST CAME THROUGH HOLDGATE: \
                 nothing that it did was judged"
            )
        } else {
            format!(
                "no request of {name} came through Holdgate: if it asked a model, nothing that it did was judged"
            )
        };
        let instead = "check that its settings name no other address and no other provider \
                       (docs/operating.md, \"How requests reach the proxy\")";
        let id = told.record("unguarded-agent", "unguarded", what.clone(), None);
        log::warn(&format!("{what} (incident {id})\n  Instead: {instead}"));
    }
}

/// Where incidents about the way are recorded.
#[derive(Debug)]
pub(super) struct Told {
    ledger: Arc<Ledger>,
    session: String,
    pub(super) count: AtomicU64,
}

impl Told {
    pub(super) fn new(ledger: Arc<Ledger>, session: String) -> Told {
        Told {
            ledger,
            session,
            count: AtomicU64::new(0),
        }
    }

    fn redirected(&self, agent: &str, found: &Found, kills: bool) {
        let end = if kills {
            "the agent was killed"
        } else {
            "the address that Holdgate gave to the agent takes precedence"
        };
        let what = format!(
            "while {agent} was running, its settings changed: {}; {end}",
            found.phrase()
        );
        let action = if kills { "killed" } else { "told" };
        let value = Some(shorten(&found.value, 400));
        let id = self.record("redirected-agent", action, what.clone(), value);
        log::warn(&format!("{what} (incident {id})"));
    }

    /// Gives the incident's id.
    fn record(
        &self,
        rule: &'static str,
        action: &str,
        reason: String,
        evidence: Option<String>,
    ) -> String {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("{}-w{number}", self.session);
        let verdict = if action == "killed" {
            Verdict::Kill
        } else {
            Verdict::Audit
        };
        let finding = Finding {
            verdict,
            evidence: evidence.map(|text| Masked::of(&text)),
            ..Finding::audit(LayerName::Run, rule, reason)
        };
        let json = Json::object([
            ("id", id.clone().into()),
            ("session", self.session.clone().into()),
            ("door", "run".into()),
            ("verdict", verdict.word().into()),
            ("action", action.to_owned().into()),
            ("subject", "agent".into()),
            ("findings", Json::Array(vec![finding.to_json()])),
        ]);
        if let Err(error) = self.ledger.append_members(&Members::of(json)) {
            log::warn(&format!(
                "incident {id} could not be recorded in the ledger: {error}"
            ));
        }
        id
    }
}
