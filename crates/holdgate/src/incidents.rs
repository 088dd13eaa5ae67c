//! `holdgate incidents`: what the ledger says, for people and programs.

use crate::args::{Filter, WrongUse};
use crate::ledger;
use anstyle::{AnsiColor, Style};
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{Action, Masked, Verdict};
use holdgate_effects::json::{Json, LoneSurrogates, shorten};
use holdgate_effects::worded::nearest;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The parts of Holdgate that write records.
const DOORS: [&str; 4] = ["proxy", "hook", "monitor", "run"];

/// How often a followed ledger is looked at.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);

impl Filter {
    fn takes(&self, record: &Json<'_>) -> bool {
        let text = |key: &str| record.get(key).and_then(Json::as_str).unwrap_or_default();
        let verdict = Verdict::from_word(text("verdict"));
        let verdict_fits = match self.verdict {
            Some(wanted) => verdict == Some(wanted),
            None => verdict != Some(Verdict::Allow),
        };
        let since_fits = self.since.is_none_or(|since| {
            humantime::parse_rfc3339(text("time")).is_ok_and(|time| time >= since)
        });
        let session_fits = self.session.as_deref().is_none_or(|s| s == text("session"));
        let door_fits = self.door.as_deref().is_none_or(|d| d == text("door"));
        let rule_fits = self.rule.as_deref().is_none_or(|rule| {
            let findings = record
                .get("findings")
                .and_then(Json::as_array)
                .unwrap_or(&[]);
            let named = |f: &Json<'_>| f.get("rule").and_then(Json::as_str) == Some(rule);
            findings.iter().any(named)
        });
        verdict_fits && since_fits && session_fits && door_fits && rule_fits
    }

    /// Nothing was found: is it because a name is misspelt? All names count that a record has.
    fn check_names(&self, dir: &Path) -> anyhow::Result<()> {
        let mut known = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
        let [rules, doors, sessions] = &mut known;
        for line in ledger::records(dir)? {
            let line = line?;
            let Some(record) = read(&line) else {
                continue;
            };
            let findings = record.get("findings").and_then(Json::as_array);
            let named = findings.unwrap_or_default().iter();
            rules.extend(named.filter_map(|f| Some(f.get_str("rule")?.to_owned())));
            sessions.extend(record.get_str("session").map(str::to_owned));
        }
        let built_in = RuleSet::built_in(Profile::default())?;
        rules.extend(built_in.rules().map(|rule| rule.id.clone()));
        doors.extend(DOORS.map(str::to_owned));
        for (what, wanted, known) in [
            ("rule", &self.rule, rules),
            ("door", &self.door, doors),
            ("session", &self.session, sessions),
        ] {
            let Some(wanted) = wanted.as_ref().filter(|wanted| !known.contains(*wanted)) else {
                continue;
            };
            if let Some(near) = nearest(wanted, known.iter().map(String::as_str)) {
                let wanted = shorten(wanted, 80);
                let what = format!("there is no {what} `{wanted}`, did you mean `{near}`?");
                return Err(WrongUse(what).into());
            }
        }
        Ok(())
    }
}

/// Prints the records of the ledger in `dir` that `filter` takes, or the newest `count` of them.
pub fn print(
    dir: &Path,
    filter: &Filter,
    count: Option<usize>,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut newest = VecDeque::new();
    let mut shown = 0u64;
    for line in ledger::records(dir)? {
        let line = line?;
        let Some(record) = read(&line).filter(|record| filter.takes(record)) else {
            continue;
        };
        shown += 1;
        match count {
            None => print_record(&line, &record, json, out)?,
            Some(count) => {
                newest.push_back(line.clone());
                if newest.len() > count {
                    newest.pop_front();
                }
            }
        }
    }
    for line in &newest {
        if let Some(record) = read(line) {
            print_record(line, &record, json, out)?;
        }
    }
    if shown == 0 {
        filter.check_names(dir)?;
        if !json {
            writeln!(out, "no incidents")?;
        }
    }
    Ok(out.flush()?)
}

/// Prints the records that `filter` takes, also those to come, until the output is closed.
pub fn follow(dir: &Path, filter: &Filter, json: bool, out: &mut impl Write) -> io::Result<()> {
    let mut last = None;
    for path in ledger::files(dir)? {
        let mut reader = BufReader::new(ledger::readable(&path)?);
        print_lines(&mut reader, filter, json, out)?;
        last = Some((path, reader));
    }
    out.flush()?;
    let current = dir.join("ledger.jsonl");
    let reader = last.filter(|(path, _)| *path == current);
    let reader = reader.map(|(_, reader)| reader);
    follow_on(&current, reader, filter, json, out)
}

fn follow_on(
    current: &PathBuf,
    mut reader: Option<BufReader<File>>,
    filter: &Filter,
    json: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    loop {
        if let Some(reader) = &mut reader {
            print_lines(reader, filter, json, out)?;
            out.flush()?;
        }
        let inode = |file: &File| file.metadata().map(|m| m.ino()).ok();
        let now = std::fs::metadata(current).map(|m| m.ino()).ok();
        if now.is_some() && now != reader.as_ref().and_then(|r| inode(r.get_ref())) {
            // Begun, or rotated: what is left of the old file has just been read.
            reader = Some(BufReader::new(ledger::readable(current)?));
        } else {
            std::thread::sleep(FOLLOW_EVERY);
        }
    }
}

fn print_lines(
    reader: &mut BufReader<File>,
    filter: &Filter,
    json: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut line = String::new();
    loop {
        line.clear();
        let read = reader.read_line(&mut line)?;
        if read == 0 {
            return Ok(());
        }
        if !line.ends_with('\n') {
            // Still being written: come back for the whole of it.
            return reader.seek_relative(-i64::try_from(read).unwrap_or_default());
        }
        if let Some(record) = self::read(&line).filter(|record| filter.takes(record)) {
            print_record(&line, &record, json, out)?;
        }
    }
}

/// A record of the ledger.
pub(crate) fn read(line: &str) -> Option<Json<'_>> {
    Json::read(line.as_bytes(), 128, LoneSurrogates::Refuse).ok()
}

fn print_record(line: &str, record: &Json<'_>, json: bool, out: &mut impl Write) -> io::Result<()> {
    if json {
        out.write_all(line.as_bytes())
    } else {
        print_one(record, out)
    }
}

/// A text of a record, for people. What a model or an upstream wrote must not steer the terminal.
/// Records of earlier versions may hold secrets.
pub(crate) fn text_of(json: &Json<'_>, key: &str) -> String {
    Masked::start(json.get_str(key).unwrap_or_default(), 400).into_string()
}

/// A time of a record as the clock on the wall shows it.
pub(crate) fn local_time(text: &str) -> String {
    let time = text.parse::<Timestamp>();
    time.map_or_else(
        |_| text.to_owned(),
        |time| {
            let local = time.to_zoned(TimeZone::system());
            local.strftime("%Y-%m-%d %H:%M:%S").to_string()
        },
    )
}

/// What was done, in the words of the summary of `holdgate run`.
pub(crate) fn done(record: &Json<'_>) -> String {
    let action = text_of(record, "action");
    let done = match Action::from_word(&action) {
        Some(Action::Sent) => "passed",
        Some(Action::Explained | Action::ExplainedAndContinued) => "refused",
        Some(Action::ResponseEnded) => "the response ended",
        Some(Action::LeftOut) => "left out",
        Some(Action::Asked) => "asked",
        Some(Action::Marked) => "marked as data",
        Some(Action::Forwarded) => "forwarded",
        Some(Action::LeftToClient) => "left to the client",
        // The monitor has words of its own.
        None => &action,
    };
    match text_of(record, "answer") {
        none if none.is_empty() => done.to_owned(),
        answer => format!("{done} (answer: {answer})"),
    }
}

/// A record in a few lines.
pub(crate) fn print_one(record: &Json<'_>, out: &mut impl Write) -> io::Result<()> {
    let text = |key: &str| text_of(record, key);
    let verdict = text("verdict");
    let style = verdict_style(&verdict);
    let subject = match text("tool") {
        tool if tool.is_empty() => text("subject"),
        tool if text("subject") == "result" => format!("result of {tool}"),
        tool => tool,
    };
    let dim = Style::new().dimmed();
    writeln!(
        out,
        "{dim}{}{dim:#}  {style}{verdict:<5}{style:#}  {subject}  {dim}{}  session {}  {}{dim:#}",
        local_time(&text("time")),
        text("id"),
        shorten(&text("session"), 36),
        done(record),
    )?;
    if let Some(input) = record.get("input") {
        let input = Masked::json(input.clone());
        writeln!(out, "    {}", shorten(&input, 160))?;
    }
    for finding in record
        .get("findings")
        .and_then(Json::as_array)
        .unwrap_or(&[])
    {
        let text = |key: &str| text_of(finding, key);
        writeln!(
            out,
            "    {} ({}): {}",
            text("rule"),
            text("layer"),
            text("reason")
        )?;
    }
    if !text("reason").is_empty() {
        writeln!(out, "    {}", text("reason"))?;
    }
    Ok(())
}

/// The colour of a verdict.
pub fn verdict_style(verdict: &str) -> Style {
    let color = match Verdict::from_word(verdict) {
        Some(Verdict::Allow) => AnsiColor::Green,
        Some(Verdict::Audit) => AnsiColor::Cyan,
        Some(Verdict::Ask) => AnsiColor::Yellow,
        Some(Verdict::Block | Verdict::Kill) | None => AnsiColor::Red,
    };
    color.on_default().bold()
}
