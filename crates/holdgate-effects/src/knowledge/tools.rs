//! Tools by their names: which is a shell, a read, a write, and which argument says what.
//! `tools.yaml` holds the table.

use crate::language::Language;
use crate::text;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolKind {
    /// Runs a command line, or a list of words.
    Shell,
    /// Runs a command line of PowerShell.
    Powershell,
    /// Runs code.
    Code,
    /// Types into what runs.
    Typed,
    /// Shows files.
    Read,
    /// Shows names of files.
    List,
    /// Shows parts of files.
    Search,
    /// Makes or changes files.
    Write,
    /// Views or changes a file, as its `command` says.
    Editor,
    /// Applies a patch.
    Patch,
    /// Changes a notebook.
    Notebook,
    /// Makes a folder.
    MakeFolder,
    /// Deletes.
    Delete,
    /// Moves or renames.
    Move,
    /// Copies.
    Copy,
    /// Asks a host for something, or sends it something.
    Fetch,
    /// Asks a search engine.
    WebSearch,
    /// Starts another agent within the client.
    Agent,
    /// Lets the client do something later.
    Schedule,
    /// Makes other calls.
    Calls,
    /// Stops a background command of the client.
    KillShell,
    /// Stops a process.
    Kill,
    /// Runs git.
    Git,
    /// Asks or changes a database.
    Database,
    /// Types and clicks on a screen.
    Computer,
    /// Asks the client for more rights.
    Elevate,
    /// Does nothing outside of the client.
    Inert,
}

/// What an argument says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// A command line, or a list of words.
    Command,
    /// The shell for the command line, or the command line itself.
    Shell,
    /// Words that follow the command.
    Arguments,
    /// Code.
    Code,
    /// The language of the code.
    Language,
    /// Where it runs.
    Folder,
    /// What is typed.
    Typed,
    /// Files or folders.
    Path,
    /// New content.
    Content,
    /// New content as a diff of one file.
    Diff,
    /// A patch of several files.
    Patch,
    /// Which names of files.
    Glob,
    /// Where something is taken from.
    From,
    /// Where it goes.
    To,
    /// A URL.
    Url,
    /// What is sent.
    Data,
    /// The method of a request.
    Method,
    /// What an agent is told.
    Prompt,
    /// A query.
    Query,
    /// A process.
    Process,
    /// A verb.
    Action,
    /// The kind of a notebook's cell.
    Cell,
    /// What the command reads.
    Stdin,
    /// Variables that are set for the command.
    Environment,
    /// Out of the sandbox.
    Sandbox,
    /// In the background.
    Background,
    /// How content is encoded.
    Encoding,
    /// The name of a tool within a call.
    Tool,
    /// Parts with arguments of their own.
    Items,
    /// An object that only holds arguments.
    Envelope,
}

/// `tools.yaml`, ready to look up.
#[derive(Debug)]
pub struct ToolTable {
    tools: HashMap<String, ToolKind>,
    languages: HashMap<String, Language>,
    roles: HashMap<String, Roles>,
}

/// A set of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roles(u32);

impl Roles {
    pub(crate) fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u32) != 0
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    does: BTreeMap<ToolKind, Vec<String>>,
    languages: BTreeMap<String, Vec<String>>,
    fields: BTreeMap<Role, Vec<String>>,
}

impl ToolTable {
    /// Reads the table.
    pub fn read(yaml: &str) -> Result<Self, String> {
        let file: TableFile =
            serde_saphyr::from_str(yaml).map_err(|e| format!("tools.yaml: {e}"))?;
        let mut tools = HashMap::new();
        for (does, names) in file.does {
            for name in names {
                if let Some(other) = tools.insert(plain(&name), does)
                    && other != does
                {
                    return Err(format!("tools.yaml: the tool `{name}` is in two lists"));
                }
            }
        }
        let mut languages = HashMap::new();
        for (word, names) in file.languages {
            let language = Language::read(&word).map_err(|e| format!("tools.yaml: {e}"))?;
            languages.extend(names.iter().map(|name| (plain(name), language)));
        }
        let mut roles: HashMap<String, Roles> = HashMap::new();
        for (role, names) in file.fields {
            for name in names {
                roles.entry(plain(&name)).or_default().0 |= 1 << role as u32;
            }
        }
        Ok(ToolTable {
            tools,
            languages,
            roles,
        })
    }

    /// What the tool of this name does, if it is known.
    pub fn does(&self, name: &str) -> Option<ToolKind> {
        if let Some(does) = self.tools.get(&plain(name)) {
            return Some(*does);
        }
        let last = last_part(name)?;
        let does = self.tools.get(&plain(last)).copied()?;
        // Another's server may call anything a plan or a question: only what acts is believed.
        let acts = !matches!(
            does,
            ToolKind::Inert
                | ToolKind::Agent
                | ToolKind::Schedule
                | ToolKind::KillShell
                | ToolKind::WebSearch
        );
        acts.then_some(does)
    }

    /// The language of a tool whose code is always of one.
    pub fn language(&self, name: &str) -> Option<Language> {
        let found = self.languages.get(&plain(name));
        found
            .or_else(|| self.languages.get(&plain(last_part(name)?)))
            .copied()
    }

    pub(crate) fn roles(&self, key: &str) -> Roles {
        self.roles.get(&plain(key)).copied().unwrap_or_default()
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

/// The tool's own part of `mcp__server__tool`, `server.tool` and the like.
fn last_part(name: &str) -> Option<&str> {
    let at = |mark: &str| name.rsplit_once(mark).map(|(_, last)| last);
    let last = ["__", ".", "/", ":"]
        .into_iter()
        .filter_map(at)
        .min_by_key(|last| last.len())?;
    (!last.is_empty()).then_some(last)
}

/// A name without what clients spell differently.
pub(crate) fn plain(name: &str) -> String {
    text::as_it_looks(name)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
