//! `holdgate setup` and `holdgate uninstall`: our hook in the settings of agents.
//!
//! To set up is to take out what is there of ours, and to put in what should be. The receipt keeps
//! the files as they were: one that nobody has changed since gets its old bytes back, and from any
//! other only our entries are taken out.

pub(crate) mod disk;
mod json;
pub(crate) mod plan;
mod receipt;
mod toml;

use crate::args::{HookAgent, SetupArgs, UninstallArgs};
use crate::config::Config;
use anyhow::Context as _;
use plan::{Content, File, Here, Plan};
use receipt::{Receipt, Written};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Puts the hook into the settings of agents.
pub fn run(args: &SetupArgs, config: &Config, out: &mut impl Write) -> anyhow::Result<()> {
    let here = here(config)?;
    let agents = match args.agent {
        Some(agent) => vec![agent],
        None => HookAgent::ALL
            .into_iter()
            .filter(|a| here.has(*a))
            .collect(),
    };
    if agents.is_empty() {
        let names: Vec<&str> = HookAgent::ALL.iter().map(|agent| agent.name()).collect();
        writeln!(
            out,
            "no agent was found ({}); if one is installed elsewhere, name it with `--agent`",
            names.join(", ")
        )?;
    }
    for agent in agents {
        let plan = here.plan(agent, args.proxy);
        let mut receipt = Receipt::load(&config.state_dir, agent)?;
        let changes = wanted(&plan, &receipt)?;
        show(agent, &changes, out)?;
        if let Some(why) = plan.left_out {
            writeln!(out, "{}: not sent through the proxy: {why}", agent.name())?;
        }
        if changes.is_empty() || args.dry_run {
            continue;
        }
        keep(&mut receipt, &changes);
        receipt.save()?;
        apply(&changes)?;
        let kept = receipt.place().display();
        writeln!(
            out,
            "{}: done; the files as they were are in {kept}",
            agent.name()
        )?;
    }
    Ok(())
}

/// Takes out what `run` has put in.
pub fn uninstall(
    args: &UninstallArgs,
    config: &Config,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let here = here(config)?;
    let agents = args
        .agent
        .map_or(HookAgent::ALL.to_vec(), |agent| vec![agent]);
    let mut found = args.agent.is_some();
    for agent in agents {
        let plan = here.plan(agent, true);
        let receipt = Receipt::load(&config.state_dir, agent)?;
        let changes = unwanted(&plan, &receipt)?;
        found |= !changes.is_empty();
        if !changes.is_empty() || args.agent.is_some() {
            show(agent, &changes, out)?;
        }
        if !args.dry_run {
            apply(&changes)?;
            receipt.remove()?;
        }
    }
    if !found {
        writeln!(out, "no agent's settings have anything of Holdgate's")?;
    }
    Ok(())
}

pub(crate) fn here(config: &Config) -> anyhow::Result<Here> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let variables = std::env::vars_os().filter_map(text).collect();
    let program = std::env::current_exe().context("this program's file is not known")?;
    Here::new(config, variables, program)
}

/// Whether the hook is in the agent's settings as it should be.
pub(crate) fn is_set_up(plan: &Plan) -> anyhow::Result<bool> {
    let mut hooks = None;
    for file in &plan.files {
        let Some(text) = disk::read(&file.path)? else {
            return Ok(false);
        };
        let there = match &file.content {
            Content::Entries(entries) => json::has_all(&text, entries),
            Content::Whole(whole) => text == *whole,
            Content::CodexTrust { hooks: path, .. } => {
                let of = hooks.as_deref().unwrap_or_default();
                let tables = plan::codex_trust(path, of, &plan.command)?;
                trusts(&text, &tables)
            }
        };
        if !there {
            return Ok(false);
        }
        hooks = Some(text);
    }
    Ok(true)
}

/// A setting with which an agent ignores all hooks.
pub(crate) fn switched_off(plan: &Plan) -> anyhow::Result<Option<String>> {
    let settings: [&[&str]; 3] = [
        &["disableAllHooks"],
        &["hooksConfig", "enabled"],
        &["tools", "enableHooks"],
    ];
    for file in &plan.files {
        let text = disk::read(&file.path)?.unwrap_or_default();
        for path in settings {
            let off = if path.len() == 1 { "true" } else { "false" };
            if json::value(&text, path).as_deref() == Some(off) {
                let name = path.join(".");
                return Ok(Some(format!(
                    "`{name}` is {off} in {}",
                    file.path.display()
                )));
            }
        }
    }
    Ok(None)
}

/// Whether Codex trusts what these tables name, wherever they stand.
fn trusts(text: &str, tables: &str) -> bool {
    let state = |text: &str| {
        let table = text.parse::<::toml::Table>().ok()?;
        table.get("hooks")?.get("state")?.as_table().cloned()
    };
    let (Some(has), Some(wants)) = (state(text), state(tables)) else {
        return false;
    };
    wants.iter().all(|(key, hash)| {
        let there = has.get(key).and_then(|entry| entry.get("trusted_hash"));
        there == hash.get("trusted_hash")
    })
}

/// A file that changes.
struct Change {
    path: PathBuf,
    /// Its text without ours; `None` if it is not there.
    base: Option<String>,
    old: Option<String>,
    new: Option<String>,
    /// Folders that were made for it by an earlier setup.
    made: Vec<PathBuf>,
}

/// What must change so that all is as planned.
fn wanted(plan: &Plan, receipt: &Receipt) -> anyhow::Result<Vec<Change>> {
    let mut changes = Vec::new();
    let mut hooks = String::new();
    for file in &plan.files {
        let shown = || file.path.display().to_string();
        let old = disk::read(&file.path)?;
        let base = without_ours(plan.agent, file, old.as_deref(), receipt).with_context(shown)?;
        let text = base.as_deref().unwrap_or_default();
        let new = match &file.content {
            Content::Entries(entries) => {
                let is_there = old
                    .as_deref()
                    .is_some_and(|old| json::has_all(old, entries));
                match &old {
                    // The user has written around it.
                    Some(old)
                        if is_there
                            && receipt.of(&file.path).is_none_or(|w| !w.is_untouched(old)) =>
                    {
                        old.clone()
                    }
                    _ => json::add(text, entries).with_context(shown)?,
                }
            }
            Content::Whole(whole) => {
                if base.is_some() {
                    anyhow::bail!("{} is there already and is not Holdgate's", shown());
                }
                whole.clone()
            }
            Content::CodexTrust { hooks: path, proxy } => {
                let mut tables = plan::codex_trust(path, &hooks, &plan.command)?;
                let settings = match proxy {
                    Some(address) => {
                        tables.push_str(&provider(address));
                        "model_provider = \"holdgate\"\n"
                    }
                    None => "",
                };
                toml::add(text, settings, &tables).with_context(shown)?
            }
        };
        hooks.clone_from(&new);
        let made = receipt.of(&file.path).map(|written| written.made.clone());
        changes.push(Change {
            path: file.path.clone(),
            base,
            old,
            new: Some(new),
            made: made.unwrap_or_else(|| missing(&file.path)),
        });
    }
    changes.retain(|change| change.new != change.old);
    Ok(changes)
}

/// Codex's settings for a provider at this address.
fn provider(address: &str) -> String {
    format!(
        "[model_providers.holdgate]\nname = \"Holdgate\"\nbase_url = {}\nwire_api = \
         \"responses\"\nrequires_openai_auth = true\n",
        toml::quoted(&format!("{address}/v1"))
    )
}

/// What must change so that nothing of ours is left.
fn unwanted(plan: &Plan, receipt: &Receipt) -> anyhow::Result<Vec<Change>> {
    let mut changes = Vec::new();
    let planned = |path: &Path| plan.files.iter().find(|file| file.path == path);
    let change = |path: &Path, old: Option<String>, new: Option<String>| {
        let written = receipt.of(path);
        Change {
            path: path.to_owned(),
            base: None,
            old,
            new,
            made: written.map_or_else(Vec::new, |written| written.made.clone()),
        }
    };
    for file in &plan.files {
        let old = disk::read(&file.path)?;
        let shown = || file.path.display().to_string();
        let new = without_ours(plan.agent, file, old.as_deref(), receipt).with_context(shown)?;
        changes.push(change(&file.path, old, new));
    }
    // Where its settings were when it was set up.
    for written in receipt.files.iter().filter(|w| planned(&w.path).is_none()) {
        let old = disk::read(&written.path)?;
        if old.as_deref().is_some_and(|old| written.is_untouched(old)) {
            changes.push(change(&written.path, old, written.before.clone()));
        }
    }
    changes.retain(|change| change.new != change.old);
    Ok(changes)
}

/// A file's text without what is ours; `None` if it should not be there.
fn without_ours(
    agent: HookAgent,
    file: &File,
    text: Option<&str>,
    receipt: &Receipt,
) -> anyhow::Result<Option<String>> {
    let Some(text) = text else {
        return Ok(None);
    };
    let written = receipt.of(&file.path);
    if let Some(written) = written
        && written.is_untouched(text)
    {
        return Ok(written.before.clone());
    }
    let before = written.and_then(|written| written.before.as_deref());
    match &file.content {
        Content::Entries(entries) => {
            let is_ours = |command: &str| plan::is_ours(agent, command);
            json::remove(text, before, entries, &is_ours)
        }
        Content::CodexTrust { .. } => {
            let rest = toml::remove(text, before);
            let is_new = written.is_some() && before.is_none();
            Ok(Some(rest).filter(|rest| !(is_new && rest.is_empty())))
        }
        Content::Whole(whole) => {
            let first = |text: &str| text.lines().next().map(str::to_owned);
            Ok((first(text) != first(whole)).then(|| text.to_owned()))
        }
    }
}

/// The folders above a file that are not there.
fn missing(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).take_while(|dir| !dir.exists());
    let mut missing: Vec<PathBuf> = above.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Notes what is about to be written.
fn keep(receipt: &mut Receipt, changes: &[Change]) {
    for change in changes {
        receipt.files.retain(|written| written.path != change.path);
        let after = change.new.as_deref().unwrap_or_default();
        let made = change.made.clone();
        let written = Written::new(&change.path, change.base.clone(), after, made);
        receipt.files.push(written);
    }
}

fn apply(changes: &[Change]) -> anyhow::Result<()> {
    for change in changes {
        if disk::read(&change.path)? != change.old {
            let path = change.path.display();
            anyhow::bail!("{path} was changed by another program meanwhile; run it again");
        }
        match &change.new {
            Some(new) => disk::write(&change.path, new)?,
            None => disk::remove(&change.path, &change.made)?,
        }
    }
    Ok(())
}

/// Shows what changes, line by line.
fn show(agent: HookAgent, changes: &[Change], out: &mut impl Write) -> anyhow::Result<()> {
    if changes.is_empty() {
        writeln!(out, "{}: nothing to change", agent.name())?;
    }
    for change in changes {
        let of = |text: &Option<String>| text.clone().unwrap_or_default();
        let (old, new) = (of(&change.old), of(&change.new));
        writeln!(out, "{}: {}", agent.name(), change.path.display())?;
        for line in differing(&old, &new) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The lines that differ, between those that both texts begin and end with.
fn differing(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let start = same(&mut old.iter().zip(&new));
    let room = old.len().min(new.len()) - start;
    let end = same(&mut old.iter().rev().zip(new.iter().rev())).min(room);
    let middle = |lines: &[&str], sign: char| {
        let inner = lines.get(start..lines.len() - end).unwrap_or_default();
        inner
            .iter()
            .map(|line| format!("{sign} {line}"))
            .collect::<Vec<_>>()
    };
    let mut shown = middle(&old, '-');
    shown.extend(middle(&new, '+'));
    shown
}

#[cfg(test)]
mod tests;
