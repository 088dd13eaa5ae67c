//! `holdgate why`: one decision explained, and the exception that would let the call pass.

use crate::args::{WhyArgs, WrongUse};
use crate::asks::allow::{self, Limits, RulesFile};
use crate::asks::once::{LASTS, Once, Ticket};
use crate::asks::shown::effect_line;
use crate::asks::typed::Tty;
use crate::config::Config;
use crate::incidents::{self, local_time, print_one, text_of, verdict_style};
use crate::ledger::{self, Ledger};
use anstyle::Style;
use anyhow::{Context as _, bail};
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{Allowance, Finding, LayerName, Masked, Verdict};
use holdgate_effects::json::{Json, shorten};
use holdgate_effects::worded::nearest;
use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

/// Decisions of the same session that are shown before it.
const BEFORE: usize = 3;
/// Characters of the start of an id that name one.
const MIN_ID: usize = 4;
/// Characters of the call that are shown.
const MAX_CALL: usize = 2_000;

/// Explains the decision and, if it is wanted and a person confirms it, writes the exception.
pub fn run(args: &WhyArgs, config: &Config, out: &mut impl Write) -> anyhow::Result<()> {
    if args.apply {
        return apply(args, config, out);
    }
    show(&args.id, args.json, &config.state_dir, out)?;
    if args.json {
        return Ok(());
    }
    offer(args, config, out)
}

/// Explains the decision with this id.
pub fn show(id: &str, json: bool, dir: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let found = find(dir, id)?;
    if json {
        return Ok(out.write_all(found.line.as_bytes())?);
    }
    explain(&found, out)
}

/// A decision, and those before it.
struct Found {
    line: String,
    before: VecDeque<String>,
}

/// The last record whose id is `id`, or begins so, if no other does.
fn find(dir: &Path, id: &str) -> anyhow::Result<Found> {
    let id = id.trim();
    let mut ids: Vec<String> = Vec::new();
    for line in ledger::records(dir)? {
        let line = line?;
        let known = incidents::read(&line).and_then(|r| Some(r.get_str("id")?.to_owned()));
        if let Some(known) = known.filter(|known| ids.last() != Some(known)) {
            ids.push(known);
        }
    }
    let whole = ids.iter().find(|known| *known == id);
    let starts = ids
        .iter()
        .filter(|known| known.starts_with(id) && id.len() >= MIN_ID);
    let mut starts: Vec<&String> = starts.collect();
    starts.dedup();
    let id = match (whole, starts.as_slice()) {
        (Some(id), _) => id.clone(),
        (None, [id]) => (*id).clone(),
        (None, []) => {
            let near = nearest(id, ids.iter().map(String::as_str));
            let hint = match near {
                _ if ids.is_empty() => ": the ledger has no decisions yet".to_owned(),
                Some(near) => format!(", did you mean `{near}`?"),
                None => "; `holdgate incidents` lists them".to_owned(),
            };
            let id = shorten(id, 80);
            return Err(WrongUse(format!("there is no incident `{id}`{hint}")).into());
        }
        (None, several) => {
            let several: Vec<&str> = several.iter().take(5).map(|id| id.as_str()).collect();
            let what = format!(
                "`{}` is the start of several incidents: {}",
                shorten(id, 80),
                several.join(", ")
            );
            return Err(WrongUse(what).into());
        }
    };
    with_id(dir, &id)?.with_context(|| format!("the record of {id} cannot be read"))
}

fn with_id(dir: &Path, id: &str) -> anyhow::Result<Option<Found>> {
    let mut last = None;
    for line in ledger::records(dir)? {
        let line = line?;
        if incidents::read(&line).is_some_and(|record| record.get_str("id") == Some(id)) {
            last = Some(line);
        }
    }
    let Some(line) = last else {
        return Ok(None);
    };
    let session = incidents::read(&line).and_then(|r| Some(r.get_str("session")?.to_owned()));
    let mut before = VecDeque::new();
    for earlier in ledger::records(dir)? {
        let earlier = earlier?;
        if earlier == line || session.is_none() {
            break;
        }
        let is_of_session = incidents::read(&earlier).is_some_and(|record| {
            record.get_str("session") == session.as_deref() && record.get_str("id") != Some(id)
        });
        if is_of_session {
            before.push_back(earlier);
        }
        if before.len() > BEFORE {
            before.pop_front();
        }
    }
    Ok(Some(Found { line, before }))
}

fn explain(found: &Found, out: &mut impl Write) -> anyhow::Result<()> {
    let record = incidents::read(&found.line).context("the record cannot be read")?;
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let text = |key: &str| text_of(&record, key);
    let (verdict, tool) = (text("verdict"), text("tool"));
    let style = verdict_style(&verdict);
    writeln!(
        out,
        "{bold}{}{bold:#}  {style}{verdict}{style:#}  {}  {dim}session {}{dim:#}",
        text("id"),
        local_time(&text("time")),
        shorten(&text("session"), 36),
    )?;
    writeln!(out, "  done: {}", incidents::done(&record))?;
    if !text("project").is_empty() {
        writeln!(out, "  project: {}", text("project"))?;
    }
    let input = record.get("input").map(|input| Masked::json(input.clone()));
    let cut = record.get_str("input_start");
    if let Some(input) = input.as_deref().or(cut) {
        writeln!(out, "\n{bold}The call{bold:#}")?;
        writeln!(out, "  {tool}  {}", shorten(input, MAX_CALL))?;
    }
    let effects = record.get("effects").and_then(Json::as_array);
    if let Some(effects) = effects.filter(|effects| !effects.is_empty()) {
        writeln!(out, "\n{bold}What it would do{bold:#}")?;
        for effect in effects {
            writeln!(out, "  {}", effect_line(effect))?;
        }
    }
    let findings = record.get("findings").and_then(Json::as_array);
    if let Some(findings) = findings.filter(|findings| !findings.is_empty()) {
        writeln!(out, "\n{bold}Findings{bold:#}")?;
        for finding in findings {
            let text = |key: &str| text_of(finding, key);
            let style = verdict_style(&text("verdict"));
            let (word, rule, layer) = (text("verdict"), text("rule"), text("layer"));
            writeln!(
                out,
                "  {style}{word}{style:#} {rule} ({layer}): {}",
                text("reason")
            )?;
            for (label, key) in [("matched", "evidence"), ("instead", "instead")] {
                if !text(key).is_empty() {
                    writeln!(out, "    {label}: {}", text(key))?;
                }
            }
        }
    }
    if !found.before.is_empty() {
        writeln!(out, "\n{bold}Before it in this session{bold:#}")?;
        for line in &found.before {
            if let Some(record) = incidents::read(line) {
                print_one(&record, out)?;
            }
        }
    }
    if let Some(told) = record.get_str("told") {
        writeln!(out, "\n{bold}What the model was told{bold:#}")?;
        for line in told.lines() {
            writeln!(out, "  {}", Masked::start(line, 400).into_string())?;
        }
    }
    Ok(())
}

/// The exception that lets the call pass, with its limits, or why there is none.
fn exception(args: &WhyArgs, record: &Json<'_>) -> Result<(String, Limits), String> {
    if let Some(why) = record.get_str("no_exception") {
        return Err(why.to_owned());
    }
    let allowances = record.get("exception").and_then(Json::as_array);
    let Some(allowances) = allowances.filter(|all| !all.is_empty()) else {
        return Err("the record is not about a call that was refused".to_owned());
    };
    let allowances: Option<Vec<Allowance>> = allowances.iter().map(Allowance::from_json).collect();
    let allowances = allowances.ok_or("the record cannot be read")?;
    let rules = RuleSet::built_in(Profile::default()).map_err(|errors| errors.to_string())?;
    let protecting = allowances.iter().find(|a| rules.protects_holdgate(&a.rule));
    if let Some(allowance) = protecting {
        let rule = &allowance.rule;
        return Err(format!(
            "`{rule}` protects Holdgate itself and has no exceptions"
        ));
    }
    let project = record.get_str("project").filter(|_| !args.everywhere);
    if project.is_none() && !args.everywhere {
        return Err(
            "the agent's project is not known; with --everywhere, the exception holds in \
                    every project"
                .to_owned(),
        );
    }
    let limits = Limits {
        project: project.map(str::to_owned),
        until: args.time.map(|time| SystemTime::now() + time),
    };
    let id = record.get_str("id").unwrap_or_default();
    Ok((allow::rules(id, &allowances, &limits), limits))
}

/// Shows the exception and how to write it.
fn offer(args: &WhyArgs, config: &Config, out: &mut impl Write) -> anyhow::Result<()> {
    let found = find(&config.state_dir, &args.id)?;
    let record = incidents::read(&found.line).context("the record cannot be read")?;
    let bold = Style::new().bold();
    match exception(args, &record) {
        Ok((yaml, _)) => {
            writeln!(out, "\n{bold}If the call was right{bold:#}")?;
            writeln!(out, "  this exception lets exactly it pass:")?;
            for line in yaml.lines() {
                writeln!(out, "    {}", shorten(line, 1_000))?;
            }
            writeln!(
                out,
                "  holdgate why {} --apply writes it; --everywhere for all projects, --for 2h for \
                 some time; --once lets the call pass one time instead",
                text_of(&record, "id")
            )?;
        }
        Err(_) if record.get("effects").is_none() => {}
        Err(why) => {
            writeln!(out, "\n{bold}No exception can be written{bold:#}")?;
            writeln!(out, "  {}", shorten(&why, 400))?;
        }
    }
    Ok(())
}

/// Lets the call of a record pass one time, if a person confirms it.
fn apply_once(
    record: &Json<'_>,
    limits: Limits,
    config: &Config,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let id = text_of(record, "id");
    let Some(input) = record.get("input").map(Json::text) else {
        bail!("the call of {id} is too long to be recorded whole; leave --once away");
    };
    let findings = record.get("findings").and_then(Json::as_array);
    let against = findings.unwrap_or_default().iter().filter(|finding| {
        let verdict = finding.get_str("verdict").and_then(Verdict::from_word);
        verdict.is_none_or(|verdict| !verdict.lets_pass())
    });
    let ticket = Ticket {
        id: id.clone(),
        tool: record.get_str("tool").unwrap_or_default().to_owned(),
        input,
        rules: against.map(|finding| text_of(finding, "rule")).collect(),
        project: limits.project,
        until: limits.until.unwrap_or_else(|| SystemTime::now() + LASTS),
    };
    let mut tty = Tty::of_person("allow a call")?;
    let place = match &ticket.project {
        Some(project) => format!("in {project}"),
        None => "in every project".to_owned(),
    };
    writeln!(
        out,
        "    {}  {}",
        shorten(&ticket.tool, 80),
        shorten(&ticket.input, MAX_CALL)
    )?;
    out.flush()?;
    let typed = tty.ask(&format!(
        "Let exactly this call pass one time, {place}? [y/N] "
    ))?;
    if !matches!(typed.trim(), "y" | "yes") {
        bail!("nothing was changed");
    }
    let ledger = Ledger::open(&config.state_dir, config.ledger)
        .with_context(|| format!("cannot open the ledger in {}", config.state_dir.display()))?;
    let reason = format!("the call of the incident {id} may pass one time");
    let finding = Finding::audit(LayerName::Operator, "exception", reason);
    ledger.append_event("operator", "told", &finding)?;
    Once::of(&config.state_dir).allow(&ticket)?;
    writeln!(out, "the call passes the next time, and only then")?;
    Ok(())
}

fn apply(args: &WhyArgs, config: &Config, out: &mut impl Write) -> anyhow::Result<()> {
    let found = find(&config.state_dir, &args.id)?;
    let record = incidents::read(&found.line).context("the record cannot be read")?;
    let id = text_of(&record, "id");
    let (yaml, limits) = match exception(args, &record) {
        Ok(exception) => exception,
        Err(why) => bail!("no exception for {id} can be written: {why}"),
    };
    if args.once {
        return apply_once(&record, limits, config, out);
    }
    let mut tty = Tty::of_person("write an exception")?;
    let know = crate::own::knowledge()?;
    let file = RulesFile::of(config, know);
    let file = file.context("there is no folder for rules: neither HOME nor --config is set")?;
    for line in yaml.lines() {
        writeln!(out, "    {}", shorten(line, 1_000))?;
    }
    out.flush()?;
    let place = file.path.display();
    let typed = tty.ask(&format!("Write this to {place}? [y/N] "))?;
    if !matches!(typed.trim(), "y" | "yes") {
        bail!("nothing was written");
    }
    let ledger = Ledger::open(&config.state_dir, config.ledger)
        .with_context(|| format!("cannot open the ledger in {}", config.state_dir.display()))?;
    let reason = format!("an exception was written for the incident {id}");
    let finding = Finding::audit(LayerName::Operator, "exception", reason);
    ledger.append_event("operator", "told", &finding)?;
    file.append(&yaml, &limits).map_err(anyhow::Error::msg)?;
    writeln!(
        out,
        "written to {place}; a running proxy uses it within a second"
    )?;
    Ok(())
}
