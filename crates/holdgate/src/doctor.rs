//! `holdgate doctor`: whether everything works, and whether a deny really denies.

use crate::args::{DoctorArgs, HookAgent};
use crate::config::{Config, JUDGE_KEY};
use crate::hook::{Meaning, meaning, probe};
use crate::in_force::InForce;
use crate::listening::{HOOKS, connect};
use crate::setup::plan::{Here, Plan};
use crate::{ledger, setup};
use anstyle::{AnsiColor, Style};
use holdgate_core::Masked;
use holdgate_effects::json::{Json, shorten};
use std::io::{Read as _, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// A call that every stack blocks, and one that every stack lets pass. Neither is run.
const HARMFUL: &str = "rm -rf /";
const HARMLESS: &str = "ls";

/// What no setting here can change.
const NOT_COVERED: [&str; 5] = [
    "tools that a provider runs itself (web search, code execution, remote MCP servers): they have \
     run when their results come",
    "agents that act on plain text, such as aider, unless `--text-actions aider` is set",
    "agents in a cloud, and on other machines",
    "calls for which a client does not run its hooks, and clients that ignore what a hook says: the \
     proxy sees those",
    "what a call does after it was let through: a hook sees the call, not its processes",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ok,
    Note,
    Failed,
}

struct Check {
    about: &'static str,
    state: State,
    text: String,
}

/// Checks everything and prints it. Returns whether nothing has failed.
pub fn run(args: &DoctorArgs, out: &mut impl Write) -> anyhow::Result<bool> {
    let mut checks = Vec::new();
    let mut add = |about, state, text: String| checks.push(Check { about, state, text });
    let version = env!("CARGO_PKG_VERSION");
    let program = std::env::current_exe().map(|path| path.display().to_string());
    let program = program.unwrap_or_else(|_| "unknown".to_owned());
    add(
        "program",
        State::Ok,
        format!("holdgate {version}, {program}"),
    );
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let variables = std::env::vars_os().filter_map(text);
    match Config::load(&args.place.flags(), variables) {
        Err(error) => add("settings", State::Failed, error.to_string()),
        Ok(config) => {
            let file = config.file.as_ref().map(|file| file.display().to_string());
            let file = file.unwrap_or_else(|| "no file: using the defaults".to_owned());
            add("settings", State::Ok, file);
            around(&config, &mut add);
            let here = setup::here(&config)?;
            for agent in HookAgent::ALL {
                let (state, text) = agent_state(&here, agent);
                add(agent.name(), state, text);
            }
        }
    }
    print(&checks, args.json, out)?;
    Ok(checks.iter().all(|check| check.state != State::Failed))
}

/// Rules, ledger, judge, addresses.
fn around(config: &Config, add: &mut impl FnMut(&'static str, State, String)) {
    match InForce::load(config.clone()) {
        Ok(in_force) => {
            let count = in_force.rules(None).rules().count();
            add("rules", State::Ok, format!("{count} rules are in force"));
        }
        Err(error) => add("rules", State::Failed, format!("{error:#}")),
    }
    let dir = config.state_dir.display();
    match ledger::Ledger::open(&config.state_dir, config.ledger) {
        Err(error) => add("ledger", State::Failed, format!("{dir}: {error}")),
        Ok(_) => match ledger::verify(&config.state_dir) {
            Ok(_) => add(
                "ledger",
                State::Ok,
                format!("{dir}: can be written; the chain is whole"),
            ),
            Err(error) => add("ledger", State::Failed, format!("{dir}: {error}")),
        },
    }
    let key = std::env::var(JUDGE_KEY).is_ok_and(|key| !key.is_empty());
    let judge = if key {
        (State::Ok, "the key is set; it was not tried")
    } else {
        (
            State::Note,
            "no key: without a judge, a person or the severity decides about output",
        )
    };
    add("judge", judge.0, judge.1.to_owned());
    let listen = config.proxy.listen;
    let wait = Duration::from_secs(1);
    match TcpStream::connect_timeout(&listen, wait) {
        Ok(_) => add("proxy", State::Ok, format!("something listens on {listen}")),
        Err(_) => add("proxy", State::Note, format!("nothing listens on {listen}")),
    }
    let socket = config.state_dir.join(HOOKS);
    let shown = socket.display();
    match connect(&socket) {
        Ok(_) => add(
            "engine",
            State::Ok,
            format!("hooks are judged by the proxy at {shown}"),
        ),
        Err(_) => add(
            "engine",
            State::Note,
            "no proxy runs: each hook judges by itself, which takes longer, and knows earlier \
             calls only from the ledger"
                .to_owned(),
        ),
    }
}

fn agent_state(here: &Here, agent: HookAgent) -> (State, String) {
    if !here.has(agent) {
        return (State::Note, "not installed".to_owned());
    }
    let plan = here.plan(agent, false);
    let version = version(here, agent).map_or_else(String::new, |v| format!(" ({v})"));
    match setup::is_set_up(&plan) {
        Ok(true) => {}
        Ok(false) => {
            let how = format!("`holdgate setup --agent {}`", agent.word());
            return (
                State::Note,
                format!("no hook of this program{version}: run {how}"),
            );
        }
        Err(error) => return (State::Failed, format!("{error:#}")),
    }
    match setup::switched_off(&plan) {
        Ok(None) => {}
        Ok(Some(why)) => return (State::Failed, format!("its hooks are switched off: {why}")),
        Err(error) => return (State::Failed, format!("{error:#}")),
    }
    match prove(&plan) {
        Ok(took) => {
            let took = took.as_millis();
            let text = format!("a deny denies, a harmless call passes, in {took} ms{version}");
            (State::Ok, text)
        }
        Err(why) => (State::Failed, why),
    }
}

/// Runs the hook as the client does, with a call that must be denied and one that must pass.
fn prove(plan: &Plan) -> Result<Duration, String> {
    let start = Instant::now();
    for (command, expected) in [(HARMFUL, Meaning::Deny), (HARMLESS, Meaning::Pass)] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &plan.command]);
        let input = probe(plan.agent, command);
        let (code, out, err) = output(shell, &input).map_err(|error| error.to_string())?;
        if meaning(plan.agent, code, &out) != expected {
            let said = shorten(format!("{out}{err}").trim(), 400);
            return Err(format!(
                "the hook did not {} `{command}`: exit code {code}, {said}",
                expected.word()
            ));
        }
    }
    Ok(start.elapsed() / 2)
}

fn version(here: &Here, agent: HookAgent) -> Option<String> {
    let name = match agent {
        HookAgent::ClaudeCode => "claude",
        HookAgent::Codex => "codex",
        HookAgent::Gemini => "gemini",
        HookAgent::Cursor => "cursor-agent",
        HookAgent::Opencode => "opencode",
    };
    let mut command = Command::new(here.program(name)?);
    command.arg("--version");
    let (code, out, _) = output(command, "").ok()?;
    let first = out.lines().next().filter(|_| code == 0)?;
    Some(shorten(first, 80))
}

/// Runs a program to its end, which has to come in time.
fn output(mut command: Command, input: &str) -> std::io::Result<(i32, String, String)> {
    command.stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read ends by itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let out = std::thread::spawn(move || read_all(out));
    let err = std::thread::spawn(move || read_all(err));
    let start = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait()? {
            break status.code().unwrap_or(-1);
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(std::io::Error::other("it did not end in time"));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = |joined: std::thread::Result<String>| joined.unwrap_or_default();
    Ok((code, text(out.join()), text(err.join())))
}

fn read_all(stream: Option<impl std::io::Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let _ = stream.take(1 << 20).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn print(checks: &[Check], as_json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let word = |state: State| match state {
        State::Ok => "ok",
        State::Note => "note",
        State::Failed => "failed",
    };
    if as_json {
        let check = |check: &Check| {
            Json::object([
                ("about", check.about.into()),
                ("state", word(check.state).into()),
                ("text", check.text.clone().into()),
            ])
        };
        let not_covered = NOT_COVERED.iter().map(|text| (*text).into()).collect();
        let json = Json::object([
            ("checks", Json::Array(checks.iter().map(check).collect())),
            ("not_covered", Json::Array(not_covered)),
        ]);
        return Ok(writeln!(out, "{}", Masked::json(json))?);
    }
    for check in checks {
        let color = match check.state {
            State::Ok => AnsiColor::Green,
            State::Note => AnsiColor::Yellow,
            State::Failed => AnsiColor::Red,
        };
        let style = Style::new().fg_color(Some(color.into()));
        let text = Masked::of(&check.text);
        writeln!(
            out,
            "{style}{:<7}{style:#} {:<12} {}",
            word(check.state),
            check.about,
            &*text
        )?;
    }
    writeln!(out, "\nNot covered:")?;
    for text in NOT_COVERED {
        writeln!(out, "- {text}")?;
    }
    Ok(())
}
