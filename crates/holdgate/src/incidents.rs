//! `holdgate incidents`: what the ledger says, for people and programs.

use crate::args::Filter;
use crate::ledger;
use anstyle::{AnsiColor, Style};
use holdgate_core::{Masked, Verdict};
use holdgate_effects::json::{Json, LoneSurrogates, shorten};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
}

/// Prints the records of the ledger in `dir` that `filter` takes; with `follow`, also those to
/// come, until the output is closed.
pub fn print(
    dir: &Path,
    filter: &Filter,
    json: bool,
    follow: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut shown = 0u64;
    let mut last = None;
    for path in ledger::files(dir)? {
        let mut reader = BufReader::new(ledger::readable(&path)?);
        shown += print_lines(&mut reader, filter, json, out)?;
        last = Some((path, reader));
    }
    if shown == 0 && !json && !follow {
        writeln!(out, "no incidents")?;
    }
    out.flush()?;
    if follow {
        let current = dir.join("ledger.jsonl");
        let reader = last
            .filter(|(path, _)| *path == current)
            .map(|(_, reader)| reader);
        return follow_on(&current, reader, filter, json, out);
    }
    Ok(())
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
) -> io::Result<u64> {
    let mut shown = 0;
    let mut line = String::new();
    loop {
        line.clear();
        let read = reader.read_line(&mut line)?;
        if read == 0 {
            return Ok(shown);
        }
        if !line.ends_with('\n') {
            // Still being written: come back for the whole of it.
            reader.seek_relative(-i64::try_from(read).unwrap_or_default())?;
            return Ok(shown);
        }
        let Ok(record) = Json::read(line.as_bytes(), 128, LoneSurrogates::Refuse) else {
            continue;
        };
        if filter.takes(&record) {
            shown += 1;
            if json {
                out.write_all(line.as_bytes())?;
            } else {
                print_one(&record, out)?;
            }
        }
    }
}

fn print_one(record: &Json<'_>, out: &mut impl Write) -> io::Result<()> {
    // What a model or an upstream wrote must not steer the terminal. Records of earlier versions may
    // hold secrets.
    let text_of = |json: &Json<'_>, key: &str| {
        let text = json.get(key).and_then(Json::as_str).unwrap_or_default();
        Masked::start(text, 400).into_string()
    };
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
        text("time"),
        text("id"),
        shorten(&text("session"), 36),
        match text("answer") {
            none if none.is_empty() => text("action"),
            answer => format!("{} (answer: {answer})", text("action")),
        },
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
