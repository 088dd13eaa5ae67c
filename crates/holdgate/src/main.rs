//! The `holdgate` command. Exit codes: 0 done, 1 refused or failed, 2 wrong use.

use anyhow::Context as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use holdgate::args::{
    self, Args, Command, ConfigCommand, ProxyArgs, RunArgs, ScriptArgs, WrongUse,
};
use holdgate::config::{Config, ConfigError, Flags};
use holdgate::proxy::Proxy;
use holdgate::run::keeper;
use holdgate::script::{self, ScriptedModel};
use holdgate::threads::runtime;
use holdgate::{
    asks, bench, canary, check, demo, doctor, eval, hook, incidents, ledger, log, pin, rules,
    setup, train, why,
};
use holdgate_core::rules::RuleErrors;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

/// Reading a call makes many small strings: with the system's allocator they are a fifth of the time
/// that a verdict takes.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What to do next, for someone who types `holdgate` alone.
const NEXT: &str = "\
Holdgate judges what an AI coding agent wants to do before it happens.

  holdgate demo                 see it work, without a key and without a network
  holdgate run -- claude        run an agent under guard (also codex, opencode, …)
  holdgate setup                guard the installed agents by their hooks, wherever they are started
  holdgate check -- 'COMMAND'   judge one command and explain the verdict; nothing is run
  holdgate incidents            what was refused; `holdgate why ID` explains one of them

`holdgate help` lists all commands.
";

fn main() -> ExitCode {
    let args = Args::try_parse().unwrap_or_else(|error| with_hint(error).exit());
    let error = match run(args.command) {
        Ok(code) => return code,
        Err(error) => error,
    };
    let broken_pipe = error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe);
    if broken_pipe {
        return ExitCode::SUCCESS;
    }
    log::warn(&format!("{error:#}"));
    if error.is::<ConfigError>() || error.is::<WrongUse>() || error.is::<RuleErrors>() {
        return ExitCode::from(2);
    }
    ExitCode::from(1)
}

fn run(command: Option<Command>) -> anyhow::Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    let Some(command) = command else {
        write!(out, "{NEXT}")?;
        return Ok(ExitCode::SUCCESS);
    };
    match command {
        Command::Demo => demo::run(&mut out)?,
        Command::Proxy(args) => proxy(&args)?,
        Command::Check(args) => {
            let config = load(&args.place.flags())?;
            return check::run(&args, &config, &mut out).map(answer);
        }
        Command::Rules(command) => {
            let place = command.place().map(args::Place::flags);
            let config = place.map(|flags| load(&flags)).transpose()?;
            return rules::run(&command, config, &mut out).map(answer);
        }
        Command::Approve(args) => {
            let config = load(&args.place.flags())?;
            let answered = asks::approve::run(&args, &config.state_dir, &mut out);
            return answered.map(answer);
        }
        Command::Incidents(args) => {
            let config = load(&args.place.flags())?;
            let dir = &config.state_dir;
            match &args.id {
                Some(id) => why::show(id, args.json, dir, &mut out)?,
                None if args.follow => incidents::follow(dir, &args.filter, args.json, &mut out)?,
                None => incidents::print(dir, &args.filter, args.last, args.json, &mut out)?,
            }
        }
        Command::Why(args) => why::run(&args, &load(&args.place.flags())?, &mut out)?,
        Command::Expert(args) => {
            let config = load(&args.place.flags())?;
            asks::expert::run(&args, &config.state_dir, &mut out)?;
        }
        Command::Pin(args) => pin::run(&args, &load(&args.place.flags())?, &mut out)?,
        Command::Ledger(command) => {
            let config = load(&command.place().flags())?;
            ledger::command::run(&command, &config, &mut out)?;
        }
        Command::Config(ConfigCommand::Check { place }) => {
            // A failed check, not a wrong use: exit code 1.
            let config = load(&place.flags()).map_err(|e| anyhow::anyhow!("{e}"))?;
            match &config.file {
                Some(file) => writeln!(out, "{}: ok", file.display())?,
                None => writeln!(out, "no settings file: using the defaults")?,
            }
        }
        Command::Hook(args) => hook::run(&args),
        Command::Setup(args) => setup::run(&args, &load(&args.place.flags())?, &mut out)?,
        Command::Uninstall(args) => {
            setup::uninstall(&args, &load(&args.place.flags())?, &mut out)?;
        }
        Command::Doctor(args) => return doctor::run(&args, &mut out).map(answer),
        Command::Eval(args) => eval::run(&args, &mut out)?,
        Command::Bench(args) => bench::run(&args, &mut out)?,
        Command::Redteam(args) => eval::redteam::run(&args, &mut out)?,
        Command::Train(args) => {
            let config = load(&args.place.flags())?;
            train::run(&args, &config, &mut out)?;
        }
        Command::Canary { file } => write!(out, "{}", canary::run(file.as_deref())?)?,
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Args::command(), "holdgate", &mut out);
        }
        Command::Man { dir } => {
            let command = Args::command().disable_help_subcommand(true);
            let written = clap_mangen::generate_to(command, &dir);
            let to = || format!("cannot write to the folder {}", dir.display());
            written.with_context(to)?;
        }
        Command::Script(args) => serve_script(&args)?,
        // Their exit code is the agent's.
        Command::Run(args) => return agent(&args),
        Command::Keep(args) => return keeper::run(&args),
    }
    Ok(ExitCode::SUCCESS)
}

/// `holdgate check rm -rf x`: what is checked comes after `--`, which nobody knows at first.
fn with_hint(mut error: clap::Error) -> clap::Error {
    let is_check = std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "check");
    let is_plain = |word: &ContextValue| !word.to_string().starts_with('-');
    if error.kind() == ErrorKind::UnknownArgument
        && is_check
        && error.get(ContextKind::InvalidArg).is_some_and(is_plain)
    {
        let tip = "write the command after `--`, as in `holdgate check -- rm -rf x`";
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// Whether the answer is yes: the call passes, the check holds.
fn answer(yes: bool) -> ExitCode {
    ExitCode::from(u8::from(!yes))
}

fn load(flags: &Flags) -> Result<Config, ConfigError> {
    let text = |(key, value): (OsString, OsString)| {
        Some((key.into_string().ok()?, value.into_string().ok()?))
    };
    let config = Config::load(flags, std::env::vars_os().filter_map(text))?;
    for name in &config.ignored {
        log::warn(&format!(
            "the environment variable {name} is not a known setting and is ignored"
        ));
    }
    Ok(config)
}

fn agent(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let flags = Flags {
        upstream: args.upstream.clone(),
        speaks: args.bridge.upstream_speaks.clone(),
        dialect: args.bridge.tool_dialect,
        text_actions: args.text_actions,
        ..args.place.flags()
    };
    holdgate::run::run(args, load(&flags)?).map(ExitCode::from)
}

fn proxy(args: &ProxyArgs) -> anyhow::Result<()> {
    let flags = Flags {
        listen: args.listen,
        upstream: args.upstream.clone(),
        speaks: args.bridge.upstream_speaks.clone(),
        dialect: args.bridge.tool_dialect,
        text_actions: args.text_actions,
        ..args.place.flags()
    };
    let config = load(&flags)?;
    // Codes and the PIN pass through here: no other program of the user may look.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let upstream = match &config.other_upstreams {
        None => config.upstream.to_string(),
        Some(others) => format!(
            "{} (OpenAI's protocols: {}, Ollama's: {}, Gemini's: {})",
            config.upstream, others.openai, others.ollama, others.gemini
        ),
    };
    let speaks = config
        .bridge
        .speaks
        .map(|speaks| format!(", which speaks {speaks}"));
    let upstream = upstream + &speaks.unwrap_or_default();
    let open = !config.proxy.listen.ip().is_loopback();
    let mut proxy = Proxy::start(config)?;
    proxy.prepare(Duration::ZERO);
    proxy.serve_all_hooks();
    proxy.ask_at_terminal()?;
    log::info(&format!("listening on http://{}", proxy.address()));
    log::info(&format!("upstream {upstream}"));
    proxy.probe_upstream();
    if open {
        log::warn("other machines can reach this address and send requests through this proxy");
    }
    wait_for_signal()?;
    log::info("stopping: waiting for open streams; send the signal again to stop immediately");
    std::thread::spawn(|| {
        if wait_for_signal().is_ok() {
            asks::restore_terminal();
            std::process::exit(1);
        }
    });
    proxy.stop();
    asks::restore_terminal();
    Ok(())
}

fn serve_script(args: &ScriptArgs) -> anyhow::Result<()> {
    if let Some(dir) = &args.dump {
        return script::dump(dir).with_context(|| format!("{}", dir.display()));
    }
    if args.guard {
        return script::guard_lines(std::io::stdin().lock(), std::io::stdout().lock());
    }
    let options = script::Options {
        listen: args.listen,
        record: args.record.clone(),
        slow: Duration::from_secs_f64(args.slow_seconds.clamp(0.0, 600.0)),
        ..script::Options::default()
    };
    runtime()?.block_on(async {
        let model = ScriptedModel::start(options)?;
        log::info(&format!("listening on {}", model.address()));
        wait().await
    })
}

fn wait_for_signal() -> anyhow::Result<()> {
    runtime()?.block_on(wait())
}

/// Until SIGINT or SIGTERM.
async fn wait() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
