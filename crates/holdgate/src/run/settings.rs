//! The settings files of an agent: what in them sends its requests past the proxy, before it starts
//! and while it runs.

mod read;

use super::started::Started;
use crate::agents::{Agent, Detour, Place, SettingsFile, Whose};
use holdgate_effects::json::shorten;
pub(super) use read::json;
use read::{pairs, read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Files of a folder, and folders from the working folder up to the root of its repository.
const MAX_FILES: usize = 64;
const MAX_DEPTH: usize = 64;

/// Where the agent works, and for whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Here {
    pub(super) root: PathBuf,
    pub(super) home: Option<PathBuf>,
    pub(super) folder: Option<PathBuf>,
}

/// Something in the settings that concerns the way of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The file; `None` for the environment and the command line.
    pub(super) file: Option<PathBuf>,
    pub(super) whose: Whose,
    pub(super) name: String,
    pub(super) value: String,
    pub(super) leads: Leads,
}

/// Where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// Past the proxy, to this provider.
    Past(String),
    /// To another address, over which the proxy's goes, unless the file is a managed one.
    Elsewhere,
}

impl Found {
    /// Whether what the agent is given does not help against it.
    pub(super) fn goes_over_us(&self) -> bool {
        self.whose == Whose::Managed
    }

    pub(super) fn place(&self) -> String {
        match &self.file {
            Some(file) => file.display().to_string(),
            None => "the environment or the command line".to_owned(),
        }
    }

    /// As a phrase: what is set, where, and where it leads.
    pub(super) fn phrase(&self) -> String {
        let to = match &self.leads {
            Leads::Past(to) => to.clone(),
            Leads::Elsewhere => format!("`{}`", shorten(&self.value, 200)),
        };
        format!("`{}` in {} sends requests to {to}", self.name, self.place())
    }
}

/// What the environment, the command line and the settings files say about the way of requests.
pub(super) fn look(
    started: &Started<'_>,
    here: &Here,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<Found> {
    let agent = started.agent;
    let mut found = Vec::new();
    let outside = |detour: &Detour, value: Option<String>| {
        let value = value.filter(|value| detour.value.takes(value))?;
        Some(Found {
            file: None,
            whose: Whose::User,
            name: detour.name.to_owned(),
            value,
            leads: Leads::Past(detour.to.to_owned()),
        })
    };
    for detour in agent.variables {
        let value = started.assigned(detour.name);
        found.extend(outside(detour, value.or_else(|| variable(detour.name))));
    }
    for detour in agent.arguments {
        found.extend(outside(detour, started.argument(detour.name)));
    }
    for (file, path) in paths(agent, here, variable) {
        found.extend(in_file(agent, file, &path));
    }
    found
}

/// All settings files of an agent that there may be.
fn paths(
    agent: &'static Agent,
    here: &Here,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<(&'static SettingsFile, PathBuf)> {
    let mut paths = Vec::new();
    for file in agent.files {
        let folders = match file.place {
            Place::Root => vec![here.root.clone()],
            Place::Home => here.home.iter().cloned().collect(),
            Place::Named(name, usual) => {
                let named = variable(name).filter(|dir| !dir.is_empty());
                let usual = || here.home.as_ref().map(|home| home.join(usual));
                named
                    .map(PathBuf::from)
                    .or_else(usual)
                    .into_iter()
                    .collect()
            }
            Place::Project => here.folder.as_deref().map(project).unwrap_or_default(),
        };
        for folder in folders {
            let path = folder.join(file.path);
            let ends = |path: &Path, end: &str| path.extension().is_some_and(|e| e == end);
            if ends(&path, "d") {
                let listed = std::fs::read_dir(&path).into_iter().flatten().flatten();
                let inside = listed.take(MAX_FILES).map(|entry| entry.path());
                let json = inside.filter(|path| ends(path, "json"));
                paths.extend(json.map(|path| (file, path)));
            } else {
                paths.push((file, path));
            }
        }
    }
    paths
}

/// The folder itself, and the root of the repository that it is in.
fn project(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors().take(MAX_DEPTH);
    let root = above.clone().find(|folder| folder.join(".git").exists());
    let root = root.filter(|root| *root != folder).map(Path::to_owned);
    [folder.to_owned()].into_iter().chain(root).collect()
}

fn in_file(agent: &Agent, file: &SettingsFile, path: &Path) -> Vec<Found> {
    let found = |name: &str, value: &str, leads: Leads| Found {
        file: Some(path.to_owned()),
        whose: file.whose,
        name: name.to_owned(),
        value: value.to_owned(),
        leads,
    };
    let pairs = match read(path).and_then(|text| text.map(|t| pairs(path, &t)).transpose()) {
        Ok(Some(pairs)) => pairs,
        // What goes over us and cannot be read may lead anywhere.
        Err(why) if file.whose == Whose::Managed => {
            let leads = Leads::Past(format!("an unknown address: {why}"));
            return vec![found("(unreadable)", &why, leads)];
        }
        Ok(None) | Err(_) => return Vec::new(),
    };
    let mut all = Vec::new();
    for (name, value) in &pairs {
        let variable = agent.prefix.and_then(|before| name.strip_prefix(before));
        let variables = agent.variables.iter().filter(|d| variable == Some(d.name));
        let keys = agent.keys.iter().filter(|d| fits(d.name, name));
        let detours = variables.chain(keys).filter(|d| d.value.takes(value));
        all.extend(detours.map(|d| found(name, value, Leads::Past(d.to.to_owned()))));
        let is_address = variable == Some(agent.address) || fits(agent.address, name);
        if is_address && !value.is_empty() {
            all.push(found(name, value, Leads::Elsewhere));
        }
    }
    all
}

/// Whether a name is the one that a pattern stands for.
fn fits(pattern: &str, name: &str) -> bool {
    let (mut parts, mut names) = (pattern.split('.'), name.split('.'));
    loop {
        match (parts.next(), names.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(part), Some(name)) if part == name => {}
            _ => return false,
        }
    }
}

/// Follows the files while the agent runs.
pub(super) struct Watch {
    agent: &'static Agent,
    here: Here,
    known: Vec<Found>,
    stamps: Vec<(PathBuf, Option<Stamp>)>,
}

type Stamp = (u64, u64, u64, i64, i64);

impl Watch {
    /// Watches from now on; what was `known` is not reported again.
    pub(super) fn new(agent: &'static Agent, here: Here, known: Vec<Found>) -> Watch {
        Watch {
            agent,
            here,
            known,
            stamps: Vec::new(),
        }
    }

    /// What has come to be in the files since the last look.
    pub(super) fn look(&mut self) -> Vec<Found> {
        let variable = |name: &str| std::env::var(name).ok();
        let paths = paths(self.agent, &self.here, &variable);
        let stamped = |(_, path): &(_, PathBuf)| (path.clone(), stamp(path));
        let stamps: Vec<_> = paths.iter().map(stamped).collect();
        if stamps == self.stamps {
            return Vec::new();
        }
        self.stamps = stamps;
        let found = paths
            .iter()
            .flat_map(|(file, path)| in_file(self.agent, file, path));
        let mut news: Vec<Found> = found.filter(|found| !self.known.contains(found)).collect();
        if self.known.len() < MAX_FILES {
            self.known.extend(news.iter().cloned());
        } else {
            // A setting that changes again and again is reported only a few times.
            news.retain(Found::goes_over_us);
        }
        news
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(path).ok()?;
    Some((
        data.dev(),
        data.ino(),
        data.len(),
        data.mtime(),
        data.mtime_nsec(),
    ))
}

#[cfg(test)]
mod tests;
