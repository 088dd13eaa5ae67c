//! What a program does with one of its arguments.

use crate::effect::Kind;
use crate::language::Language;
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

/// The use of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// A name, a number, a setting. It touches what it names, since nobody looked at every use of it.
    Data,
    /// A text for people, a pattern to search for: nothing is done with what it names.
    Text,
    /// A key, a certificate or a file of credentials that the program itself uses and does not show.
    Key,
    /// `key=value` of a program that runs what some of its settings name.
    Setting,
    Read,
    /// A text that it writes as it is.
    Content,
    /// Where packages come from: an address, or a name or folder that is known here.
    Index,
    /// A file whose lines show, also where the program else tells only names and sizes.
    Shown,
    Write,
    /// A file to write, or, behind a `|`, a command that gets what would be written.
    WriteOrPipe,
    Append,
    Delete,
    /// It goes away from here.
    Move,
    Mode,
    /// The mode itself: `777`, `u+s`.
    ModeBits,
    Fetch,
    /// The same, or `owner/name` of a repository at a host of code.
    Repository,
    /// What runs, is built or applied: a file or folder here, or an address that it is fetched from.
    RunsReference,
    /// Data to send; `@file` means the file's content.
    Send,
    /// The same, and `name@file` as well.
    SendNamed,
    /// A file to send.
    SendFile,
    Connect,
    Listen,
    /// A local path, or `host:path`: the last one is where to.
    Transfer,
    /// A command for a shell. Several are joined.
    Shell,
    /// A program and its arguments: this and all that follows.
    Argv,
    /// The same, after a program such as `xargs` that adds what it reads to the arguments.
    #[serde(rename = "argv+input")]
    ArgvAndInput,
    #[serde(skip)]
    Code(Language),
    /// A file that runs.
    #[serde(skip)]
    Script(Language),
    /// A script that runs in this very shell.
    Source,
    /// A module that runs as a program: `python -m pip`.
    Module,
    /// Where relative paths start from.
    Cwd,
    /// `NAME=value`
    Env,
    /// A file of variables for what it runs.
    Variables,
    /// `key=value` of git, some of which run programs.
    GitConfig,
    /// `exec=command` of tar.
    ExecAction,
    /// A patch body.
    Patch,
    /// `host:container`, the folder that a container gets to see.
    Mount,
    /// A manifest of containers, or the file that holds one; `-` is the input.
    Manifest,
    Sql,
    /// A file of statements.
    SqlFile,
    Install,
    /// A package that is fetched and run: this is its name, what follows are its arguments.
    #[serde(rename = "install+argv")]
    InstallArgv,
    /// A process, or the name of one.
    Kill,
    /// Any other effect that is about this text.
    #[serde(skip)]
    About(Kind),
}

impl Role {
    /// The role that `word` stands for in `commands.yaml`.
    pub(crate) fn from_word(word: &str) -> Option<Role> {
        if let Some(language) = word.strip_prefix("code:") {
            return Language::from_word(language).map(Role::Code);
        }
        if let Some(language) = word.strip_prefix("script:") {
            return Language::from_word(language).map(Role::Script);
        }
        let named = StrDeserializer::<Error>::new(word);
        let named = Role::deserialize(named).ok();
        named.or_else(|| Kind::from_word(word).map(Role::About))
    }
}
