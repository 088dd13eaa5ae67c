//! The door beside the client: `holdgate hook` judges what a client's own hook hands over.
//!
//! A resident engine judges it, if a run or a proxy has one; else it is judged in this process. No
//! answer, a wrong one, or none in time is a refusal: clients run a call whose hook fails in any
//! other way than this.

mod ended;
pub(crate) mod engine;
mod input;
pub(crate) mod line;
pub(crate) mod passed;
mod past;
mod reply;
pub(crate) mod server;

pub use reply::{Meaning, Reply, meaning, probe};

use crate::args::{HookAgent, HookArgs};
use crate::config::Config;
use crate::judging;
use crate::ledger::Ledger;
use crate::threads::spawn;
use anyhow::Context as _;
use engine::{Alone, Engine, Handed, name};
use input::{Event, MAX_INPUT};
use std::io::{Read, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Answers the hook on standard input and ends the process.
pub fn run(args: &HookArgs) -> ! {
    // Standard error is what the model reads.
    std::panic::set_hook(Box::new(|_| {}));
    let watch = spawn("watch", || {
        std::thread::sleep(line::PATIENCE);
        end(&Reply::fault("there was no verdict in time"));
    });
    let reply = match watch {
        Ok(_) => catch_unwind(AssertUnwindSafe(|| answer(args, &mut std::io::stdin()))),
        Err(_) => Ok(Reply::fault("no thread could be started")),
    };
    end(&reply.unwrap_or_else(|_| Reply::fault("judging it failed")))
}

/// The answer to what a client hands over. Every error is a refusal.
pub fn answer(args: &HookArgs, given: &mut impl Read) -> Reply {
    let mut answered = || {
        let mut bytes = Vec::new();
        let most = u64::try_from(MAX_INPUT + 1).unwrap_or(u64::MAX);
        given
            .take(most)
            .read_to_end(&mut bytes)
            .context("the input cannot be read")?;
        let (flags, variables) = args.sources();
        let config = Config::load(&flags, variables)?;
        let project = project(args.agent);
        let handed = Handed {
            agent: args.agent,
            project: project.as_deref(),
            bytes: &bytes,
        };
        match line::ask(&config.state_dir, &handed) {
            Some(reply) => reply.context("the resident engine did not answer"),
            None => alone(config, &handed),
        }
    };
    answered().unwrap_or_else(|error: anyhow::Error| Reply::fault(&format!("{error:#}")))
}

/// Judges in this process. What the session has done before is in the ledger.
fn alone(config: Config, handed: &Handed<'_>) -> anyhow::Result<Reply> {
    let event = input::read(handed.agent, handed.project, handed.bytes);
    match &event {
        Ok(Event::After {
            session,
            id,
            failed,
            ..
        }) => {
            if !failed {
                let ledger = open(&config)?;
                let noted = past::note(&ledger, name(handed.agent, session), id);
                noted.context("the result cannot be recorded")?;
            }
            return Ok(Reply::of(handed.agent, &reply::Decision::Pass));
        }
        Ok(Event::AskedElsewhere) => return Ok(Reply::of(handed.agent, &reply::Decision::Pass)),
        Ok(Event::Before(_)) | Err(_) => {}
    }
    judging::read_ahead();
    let ledger = open(&config)?;
    let around = Box::new(Alone::load(config.clone())?);
    let engine = Engine::new(config, ledger, around, Arc::default())?;
    Ok(engine.answer(handed))
}

fn open(config: &Config) -> anyhow::Result<Arc<Ledger>> {
    let dir: &Path = &config.state_dir;
    let ledger = Ledger::open(dir, config.ledger);
    let ledger = ledger.with_context(|| format!("cannot open the ledger in {}", dir.display()))?;
    Ok(Arc::new(ledger))
}

/// The project, where the client names it to its hooks. Both clients set the variable over whatever
/// the settings of a repository say, so a repository does not choose it.
fn project(agent: HookAgent) -> Option<String> {
    let name = match agent {
        HookAgent::ClaudeCode => "CLAUDE_PROJECT_DIR",
        HookAgent::Gemini => "GEMINI_PROJECT_DIR",
        HookAgent::Codex | HookAgent::Cursor | HookAgent::Opencode => return None,
    };
    std::env::var(name).ok().filter(|dir| !dir.is_empty())
}

/// Says it and ends. What cannot be said is a refusal.
fn end(reply: &Reply) -> ! {
    // The thread that judges may keep the output to itself: a refusal in time must not wait for it.
    let said = if reply.out.is_empty() {
        Ok(())
    } else {
        let mut out = std::io::stdout().lock();
        out.write_all(reply.out.as_bytes())
            .and_then(|()| out.flush())
    };
    let _ = std::io::stderr().write_all(reply.err.as_bytes());
    let code = if said.is_ok() { reply.code } else { 2 };
    std::process::exit(i32::from(code))
}
