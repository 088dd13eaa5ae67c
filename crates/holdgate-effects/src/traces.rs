//! What calls leave behind for those after them, before any of them has run: the disk does not
//! show it yet.

mod files;
mod typed;

use super::language::Language;
use super::value::{Origins, Value};
pub(crate) use files::Files;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
pub(crate) use typed::Typed;

/// Links that are kept: with more, nobody knows where any path leads.
pub(crate) const MAX_LINKS: usize = 256;
/// Files and variables that are kept, and bytes of all of them.
const MAX_KEPT: usize = 128;
const MAX_BYTES: usize = 512 << 10;
/// The same for what is kept when the calls have run.
const MAX_LASTING: usize = 96;
const MAX_LASTING_BYTES: usize = 256 << 10;
/// Folders that are kept.
const MAX_FOLDERS: usize = 64;

/// What has such content must not be taken for what was always there.
pub(crate) const LOOSE: Origins = Origins::FETCHED.and(Origins::DECODED).and(Origins::SECRET);

/// The branch that calls have checked out in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The repository's own folder.
    pub(crate) repository: String,
    /// The branches that may be checked out.
    pub(crate) branches: Vec<String>,
    /// Whether it may also be the one that the disk names: what was to change it may have failed.
    pub(crate) or_disk: bool,
}

impl Head {
    /// About how many bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let branches = self.branches.iter().map(|branch| 32 + branch.len());
        128 + self.repository.len() + branches.sum::<usize>()
    }
}

/// The same for calls after those that are to change it: they may fail.
pub(crate) fn uncertain(mut heads: Vec<Head>) -> Vec<Head> {
    for head in &mut heads {
        head.or_disk = true;
    }
    heads
}

/// What was made, moved and set.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// Names that lead to another file: symbolic links, moved folders, copies of programs.
    pub(crate) links: Vec<(String, String)>,
    /// Whether there were more links than are kept.
    pub(crate) lost_links: bool,
    /// What was written, by absolute path.
    pub(crate) files: Files,
    /// Those of them of which only a piece is known.
    pub(crate) pieces: HashSet<String>,
    /// Those of them that earlier calls wrote, the oldest first.
    pub(crate) lasting: Vec<String>,
    /// What was moved away from its place: where it is now, and where it was.
    pub(crate) moved: Vec<(String, String)>,
    /// Folders whose files git runs as hooks, because a setting says so.
    pub(crate) hook_folders: Vec<String>,
    /// Where git's remotes lead that were set.
    pub(crate) remotes: HashMap<String, Value>,
    /// Which branches git was told to check out.
    pub(crate) heads: Vec<Head>,
    /// Names of this machine that lead to another one, and where to.
    pub(crate) forwards: Vec<(String, Value)>,
    /// Folders whose content came from the network, with the hosts.
    pub(crate) fetched_folders: Vec<(String, Arc<str>)>,
    /// Folders that an archive was unpacked in, with the host that it came from.
    pub(crate) unpacked: Vec<(String, Arc<str>)>,
    /// Files and folders that something runs again and again, and how each is read.
    pub(crate) followed: Vec<(String, Language)>,
    /// Variables that a shell which stays has, with the values that they may have.
    pub(crate) variables: HashMap<String, Vec<Value>>,
    /// What was typed into terminals.
    pub(crate) typed: Typed,
}

impl Traces {
    /// Whether nothing was left.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
            && !self.lost_links
            && self.files.is_empty()
            && self.moved.is_empty()
            && self.hook_folders.is_empty()
            && self.remotes.is_empty()
            && self.heads.is_empty()
            && self.forwards.is_empty()
            && self.fetched_folders.is_empty()
            && self.unpacked.is_empty()
            && self.followed.is_empty()
            && self.variables.is_empty()
            && self.typed.is_empty()
    }

    /// Adds what another reading or a later call has left, as much as there is room for. Of a file
    /// that there is no room for, it stays known that it came from the network, say.
    pub fn add(&mut self, later: Traces) {
        for link in later.links {
            if self.links.contains(&link) {
                continue;
            }
            if self.links.len() >= MAX_LINKS {
                self.lost_links = true;
                break;
            }
            self.links.push(link);
        }
        self.lost_links |= later.lost_links;
        let mut room = MAX_BYTES.saturating_sub(self.text_bytes());
        self.add_files(later.files, &later.pieces, &mut room);
        for (name, value) in later.remotes {
            if self.remotes.len() < MAX_KEPT
                && let Some(value) = fitting(value, &mut room)
            {
                self.remotes.insert(name, value);
            }
        }
        for (name, values) in later.variables {
            let values: Vec<Value> = values
                .into_iter()
                .filter_map(|value| fitting(value, &mut room))
                .collect();
            if self.variables.len() < MAX_KEPT && !values.is_empty() {
                self.variables.insert(name, values);
            }
        }
        for head in later.heads {
            // A later call knew those before it.
            self.heads.retain(|h| h.repository != head.repository);
            if self.heads.len() < MAX_FOLDERS {
                self.heads.push(head);
            }
        }
        for forward in later.forwards {
            if self.forwards.len() < MAX_FOLDERS && !self.forwards.contains(&forward) {
                self.forwards.push(forward);
            }
        }
        for moved in later.moved {
            if self.moved.len() < MAX_FOLDERS && !self.moved.contains(&moved) {
                self.moved.push(moved);
            }
        }
        for folder in later.hook_folders {
            if self.hook_folders.len() < MAX_FOLDERS && !self.hook_folders.contains(&folder) {
                self.hook_folders.push(folder);
            }
        }
        for followed in later.followed {
            if self.followed.len() < MAX_FOLDERS && !self.followed.contains(&followed) {
                self.followed.push(followed);
            }
        }
        add_folders(&mut self.fetched_folders, later.fetched_folders);
        add_folders(&mut self.unpacked, later.unpacked);
        // A later call knew what was typed before it.
        if !later.typed.is_empty() {
            self.typed = later.typed;
        }
    }

    fn add_files(&mut self, later: Files, pieces: &HashSet<String>, room: &mut usize) {
        let bytes = later.bytes();
        if self.files.is_empty() && later.len() <= MAX_KEPT && bytes <= *room {
            *room -= bytes;
            let known = pieces.iter().filter(|path| later.contains(path));
            self.pieces = known.cloned().collect();
            self.files = later;
            return;
        }
        for (path, content) in later.iter() {
            match self.files.get(path) {
                // It may also be what it was: then it stays what was worse to run.
                Some(known) if loose(known) && !loose(content) => continue,
                Some(_) | None => {}
            }
            let Some(content) = fitting(content.clone(), room) else {
                self.files.remove(path);
                continue;
            };
            if self.files.len() < MAX_KEPT || self.files.contains(path) {
                if pieces.contains(path) {
                    self.pieces.insert(path.to_owned());
                } else {
                    self.pieces.remove(path);
                }
                self.files.insert(path, content);
            }
        }
    }

    /// What still counts when the calls have run. Links can be seen on the disk then, but nobody reads
    /// there what files hold or where remotes lead.
    #[must_use]
    pub fn ran(&self) -> Traces {
        let mut traces = Traces {
            files: self.files.clone(),
            moved: self.moved.clone(),
            remotes: self.remotes.clone(),
            forwards: self.forwards.clone(),
            fetched_folders: self.fetched_folders.clone(),
            unpacked: self.unpacked.clone(),
            followed: self.followed.clone(),
            lasting: self.lasting.clone(),
            typed: self.typed.clone(),
            ..Traces::default()
        };
        // How a piece fits into its file is not known.
        if !self.pieces.is_empty() {
            let kept = |path: &str, content: &Value| loose(content) || !self.pieces.contains(path);
            traces.files.retain(kept);
        }
        let files = &traces.files;
        traces.lasting.retain(|path| files.contains(path));
        let known: HashSet<&str> = traces.lasting.iter().map(String::as_str).collect();
        let mut new: Vec<String> = files
            .paths()
            .filter(|path| !known.contains(path))
            .map(str::to_owned)
            .collect();
        new.sort_unstable();
        traces.lasting.append(&mut new);
        let mut bytes = traces.text_bytes();
        let mut count = traces.lasting.len();
        traces.lasting.retain(|path| {
            if bytes <= MAX_LASTING_BYTES && count <= MAX_LASTING {
                return true;
            }
            count -= 1;
            bytes = bytes.saturating_sub(traces.files.remove(path).map_or(0, |c| c.text.len()));
            false
        });
        traces
    }

    /// What a call has left that knew all that was left `before` it.
    #[must_use]
    pub fn after(mut self, before: &Traces) -> Traces {
        self.lasting.clone_from(&before.lasting);
        self
    }

    /// What a call has moved that knew all that was left `before` it.
    pub fn moved_after(&self, before: &Traces) -> Vec<(String, String)> {
        let new = self.moved.iter();
        let new = new.filter(|moved| !before.moved.contains(moved));
        new.cloned().collect()
    }

    /// The same without these: they were not moved after all.
    pub fn stays(&mut self, moved: &[(String, String)]) {
        self.moved.retain(|known| !moved.contains(known));
    }

    /// The same for calls that are not of those which left it: they may fail, and a file that they
    /// write may hold what it held before.
    #[must_use]
    pub fn earlier(mut self) -> Traces {
        let new = |content: &Value| !content.origins.any(Origins::FILE);
        self.files
            .change(new, |content| content.origins |= Origins::FILE);
        self
    }

    /// What the file at an absolute path holds, as far as a call that wrote it says so.
    pub fn content(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|content| content.text.as_str())
    }

    /// About how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        let links = self
            .links
            .iter()
            .chain(&self.moved)
            .map(|(from, to)| 64 + from.len() + to.len());
        let names = self.remotes.keys().chain(self.variables.keys());
        let names = names.chain(&self.hook_folders);
        let folders = self.fetched_folders.iter().chain(&self.unpacked);
        let names = names.chain(folders.map(|(folder, _)| folder));
        let names = names.chain(&self.pieces).chain(&self.lasting);
        let names = names.chain(self.followed.iter().map(|(path, _)| path));
        let names = names.map(String::as_str).chain(self.files.paths());
        let heads = self.heads.iter().map(Head::bytes).sum::<usize>();
        heads
            + links.sum::<usize>()
            + names.map(|name| 128 + name.len()).sum::<usize>()
            + self.typed.bytes()
            + self.text_bytes()
    }

    fn text_bytes(&self) -> usize {
        let values = self.remotes.values();
        let values = values.chain(self.variables.values().flatten());
        self.files.bytes() + values.map(|value| value.text.len()).sum::<usize>()
    }
}

fn loose(content: &Value) -> bool {
    content.origins.any(LOOSE)
}

/// The value, or what is left of it if there is no room.
fn fitting(value: Value, room: &mut usize) -> Option<Value> {
    if let Some(left) = room.checked_sub(value.text.len()) {
        *room = left;
        return Some(value);
    }
    loose(&value).then(|| Value {
        sources: value.sources,
        ..Value::unknown(value.origins)
    })
}

fn add_folders(known: &mut Vec<(String, Arc<str>)>, later: Vec<(String, Arc<str>)>) {
    for folder in later {
        if known.len() < MAX_FOLDERS && !known.contains(&folder) {
            known.push(folder);
        }
    }
}
