//! The folder that relative paths start from, and whether anything depends on where a call starts.
//!
//! A session's shell may be in one of several folders, and a call is read once from each. If nothing
//! in it has asked for the folder, every reading of it is the same.

use super::Scene;
use crate::path;
use crate::value::HOLE_STR;

/// Bytes of a folder's path. A longer one is unknown.
const MAX_PATH: usize = 1_024;

/// A folder. Only the scene tells its path, because it notes who asks for it.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: String,
    /// Whether it is the one in which the call starts.
    is_start: bool,
}

impl Folder {
    /// The folder in which a call starts.
    pub(crate) fn start(path: &str) -> Self {
        Folder {
            path: path.to_owned(),
            is_start: true,
        }
    }

    /// A folder that was entered. How it is called is not followed for ever: each step would cost as
    /// much as all before.
    pub(super) fn entered(path: String) -> Self {
        Folder {
            path: if path.len() > MAX_PATH {
                HOLE_STR.to_owned()
            } else {
                path
            },
            is_start: false,
        }
    }

    /// Its path, if it was entered.
    pub(crate) fn moved_to(&self) -> Option<&str> {
        (!self.is_start).then_some(self.path.as_str())
    }
}

impl Scene<'_> {
    /// The folder that relative paths start from now.
    pub(crate) fn folder(&self) -> &str {
        if self.cwd.is_start {
            self.start_matters.set(true);
        }
        &self.cwd.path
    }

    /// The same, to resolve `path`: most paths lead to the same place from everywhere.
    pub(super) fn folder_for(&self, path: &str) -> &str {
        if path::depends_on_folder(path) {
            return self.folder();
        }
        &self.cwd.path
    }
}
