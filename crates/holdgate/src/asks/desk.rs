//! Questions at a terminal, one after the other: what is shown, and what keys mean.

use super::Shown;
use super::card::{self, Around, Size};
use super::shown::About;
use super::text::Text;
use holdgate_core::Answer;
use holdgate_effects::json::shorten;
use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// What a person types to let a call pass. The first letters are keys; the words were once typed.
pub(crate) const ANSWERS: [&str; 10] = [
    "y", "yes", "s", "session", "a", "always", "o", "once", "r", "rule",
];

/// What is typed sooner after a question came up was not meant for it.
pub(crate) const TOO_SOON: Duration = Duration::from_millis(400);
/// Messages that are shown with a question.
const MAX_SAID: usize = 20;
/// Characters of a code that is typed.
const MAX_CODE: usize = 32;
const CTRL_C: u8 = 3;
const ESCAPE: u8 = 27;

/// What happens at a desk.
#[derive(Debug)]
pub(crate) enum Event {
    /// The questions that are open now.
    Open(Vec<Shown>),
    /// Keys were pressed: what came at once.
    Keys(Vec<u8>),
    /// There is a message to show.
    Say(String),
    /// The size may have changed.
    Resized,
    /// Nothing more will come.
    End,
}

/// How a desk asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// What is typed sooner after a question came up was not meant for it.
    pub(crate) too_soon: Duration,
    /// Answers need the question's code.
    pub(crate) codes: bool,
    /// What Ctrl-C does.
    pub(crate) interrupt: Interrupt,
}

/// What Ctrl-C does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// All questions are answered with no.
    Deny,
    /// The desk ends.
    Quit,
}

/// Why a desk has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Nothing more comes.
    Over,
    /// By Ctrl-C.
    Quit,
}

/// Where a desk draws.
pub(crate) trait Surface {
    /// Makes it ours; `false` if that cannot be done now.
    fn take(&mut self) -> bool;
    /// Gives it back.
    fn give_back(&mut self);
    /// Columns and rows.
    fn size(&self) -> (usize, usize);
    /// Writes where it is ours.
    fn draw(&mut self, text: &str) -> io::Result<()>;
    /// Leaves a line where it is not ours.
    fn leave(&mut self, line: &str) -> io::Result<()>;
}

/// Shows questions and takes answers until there is nothing more to come. An answer may have a code
/// behind it.
pub(crate) fn run(
    events: &Receiver<Event>,
    manner: Manner,
    surface: &mut impl Surface,
    mut answer: impl FnMut(&str, Answer, Option<&str>) -> Result<(), String>,
) -> io::Result<Ended> {
    let mut desk = Desk::new(manner);
    let mut drawn = Drawn::default();
    let mut ended = Ended::Over;
    loop {
        let event = match desk.next_change(Instant::now()) {
            Some(wait) => events.recv_timeout(wait),
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            Ok(Event::Open(open)) => {
                if let Some(closed) = desk.open(open, Instant::now()) {
                    give_back(surface, &mut drawn);
                    surface.leave(&format!("question {closed} is closed"))?;
                }
            }
            Ok(Event::Keys(keys)) => match desk.keys(&keys, Instant::now()) {
                Meant::Nothing => {}
                Meant::Quit => {
                    ended = Ended::Quit;
                    break;
                }
                Meant::Answer(given, code) => {
                    let Some(shown) = desk.current() else {
                        continue;
                    };
                    let id = shown.id.clone();
                    match answer(&id, given, code.as_deref()) {
                        Ok(()) => {
                            desk.answered();
                            if desk.current().is_none() {
                                give_back(surface, &mut drawn);
                            }
                            surface.leave(&format!("{id}: {}", given.word()))?;
                        }
                        Err(why) => desk.note(&why),
                    }
                }
                Meant::DenyAll => {
                    for id in desk.ids() {
                        // One that was answered meanwhile is.
                        let _ = answer(&id, Answer::Deny, None);
                    }
                }
            },
            Ok(Event::Say(text)) => desk.say(&text),
            Ok(Event::Resized) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => break,
        }
        if desk.current().is_none() {
            give_back(surface, &mut drawn);
            continue;
        }
        if !drawn.ours {
            drawn.ours = surface.take();
        }
        if drawn.ours {
            drawn.show(&mut desk, surface)?;
        }
    }
    give_back(surface, &mut drawn);
    Ok(ended)
}

fn give_back(surface: &mut impl Surface, drawn: &mut Drawn) {
    if std::mem::take(drawn).ours {
        surface.give_back();
    }
}

/// What is on the screen.
#[derive(Debug, Default)]
struct Drawn {
    ours: bool,
    size: (usize, usize),
    lines: Vec<String>,
    /// The question that the bell has rung for.
    rung: String,
}

impl Drawn {
    /// Draws the lines that have changed.
    fn show(&mut self, desk: &mut Desk, surface: &mut impl Surface) -> io::Result<()> {
        let size = surface.size();
        let mut out = String::new();
        if size != self.size || self.lines.is_empty() {
            out.push_str("\x1b[0m\x1b[2J");
            self.lines.clear();
            self.size = size;
        }
        let lines = desk.lines(size, styled(), Instant::now());
        let lines: Vec<String> = lines.iter().map(|line| line.render(styled())).collect();
        for row in 0..lines.len().max(self.lines.len()) {
            let (new, old) = (lines.get(row), self.lines.get(row));
            if new != old {
                let new = new.map_or("", String::as_str);
                out.push_str(&format!("\x1b[{};1H{new}\x1b[K", row + 1));
            }
        }
        if !out.is_empty() {
            out.push_str(&format!("\x1b[{};1H", size.1.max(1)));
        }
        let id = desk.current().map(|shown| shown.id.clone());
        let id = id.unwrap_or_default();
        if id != self.rung {
            out.push('\x07');
            self.rung = id;
        }
        self.lines = lines;
        surface.draw(&out)
    }
}

/// Whether terminals are told to make anything bold or coloured.
pub(super) fn styled() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// What a key means.
#[derive(Debug, PartialEq, Eq)]
enum Meant {
    Nothing,
    Answer(Answer, Option<String>),
    DenyAll,
    Quit,
}

/// What is shown of a question.
#[derive(Debug, Default)]
enum View {
    #[default]
    Question,
    /// More about it, on this page.
    More(usize),
    /// The rule that would be written.
    Rule,
    /// The code is typed, for this answer.
    Code(Answer, String),
}

/// The questions that are open, and how far the first is answered.
#[derive(Debug)]
struct Desk {
    manner: Manner,
    open: VecDeque<Shown>,
    /// How many were answered since none was open.
    done: usize,
    since: Instant,
    view: View,
    note: String,
    said: Vec<String>,
    home: Option<String>,
}

impl Desk {
    fn new(manner: Manner) -> Desk {
        Desk {
            manner,
            open: VecDeque::new(),
            done: 0,
            since: Instant::now(),
            view: View::Question,
            note: String::new(),
            said: Vec::new(),
            home: std::env::var("HOME").ok().filter(|home| home.len() > 1),
        }
    }

    fn current(&self) -> Option<&Shown> {
        self.open.front()
    }

    fn ids(&self) -> Vec<String> {
        self.open.iter().map(|shown| shown.id.clone()).collect()
    }

    /// These are open now. Gives the question that was shown and is closed.
    fn open(&mut self, open: Vec<Shown>, now: Instant) -> Option<String> {
        let was = self.current().map(|shown| shown.id.clone());
        let stays = |shown: &Shown| Some(&shown.id) == was.as_ref();
        let is_same = open.iter().any(stays);
        let mut open = VecDeque::from(open);
        if let Some(at) = open.iter().position(stays) {
            // Whoever reads one question goes on to read it.
            open.rotate_left(at);
        }
        self.open = open;
        if is_same {
            return None;
        }
        if was.is_some() {
            self.done += 1;
        }
        self.turn(now);
        was
    }

    /// The first question was answered here.
    fn answered(&mut self) {
        self.open.pop_front();
        self.done += 1;
        self.turn(Instant::now());
    }

    fn turn(&mut self, now: Instant) {
        self.view = View::Question;
        self.note.clear();
        self.since = now;
        if self.open.is_empty() {
            self.done = 0;
            self.said.clear();
        }
    }

    fn note(&mut self, why: &str) {
        self.note = shorten(why, 400);
        self.view = View::Question;
    }

    fn say(&mut self, text: &str) {
        if self.said.len() < MAX_SAID {
            self.said.push(shorten(text, 1000));
        }
    }

    /// How long it takes until the countdown changes.
    fn next_change(&self, now: Instant) -> Option<Duration> {
        let left = self.current()?.deadline.saturating_duration_since(now);
        let part = Duration::from_nanos(left.subsec_nanos().into());
        Some(part + Duration::from_millis(1))
    }

    fn lines(&self, (columns, rows): (usize, usize), styled: bool, now: Instant) -> Vec<Text> {
        let size = Size {
            columns,
            rows,
            styled,
        };
        let Some(shown) = self.current() else {
            return Vec::new();
        };
        match (&self.view, &shown.rule) {
            (View::More(page), _) => card::more(shown, *page, size),
            (View::Rule, Ok(yaml)) => card::rule(shown, yaml, &self.note, size),
            (View::Code(_, typed), _) => card::code(typed, &self.note, size),
            (View::Question | View::Rule, _) => {
                let around = Around {
                    number: (self.done + 1, self.done + self.open.len()),
                    note: &self.note,
                    said: &self.said,
                    home: self.home.as_deref(),
                };
                card::question(shown, &around, now, size)
            }
        }
    }

    /// What these keys mean, which came at once.
    fn keys(&mut self, keys: &[u8], now: Instant) -> Meant {
        if self.open.is_empty() {
            return Meant::Nothing;
        }
        if keys.contains(&CTRL_C) {
            return match self.manner.interrupt {
                Interrupt::Deny => Meant::DenyAll,
                Interrupt::Quit => Meant::Quit,
            };
        }
        let text = String::from_utf8_lossy(keys);
        let typed = text.trim_end_matches(['\r', '\n']);
        if let View::Code(given, code) = &mut self.view {
            for c in text.chars() {
                match c {
                    '\r' | '\n' => {
                        let (given, code) = (*given, std::mem::take(code));
                        return Meant::Answer(given, Some(code));
                    }
                    '\u{7f}' | '\u{8}' => drop(code.pop()),
                    '\u{1b}' => {
                        self.view = View::Question;
                        return Meant::Nothing;
                    }
                    c if c.is_alphanumeric() && code.len() < MAX_CODE => code.push(c),
                    _ => {}
                }
            }
            return Meant::Nothing;
        }
        let mut chars = typed.chars();
        // A key that sends several characters, or a pasted text, answers nothing.
        let key = match (chars.next(), chars.next()) {
            (Some(key), None) => key,
            _ if keys.first() == Some(&ESCAPE) && keys.len() > 1 => return Meant::Nothing,
            _ => '\0',
        };
        if now.saturating_duration_since(self.since) < self.manner.too_soon {
            if key != '\0' {
                self.note("this was typed before the question could be read; answer again");
            }
            return Meant::Nothing;
        }
        self.key(key)
    }

    fn key(&mut self, key: char) -> Meant {
        let Some(shown) = self.open.front() else {
            return Meant::Nothing;
        };
        self.note.clear();
        match (&self.view, key, &shown.rule) {
            (View::More(page), '?', _) => self.view = View::More(page + 1),
            (View::Rule, 'y', Ok(_)) => return self.answer(Answer::Rule),
            (View::More(_) | View::Rule, _, _) => self.view = View::Question,
            (_, '?', _) => self.view = View::More(0),
            (_, 'y' | 'o', _) => return self.answer(Answer::Once),
            (_, 'n' | 'd', _) => return self.answer(Answer::Deny),
            (_, 's', _) if shown.about != About::Expert => return self.answer(Answer::Session),
            (_, 'a' | 'r', Ok(_)) => self.view = View::Rule,
            (_, 'a' | 'r', Err(why)) if shown.about == About::Call => {
                let why = format!("no exception: {why}");
                self.note(&why);
            }
            _ => {}
        }
        Meant::Nothing
    }

    /// An answer, for which a code may have to be typed first.
    fn answer(&mut self, given: Answer) -> Meant {
        if self.manner.codes {
            self.view = View::Code(given, String::new());
            return Meant::Nothing;
        }
        Meant::Answer(given, None)
    }
}

/// A question in a list.
pub(super) fn show(shown: &Shown, out: &mut impl io::Write) -> io::Result<()> {
    let size = Size {
        columns: 100,
        rows: usize::MAX,
        styled: styled(),
    };
    for line in card::listing(shown, size) {
        writeln!(out, "{}", line.render(size.styled))?;
    }
    Ok(())
}

/// A rule, line by line.
pub(super) fn show_rule(yaml: &str, out: &mut impl io::Write) -> io::Result<()> {
    for line in yaml.lines() {
        writeln!(out, "    {}", shorten(line, 1000))?;
    }
    Ok(())
}
