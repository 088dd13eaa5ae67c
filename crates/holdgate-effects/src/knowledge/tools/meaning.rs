//! The words of `tools.yaml`: what tools do, what their arguments and the words of their names say.

use serde::Deserialize;

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToolKind {
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
    /// Tells the client what to follow: now, or whenever it remembers.
    Told,
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
    /// Sends a text or files to people or to a service.
    Message,
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
    /// A text for people.
    Prose,
    /// What is only compared or named: old text, a selector.
    Label,
    /// Who gets a message.
    Recipient,
}

/// What a word in the name of a tool that is not listed says that it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verb {
    /// Runs what it is given.
    Run,
    /// Shows something.
    Read,
    /// Makes or changes something.
    Write,
    /// Sends something to others.
    Send,
    /// Reads and changes keys and settings that others keep: a value in it is meant to be there.
    Keep,
    /// Asks or changes a database.
    Database,
    /// Tells the client, its memory or its timetable something.
    Tell,
    /// Names a store of secrets.
    Reveal,
}

/// A change at a service that others rely on: a verb and a thing in the name of a tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// Words that say it alone.
    #[serde(default)]
    pub(crate) alone: Vec<String>,
    pub(crate) verbs: Vec<String>,
    pub(crate) things: Vec<String>,
    /// Names of arguments that say it beside a verb.
    #[serde(default)]
    pub(crate) keys: Vec<String>,
}

/// A set of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roles(pub(super) u64);

impl Roles {
    /// These roles.
    pub(crate) fn of(roles: &[Role]) -> Roles {
        Roles(roles.iter().fold(0, |all, role| all | 1 << *role as u64))
    }

    pub(crate) fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u64) != 0
    }

    /// Whether any of `other` is in here.
    pub(crate) fn any(self, other: Roles) -> bool {
        self.0 & other.0 != 0
    }
}
