//! Loads the built-in rules, the operator's files and a project's file.
//!
//! A project's file can only tighten. One with an error is ignored and reported: the other rules
//! are those of every other project, and a repository must not be able to stop all work with an
//! error.

use anyhow::{Context as _, bail};
use holdgate_core::rules::{Profile, RuleErrors, RuleFile, RuleSet, Tier};
use holdgate_core::watch::{self, Commands, PatternFile, Patterns};
use holdgate_effects::Knowledge;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A project's rules, in its root.
pub const PROJECT_FILE: &str = ".holdgate.yaml";
/// Bytes of a rule file: of the operator's, and of a project's, which a stranger may have written.
const MAX_BYTES: u64 = 1 << 20;
const MAX_PROJECT_BYTES: u64 = 256 << 10;
/// Files of one folder.
const MAX_FILES: usize = 256;

/// How often a file is read that somebody is writing.
const MAX_READS: usize = 10;
const BETWEEN_READS: Duration = Duration::from_millis(10);

/// A file with rules, as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Its name in messages.
    pub name: String,
    /// What stands in it.
    pub text: String,
    /// Whose it is.
    pub tier: Tier,
}

impl RuleText {
    fn patterns(&self) -> PatternFile<'_> {
        PatternFile {
            name: &self.name,
            text: &self.text,
        }
    }

    fn file(&self) -> RuleFile<'_> {
        match self.tier {
            Tier::BuiltIn | Tier::Operator => RuleFile::operator(&self.name, &self.text),
            Tier::Project => RuleFile::project(&self.name, &self.text),
        }
    }
}

/// The built-in rules and those of these files, whose examples must hold.
pub fn set(
    profile: Profile,
    files: &[RuleText],
    know: &Knowledge,
) -> Result<Arc<RuleSet>, RuleErrors> {
    if files.is_empty() {
        return RuleSet::built_in(profile);
    }
    let files: Vec<RuleFile<'_>> = files.iter().map(RuleText::file).collect();
    RuleSet::load(profile, &files, know)
}

/// The built-in patterns for output and the operator's, from the folder `watch` in each of these,
/// whose examples must hold.
pub fn patterns(dirs: &[PathBuf], commands: &Commands) -> anyhow::Result<Arc<Patterns>> {
    let dirs: Vec<PathBuf> = dirs.iter().map(|dir| dir.join("watch")).collect();
    let files = operator_files(&dirs)?;
    let built_in = Patterns::built_in()?;
    if files.is_empty() {
        return Ok(built_in);
    }
    let texts: Vec<PatternFile<'_>> = files.iter().map(RuleText::patterns).collect();
    let patterns = Patterns::joined(&texts)?;
    // Those of built-in ones may not hold any more, because the operator wants it so.
    let own = |id: &str| built_in.iter().all(|pattern| *pattern.id != *id);
    let tried = watch::try_examples(&patterns, commands, own);
    let errors: Vec<_> = tried.into_iter().filter_map(|t| t.error).collect();
    if errors.is_empty() {
        Ok(patterns)
    } else {
        Err(RuleErrors(errors).into())
    }
}

/// The operator's files in these folders, by folder and name. A folder that is not there is empty.
pub fn operator_files(dirs: &[PathBuf]) -> anyhow::Result<Vec<RuleText>> {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in operator_paths(dirs)? {
        match read(&path, Tier::Operator) {
            Ok(file) => files.push(file),
            Err(_) if is_own_output(&path) => {}
            Err(error) => errors.push(format!("{error:#}")),
        }
    }
    if !errors.is_empty() {
        bail!("{}", errors.join("\n"));
    }
    Ok(files)
}

/// Whether it is an empty file that this process writes to, as in `holdgate check --rule-for … > FILE`.
fn is_own_output(path: &Path) -> bool {
    let output = std::fs::metadata("/dev/fd/1").map(|m| Stamp::of(&m));
    let file = std::fs::metadata(path).map(|m| Stamp::of(&m));
    matches!((file, output), (Ok(file), Ok(output)) if file.bytes == 0 && file.file == output.file)
}

/// Where the operator's files are.
pub(crate) fn operator_paths(dirs: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for dir in dirs {
        let mut paths = match rule_files(dir) {
            Ok(paths) => paths,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| dir.display().to_string()),
        };
        if paths.len() > MAX_FILES {
            anyhow::bail!("{}: more than {MAX_FILES} rule files", dir.display());
        }
        paths.sort();
        all.append(&mut paths);
    }
    Ok(all)
}

fn rule_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_yaml = path.extension().is_some_and(|e| e == "yaml" || e == "yml");
        // Hidden files are what editors and mounts leave beside the real ones.
        if is_yaml && !name.starts_with('.') && paths.len() <= MAX_FILES {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// One file. The operator's may be links, as mounted and managed ones are.
pub fn read(path: &Path, tier: Tier) -> anyhow::Result<RuleText> {
    let name = path.display().to_string();
    let text = read_text(path, tier).with_context(|| name.clone())?;
    Ok(RuleText { name, text, tier })
}

fn read_text(path: &Path, tier: Tier) -> anyhow::Result<String> {
    let metadata = match tier {
        Tier::BuiltIn | Tier::Operator => std::fs::metadata(path),
        Tier::Project => std::fs::symlink_metadata(path),
    };
    let metadata = metadata.context("cannot read the file")?;
    if !metadata.is_file() {
        anyhow::bail!("not a regular file, so its rules are ignored");
    }
    let file = File::open(path).context("cannot read the file")?;
    // It could have been exchanged for a link since.
    if Stamp::of(&file.metadata()?).file != Stamp::of(&metadata).file {
        anyhow::bail!("the file changed while it was read");
    }
    let max = match tier {
        Tier::BuiltIn | Tier::Operator => MAX_BYTES,
        Tier::Project => MAX_PROJECT_BYTES,
    };
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        anyhow::bail!("larger than {} KiB, so its rules are ignored", max >> 10);
    }
    let text = String::from_utf8(bytes).context("not UTF-8")?;
    if text.trim().is_empty() {
        // So looks a file that somebody is about to write.
        anyhow::bail!("the file is empty; write `[]` for no rules");
    }
    Ok(text)
}

/// The file of the project in this folder, if it has one.
pub fn project_file(project: &str) -> anyhow::Result<Option<RuleText>> {
    let path = Path::new(project).join(PROJECT_FILE);
    if stamp(&path).is_none() {
        return Ok(None);
    }
    for _ in 0..MAX_READS {
        let before = stamp(&path);
        let file = read(&path, Tier::Project);
        if stamp(&path) == before {
            return file.map(Some);
        }
        std::thread::sleep(BETWEEN_READS);
    }
    anyhow::bail!(
        "{}: the file keeps changing while it is read",
        path.display()
    )
}

/// Identifies the content of a file: it changes when the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    file: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The file's length.
    pub(crate) fn bytes(self) -> u64 {
        self.bytes
    }

    fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            file: (metadata.dev(), metadata.ino()),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// The stamp of what stands at `path`; a link's own and not its target's.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    std::fs::symlink_metadata(path).ok().map(|m| Stamp::of(&m))
}

/// The stamp of what `path` leads to.
pub(crate) fn stamp_of_target(path: &Path) -> Option<Stamp> {
    std::fs::metadata(path).ok().map(|m| Stamp::of(&m))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_by_folder_and_name() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = ["machine", "missing", "own"].map(|name| dir.path().join(name));
        for name in [
            "machine/b.yaml",
            "own/a.yml",
            "own/.swp.yaml",
            "own/note.txt",
            "own/a.yaml",
        ] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let files = operator_files(&dirs).unwrap();
        let texts: Vec<&str> = files.iter().map(|f| f.text.as_str()).collect();
        assert_eq!(texts, ["machine/b.yaml", "own/a.yaml", "own/a.yml"]);
    }

    #[test]
    fn a_project_file_is_small_plain_and_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().to_str().unwrap();
        let path = dir.path().join(PROJECT_FILE);
        let elsewhere = dir.path().join("elsewhere.yaml");
        let check = |expected: Result<Option<&str>, &str>| {
            let found = project_file(project);
            match expected {
                Ok(text) => assert_eq!(found.unwrap().map(|f| f.text).as_deref(), text),
                Err(why) => {
                    let error = format!("{:#}", found.unwrap_err());
                    assert!(error.contains(why), "{error}");
                }
            }
        };
        check(Ok(None));
        std::fs::write(&path, "[]").unwrap();
        check(Ok(Some("[]")));
        std::fs::write(&path, "#".repeat(256 << 10)).unwrap();
        assert!(project_file(project).unwrap().is_some());
        std::fs::write(&path, "#".repeat((256 << 10) + 1)).unwrap();
        check(Err("larger than 256 KiB"));
        std::fs::write(&path, [0xff]).unwrap();
        check(Err("not UTF-8"));
        std::fs::write(&path, "\n").unwrap();
        check(Err("the file is empty"));
        std::fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        check(Err("not a regular file"));
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        check(Err("not a regular file"));
    }
}
