//! The paths that a call has named lately: most calls name one several times, and finding out what
//! lies there is the larger part of many.

use crate::knowledge::Knowledge;
use crate::path::{Place, World};
use crate::value::Value;
use std::cell::RefCell;

/// Paths that are kept.
const KEPT: usize = 4;

/// Where the last few paths led.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    latest: RefCell<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    path: String,
    folder: String,
    place: Place,
}

impl Resolved {
    /// Where `path` leads from `folder`. The world is the same for the whole call.
    pub(super) fn place(
        &self,
        path: &Value,
        folder: &str,
        world: &World,
        know: &Knowledge,
    ) -> Place {
        let Ok(mut latest) = self.latest.try_borrow_mut() else {
            return know.paths.place(path, folder, world);
        };
        let is_same = |known: &&Known| known.path == path.text && known.folder == folder;
        if let Some(known) = latest.iter().find(is_same) {
            return known.place.clone();
        }
        let place = know.paths.place(path, folder, world);
        if latest.len() == KEPT {
            latest.remove(0);
        }
        latest.push(Known {
            path: path.text.clone(),
            folder: folder.to_owned(),
            place: place.clone(),
        });
        place
    }
}
