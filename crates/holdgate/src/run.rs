//! `holdgate run`: an agent under guard by one command. Its requests go through a proxy of its own,
//! its output through the monitor, and nothing that it started outlives it.

mod copy;
pub mod environment;
pub mod keeper;
mod launch;
mod modes;
pub mod order;
mod questions;
mod screen;
mod settings;
mod signals;
mod started;
mod steer;
pub mod terminal;
mod way;

use crate::args::{RunArgs, WrongUse};
use crate::config::{Config, Operator, upstream_url};
use crate::judge::{Judge, WorkContext};
use crate::judging;
use crate::log;
use crate::monitor::cgroup::Cgroup;
use crate::monitor::incident::{Done, Incident};
use crate::monitor::process::Process;
use crate::monitor::tree::{Orphans, Tree};
use crate::monitor::{Agent, Settings, StreamMonitor};
use crate::proxy::Proxy;
use crate::rulebook;
use crate::upstream;
use anyhow::Context as _;
use environment::Base;
use holdgate_core::watch::Patterns;
use holdgate_effects::json::shorten;
use hyper::Uri;
use questions::Questions;
use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};
use screen::Screen;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use terminal::{Raw, Terminal};
use way::{Told, Way};

/// Where requests go that nobody has said anything about.
const VENDOR: &str = "api.anthropic.com";
/// Where `OpenAI`'s API is.
const OPENAI: &str = "api.openai.com";
/// Where Gemini's API is.
const GEMINI: &str = "generativelanguage.googleapis.com";

/// The exit code after SIGKILL.
const KILLED: u8 = 137;
/// No agent asks its model sooner: so long, what can wait does not compete with it for the machine.
const AGENT_STARTS: Duration = Duration::from_millis(100);
/// Warnings that are printed at the end.
const MAX_TOLD: usize = 5;

/// Runs the agent to its end, and gives its exit code.
pub fn run(args: &RunArgs, mut config: Config) -> anyhow::Result<u8> {
    let work = work(args)?;
    let way = Way::check(&args.command, config.home.as_deref())?;
    // The judge's key is in here: nobody of the same user may look. Without this it still works.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // Loaded in the background; code that needs them waits, and reports errors then.
    judging::read_ahead();
    std::thread::spawn(Patterns::built_in);
    std::thread::spawn(upstream::tls);
    std::thread::spawn(crate::own::knowledge);
    // Last: meanwhile the kernel starts no thread.
    std::thread::spawn(Cgroup::rouse);
    let output_judge = config.output_judge.clone();
    config.proxy.listen = ([127, 0, 0, 1], 0).into();
    if let Some(others) = &mut config.other_upstreams {
        go_on_to_openai(&mut others.openai);
        go_on_to_gemini(&mut others.gemini);
        if way.is_codex() && config.upstream.host() == Some(VENDOR) {
            // All that it asks for is there.
            config.upstream = others.openai.clone();
        }
    }
    choose_upstream(&mut config.upstream, &way)?;
    // The folder may have been removed; the agent can be started anyway.
    let here = std::env::current_dir().ok();
    let here = here.as_deref().and_then(Path::to_str);
    let first_party = config.upstream.host() == Some(VENDOR);
    let rule_dirs = config.rules.dirs.clone();
    let ask = config.ask;
    let mut proxy = Proxy::start(config)?;
    proxy.serve_own_hooks();
    proxy.tell_work(&work);
    proxy.asks().come_from(way.agent_name(), here);
    let judge = Arc::new(Judge::new(output_judge.clone())?);
    let commands = proxy.commands(here);
    let patterns = rulebook::patterns(&rule_dirs, &commands)?;
    let session = session_id();
    let base = Base {
        url: format!("http://{}/s/{session}", proxy.address()),
        session: session.clone(),
        first_party,
    };
    set_child_subreaper(Some(getpid())).context("cannot adopt the agent's orphaned processes")?;
    let cgroup = Cgroup::make(&format!("holdgate-{session}"));
    let interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
    let asks = interactive || proxy.takes_answers() && io::stderr().is_terminal();
    announce(&judge, asks && ask.operator != Operator::Never);
    let mut terminal = interactive.then(Terminal::open).transpose()?;
    let screen = interactive.then(Screen::new).transpose()?;
    let shown = terminal.as_ref().zip(screen.as_ref());
    // Before the agent can do anything that somebody has to be asked about.
    let questions = Questions::attend(&proxy, screen.as_ref())?;
    // Nothing is written over what the agent draws.
    let held = log::hold(interactive && io::stderr().is_terminal());
    // Before the agent is there: in the background of a terminal this is where we are stopped.
    let raw = interactive.then(Raw::enter).transpose()?;
    // A script that has become this program may have left children to it.
    let own = Process::own().context("/proc is not available")?;
    let before = own.children_now();
    let private = output_judge.private_variables();
    // The kernel may have gone back to sleep since.
    std::thread::spawn(Cgroup::rouse);
    let (mut keeper, outputs) = launch::launch(args, &base, &private, cgroup.as_ref(), shown)?;
    proxy.prepare(AGENT_STARTS);
    let close = patterns.clone();
    std::thread::spawn(move || {
        std::thread::sleep(AGENT_STARTS);
        close.prepare()
    });
    let orphans = Orphans::AfterRoot(before.into_iter().collect());
    let tree = Tree::below(process_of(&keeper)?, orphans).in_cgroup(cgroup);
    let told = Arc::new(Told::new(proxy.ledger().clone(), session.clone()));
    let settings = Settings {
        freeze: output_judge.freeze,
        session,
        ledger: proxy.ledger().clone(),
        patterns,
        commands,
        judge,
        person: Some((proxy.asks().clone(), ask.timeout)),
        requests: proxy.asked().clone(),
    };
    let mut monitor = StreamMonitor::attach(Agent { tree, outputs }, work, settings)?;
    let watching = way.watch(told.clone(), monitor.killer())?;
    let ours = terminal.as_ref().zip(raw.as_ref());
    let steered = steer::to_the_end(&mut keeper, &monitor, questions, ours);
    drop(watching);
    // Also if steering failed, and if the keeper was killed.
    let left = monitor.with_tree(Tree::kill).left;
    let _ = keeper.wait();
    if let Some(terminal) = &mut terminal {
        terminal.close();
    }
    drop(raw);
    finish(&mut monitor, screen.as_ref(), &left)?;
    if interactive && (monitor.has_killed() || steered.as_ref().is_ok_and(|code| *code == KILLED)) {
        terminal::calm_screen();
    }
    drop(held);
    let code = steered?;
    conclude(code, &monitor, &proxy, &way, &told);
    Ok(code)
}

/// Waits for what was found to be decided, unless some processes still run.
fn finish(
    monitor: &mut StreamMonitor,
    screen: Option<&Arc<Screen>>,
    left: &[Process],
) -> io::Result<()> {
    // Whoever reads our output may be slow, and so may the judge.
    steer::exit_on_signals()?;
    if let Some(screen) = screen {
        screen.give_back();
    }
    if left.is_empty() {
        monitor.finish();
    } else {
        let left: Vec<String> = left.iter().map(|p| p.pid.to_string()).collect();
        let left = left.join(" ");
        log::warn(&format!("these processes could not be killed: {left}"));
    }
    Ok(())
}

fn process_of(child: &Child) -> anyhow::Result<Process> {
    let process = i32::try_from(child.id()).ok().and_then(Process::of);
    process.context("/proc is not available")
}

/// The summary at the end.
fn conclude(code: u8, monitor: &StreamMonitor, proxy: &Proxy, way: &Way, told: &Told) {
    let asked = proxy.asked().load(Ordering::Relaxed) > 0;
    let ran = ![keeper::NOT_FOUND, keeper::NOT_RUN].contains(&code);
    if !asked && ran {
        way.no_request(monitor.has_acted(), told);
    }
    sum_up(monitor, proxy, told.count.load(Ordering::Relaxed), asked);
}

/// Says where requests go. Who has come through another gateway so far goes on to do so.
fn choose_upstream(upstream: &mut Uri, way: &Way) -> Result<(), WrongUse> {
    if upstream.host() == Some(VENDOR) {
        go_on_to(upstream, way)?;
    }
    way.tell(&upstream.to_string());
    upstream::probe(upstream);
    Ok(())
}

fn go_on_to(upstream: &mut Uri, way: &Way) -> Result<(), WrongUse> {
    let set = std::env::var("ANTHROPIC_BASE_URL").ok();
    let set = set.filter(|url| !url.is_empty());
    let set = set.map(|url| (url, "the environment".to_owned()));
    let filed = || {
        let found = way.upstream()?;
        Some((found.value.clone(), found.place()))
    };
    // A file of the user's goes over the variable, as it does for the agent.
    if let Some((url, place)) = filed().or(set) {
        let named = |why| WrongUse(format!("ANTHROPIC_BASE_URL in {place}: {why}"));
        *upstream = upstream_url(&url).map_err(named)?;
    }
    Ok(())
}

/// The same for servers that speak `OpenAI`'s protocols. Agents add what follows `/v1` themselves.
fn go_on_to_openai(upstream: &mut Uri) {
    if upstream.host() != Some(OPENAI) {
        return;
    }
    let set = ["OPENAI_BASE_URL", "OPENAI_API_BASE"].map(|name| std::env::var(name).ok());
    let Some(url) = set.into_iter().flatten().find(|url| !url.is_empty()) else {
        return;
    };
    let base = url.trim_end_matches('/').strip_suffix("/v1");
    match base.map(upstream_url) {
        Some(Ok(base)) => *upstream = base,
        Some(Err(_)) | None => log::warn(
            "OPENAI_BASE_URL does not end in /v1 and is not used; set `upstream.openai` to where \
             /v1/chat/completions is",
        ),
    }
}

/// The same for servers that speak Gemini's protocol.
fn go_on_to_gemini(upstream: &mut Uri) {
    let set = std::env::var("GOOGLE_GEMINI_BASE_URL").unwrap_or_default();
    if set.is_empty() || upstream.host() != Some(GEMINI) {
        return;
    }
    match upstream_url(set.trim_end_matches('/')) {
        Ok(base) => *upstream = base,
        Err(_) => log::warn(
            "GOOGLE_GEMINI_BASE_URL is not the address of a server and is not used; set \
             `upstream.gemini`",
        ),
    }
}

/// What happens to findings, and where output goes.
fn announce(judge: &Judge, attended: bool) {
    if let Some(what) = judge.lacks() {
        log::warn(&format!("the judge cannot be used: {what}"));
    }
    let without = if attended {
        "you are asked about suspicious output here"
    } else {
        "harm in progress ends the agent, other suspicious output is recorded"
    };
    log::info(&match judge.address() {
        Some(who) => format!(
            "holdgate: suspicious output is sent to the judge ({who}) with up to 2,000 \
             characters of context; if it gives no ruling, {without}"
        ),
        None => {
            format!("holdgate: no judge is configured, so no output is sent anywhere; {without}")
        }
    });
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
        "the agent was killed because of its output (incident {})\n  Pattern: {} ({}, severity \
         {})\n  Why: {}\n  Matched: {}\n  Instead: `holdgate incidents --door monitor --json` \
         shows its last output; if this was honest work, give the judge a goal \
         (`--work-order`), or add an entry to `known_safe` (docs/watch.md)",
        incident.id,
        hit.pattern,
        hit.family,
        hit.severity.word(),
        shorten(&incident.reason(), 600),
        shorten(&hit.evidence, 300)
    )
}

/// What happened, in a line.
fn sum_up(monitor: &StreamMonitor, proxy: &Proxy, others: u64, asked: bool) {
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
    proxy.flush();
    let tally = proxy.ledger().tally();
    let plural = |count: u64, word: &str| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    };
    log::info(&format!(
        "holdgate: {} judged, {} refused, {}, at most {:.1} ms added{}",
        plural(tally.calls, "call"),
        tally.refused,
        plural(tally.incidents + monitor.count() + others, "incident"),
        tally.slowest.as_secs_f64() * 1000.0,
        if asked {
            ""
        } else {
            "; no request to a model came through Holdgate"
        }
    ));
    if let Some(worst) = tally.worst {
        log::info(&format!(
            "holdgate: the worst that was stopped: {} ({}); `holdgate why {}` explains it",
            shorten(&worst.reason, 200),
            worst.rule,
            worst.id
        ));
    }
}
