//! A question as lines for a terminal of some size.

use super::fit::{cut_end, cut_rows};
use super::shown::{About, Shown};
use super::text::{Look, Text};
use std::time::{Duration, Instant};

/// Columns of texts for people; commands may be wider.
const PROSE: usize = 100;
/// From this width on there is a margin, and labels stand in a column.
const WIDE: usize = 60;
const LABEL: usize = 9;
/// Lines that a command keeps however small the terminal is.
const MIN_COMMAND: usize = 3;

/// A terminal, as far as drawing goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Whether it shows styles; otherwise `>>> <<<` mark the dangerous part.
    pub(super) styled: bool,
}

/// What is drawn besides the question.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around<'a> {
    /// Which of how many questions it is.
    pub(super) number: (usize, usize),
    /// What went wrong with the last key.
    pub(super) note: &'a str,
    /// Messages of Holdgate.
    pub(super) said: &'a [String],
    /// The home folder.
    pub(super) home: Option<&'a str>,
}

/// The question, with its keys.
pub(super) fn question(shown: &Shown, around: &Around<'_>, now: Instant, size: Size) -> Vec<Text> {
    let page = Page::of(size);
    let head = page.head(shown, around, now);
    let mut who = page.prose(&who(shown, around.home), 0);
    cut_end(&mut who, 2, page.width);
    let mut facts = Facts::default();
    if let Some([rule, layer, reason, _, instead]) = shown.findings.first() {
        let why = sentence(reason);
        facts.add(&page, "Why", &why, 3);
        facts.add(&page, "Rule", &format!("{rule} ({layer})"), 1);
        if !instead.is_empty() {
            facts.add(&page, "Instead", instead, 3);
        }
    }
    if let more @ 1.. = shown.findings.len().saturating_sub(1) {
        let s = if more == 1 { "" } else { "s" };
        facts.add(&page, "Also", &format!("{more} more finding{s}: ?"), 1);
    }
    if let Some(code) = &shown.code {
        let elsewhere = format!(
            "{} answers it at another terminal: holdgate approve {}",
            code.show(),
            shown.id
        );
        facts.add(&page, "Code", &elsewhere, 2);
    }
    let mut end = page.prose(&Text::new(around.note, Look::Strong), 0);
    end.retain(|line| !line.is_empty());
    end.extend(page.prose(&keys(shown, page.width), 0));
    let command = page.command(shown);

    // Blank lines are the first to go, then the ends of long texts, then lines of the command.
    let fixed = head.len() + who.len() + end.len();
    let room = size.rows.saturating_sub(fixed);
    facts.shrink(room.saturating_sub(command.len().min(MIN_COMMAND)));
    let blank = room >= facts.len() + command.len() + 4;
    let room = room.saturating_sub(facts.len() + if blank { 4 } else { 0 });
    let command = cut_rows(command, room.max(1), page.width);
    let mut lines = head;
    for part in [who, command, facts.lines(), end] {
        if blank {
            lines.push(Text::default());
        }
        lines.extend(part);
    }
    let said = around.said.iter().rev();
    let said = said.flat_map(|said| page.prose(&Text::new(said, Look::Faint), 0));
    let left = size.rows.saturating_sub(lines.len() + 1);
    let said: Vec<Text> = said.take(left).collect();
    if !said.is_empty() {
        lines.push(Text::default());
        lines.extend(said);
    }
    page.finish(lines)
}

/// The same without keys and countdown, for a list.
pub(super) fn listing(shown: &Shown, size: Size) -> Vec<Text> {
    let page = Page::of(size);
    let left = shown.deadline.saturating_duration_since(Instant::now());
    let title = Text::new(&shown.id, Look::Strong)
        .with(&format!("  session {}", shown.session), Look::Plain)
        .with(&format!("  {} left", clock(left)), Look::Plain);
    let mut lines = vec![title];
    lines.extend(page.prose(&who(shown, None), 1));
    lines.extend(cut_rows(page.command(shown), 12, page.width));
    for [rule, layer, reason, evidence, instead] in &shown.findings {
        let mut facts = Facts::default();
        facts.add(&page, "Why", &sentence(reason), 6);
        facts.add(&page, "Rule", &format!("{rule} ({layer})"), 2);
        if shown.mark.is_none() && !evidence.is_empty() {
            facts.add(&page, "Matched", evidence, 3);
        }
        if !instead.is_empty() {
            facts.add(&page, "Instead", instead, 6);
        }
        lines.extend(facts.lines());
    }
    page.finish(lines)
}

/// Everything else about the question, on as many pages as it takes; the one with this number.
pub(super) fn more(shown: &Shown, number: usize, size: Size) -> Vec<Text> {
    let page = Page::of(size);
    let strong = |text: &str| Text::new(text, Look::Strong);
    let mut lines = vec![strong("The call")];
    let command = match &shown.mark {
        Some(_) => page.command(shown),
        None => page.prose(&Text::new(&shown.command, Look::Plain), 2),
    };
    lines.extend(command);
    if shown.about == About::Call && shown.input != shown.command {
        let whole = format!("{} {}", shown.tool, shown.input);
        lines.extend(page.prose(&Text::new(&whole, Look::Faint), 2));
    }
    lines.push(strong("Findings"));
    for [rule, layer, reason, evidence, instead] in &shown.findings {
        let text = format!("{rule} ({layer}): {reason}");
        lines.extend(page.prose(&Text::new(&text, Look::Plain), 2));
        for (label, text) in [("matched: ", evidence), ("instead: ", instead)] {
            if !text.is_empty() {
                let text = format!("{label}{text}");
                lines.extend(page.prose(&Text::new(&text, Look::Plain), 4));
            }
        }
    }
    for (title, texts) in [
        ("What it would do", &shown.effects),
        ("Before it", &shown.before),
    ] {
        if !texts.is_empty() {
            lines.push(strong(title));
            for text in texts {
                lines.extend(page.prose(&Text::new(text, Look::Plain), 2));
            }
        }
    }
    lines.push(Text::new(
        &format!("{}  session {}", shown.id, shown.session),
        Look::Faint,
    ));
    let room = size.rows.saturating_sub(1).max(1);
    let pages = lines.len().div_ceil(room).max(1);
    let at = number % pages;
    let mut lines: Vec<Text> = lines.into_iter().skip(at * room).take(room).collect();
    let keys = match pages {
        1 => "any key: back to the question".to_owned(),
        _ => format!("? page {} of {pages}   other keys: back", at + 1),
    };
    lines.push(Text::new(&keys, Look::Strong));
    page.finish(lines)
}

/// The rule that `a` would write.
pub(super) fn rule(shown: &Shown, yaml: &str, note: &str, size: Size) -> Vec<Text> {
    let page = Page::of(size);
    let place = match &shown.project {
        Some(project) => format!("in {project}"),
        None => "in every project".to_owned(),
    };
    let title = format!("This exception lets exactly this call pass from now on, {place}:");
    let mut lines = page.prose(&Text::new(&title, Look::Plain), 0);
    let mut end = page.prose(&Text::new(note, Look::Strong), 0);
    end.retain(|line| !line.is_empty());
    let keys = keys_of(&[("y", "write it"), ("n", "back")], "   ");
    end.extend(page.prose(&keys, 0));
    let mut yaml = page.wide(&Text::new(yaml.trim_end(), Look::Plain), 2);
    let room = size.rows.saturating_sub(lines.len() + end.len()).max(1);
    if yaml.len() > room {
        yaml.truncate(room - 1);
        yaml.push(Text::new("  …", Look::Plain));
    }
    lines.extend(yaml);
    lines.extend(end);
    page.finish(lines)
}

/// The line in which a code is typed.
pub(super) fn code(typed: &str, note: &str, size: Size) -> Vec<Text> {
    let page = Page::of(size);
    let mut lines = page.prose(
        &Text::new(
            "The code that is shown with the question (Esc to go back):",
            Look::Plain,
        ),
        0,
    );
    lines.push(Text::new(&format!("> {typed}"), Look::Strong));
    lines.extend(page.prose(&Text::new(note, Look::Strong), 0));
    page.finish(lines)
}

/// Who wants to do what.
fn who(shown: &Shown, home: Option<&str>) -> Text {
    let agent = shown.agent.as_deref().unwrap_or("An agent");
    let mut who = Text::new(agent, Look::Strong);
    if let Some(folder) = &shown.folder {
        let inside = home.and_then(|home| folder.strip_prefix(home));
        let inside = inside.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let folder = inside.map_or(folder.clone(), |rest| format!("~{rest}"));
        who.push(" in ", Look::Plain);
        who.push(&folder, Look::Strong);
    }
    match shown.about {
        About::Call => {
            who.push(" wants to use ", Look::Plain);
            who.push(&shown.tool, Look::Strong);
            who.push(":", Look::Plain);
        }
        About::Output => who.push(" is frozen. It has printed:", Look::Plain),
        About::Expert => return Text::new("At another terminal was typed:", Look::Plain),
    }
    who
}

/// The keys, in a line if they fit.
fn keys(shown: &Shown, width: usize) -> Text {
    let keys: &[(&str, &str)] = match shown.about {
        About::Call => &[
            ("y", "once"),
            ("s", "session"),
            ("a", "always"),
            ("n", "no"),
            ("?", "more"),
        ],
        About::Output => &[
            ("y", "go on"),
            ("s", "go on, do not ask again"),
            ("n", "end the agent"),
            ("?", "more"),
        ],
        About::Expert => &[("y", "lift the gate"), ("n", "no"), ("?", "more")],
    };
    let lines = ["   ", "  ", " "].map(|space| keys_of(keys, space));
    let last = keys_of(keys, " ");
    lines
        .into_iter()
        .find(|line| line.width() <= width)
        .unwrap_or(last)
}

fn keys_of(keys: &[(&str, &str)], space: &str) -> Text {
    let mut line = Text::default();
    for (key, what) in keys {
        if !line.is_empty() {
            line.push(space, Look::Plain);
        }
        line.push(key, Look::Strong);
        line.push(&format!(" {what}"), Look::Plain);
    }
    line
}

/// A clause as a sentence.
fn sentence(clause: &str) -> String {
    let mut chars = clause.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    let end = if clause.ends_with(['.', '…']) {
        ""
    } else {
        "."
    };
    format!("{}{}{end}", first.unwrap_or_default(), chars.as_str())
}

/// Minutes and seconds.
fn clock(left: Duration) -> String {
    let seconds = left.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// The labelled lines of a question, each with how many it may keep.
#[derive(Default)]
struct Facts(Vec<Vec<Text>>);

impl Facts {
    fn add(&mut self, page: &Page, label: &str, text: &str, most: usize) {
        let (label, indent) = if page.size.columns >= WIDE {
            (format!("{label:<LABEL$}"), LABEL)
        } else {
            (format!("{label}: "), 2)
        };
        let text = Text::new(&label, Look::Faint).with(text, Look::Plain);
        let mut lines = page.hanging(&text, indent);
        cut_end(&mut lines, most, page.width);
        self.0.push(lines);
    }

    fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// Cuts what is longest first, then leaves out what comes last.
    fn shrink(&mut self, room: usize) {
        while self.len() > room {
            // Of several, the last.
            let longest = self.0.iter_mut().max_by_key(|lines| lines.len());
            match longest {
                Some(lines) if lines.len() > 1 => {
                    let width = lines.iter().map(Text::width).max().unwrap_or_default();
                    let most = lines.len() - 1;
                    cut_end(lines, most, width);
                }
                _ => {
                    // The reason is the last to go.
                    let last = self.0.pop();
                    if last.is_none() {
                        return;
                    }
                }
            }
        }
    }

    fn lines(self) -> Vec<Text> {
        self.0.into_iter().flatten().collect()
    }
}

/// A text as lines of this width, which begin with so many spaces.
fn indented(text: &Text, indent: usize, width: usize) -> Vec<Text> {
    let lines = text.wrap(width.saturating_sub(indent)).into_iter();
    lines.map(|line| line.indented(indent)).collect()
}

/// Where lines go.
struct Page {
    size: Size,
    /// Columns before every line.
    margin: usize,
    /// Columns of a line.
    width: usize,
}

impl Page {
    fn of(size: Size) -> Page {
        let margin = usize::from(size.columns >= WIDE);
        // The last column stays free: some terminals wrap at it.
        let width = size.columns.saturating_sub(2 * margin + 1).max(10);
        Page {
            size,
            margin,
            width,
        }
    }

    fn head(&self, shown: &Shown, around: &Around<'_>, now: Instant) -> Vec<Text> {
        let mut title = Text::new("holdgate asks", Look::Strong);
        let (number, of) = around.number;
        if of > 1 {
            title.push(&format!("  {number} of {of}"), Look::Plain);
        }
        let left = shown.deadline.saturating_duration_since(now);
        let left = Text::new(&format!("{} left", clock(left)), Look::Strong);
        let space = self.width.min(PROSE);
        let Some(space @ 1..) = space.checked_sub(title.width() + left.width()) else {
            return vec![left];
        };
        title.push(&" ".repeat(space), Look::Plain);
        title.append(left);
        vec![title]
    }

    /// Lines for people.
    fn prose(&self, text: &Text, indent: usize) -> Vec<Text> {
        indented(text, indent, self.width.min(PROSE))
    }

    /// Lines as wide as the terminal.
    fn wide(&self, text: &Text, indent: usize) -> Vec<Text> {
        indented(text, indent, self.width)
    }

    /// Lines of which all but the first are indented.
    fn hanging(&self, text: &Text, indent: usize) -> Vec<Text> {
        let width = self.width.min(PROSE);
        let mut first = text.wrap(width).into_iter().next().unwrap_or_default();
        let rest = text.after(&first);
        if rest.is_empty() {
            return vec![first];
        }
        let mut lines = vec![std::mem::take(&mut first)];
        lines.extend(indented(&rest, indent, width));
        lines
    }

    /// What is asked about, as it was written, with the dangerous part marked.
    fn command(&self, shown: &Shown) -> Vec<Text> {
        let text = shown.command.as_str();
        let mark = shown.mark.clone().unwrap_or(0..0);
        let (before, rest) = text.split_at_checked(mark.start).unwrap_or((text, ""));
        let (danger, after) = rest.split_at_checked(mark.len()).unwrap_or(("", rest));
        let mut marked = Text::new(before, Look::Plain);
        let signs = !self.size.styled && !danger.is_empty();
        if signs {
            marked.push(">>> ", Look::Danger);
        }
        marked.push(danger, Look::Danger);
        if signs {
            marked.push(" <<<", Look::Danger);
        }
        marked.push(after, Look::Plain);
        self.wide(&marked, 2)
    }

    fn finish(&self, mut lines: Vec<Text>) -> Vec<Text> {
        lines.truncate(self.size.rows.max(1));
        let lines = lines.into_iter();
        lines
            .map(|line| line.cut(self.width).indented(self.margin))
            .collect()
    }
}
