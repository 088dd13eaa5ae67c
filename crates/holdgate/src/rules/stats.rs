//! `holdgate rules stats`: how often each rule fired, from the ledger, and how often a person
//! decided otherwise.

use crate::ledger;
use holdgate_core::rules::{RuleSet, Stage};
use holdgate_effects::json::{Json, LoneSurrogates, shorten};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Write};
use std::path::Path;
use std::time::SystemTime;

/// Answers of a person that let a call pass.
const OVERRIDES: [&str; 3] = ["once", "session", "rule"];
const VERDICTS: [&str; 4] = ["audit", "ask", "block", "kill"];

/// What one rule did.
#[derive(Debug, Default)]
struct Fired {
    /// By verdict, in the order of [`VERDICTS`].
    by: [u64; VERDICTS.len()],
    /// Hashes of the sessions, of which there may be many.
    sessions: HashSet<u64>,
    overridden: u64,
    last: String,
}

impl Fired {
    fn times(&self) -> u64 {
        self.by.iter().sum()
    }
}

/// Prints what the rules did according to the ledger in `dir`.
pub(super) fn run(
    dir: &Path,
    since: Option<SystemTime>,
    set: &RuleSet,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let mut fired = count(dir, since)?;
    let trial = |rule: &str| set.rule(rule).is_some_and(|r| r.stage == Stage::Trial);
    // Whoever put a rule on trial also wants to know that it has not fired.
    for rule in set.rules().filter(|r| r.stage == Stage::Trial) {
        fired.entry(rule.id.clone()).or_default();
    }
    if json {
        let rules = fired
            .iter()
            .map(|(rule, fired)| to_json(rule, fired, trial(rule)));
        writeln!(out, "{}", Json::Array(rules.collect()))?;
        return Ok(true);
    }
    let mut rows: Vec<_> = fired.iter().collect();
    rows.sort_by_key(|(rule, fired)| (std::cmp::Reverse(fired.times()), *rule));
    let shown = |rule: &str| shorten(rule, 60);
    let width = rows
        .iter()
        .map(|(r, _)| shown(r).len())
        .max()
        .unwrap_or(0)
        .max(4);
    writeln!(
        out,
        "{:<width$}  {:>6}  {:>6}  {:>6}  {:>6}  {:>6}  {:>8}  {:>10}  last",
        "rule", "times", "audit", "ask", "block", "kill", "sessions", "overridden"
    )?;
    for (rule, fired) in &rows {
        let [audit, ask, block, kill] = fired.by;
        writeln!(
            out,
            "{:<width$}  {:>6}  {audit:>6}  {ask:>6}  {block:>6}  {kill:>6}  {:>8}  {:>10}  {}{}",
            shown(rule),
            fired.times(),
            fired.sessions.len(),
            fired.overridden,
            if fired.last.is_empty() {
                "-"
            } else {
                &fired.last
            },
            if trial(rule) { "  (trial)" } else { "" },
        )?;
    }
    let silent = set.rules().filter(|r| !fired.contains_key(&r.id)).count();
    writeln!(
        out,
        "{silent} of {} rules have not matched",
        set.rules().count()
    )?;
    Ok(true)
}

fn count(dir: &Path, since: Option<SystemTime>) -> anyhow::Result<BTreeMap<String, Fired>> {
    let mut fired: BTreeMap<String, Fired> = BTreeMap::new();
    let hasher = RandomState::new();
    for path in ledger::files(dir)? {
        for line in BufReader::new(File::open(path)?).split(b'\n') {
            let line = line?;
            let Ok(record) = Json::read(&line, 128, LoneSurrogates::Refuse) else {
                continue;
            };
            let text = |key: &str| record.get(key).and_then(Json::as_str).unwrap_or_default();
            let is_recent = since.is_none_or(|since| {
                humantime::parse_rfc3339(text("time")).is_ok_and(|time| time >= since)
            });
            // A question is followed by the decision, with the same findings.
            if !is_recent || text("action") == "asked" {
                continue;
            }
            let overridden = OVERRIDES.contains(&text("answer"));
            let findings = record.get("findings").and_then(Json::as_array);
            for finding in findings.unwrap_or_default() {
                let text_of = |key| finding.get(key).and_then(Json::as_str).unwrap_or_default();
                let Some(at) = VERDICTS.iter().position(|v| *v == text_of("verdict")) else {
                    continue;
                };
                let rule = fired.entry(text_of("rule").to_owned()).or_default();
                if let Some(count) = rule.by.get_mut(at) {
                    *count += 1;
                }
                if !text("session").is_empty() {
                    rule.sessions.insert(hasher.hash_one(text("session")));
                }
                rule.overridden += u64::from(overridden && text_of("verdict") == "ask");
                if text("time") > rule.last.as_str() {
                    rule.last = shorten(text("time"), 40);
                }
            }
        }
    }
    Ok(fired)
}

fn to_json(rule: &str, fired: &Fired, trial: bool) -> Json<'static> {
    let mut json = Json::object([
        ("rule", rule.to_owned().into()),
        ("times", fired.times().into()),
        ("sessions", (fired.sessions.len() as u64).into()),
        ("overridden", fired.overridden.into()),
        ("trial", Json::Bool(trial)),
    ]);
    for (verdict, count) in VERDICTS.iter().zip(fired.by) {
        json.set(verdict, count.into());
    }
    if !fired.last.is_empty() {
        json.set("last", fired.last.clone().into());
    }
    json
}
