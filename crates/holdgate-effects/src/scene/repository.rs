//! The repository that git works in: which branch is checked out, and where its remotes lead, by what the
//! disk says and what the call has changed about it.

use super::Scene;
use crate::path::absolute;
use crate::traces::Head;
use crate::value::{HOLE, HOLE_STR};

/// Folders above that are searched for a repository.
const MAX_ABOVE: usize = 12;
/// Bytes of `HEAD`, and of a repository's settings.
const MAX_HEAD: usize = 4 << 10;
const MAX_CONFIG: usize = 64 << 10;
/// Repositories whose branch is followed, and branches that one may have checked out.
const MAX_HEADS: usize = 16;
const MAX_BRANCHES: usize = 8;

/// A repository, as far as it is known.
#[derive(Debug)]
pub(crate) struct Repository {
    /// Its own folder, or the one in which git runs if there is none.
    folder: String,
    is_known: bool,
    /// Settings: their names in lower case, except for the middle part, and their values.
    config: Option<Vec<(String, String)>>,
}

impl Repository {
    /// A setting, such as `branch.main.remote`; the last one counts.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        let mut all = self.config.as_ref()?.iter().rev();
        let (_, value) = all.find(|(known, _)| known == name)?;
        Some(value)
    }

    /// Whether its settings are known.
    pub(crate) fn has_settings(&self) -> bool {
        self.config.is_some()
    }
}

impl Scene<'_> {
    /// The repository that git finds from the folder in which it runs, or that it is told to use.
    pub(crate) fn repository(&self, told: Option<&str>) -> Repository {
        let here = self.folder();
        let found = match told {
            Some(folder) => {
                let folder = absolute(folder, here, &self.world.home);
                self.text(&format!("{folder}/HEAD"), MAX_HEAD)
                    .map(|_| folder)
            }
            None => self.find_repository(here),
        };
        let is_known = found.is_some();
        let folder = found.unwrap_or_else(|| here.to_owned());
        // Further working trees share the settings of the first.
        let common = self.text(&format!("{folder}/commondir"), MAX_HEAD);
        let common = common.filter(|_| is_known);
        let common = common.map(|path| absolute(path.trim(), &folder, &self.world.home));
        let config = format!("{}/config", common.as_deref().unwrap_or(&folder));
        let config = self.text(&config, MAX_CONFIG).filter(|_| is_known);
        Repository {
            config: config.map(|text| settings(&text)),
            folder,
            is_known,
        }
    }

    fn find_repository(&self, here: &str) -> Option<String> {
        if here.contains(HOLE) {
            return None;
        }
        let mut folder = here.trim_end_matches('/');
        for _ in 0..MAX_ABOVE {
            let own = format!("{folder}/.git");
            if self.text(&format!("{own}/HEAD"), MAX_HEAD).is_some() {
                return Some(own);
            }
            // A further working tree has a file that names its folder.
            if let Some(text) = self.text(&own, MAX_HEAD)
                && let Some(path) = text.strip_prefix("gitdir:")
            {
                return Some(absolute(path.trim(), folder, &self.world.home));
            }
            folder = folder.rsplit_once('/')?.0;
        }
        None
    }

    /// The text of a file, as the call or those before it have written it, or as the disk has it.
    fn text(&self, path: &str, most: usize) -> Option<String> {
        let text = match self.files.get(path) {
            Some(content) => content.text.clone(),
            None => self.world.facts.as_ref()?.content(path, most)?,
        };
        if self.fuel.spend_on(text.len()).is_err() {
            self.fuel.exhaust();
        }
        Some(text)
    }

    /// The branches that may be checked out; one that is not known is a hole.
    pub(crate) fn branches(&self, repository: &Repository) -> Vec<String> {
        let head = self.heads.iter();
        let mut head = head.filter(|head| head.repository == repository.folder);
        let Some(head) = head.next() else {
            return vec![self.branch_on_disk(repository)];
        };
        let mut branches = head.branches.clone();
        if head.or_disk {
            let other = self.branch_on_disk(repository);
            if !branches.contains(&other) {
                branches.push(other);
            }
        }
        branches
    }

    fn branch_on_disk(&self, repository: &Repository) -> String {
        let unknown = || HOLE_STR.to_owned();
        if !repository.is_known {
            return unknown();
        }
        let Some(text) = self.text(&format!("{}/HEAD", repository.folder), MAX_HEAD) else {
            return unknown();
        };
        match text.trim().strip_prefix("ref:").map(str::trim) {
            Some(name) => name.strip_prefix("refs/heads/").unwrap_or(name).to_owned(),
            // A commit without a branch.
            None => "HEAD".to_owned(),
        }
    }

    /// Another branch is checked out.
    pub(crate) fn checked_out(&mut self, repository: &Repository, branch: &str) {
        self.heads.retain(|h| h.repository != repository.folder);
        if self.heads.len() >= MAX_HEADS {
            self.heads.remove(0);
        }
        self.heads.push(Head {
            repository: repository.folder.clone(),
            branches: vec![branch.to_owned()],
            or_disk: false,
        });
    }

    /// What was checked out since may not have been.
    pub(crate) fn may_be_as(&mut self, before: &[Head]) {
        for head in &mut self.heads {
            let earlier = before.iter().find(|b| b.repository == head.repository);
            match earlier {
                Some(earlier) => {
                    let more = earlier.branches.iter();
                    let more = more.filter(|branch| !head.branches.contains(branch));
                    let more: Vec<String> = more.take(MAX_BRANCHES).cloned().collect();
                    head.branches.extend(more);
                    head.or_disk |= earlier.or_disk;
                }
                None => head.or_disk = true,
            }
            if head.branches.len() > MAX_BRANCHES {
                head.branches = vec![HOLE_STR.to_owned()];
            }
        }
    }
}

/// The settings in a file of git's.
fn settings(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut section = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            section = match header.split_once(char::is_whitespace) {
                Some((kind, name)) => {
                    let name = name.trim().trim_matches('"');
                    format!("{}.{name}", kind.to_ascii_lowercase())
                }
                None => header.to_ascii_lowercase(),
            };
        } else if !line.starts_with(['#', ';'])
            && let Some((key, value)) = line.split_once('=')
        {
            let key = key.trim().to_ascii_lowercase();
            let value = value.trim().trim_matches('"').to_owned();
            found.push((format!("{section}.{key}"), value));
        }
    }
    found
}
