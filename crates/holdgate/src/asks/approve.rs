//! `holdgate approve`: answers questions of a proxy that runs elsewhere.

use super::Shown;
use super::desk::{self, Event, Interrupt, Manner, TOO_SOON};
use super::line::Line;
use super::own_terminal::{OwnTerminal, read_keys};
use crate::args::ApproveArgs;
use anyhow::{Context as _, bail};
use holdgate_core::Answer;
use holdgate_effects::json::{Json, shorten};
use std::io::{IsTerminal as _, Write};
use std::path::Path;
use std::sync::mpsc;

/// The proxy has begun or ceased to show its questions at a terminal.
const NOT_PROVED: &str = "another proof is needed now; start `holdgate approve` again";

/// Does what `holdgate approve …` asks for. Returns whether that worked.
pub fn run(args: &ApproveArgs, dir: &Path, out: &mut impl Write) -> anyhow::Result<bool> {
    let mut proxy = Line::to(dir)?;
    if let Some(id) = &args.id {
        return answer(&mut proxy, id, args.answer(), out);
    }
    let waits = std::io::stdin().is_terminal() && !args.list && !args.json;
    if waits {
        return wait(proxy, out);
    }
    let open = list(&mut proxy)?;
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
    proxy: &mut Line,
    id: &str,
    answer: Answer,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let open = list(proxy)?;
    let Some(shown) = open.iter().find(|shown| shown.id == id) else {
        let others: Vec<&str> = open.iter().map(|shown| shown.id.as_str()).collect();
        let others = match others.as_slice() {
            [] => "no question is open".to_owned(),
            some => format!("open are {}", some.join(", ")),
        };
        bail!("there is no open question `{}`; {others}", shorten(id, 80));
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
            writeln!(out, "no answer was given")?;
            return Ok(false);
        }
    }
    let answered = proxy.request(&request(id, answer))?;
    let Some(word) = answered.get("done").and_then(Json::as_str) else {
        bail!("the proxy's response cannot be read");
    };
    writeln!(out, "{}: {}", shown.id, shorten(word, 20))?;
    Ok(true)
}

/// Waits for questions and asks, until the terminal or the proxy ends it.
fn wait(mut proxy: Line, out: &mut impl Write) -> anyhow::Result<bool> {
    let said = proxy.request(&Json::object([("do", "watch".into())]))?;
    let now = open(&said).context("the proxy's response cannot be read")?;
    let codes = said.get("proof").and_then(Json::as_str) == Some("code");
    writeln!(out, "waiting for questions; press Ctrl-C to quit")?;
    let (events, received) = mpsc::channel();
    events.send(Event::Open(now))?;
    let typed = events.clone();
    std::thread::spawn(move || read_keys(&typed));
    let mut write = proxy.writer()?;
    let (results, result) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok(Some(said)) = proxy.hear() {
            let text = |key: &str| said.get(key).and_then(Json::as_str);
            let gone = match (open(&said), text("error"), text("need")) {
                (Some(open), _, _) => events.send(Event::Open(open)).is_err(),
                (_, Some(why), _) => results.send(Err(why.to_owned())).is_err(),
                (_, _, Some(_)) => results.send(Err(NOT_PROVED.to_owned())).is_err(),
                (None, None, None) => results.send(Ok(())).is_err(),
            };
            if gone {
                return;
            }
        }
        let _ = events.send(Event::Say("the proxy has stopped".into()));
        let _ = events.send(Event::End);
    });
    out.flush()?;
    let manner = Manner {
        too_soon: TOO_SOON,
        codes,
        interrupt: Interrupt::Quit,
    };
    let answer = |id: &str, answer, code: Option<&str>| {
        let mut request = request(id, answer);
        if let Some(code) = code {
            request.set("proof", code.to_owned().into());
        }
        let sent = write.write_all(format!("{request}\n").as_bytes());
        sent.map_err(|e| e.to_string())?;
        let hung_up = |_| Err("the proxy closed the connection".to_owned());
        result.recv().unwrap_or_else(hung_up)
    };
    desk::run(&received, manner, &mut OwnTerminal::default(), answer)?;
    Ok(true)
}

fn request(id: &str, answer: Answer) -> Json<'static> {
    Json::object([
        ("do", "answer".into()),
        ("id", id.to_owned().into()),
        ("answer", answer.word().into()),
    ])
}

fn list(proxy: &mut Line) -> anyhow::Result<Vec<Shown>> {
    let said = proxy.request(&Json::object([("do", "list".into())]))?;
    open(&said).context("the proxy's response cannot be read")
}

fn open(said: &Json<'_>) -> Option<Vec<Shown>> {
    let open = said.get("open").and_then(Json::as_array)?;
    Some(open.iter().map(Shown::from_json).collect())
}
