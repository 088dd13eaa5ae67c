//! Models of trajectories: learned from sessions without a blocked call or a question, one file per
//! project in the state folder.

use crate::threads::lock;
use anyhow::{Context as _, bail};
use holdgate_core::History;
use holdgate_core::trajectory::{Action, Model, SharedModels, base};
use std::collections::HashMap;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// After so long without a request, a session has ended.
const IDLE: Duration = Duration::from_mins(30);
/// Sessions that may end at once.
const MAX_OPEN: usize = 1024;
/// Shorter sessions teach nothing.
const MIN_STEPS: usize = 3;
/// So many sessions are learned from between two snapshots, and so many snapshots are kept.
const SNAPSHOT_EVERY: u32 = 20;
const SNAPSHOTS: usize = 3;

/// Learns from sessions as they end.
#[derive(Debug)]
pub struct Trajectories {
    folder: PathBuf,
    /// Where the layers find what was learned.
    models: Arc<SharedModels>,
    open: Mutex<HashMap<String, Open>>,
}

/// A session that goes on.
#[derive(Debug)]
struct Open {
    project: String,
    sequence: Vec<Action>,
    steps: usize,
    clean: bool,
    seen: Duration,
}

impl Trajectories {
    /// Models below this state folder, which layers find in `models`.
    pub fn new(state_dir: &Path, models: Arc<SharedModels>) -> Self {
        Trajectories {
            folder: state_dir.join("learned").join("trajectory"),
            models,
            open: Mutex::default(),
        }
    }

    /// Takes note of what a session has done so far, and learns from those that have ended.
    pub fn note(
        &self,
        session: &str,
        project: &str,
        history: &History,
        clean: bool,
        now: Duration,
    ) {
        if self.models.get(project).is_none() {
            let model = self.file(project).load().unwrap_or_else(|error| {
                warn(project, &error);
                Model::default()
            });
            self.models.set(project, model);
        }
        let sequence = history.clean_sequence();
        let mut open = lock(&self.open);
        if open.len() < MAX_OPEN || open.contains_key(session) {
            let entry = Open {
                project: project.to_owned(),
                clean: clean && sequence.is_some(),
                sequence: sequence.unwrap_or_default().to_vec(),
                steps: history.len(),
                seen: now,
            };
            open.insert(session.to_owned(), entry);
        }
        let over = |open: &Open| now.saturating_sub(open.seen) > IDLE;
        let ended: Vec<Open> = open
            .extract_if(|_, open| over(open))
            .map(|(_, open)| open)
            .collect();
        drop(open);
        self.learn(ended);
    }

    /// Learns from all sessions: nothing more comes.
    fn end(&self) {
        let ended = std::mem::take(&mut *lock(&self.open));
        self.learn(ended.into_values().collect());
    }

    fn learn(&self, ended: Vec<Open>) {
        for open in ended {
            if !open.clean || open.steps < MIN_STEPS {
                continue;
            }
            let mut model = match self.models.get(&open.project) {
                Some(model) => Model::clone(&model),
                None => Model::default(),
            };
            model.learn(&open.sequence, base());
            if let Err(error) = self.file(&open.project).save(&model) {
                warn(&open.project, &error);
            }
            self.models.set(&open.project, model);
        }
    }

    /// The file of a project's model.
    pub fn file(&self, project: &str) -> LearnedFile {
        let name: String = format!("{:08x}", crc32(project));
        let last = project
            .rsplit(['/', '\\'])
            .find(|part| !part.is_empty())
            .unwrap_or("project");
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        };
        let last: String = last.chars().map(plain).take(40).collect();
        LearnedFile(self.folder.join(format!("{last}-{name}.model")))
    }
}

impl Drop for Trajectories {
    fn drop(&mut self) {
        self.end();
    }
}

/// Tells projects with the same last name apart.
fn crc32(text: &str) -> u32 {
    let mut sum = u32::MAX;
    for byte in text.bytes() {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                (sum >> 1) ^ 0xedb8_8320
            } else {
                sum >> 1
            };
        }
    }
    !sum
}

fn warn(project: &str, error: &anyhow::Error) {
    crate::log::warn(&format!(
        "what was learned of {project} is not used: {error:#}"
    ));
}

/// A model on disk, and its snapshots beside it.
#[derive(Clone, Debug)]
pub struct LearnedFile(PathBuf);

impl LearnedFile {
    /// The model; an empty one if there is none.
    pub fn load(&self) -> anyhow::Result<Model> {
        let path = self.0.display();
        match fs::read(&self.0) {
            Ok(bytes) => Model::from_bytes(&bytes).with_context(|| path.to_string()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Model::default()),
            Err(error) => Err(error).with_context(|| path.to_string()),
        }
    }

    /// Replaces the model at once: a crash leaves the old one or the new one.
    pub fn save(&self, model: &Model) -> anyhow::Result<()> {
        let write = || -> std::io::Result<()> {
            if let Some(folder) = self.0.parent() {
                fs::create_dir_all(folder)?;
            }
            if model.sessions().is_multiple_of(SNAPSHOT_EVERY) && self.0.exists() {
                self.keep()?;
            }
            let temporary = self.0.with_extension("new");
            let mut file = fs::File::create(&temporary)?;
            file.write_all(&model.to_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, &self.0)
        };
        write().with_context(|| self.0.display().to_string())
    }

    /// Keeps the current file as the latest snapshot.
    fn keep(&self) -> std::io::Result<()> {
        for number in (1..SNAPSHOTS).rev() {
            let (from, to) = (self.snapshot(number), self.snapshot(number + 1));
            if from.exists() {
                fs::rename(from, to)?;
            }
        }
        fs::copy(&self.0, self.snapshot(1)).map(drop)
    }

    fn snapshot(&self, number: usize) -> PathBuf {
        self.0.with_extension(format!("model.{number}"))
    }

    /// Goes back to the latest snapshot, and says how many sessions it has learned from.
    pub fn roll_back(&self) -> anyhow::Result<u32> {
        let latest = self.snapshot(1);
        if !latest.exists() {
            bail!("{}: there is no snapshot", self.0.display());
        }
        let bytes = fs::read(&latest).with_context(|| latest.display().to_string())?;
        let model = Model::from_bytes(&bytes).with_context(|| latest.display().to_string())?;
        fs::rename(&latest, &self.0).with_context(|| self.0.display().to_string())?;
        for number in 2..=SNAPSHOTS {
            let (from, to) = (self.snapshot(number), self.snapshot(number - 1));
            if from.exists() {
                fs::rename(&from, to).with_context(|| from.display().to_string())?;
            }
        }
        Ok(model.sessions())
    }
}

#[cfg(test)]
mod tests;
