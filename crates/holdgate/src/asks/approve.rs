//! `holdgate approve`: answers questions of a proxy that runs elsewhere.

use super::desk::{self, Event};
use super::{Shown, socket};
use crate::args::{ApproveArgs, WrongUse};
use anyhow::{Context as _, bail};
use holdgate_core::json::{Json, LoneSurrogates, shorten};
use holdgate_core::question::Answer;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;

/// A connection to the proxy.
struct Proxy {
    read: BufReader<UnixStream>,
    write: UnixStream,
}

/// What the proxy says.
enum Said {
    Open(Vec<Shown>),
    Done(String),
    Error(String),
}

/// Does what `holdgate approve …` asks for. Returns whether that worked.
pub fn run(args: &ApproveArgs, dir: &Path, out: &mut impl Write) -> anyhow::Result<bool> {
    let mut proxy = Proxy::connect(dir)?;
    if let Some(id) = &args.id {
        return answer(&mut proxy, id, args.answer(), out);
    }
    let waits = std::io::stdin().is_terminal() && !args.list && !args.json;
    if waits {
        return wait(proxy, out);
    }
    let open = proxy.list()?;
    if args.json {
        let open = open.iter().map(Shown::to_json).collect();
        writeln!(out, "{}", Json::Array(open))?;
    } else if open.is_empty() {
        writeln!(out, "no question is open")?;
    }
    for shown in open.iter().filter(|_| !args.json) {
        desk::show(shown, out)?;
    }
    Ok(true)
}

fn answer(
    proxy: &mut Proxy,
    id: &str,
    answer: Answer,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let open = proxy.list()?;
    let Some(shown) = open.iter().find(|shown| shown.id == id) else {
        let others: Vec<&str> = open.iter().map(|shown| shown.id.as_str()).collect();
        let others = match others.as_slice() {
            [] => "none is open".to_owned(),
            some => format!("open are {}", some.join(", ")),
        };
        bail!("no question `{}` is open; {others}", shorten(id, 80));
    };
    desk::show(shown, out)?;
    if answer == Answer::Rule {
        match &shown.rule {
            Err(why) => bail!("no rule: {why}"),
            Ok(yaml) => desk::show_rule(yaml, out)?,
        }
        write!(out, "write this rule? [y/N] ")?;
        out.flush()?;
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        if !matches!(line.trim(), "y" | "yes") {
            writeln!(out, "nothing was answered")?;
            return Ok(false);
        }
    }
    let sent = proxy.send(id, answer);
    // Not as an error of writing: one such means that nobody reads what we print.
    sent.map_err(|error| anyhow::anyhow!("the proxy has hung up: {error}"))?;
    match proxy.hear()? {
        Some(Said::Done(word)) => writeln!(out, "{}: {word}", shown.id)?,
        Some(Said::Error(why)) => bail!(why),
        Some(Said::Open(_)) | None => bail!("the proxy said nothing"),
    }
    Ok(true)
}

/// Waits for questions and asks, until the terminal or the proxy ends it.
fn wait(mut proxy: Proxy, out: &mut impl Write) -> anyhow::Result<bool> {
    let _ = proxy.write.write_all(b"{\"do\":\"watch\"}\n");
    let Some(Said::Open(open)) = proxy.hear_or_fail()? else {
        bail!("the proxy said nothing");
    };
    writeln!(out, "waiting for questions; Ctrl-C ends it")?;
    let (events, received) = mpsc::channel();
    events.send(Event::Open(open))?;
    let typed = events.clone();
    std::thread::spawn(move || desk::read_lines(&typed));
    let mut write = proxy.write.try_clone()?;
    std::thread::spawn(move || {
        while let Ok(Some(said)) = proxy.hear() {
            let event = match said {
                Said::Open(open) => Event::Open(open),
                // The question's end comes as a change of those that are open.
                Said::Done(_) => continue,
                Said::Error(why) => Event::Say(why),
            };
            if events.send(event).is_err() {
                return;
            }
        }
        let _ = events.send(Event::Say("the proxy has stopped".into()));
        let _ = events.send(Event::End);
    });
    desk::at_terminal(&received, out, |id, answer| {
        write
            .write_all(request(id, answer).as_bytes())
            .map_err(|e| e.to_string())
    })?;
    Ok(true)
}

fn request(id: &str, answer: Answer) -> String {
    let json = Json::object([
        ("do", "answer".into()),
        ("id", id.to_owned().into()),
        ("answer", answer.word().into()),
    ]);
    format!("{json}\n")
}

impl Proxy {
    fn connect(dir: &Path) -> anyhow::Result<Proxy> {
        let path = dir.join(socket::NAME);
        let write = UnixStream::connect(&path).map_err(|error| {
            WrongUse(format!(
                "no proxy takes answers at {}: {error}; is one running with this state directory?",
                path.display()
            ))
        })?;
        let read = BufReader::new(write.try_clone()?);
        Ok(Proxy { read, write })
    }

    fn list(&mut self) -> anyhow::Result<Vec<Shown>> {
        // A proxy that refuses may have hung up already; what it said is still to be read.
        let _ = self.write.write_all(b"{\"do\":\"list\"}\n");
        match self.hear_or_fail()? {
            Some(Said::Open(open)) => Ok(open),
            Some(Said::Done(_) | Said::Error(_)) | None => bail!("the proxy said nothing"),
        }
    }

    fn send(&mut self, id: &str, answer: Answer) -> std::io::Result<()> {
        self.write.write_all(request(id, answer).as_bytes())
    }

    fn hear_or_fail(&mut self) -> anyhow::Result<Option<Said>> {
        match self.hear()? {
            Some(Said::Error(why)) => bail!(why),
            other => Ok(other),
        }
    }

    fn hear(&mut self) -> anyhow::Result<Option<Said>> {
        let mut line = String::new();
        if self.read.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let json = Json::read(line.as_bytes(), 16, LoneSurrogates::Refuse);
        let json = json.context("the proxy said something else")?;
        let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
        if let Some(open) = json.get("open").and_then(Json::as_array) {
            return Ok(Some(Said::Open(
                open.iter().map(Shown::from_json).collect(),
            )));
        }
        Ok(text("error")
            .map(Said::Error)
            .or(text("done").map(Said::Done)))
    }
}
