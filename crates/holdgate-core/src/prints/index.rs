//! The prints of a project: which of its files has a passage.

use super::Prints;
use std::collections::BTreeMap;

/// The most prints of one project: 6 MiB. Beyond that, those with the smallest hashes are kept, as
/// for a text.
const MOST: usize = 512 << 10;
/// A passage in more files than this is the project's own boilerplate: headers, scaffolds of tests.
const MOST_FILES: usize = 3;

/// Files whose content stands in unrelated projects too, by their names in lower case: manifests,
/// settings of tools, scripts that tools write.
const ORDINARY_NAMES: &[&str] = &[
    "cargo.toml",
    "cargo.toml.orig",
    "clippy.toml",
    "cmakelists.txt",
    "composer.json",
    "deny.toml",
    "gemfile",
    "go.mod",
    "go.sum",
    "gradlew",
    "gradlew.bat",
    "makefile",
    "mvnw",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "requirements.txt",
    "rustfmt.toml",
    "setup.cfg",
    "tsconfig.json",
];
/// The same by how their names begin.
const ORDINARY_STARTS: &[&str] = &[
    "authors",
    "changelog",
    "code_of_conduct",
    "contributing",
    "copying",
    "copyright",
    "licence",
    "license",
    "notice",
    "security.md",
    "third-party",
    "third_party",
    "unlicense",
    // Settings of tools. The values in `.env` are secrets, which are found by themselves.
    ".",
];
/// The same by how they end: lists of packages with their hashes.
const ORDINARY_ENDS: &[&str] = &[
    ".lock",
    "-lock.json",
    "-lock.yaml",
    ".lockb",
    ".min.js",
    ".map",
];
/// Folders that hold what others wrote, or what programs make.
const ORDINARY_FOLDERS: &[&str] = &[
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "target",
    "third_party",
    "third-party",
    "vendor",
    "venv",
];

/// Whether a file or folder of this name counts as the project's own content.
pub fn is_counted(name: &str, is_folder: bool) -> bool {
    let name = name.to_lowercase();
    if is_folder {
        return !name.starts_with('.') && !ORDINARY_FOLDERS.contains(&name.as_str());
    }
    !ORDINARY_NAMES.contains(&name.as_str())
        && !ORDINARY_STARTS.iter().any(|start| name.starts_with(start))
        && !ORDINARY_ENDS.iter().any(|end| name.ends_with(end))
}

/// The prints of a project's files.
#[derive(Clone, Debug, Default)]
pub struct PrintIndex {
    /// In ascending order, each once.
    hashes: Vec<u64>,
    /// For each hash, the number of a file.
    files: Vec<u32>,
    names: Vec<String>,
}

impl PrintIndex {
    /// The index of files with these names and prints, without those of `others`: what stands in
    /// them says nothing about this project.
    pub fn of<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a Prints)>,
        others: &Prints,
    ) -> PrintIndex {
        let mut names = Vec::new();
        let mut found: Vec<(u64, u32)> = Vec::new();
        for (number, (name, prints)) in (0..).zip(files) {
            names.push(name.to_owned());
            found.extend(prints.hashes.iter().map(|hash| (*hash, number)));
        }
        found.sort_unstable();
        let mut index = PrintIndex {
            names,
            ..PrintIndex::default()
        };
        for same in found.chunk_by(|(a, _), (b, _)| a == b) {
            let is_ordinary = same.len() > MOST_FILES;
            if let Some((hash, file)) = same.first()
                && !is_ordinary
                && !others.has(*hash)
                && index.hashes.len() < MOST
            {
                index.hashes.push(*hash);
                index.files.push(*file);
            }
        }
        index.hashes.shrink_to_fit();
        index.files.shrink_to_fit();
        index
    }

    /// How many prints it has.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// About how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        let names: usize = self.names.iter().map(String::capacity).sum();
        self.hashes.capacity() * size_of::<u64>() + self.files.capacity() * size_of::<u32>() + names
    }

    /// The file that shares most with `prints`, and how many of them the whole project shares.
    pub fn shared(&self, prints: &Prints) -> Option<(&str, usize)> {
        let mut by_file: BTreeMap<u32, usize> = BTreeMap::new();
        for hash in &prints.hashes {
            if let Ok(at) = self.hashes.binary_search(hash)
                && let Some(file) = self.files.get(at)
            {
                *by_file.entry(*file).or_default() += 1;
            }
        }
        let (file, _) = by_file.iter().max_by_key(|(_, count)| **count)?;
        let name = self.names.get(*file as usize)?;
        Some((name, by_file.values().sum()))
    }
}
