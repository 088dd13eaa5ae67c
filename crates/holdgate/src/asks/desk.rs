//! Questions at a terminal, one after the other.

use super::Shown;
use anstyle::Style;
use holdgate_core::Answer;
use holdgate_effects::json::shorten;
use std::io::{self, Read as _, Write};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

/// What a person types to let a call pass.
pub(crate) const ANSWERS: [&str; 8] = ["o", "once", "s", "session", "r", "rule", "y", "yes"];

/// What is typed sooner after a question came up was not meant for it.
const TOO_SOON: Duration = Duration::from_millis(400);

/// What happens at a desk.
#[derive(Debug)]
pub(crate) enum Event {
    /// The questions that are open now.
    Open(Vec<Shown>),
    /// Something was typed.
    Line(String),
    /// There is a message to show.
    Say(String),
    /// Nothing more will come.
    End,
}

/// How a desk asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// What is typed sooner after a question came up was not meant for it.
    pub(super) too_soon: Duration,
    /// Answers need the question's code.
    pub(super) codes: bool,
}

/// Shows questions and takes answers until there is nothing more to come. An answer may have a code
/// behind it.
pub(super) fn run(
    events: &Receiver<Event>,
    manner: Manner,
    out: &mut impl Write,
    mut answer: impl FnMut(&str, Answer, Option<&str>) -> Result<(), String>,
) -> io::Result<()> {
    let prompt = |shown: &Shown, out: &mut _| prompt(shown, manner.codes, out);
    let mut current: Option<(Shown, Instant)> = None;
    let mut rule_shown = false;
    while let Ok(event) = events.recv() {
        match event {
            Event::End => return Ok(()),
            Event::Say(text) => writeln!(out, "{}", shorten(&text, 1000))?,
            Event::Open(open) => {
                if let Some((shown, _)) = &current {
                    if open.iter().any(|other| other.id == shown.id) {
                        continue;
                    }
                    writeln!(out, "\nquestion {} is closed", shown.id)?;
                }
                rule_shown = false;
                current = open.into_iter().next().map(|shown| (shown, Instant::now()));
                if let Some((shown, _)) = &current {
                    show(shown, out)?;
                    prompt(shown, out)?;
                }
            }
            Event::Line(line) => {
                let Some((shown, since)) = &current else {
                    continue;
                };
                if since.elapsed() < manner.too_soon {
                    writeln!(
                        out,
                        "this was typed before the question could be read; please answer again"
                    )?;
                    prompt(shown, out)?;
                    continue;
                }
                let (word, code) = match line.trim().split_once(' ') {
                    Some((word, code)) if manner.codes => (word, Some(code)),
                    _ => (line.trim(), None),
                };
                let meant = meaning(word, shown, rule_shown);
                rule_shown = matches!(meant, Meaning::ShowRule(_));
                match meant {
                    Meaning::ShowRule(yaml) => {
                        show_rule(yaml, out)?;
                        write!(out, "write this rule? [y]es, or another answer: ")?;
                        out.flush()?;
                    }
                    Meaning::NoRule(why) => {
                        writeln!(out, "no rule: {}", shorten(why, 400))?;
                        prompt(shown, out)?;
                    }
                    Meaning::Unclear => prompt(shown, out)?,
                    Meaning::Answer(given) => match answer(&shown.id, given, code) {
                        Ok(()) => {
                            writeln!(out, "{}: {}", shown.id, given.word())?;
                            current = None;
                        }
                        Err(why) => {
                            writeln!(out, "{}", shorten(&why, 400))?;
                            prompt(shown, out)?;
                        }
                    },
                }
            }
        }
    }
    Ok(())
}

/// What a typed word means.
enum Meaning<'a> {
    Answer(Answer),
    ShowRule(&'a str),
    NoRule(&'a str),
    Unclear,
}

/// `ANSWERS` lists the words that let a call pass.
fn meaning<'a>(word: &str, shown: &'a Shown, rule_shown: bool) -> Meaning<'a> {
    match (word, &shown.rule) {
        ("y" | "yes", Ok(_)) if rule_shown => Meaning::Answer(Answer::Rule),
        ("o" | "once", _) => Meaning::Answer(Answer::Once),
        ("s" | "session", _) => Meaning::Answer(Answer::Session),
        ("d" | "deny", _) => Meaning::Answer(Answer::Deny),
        ("r" | "rule", Ok(yaml)) => Meaning::ShowRule(yaml),
        ("r" | "rule", Err(why)) => Meaning::NoRule(why),
        _ => Meaning::Unclear,
    }
}

/// A question for people. What a model wrote in it cannot steer the terminal.
pub(super) fn show(shown: &Shown, out: &mut impl Write) -> io::Result<()> {
    let bold = Style::new().bold();
    let left = shown.deadline.saturating_duration_since(Instant::now());
    writeln!(
        out,
        "{bold}{}{bold:#}  session {}  {} s left",
        shorten(&shown.id, 80),
        shorten(&shown.session, 36),
        left.as_secs()
    )?;
    let input = shorten(&shown.input, 2000);
    writeln!(
        out,
        "    {bold}{}{bold:#}  {input}",
        shorten(&shown.tool, 80)
    )?;
    for [rule, layer, reason, evidence] in &shown.findings {
        let (rule, layer) = (shorten(rule, 80), shorten(layer, 20));
        writeln!(out, "    {rule} ({layer}): {}", shorten(reason, 400))?;
        if !evidence.is_empty() {
            writeln!(out, "        {}", shorten(evidence, 400))?;
        }
    }
    if let Some(code) = &shown.code {
        let code = code.show();
        writeln!(
            out,
            "    at another terminal, answer with the code {bold}{code}{bold:#}"
        )?;
    }
    Ok(())
}

/// A rule, line by line.
pub(super) fn show_rule(yaml: &str, out: &mut impl Write) -> io::Result<()> {
    for line in yaml.lines() {
        writeln!(out, "    {}", shorten(line, 1000))?;
    }
    Ok(())
}

fn prompt(shown: &Shown, codes: bool, out: &mut impl Write) -> io::Result<()> {
    if codes {
        write!(
            out,
            "After the answer, type the code that is shown with the question: `o CODE`. "
        )?;
    }
    if shown.output {
        write!(
            out,
            "the agent is frozen. Let it continue [o]nce, for the whole [s]ession without \
             asking again, or [d]eny and end it? "
        )?;
    } else {
        write!(
            out,
            "Allow [o]nce, for this [s]ession, with a [r]ule, or [d]eny? "
        )?;
    }
    out.flush()
}

/// Runs a desk at this process's terminal, for its own questions.
pub(crate) fn at_terminal(
    events: &Receiver<Event>,
    out: &mut impl Write,
    mut answer: impl FnMut(&str, Answer) -> Result<(), String>,
) -> io::Result<()> {
    let manner = Manner {
        too_soon: TOO_SOON,
        codes: false,
    };
    run(events, manner, out, |id, given, _| answer(id, given))
}

/// Runs a desk for the questions of another process, with their `codes` if it shows any.
pub(super) fn elsewhere(
    events: &Receiver<Event>,
    codes: bool,
    out: &mut impl Write,
    answer: impl FnMut(&str, Answer, Option<&str>) -> Result<(), String>,
) -> io::Result<()> {
    let manner = Manner {
        too_soon: TOO_SOON,
        codes,
    };
    run(events, manner, out, answer)
}

/// Sends what is typed. Reads only while this process is in the foreground: in the background, the
/// system would stop the process for it.
pub(super) fn read_lines(events: &Sender<Event>) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let patience = Timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    let mut buffer = [0; 1024];
    loop {
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        let typed = poll(&mut fds, Some(&patience)).is_ok_and(|ready| ready > 0);
        if !in_foreground() {
            std::thread::sleep(Duration::from_secs(1));
            continue;
        }
        if !typed {
            continue;
        }
        // A terminal gives one line at a time.
        match stdin.lock().read(&mut buffer) {
            Ok(0) | Err(_) => {
                let _ = events.send(Event::End);
                return;
            }
            Ok(read) => {
                let text = String::from_utf8_lossy(buffer.get(..read).unwrap_or_default());
                for line in text.lines() {
                    if events.send(Event::Line(line.to_owned())).is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Whether this process may read what is typed at its terminal.
pub(super) fn in_foreground() -> bool {
    let group = rustix::termios::tcgetpgrp(io::stdin());
    group.is_ok_and(|group| group == rustix::process::getpgrp())
}
