//! `files.yaml`: which files hold code, and how each is read.

use crate::language::{Language, programs};
use crate::path::PathGlobs;
use crate::pattern::Pattern;
use crate::table::Table;
use crate::text::words::AnyWord;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// `files.yaml` as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    read: BTreeMap<Language, Shapes>,
    otherwise: Language,
    quoting: Vec<String>,
    shown: Vec<String>,
    warnings: Vec<String>,
    packages: BTreeMap<String, Vec<String>>,
}

/// What files of one way to read look like.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shapes {
    #[serde(default)]
    places: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    extensions: Vec<String>,
}

/// `files.yaml`, ready to look up.
pub struct FileTable {
    places: PathGlobs,
    languages: Vec<Language>,
    names: HashMap<String, Language>,
    named: Vec<(Pattern, Language)>,
    extensions: HashMap<String, Language>,
    otherwise: Language,
    quoting: PathGlobs,
    shown: HashSet<String>,
    warnings: AnyWord,
    /// By name, and those whose names are patterns.
    packages: HashMap<String, Vec<Sources>>,
    packages_like: Vec<(Pattern, Sources)>,
}

/// A file that says where packages come from: its folder, if its name alone does not tell, and the words
/// before addresses.
struct Sources {
    folder: Option<String>,
    words: Vec<String>,
}

impl fmt::Debug for FileTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileTable").finish_non_exhaustive()
    }
}

impl FileTable {
    /// Reads the table.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        let table: Written = table.read().map_err(|e| format!("files.yaml: {e}"))?;
        let mut places = Vec::new();
        let mut languages = Vec::new();
        let mut names = HashMap::default();
        let mut named = Vec::new();
        let mut extensions = HashMap::default();
        let twice = |word: &str| format!("files.yaml: `{word}` stands in it twice");
        for (language, shapes) in table.read {
            for place in shapes.places {
                places.push(place);
                languages.push(language);
            }
            for name in shapes.names {
                if name.contains('*') {
                    let pattern = Pattern::read(&name);
                    let pattern = pattern.ok_or(format!("files.yaml: {name} is too long"))?;
                    named.push((pattern, language));
                } else if names.insert(name.clone(), language).is_some() {
                    return Err(twice(&name));
                }
            }
            for extension in shapes.extensions {
                if extensions.insert(extension.clone(), language).is_some() {
                    return Err(twice(&extension));
                }
            }
        }
        let mut packages: HashMap<String, Vec<Sources>> = HashMap::default();
        let mut packages_like = Vec::new();
        for (path, words) in table.packages {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let folder = (!folder.is_empty()).then(|| folder.to_owned());
            let sources = Sources { folder, words };
            if name.contains('*') {
                let pattern = Pattern::read(name);
                let pattern = pattern.ok_or(format!("files.yaml: {path} is too long"))?;
                packages_like.push((pattern, sources));
            } else {
                packages.entry(name.to_owned()).or_default().push(sources);
            }
        }
        let globs = |globs: &[String]| {
            let read = PathGlobs::read(globs.iter().map(String::as_str));
            read.map_err(|(_, e)| format!("files.yaml: {e}"))
        };
        Ok(FileTable {
            places: globs(&places)?,
            languages,
            names,
            named,
            extensions,
            otherwise: table.otherwise,
            quoting: globs(&table.quoting)?,
            shown: table.shown.into_iter().collect(),
            warnings: AnyWord::in_any_case(table.warnings.iter().map(String::as_str)),
            packages,
            packages_like,
        })
    }

    /// How a file is read, by its path (with `~` for the home) and the start of its content; `None`
    /// for a document.
    pub(crate) fn language(&self, path: &str, content: &str) -> Option<Language> {
        let path = path.replace('\\', "/");
        let name = path.rsplit('/').next().unwrap_or(&path);
        let lower = name.to_ascii_lowercase();
        let named = || {
            let language = self.by_name(&lower)?;
            // `license_check.py` is a program.
            let code = (language == Language::Document).then(|| self.code(&lower));
            Some(code.flatten().unwrap_or(language))
        };
        let found = self
            .by_place(&path, content)
            .or_else(named)
            .or_else(|| self.by_extension(&lower));
        let language = match found {
            // A first line that names an interpreter makes a script of anything but a text.
            Some(Language::Document) if !is_text(&lower) => {
                by_first_line(content).unwrap_or(Language::Document)
            }
            Some(language) => language,
            None => by_first_line(content).unwrap_or(self.otherwise),
        };
        if language == Language::Data && is_manifest(content) {
            return Some(Language::Embedded);
        }
        (language != Language::Document).then_some(language)
    }

    fn by_place(&self, path: &str, content: &str) -> Option<Language> {
        let found = self.places.matches(path);
        let languages = found.iter().filter_map(|at| self.languages.get(*at));
        // Texts lie among the hooks and settings that they are about.
        let is_text = |l: &Language| matches!(l, Language::Document | Language::Prose);
        let language = languages.min_by_key(|language| (!is_text(language), **language));
        let language = *language?;
        if language != Language::Shell {
            return Some(language);
        }
        // A hook may be written in anything.
        let name = path.rsplit('/').next().unwrap_or(path);
        let named = self.by_extension(&name.to_ascii_lowercase());
        by_first_line(content).or(named).or(Some(Language::Shell))
    }

    fn by_name(&self, name: &str) -> Option<Language> {
        let known = self.names.get(name).copied();
        known.or_else(|| {
            let found = self.named.iter().find(|(pattern, _)| pattern.matches(name));
            found.map(|(_, language)| *language)
        })
    }

    fn by_extension(&self, name: &str) -> Option<Language> {
        let (_, extension) = name.rsplit_once('.')?;
        self.extensions.get(extension).copied()
    }

    /// The language of a program, by its extension.
    fn code(&self, name: &str) -> Option<Language> {
        let language = self.by_extension(name)?;
        let is_text = language.is_guess() && language != Language::Source;
        (!is_text).then_some(language)
    }

    /// The words before the addresses that packages come from, in a file of this name and folder.
    pub(crate) fn packages(&self, folder: &str, name: &str) -> Option<&[String]> {
        let name = name.to_ascii_lowercase();
        let named = self.packages.get(&name).into_iter().flatten();
        let below = |sources: &&Sources| sources.folder.as_deref().is_none_or(|f| f == folder);
        let found = named.into_iter().find(below).or_else(|| {
            let mut like = self.packages_like.iter();
            like.find(|(pattern, _)| pattern.matches(&name))
                .map(|(_, sources)| sources)
        });
        found.map(|sources| sources.words.as_slice())
    }

    /// Whether commands stand in this file as examples.
    pub(crate) fn quotes(&self, path: &str) -> bool {
        self.quoting.is_match(path)
    }

    /// Whether a text under this name is shown, compared or searched for.
    pub(crate) fn is_shown(&self, name: &str) -> bool {
        words_of(name).any(|word| self.shown.contains(word.as_str()))
    }

    /// Whether a text says that what it shows is not to be done.
    pub(crate) fn warns(&self, text: &str) -> bool {
        self.warnings.is_in(text) || !text.is_ascii() && self.warnings.is_in(&text.to_lowercase())
    }
}

/// The words of a name: `logger.printLine` has `logger`, `print` and `line`.
fn words_of(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for char in name.chars() {
        let splits = !char.is_alphanumeric() || (char.is_uppercase() && lower);
        if splits {
            words.push(String::new());
        }
        if char.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(char.to_lowercase());
        }
        lower = char.is_lowercase();
    }
    words.into_iter().filter(|word| !word.is_empty())
}

/// Whether a name is that of a text for people.
fn is_text(name: &str) -> bool {
    let texts = [
        ".md", ".mdx", ".txt", ".rst", ".adoc", ".tex", ".sample", ".patch", ".diff",
    ];
    texts.iter().any(|end| name.ends_with(end))
}

/// A manifest of containers, under any name: what it holds shows it, also in a part of one.
fn is_manifest(content: &str) -> bool {
    #[rustfmt::skip]
    const KEYS: [&str; 14] = [
        "services:", "containers:", "privileged:", "hostPID:", "hostPath:", "pid:", "volumes:", "/hostPID", "/hostIPC",
        "/privileged", "/securityContext", "/volumes", "hostPID\"", "hostPath\"",
    ];
    KEYS.iter().any(|key| content.contains(key))
}

/// The interpreter that a first line names.
fn by_first_line(content: &str) -> Option<Language> {
    let line = content.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace();
    let mut program = words.next()?;
    if program.ends_with("/env") {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    // Whatever it is, it runs.
    Some(programs::interpreter(program).unwrap_or(Language::Lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names_are_told_apart() {
        let words: Vec<String> = words_of("console.logLine_now").collect();
        assert_eq!(words, ["console", "log", "line", "now"]);
    }

    #[test]
    fn a_table_that_says_things_twice_is_refused() {
        let rest = "otherwise: lines\nquoting: []\nshown: []\nwarnings: []\npackages: {}\n";
        let twice =
            format!("read: {{shell: {{extensions: [a]}}, perl: {{extensions: [a]}}}}\n{rest}");
        assert!(FileTable::read(crate::table::compiled(&twice)).is_err());
        let unknown = format!("read: {{cobol: {{extensions: [a]}}}}\n{rest}");
        assert!(FileTable::read(crate::table::compiled(&unknown)).is_err());
    }
}
