//! `holdgate run`: an agent under guard by one command. Its requests go through a proxy of its own,
//! its output through the monitor, and nothing that it started outlives it.

pub mod environment;
pub mod keeper;
mod launch;
pub mod order;
mod questions;
mod screen;
mod signals;
mod steer;
pub mod terminal;

use crate::args::RunArgs;
use crate::config::Config;
use crate::judge::{Judge, WorkContext};
use crate::log;
use crate::monitor::cgroup::Cgroup;
use crate::monitor::incident::{Done, Incident};
use crate::monitor::process::Process;
use crate::monitor::tree::{Orphans, Tree};
use crate::monitor::{Agent, Settings, StreamMonitor};
use crate::proxy::{Proxy, upstream};
use crate::rulebook;
use anyhow::Context as _;
use environment::Base;
use holdgate_core::json::shorten;
use holdgate_core::watch::Patterns;
use hyper::Uri;
use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};
use screen::Screen;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;
use terminal::{Raw, Terminal};

/// Where requests go that nobody has said anything about.
const VENDOR: &str = "api.anthropic.com";

/// The exit code after SIGKILL.
const KILLED: u8 = 137;
/// Warnings that are told at the end.
const MAX_TOLD: usize = 5;

/// Runs the agent to its end, and gives its exit code.
pub fn run(args: &RunArgs, mut config: Config) -> anyhow::Result<u8> {
    let work = work(args)?;
    // The judge's key is in here: nobody of the same user may look. Without this it still works.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // Meanwhile; whoever needs them waits. What is wrong with them is told then.
    std::thread::spawn(Patterns::built_in);
    std::thread::spawn(upstream::tls);
    let freeze = config.output_judge.freeze;
    let private = config.output_judge.private_variables();
    let judge = config.output_judge.clone();
    config.proxy.listen = ([127, 0, 0, 1], 0).into();
    if config.upstream.host() == Some(VENDOR) {
        // Who has come through another gateway so far goes on to do so.
        let set = std::env::var("ANTHROPIC_BASE_URL").ok();
        let set = set.filter(|url| !url.is_empty());
        if let Some(url) = set {
            let parsed = url.parse::<Uri>().ok().filter(|uri| uri.host().is_some());
            config.upstream =
                parsed.with_context(|| format!("ANTHROPIC_BASE_URL is no address: `{url}`"))?;
        }
    }
    // It may have been removed; the agent could be started all the same.
    let here = std::env::current_dir().ok();
    let here = here.as_deref().and_then(Path::to_str);
    let first_party = config.upstream.host() == Some(VENDOR);
    let rule_dirs = config.rules.dirs.clone();
    let proxy = Proxy::start(config)?;
    let judge = Arc::new(Judge::new(judge)?);
    if let Some(what) = judge.lacks() {
        log::warn(&format!(
            "no judge for suspicious output ({what}): what is grave ends the agent, the rest is recorded"
        ));
    }
    let commands = proxy.commands(here);
    let patterns = rulebook::patterns(&rule_dirs, &commands)?;
    let session = session_id();
    let base = Base {
        url: format!("http://{}/s/{session}", proxy.address()),
        session: session.clone(),
        first_party,
    };
    set_child_subreaper(Some(getpid())).context("cannot take in the agent's orphans")?;
    let cgroup = Cgroup::make(&format!("holdgate-{session}"));
    let interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut terminal = interactive.then(Terminal::open).transpose()?;
    let screen = interactive.then(Screen::new).transpose()?;
    let shown = terminal.as_ref().zip(screen.as_ref());
    // Before the agent is there: in the background of a terminal this is where we are stopped.
    let raw = interactive.then(Raw::enter).transpose()?;
    // A script that has become this program may have left children to it.
    let before = Process::own().context("/proc is not there")?.children_now();
    let (mut keeper, outputs) = launch::launch(args, &base, &private, cgroup.as_ref(), shown)?;
    let root = i32::try_from(keeper.id()).ok().and_then(Process::of);
    let root = root.context("/proc is not there")?;
    let orphans = Orphans::AfterRoot(before.into_iter().collect());
    let tree = Tree::below(root, orphans).in_cgroup(cgroup);
    let settings = Settings {
        freeze,
        session,
        ledger: proxy.ledger().clone(),
        patterns,
        commands,
        judge,
    };
    let mut monitor = StreamMonitor::attach(Agent { tree, outputs }, work, settings)?;
    let steered = steer::to_the_end(
        &mut keeper,
        &monitor,
        &proxy,
        terminal.as_ref(),
        raw.as_ref(),
        screen.as_ref(),
    );
    // Also if steering failed, and if the keeper was killed.
    let killed = monitor.with_tree(Tree::kill);
    let _ = keeper.wait();
    if let Some(terminal) = &mut terminal {
        terminal.close();
    }
    drop(raw);
    // Whoever reads our output may be slow, and so may the judge.
    steer::exit_on_signals()?;
    if let Some(screen) = &screen {
        screen.give_back();
    }
    if killed.left.is_empty() {
        monitor.finish();
    } else {
        let left: Vec<String> = killed.left.iter().map(|p| p.pid.to_string()).collect();
        log::warn(&format!(
            "these processes could not be killed: {}",
            left.join(" ")
        ));
    }
    if interactive && (monitor.has_killed() || steered.as_ref().is_ok_and(|code| *code == KILLED)) {
        terminal::calm_screen();
    }
    let code = steered?;
    sum_up(&monitor, &proxy);
    Ok(code)
}

fn work(args: &RunArgs) -> anyhow::Result<WorkContext> {
    let mut work = match &args.work_order {
        Some(path) => order::read(path)?,
        None => WorkContext::default(),
    };
    if let Some(goal) = &args.goal {
        work.goal.clone_from(goal);
    }
    Ok(work)
}

/// An id that no other run has.
fn session_id() -> String {
    let now = std::time::SystemTime::now();
    let number = RandomState::new().hash_one((std::process::id(), now));
    format!("run-{number:016x}")
}

/// Why the agent was killed.
fn explain(incident: &Incident) -> String {
    let hit = &incident.hit;
    format!(
        "the agent was killed because of its output (incident {})\n  \
         Pattern: {} ({}, severity {})\n  \
         Why: {}\n  \
         Matched: {}\n  \
         Instead: `holdgate incidents --door monitor --json` has what it wrote before; if this was \
         honest work, a judge that is told the goal (`--work-order`) can tell, or an entry of \
         `known_safe` (docs/watch.md)",
        incident.id,
        hit.pattern,
        hit.family,
        hit.severity.word(),
        shorten(&incident.reason(), 600),
        shorten(&hit.evidence, 300)
    )
}

/// What happened, in a line.
fn sum_up(monitor: &StreamMonitor, proxy: &Proxy) {
    let incidents = monitor.incidents();
    // Not when they happen: the terminal is the agent's, and so may be standard error.
    let mut warned = incidents.iter().filter(|i| i.done == Done::Warned);
    for incident in warned.by_ref().take(MAX_TOLD) {
        log::warn(&format!(
            "suspicious output: {}: {} (incident {})",
            incident.hit.pattern,
            shorten(&incident.reason(), 400),
            incident.id
        ));
    }
    let kept = u64::try_from(incidents.len()).unwrap_or(u64::MAX);
    let forgotten = monitor.count().saturating_sub(kept);
    let untold = forgotten + u64::try_from(warned.count()).unwrap_or(u64::MAX);
    if untold > 0 {
        log::warn(&format!(
            "and {untold} more: `holdgate incidents --door monitor`"
        ));
    }
    let killed = |incident: &&Incident| matches!(incident.done, Done::Killed { .. });
    if let Some(incident) = incidents.iter().find(killed) {
        log::warn(&explain(incident));
    }
    let tally = proxy.ledger().tally();
    let plural = |count: u64, word: &str| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    };
    log::info(&format!(
        "holdgate: {} judged, {} refused, {}, at most {:.1} ms added",
        plural(tally.calls, "call"),
        tally.refused,
        plural(monitor.count(), "incident"),
        tally.slowest.as_secs_f64() * 1000.0
    ));
}
