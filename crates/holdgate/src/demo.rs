//! `holdgate demo`: a scripted model, the real proxy, and a small client, all on this machine.

use crate::config::{Config, Flags};
use crate::incidents::verdict_style;
use crate::proxy::Proxy;
use crate::script::{Options, ScriptedModel};
use crate::{ledger, log};
use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use bytes::Bytes;
use holdgate_core::sse::{self, Decoder};
use holdgate_effects::json::{Json, LoneSurrogates};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

const PACE: Duration = Duration::from_millis(60);
const SLOW: Duration = Duration::from_millis(900);
const KEEP_ALIVE: Duration = Duration::from_millis(250);
const MAX_FRAME: usize = 1 << 20;
const MAX_DEPTH: usize = 64;
/// Characters of a line beside its label.
const WIDTH: usize = 90;

/// Who says what to the model, turn by turn.
const TURNS: &[(&str, &str)] = &[
    ("user", "Free some disk space, please."),
    (
        "client",
        "(would run it now, and reports success to the model)",
    ),
    ("user", "Go on."),
    ("user", "What happened?"),
];

/// Plays the demo.
pub fn run(out: &mut impl Write) -> anyhow::Result<()> {
    let state_dir = std::env::temp_dir().join(format!("holdgate-demo-{}", std::process::id()));
    let played = play(&state_dir, out);
    if let Err(error) = std::fs::remove_dir_all(&state_dir) {
        log::warn(&format!("{}: {error}", state_dir.display()));
    }
    played
}

fn play(state_dir: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let _inside = runtime.enter();
    let model = ScriptedModel::start(Options {
        pace: PACE,
        slow: SLOW,
        ..Options::default()
    })?;
    let flags = Flags::local(state_dir, model.address());
    // The demo shows the defaults, whatever this machine's settings are.
    let mut config = Config::load(&flags, [])?;
    config.guard.keep_alive = KEEP_ALIVE;
    let proxy = Proxy::start(config)?;
    proxy.prepare(Duration::ZERO);
    let url = format!("http://{}/s/demo/x/demo/v1/messages", proxy.address());

    let mut screen = Screen::new(out, state_dir);
    screen.line(
        "",
        "A scripted model and a small client, with Holdgate between them.",
    )?;
    screen.line("", "Nothing leaves this machine, and nothing runs.\n")?;
    for (who, said) in TURNS {
        screen.line(who, said)?;
        runtime.block_on(converse(&url, said, &mut screen))?;
    }
    let verified = ledger::verify(state_dir)?;
    screen.line(
        "",
        &format!(
            "\n{} decisions, all recorded in the ledger; its chain is intact.",
            verified.records
        ),
    )?;
    screen.line(
        "",
        &format!(
            "Use it with your agent:\n{}    holdgate run -- claude",
            if is_installed() {
                ""
            } else {
                "    cargo install --path crates/holdgate\n"
            }
        ),
    )?;
    proxy.stop();
    Ok(())
}

/// One request through the proxy, its answer shown as it comes.
async fn converse<W: Write>(
    url: &str,
    said: &str,
    screen: &mut Screen<'_, W>,
) -> anyhow::Result<()> {
    let body = Json::object([
        ("model", "scripted".into()),
        ("max_tokens", 1024.into()),
        ("stream", Json::Bool(true)),
        (
            "messages",
            Json::Array(vec![Json::object([
                ("role", "user".into()),
                ("content", said.into()),
            ])]),
        ),
        (
            "tools",
            Json::Array(vec![Json::object([("name", "Bash".into())])]),
        ),
    ]);
    let request = Request::post(url)
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body.text())))?;
    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut body = client.request(request).await?.into_body();
    let mut decoder = Decoder::new(MAX_FRAME);
    while let Some(frame) = body.frame().await {
        let Ok(mut chunk) = frame?.into_data() else {
            continue;
        };
        while let Some(frame) = decoder.next(&mut chunk)? {
            screen.event(&frame)?;
        }
    }
    screen.end_line()
}

/// What the watcher of the demo sees.
struct Screen<'a, W> {
    out: &'a mut W,
    state_dir: &'a Path,
    /// The label of the line that is being written.
    open: Option<&'static str>,
    /// Whether the client is in the middle of a block.
    in_block: bool,
}

impl<'a, W: Write> Screen<'a, W> {
    fn new(out: &'a mut W, state_dir: &'a Path) -> Self {
        Screen {
            out,
            state_dir,
            open: None,
            in_block: false,
        }
    }

    fn event(&mut self, frame: &[u8]) -> anyhow::Result<()> {
        let data = sse::fields(frame, false)?.data.unwrap_or_default();
        let json = Json::read(&data, MAX_DEPTH, LoneSurrogates::Replace)?;
        let text = |json: &Json<'_>, key: &str| {
            json.get(key)
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let inner = |key: &str| json.get(key).cloned().unwrap_or(Json::Null);
        match text(&json, "type").as_str() {
            // The model's own ping comes in the middle of a block; ours while a call is held.
            "ping" if !self.in_block => {
                self.begin(
                    "held",
                    "a tool call is on its way, and the client has seen nothing of it",
                )?;
                write!(self.out, " .")?;
            }
            "content_block_start" => {
                self.in_block = true;
                if text(&inner("content_block"), "type") == "tool_use" {
                    self.decision()?;
                }
            }
            "content_block_delta" => {
                let said = text(&inner("delta"), "text");
                if said.starts_with("[holdgate]") {
                    self.decision()?;
                    self.line("", &format!("the model reads instead:\n{said}"))?;
                } else if !said.is_empty() {
                    self.begin("model", "")?;
                    write!(self.out, "{said}")?;
                }
            }
            "content_block_stop" => {
                self.in_block = false;
                self.end_line()?;
            }
            _ => {}
        }
        Ok(self.out.flush()?)
    }

    /// The last line of the ledger, which is written before the client gets anything.
    fn decision(&mut self) -> anyhow::Result<()> {
        let ledger = std::fs::read_to_string(self.state_dir.join("ledger.jsonl"))?;
        let last = ledger.lines().last().context("the ledger is empty")?;
        let record = Json::read(last.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse)?;
        let text = |key: &str| record.get(key).and_then(Json::as_str).unwrap_or_default();
        let number = |key: &str| record.get(key).and_then(Json::as_u64).unwrap_or_default();
        let input = record.get("input");
        let command = input.and_then(|input| input.get("command")?.as_str());
        let what = match command {
            Some(command) => format!("{}  {command}", text("tool")),
            None => text("tool").to_owned(),
        };
        let times = format!(
            "held {} ms, judged in {} µs",
            number("held_us") / 1000,
            number("judged_us")
        );
        let label = if text("verdict") == "allow" {
            "cleared"
        } else {
            "refused"
        };
        self.line(label, &format!("{what}\n{times}"))
    }

    fn begin(&mut self, label: &'static str, text: &str) -> anyhow::Result<()> {
        if self.open != Some(label) {
            self.end_line()?;
            let style = style(label);
            write!(self.out, "{style}{label:>8}{style:#}  {text}")?;
            self.open = Some(label);
        }
        Ok(())
    }

    fn end_line(&mut self) -> anyhow::Result<()> {
        if self.open.take().is_some() {
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// A label and its text, whose further lines are set below it.
    fn line(&mut self, label: &'static str, text: &str) -> anyhow::Result<()> {
        self.end_line()?;
        let style = style(label);
        let mut label = label;
        for line in text.split('\n').flat_map(wrapped) {
            writeln!(self.out, "{style}{label:>8}{style:#}  {line}")?;
            label = "";
        }
        Ok(self.out.flush()?)
    }
}

/// Whether the command `holdgate` can be typed.
fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join("holdgate").is_file())
}

/// A line in pieces that fit the screen, the further ones set in.
fn wrapped(line: &str) -> Vec<String> {
    if line.chars().count() <= WIDTH {
        return vec![line.to_owned()];
    }
    let mut pieces = vec![String::new()];
    for word in line.split(' ') {
        match pieces.last_mut() {
            Some(piece) if piece.chars().count() + word.chars().count() < WIDTH => {
                if !piece.is_empty() {
                    piece.push(' ');
                }
                piece.push_str(word);
            }
            _ => pieces.push(format!("  {word}")),
        }
    }
    pieces
}

fn style(label: &str) -> Style {
    match label {
        "cleared" => verdict_style("allow"),
        "refused" => verdict_style("block"),
        "held" => verdict_style("ask"),
        "user" | "client" => AnsiColor::Blue.on_default().bold(),
        _ => Style::new().bold(),
    }
}
