//! Tools by their names: which is a shell, a read, a write, and which argument says what.
//! `tools.yaml` holds the table.

mod meaning;

use crate::language::Language;
use crate::table::Table;
use crate::tag::Tag;
use crate::text;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(crate) use meaning::ToolKind;
pub(crate) use meaning::{Change, Role, Roles, Verb};

/// `tools.yaml`, ready to look up.
#[derive(Debug)]
pub struct ToolTable {
    tools: HashMap<String, ToolKind>,
    languages: HashMap<String, Language>,
    roles: HashMap<String, Roles>,
    /// Roles of arguments that are not listed, by their last word that counts.
    words: HashMap<String, Roles>,
    fillers: HashSet<String>,
    /// Words anywhere in such a name by which the argument is only compared.
    compared: HashSet<String>,
    verbs: HashMap<String, Vec<Verb>>,
    pub(crate) changes: BTreeMap<Tag, Change>,
    /// The programs that servers run by the names of their tools.
    pub(crate) programs: BTreeMap<String, Vec<String>>,
    /// Words in names of tools that are no sub-commands.
    pub(crate) idle: HashSet<String>,
    /// Arguments that are operands of such a program, in their order.
    pub(crate) operands: Vec<String>,
    /// Arguments that are options of it, with names of their own.
    pub(crate) options: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    does: BTreeMap<ToolKind, Vec<String>>,
    languages: BTreeMap<String, Vec<String>>,
    fields: BTreeMap<Role, Vec<String>>,
    #[serde(default)]
    words: BTreeMap<Role, Vec<String>>,
    #[serde(default)]
    fillers: HashSet<String>,
    #[serde(default)]
    compared: HashSet<String>,
    #[serde(default)]
    verbs: BTreeMap<Verb, Vec<String>>,
    #[serde(default)]
    changes: BTreeMap<Tag, Change>,
    #[serde(default)]
    programs: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    idle: HashSet<String>,
    #[serde(default)]
    operands: Vec<String>,
    #[serde(default)]
    options: BTreeMap<String, String>,
}

impl ToolTable {
    /// Reads the table.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        let file: TableFile = table.read().map_err(|e| format!("tools.yaml: {e}"))?;
        let mut tools = HashMap::default();
        for (does, names) in file.does {
            for name in names {
                if let Some(other) = tools.insert(plain(&name).into_owned(), does)
                    && other != does
                {
                    return Err(format!("tools.yaml: the tool `{name}` is in two lists"));
                }
                // As it is written, it is found without another spelling of it.
                tools.insert(name, does);
            }
        }
        let mut languages = HashMap::default();
        for (word, names) in file.languages {
            let language = Language::read(&word).map_err(|e| format!("tools.yaml: {e}"))?;
            languages.extend(
                names
                    .iter()
                    .map(|name| (plain(name).into_owned(), language)),
            );
        }
        let mut verbs: HashMap<String, Vec<Verb>> = HashMap::default();
        for (verb, names) in file.verbs {
            for name in names {
                verbs.entry(name).or_default().push(verb);
            }
        }
        Ok(ToolTable {
            tools,
            languages,
            roles: by_name(file.fields),
            words: by_name(file.words),
            fillers: file.fillers,
            compared: file.compared,
            verbs,
            changes: file.changes,
            programs: file.programs,
            idle: file.idle,
            operands: file.operands,
            options: file.options,
        })
    }

    /// What the tool of this name does, if it is known.
    pub(crate) fn does(&self, name: &str) -> Option<ToolKind> {
        if let Some(does) = self
            .tools
            .get(name)
            .or_else(|| self.tools.get(&*plain(name)))
        {
            return Some(*does);
        }
        let last = last_part(name)?;
        let does = self.tools.get(&*plain(last)).copied()?;
        // Another's server may call anything a plan or a question: only what acts is believed.
        let acts = !matches!(
            does,
            ToolKind::Inert
                | ToolKind::Agent
                | ToolKind::Schedule
                | ToolKind::KillShell
                | ToolKind::WebSearch
                | ToolKind::Told
        );
        acts.then_some(does)
    }

    /// The language of a tool whose code is always of one.
    pub fn language(&self, name: &str) -> Option<Language> {
        let found = self.languages.get(&*plain(name));
        found
            .or_else(|| self.languages.get(&*plain(last_part(name)?)))
            .copied()
    }

    pub(crate) fn roles(&self, key: &str) -> Roles {
        self.listed(key).unwrap_or_default()
    }

    fn listed(&self, key: &str) -> Option<Roles> {
        let as_written = self.roles.get(key);
        as_written.or_else(|| self.roles.get(&*plain(key))).copied()
    }

    /// The roles of an argument, by its name or, if that is not listed, by the words of it.
    pub(crate) fn roles_or_guess(&self, key: &str) -> Roles {
        if let Some(roles) = self.listed(key) {
            return roles;
        }
        // `pathInProject`, `cmdString`: what stands at the end says less.
        let words = words(text::beginning(key, 128));
        if words.iter().any(|word| self.compared.contains(word)) {
            return Roles::of(&[Role::Label]);
        }
        let telling = words.iter().rev().find(|w| !self.fillers.contains(*w));
        let last = telling.or(words.last());
        let found = last.and_then(|word| self.words.get(word));
        found.copied().unwrap_or_default()
    }

    /// Every role that there is.
    #[expect(clippy::unused_self, reason = "reads as a question to the table")]
    pub(crate) fn all_roles(&self) -> Roles {
        Roles(u64::MAX)
    }

    /// Whether one of the words says this.
    pub(crate) fn says(&self, words: &[String], verb: Verb) -> bool {
        let says = |word: &String| self.verbs.get(word).is_some_and(|all| all.contains(&verb));
        words.iter().any(says)
    }

    /// Whether an argument of this name may be a list or an object, so that a client makes one of
    /// text.
    pub(crate) fn takes_structure(&self, key: &str) -> bool {
        let roles = self.roles(key);
        [
            Role::Command,
            Role::Arguments,
            Role::Path,
            Role::Items,
            Role::Envelope,
            Role::Sandbox,
            Role::Url,
            Role::Query,
            Role::Environment,
        ]
        .into_iter()
        .any(|role| roles.has(role))
    }

    /// Whether an argument of this name turns something on.
    pub(crate) fn is_switch(&self, key: &str) -> bool {
        let roles = self.roles(key);
        roles.has(Role::Sandbox) || roles.has(Role::Background)
    }

    /// Whether an argument of this name is a command line.
    pub(crate) fn is_command(&self, key: &str) -> bool {
        self.roles(key).has(Role::Command)
    }

    /// Whether an argument of this name is what is put into files, which is never compared by looks.
    pub(crate) fn is_content(&self, key: &str) -> bool {
        let roles = self.roles(key);
        !roles.has(Role::Path)
            && (roles.has(Role::Content) || roles.has(Role::Diff) || roles.has(Role::Patch))
    }
}

fn by_name(lists: BTreeMap<Role, Vec<String>>) -> HashMap<String, Roles> {
    let mut roles: HashMap<String, Roles> = HashMap::default();
    for (role, names) in &lists {
        for name in names {
            roles.entry(plain(name).into_owned()).or_default().0 |= Roles::of(&[*role]).0;
        }
    }
    // As they are written, they are found without another spelling of them.
    for name in lists.into_values().flatten() {
        if let Some(known) = roles.get(&*plain(&name)).copied() {
            roles.insert(name, known);
        }
    }
    roles
}

/// The words of a name, in lower case: `pathInProject`, `delete_repository`, `send-mail`.
pub(crate) fn words(name: &str) -> Vec<String> {
    // Most names are one word.
    if !name.is_empty() && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9')) {
        return vec![name.to_owned()];
    }
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if (begins || !c.is_alphanumeric()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            if c.is_ascii() {
                word.push(c.to_ascii_lowercase());
            } else {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The tool's own part of `mcp__server__tool`, `server.tool` and the like.
pub(crate) fn last_part(name: &str) -> Option<&str> {
    let bytes = name.as_bytes();
    let ends_mark = |at: &usize| match bytes.get(*at) {
        Some(b'.' | b'/' | b':') => true,
        Some(b'_') => at.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'_'),
        Some(_) | None => false,
    };
    let mark = (0..bytes.len()).rev().find(ends_mark)?;
    let last = name.get(mark + 1..)?;
    (!last.is_empty()).then_some(last)
}

/// A name without what clients spell differently.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    if name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    if name.is_ascii() {
        let mut plain = name.to_ascii_lowercase();
        plain.retain(|c| c.is_ascii_alphanumeric());
        return Cow::Owned(plain);
    }
    text::as_it_looks(name)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect::<String>()
        .into()
}
