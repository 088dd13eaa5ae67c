//! What `setup` has written, with the files as they were before: in the folder `setup` of the state
//! folder.

use crate::args::HookAgent;
use crate::ledger::hex;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// What was written for one agent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Receipt {
    pub(super) files: Vec<Written>,
    #[serde(skip)]
    place: PathBuf,
}

/// One file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Written {
    pub(super) path: PathBuf,
    /// Its text before; `None` if it was not there.
    pub(super) before: Option<String>,
    /// The hash of what was written.
    after: String,
    /// Folders that were made for it, the outermost first.
    #[serde(default)]
    pub(super) made: Vec<PathBuf>,
}

impl Written {
    pub(super) fn new(
        path: &Path,
        before: Option<String>,
        after: &str,
        made: Vec<PathBuf>,
    ) -> Self {
        Written {
            path: path.to_owned(),
            before,
            after: hash(after),
            made,
        }
    }

    /// Whether the file is as it was left.
    pub(super) fn is_untouched(&self, text: &str) -> bool {
        self.after == hash(text)
    }
}

impl Receipt {
    /// What is known about an agent.
    pub(super) fn load(state_dir: &Path, agent: HookAgent) -> anyhow::Result<Receipt> {
        let place = state_dir
            .join("setup")
            .join(format!("{}.json", agent.word()));
        let shown = place.display().to_string();
        let mut receipt = match std::fs::read(&place) {
            Ok(text) => serde_json::from_slice(&text).with_context(|| shown.clone())?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Receipt::default(),
            Err(error) => return Err(error).context(shown),
        };
        receipt.place = place;
        Ok(receipt)
    }

    pub(super) fn of(&self, path: &Path) -> Option<&Written> {
        self.files.iter().find(|written| written.path == path)
    }

    /// Keeps it: before the files are changed.
    pub(super) fn save(&self) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        super::disk::write(&self.place, &text)
    }

    /// Forgets it.
    pub(super) fn remove(&self) -> anyhow::Result<()> {
        match std::fs::remove_file(&self.place) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error).with_context(|| self.place.display().to_string()),
        }
    }

    /// Where it is kept.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}
