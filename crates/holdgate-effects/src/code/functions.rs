//! `functions.yaml`: what well-known functions do with their arguments.

use crate::code::Language;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::fmt;

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// What a function does with its arguments. `A`, `B`: the first, the second argument named.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Role { $($(#[$doc])* $name,)* }

        impl Role {
            fn from_word(word: &str) -> Option<Role> {
                match word { $($word => Some(Role::$name),)* _ => None }
            }
        }
    };
}

roles! {
    /// Reads the file A, and returns its content.
    Read = "read",
    /// Writes B to the file A.
    Write = "write",
    /// Adds B to the file A.
    Append = "append",
    /// Opens the file A in the mode B.
    Open = "open",
    /// Perl's `open`: the mode may stand before the path, and may be a pipe.
    PerlOpen = "perl-open",
    /// Writes A to the file that the object has opened.
    WriteTo = "write-to",
    /// Deletes the file A.
    Delete = "delete",
    /// Deletes the folder A with all that is in it.
    DeleteTree = "delete-tree",
    /// Deletes A, as a tree if B says so.
    DeleteMaybe = "delete-maybe",
    /// Moves A to B.
    Move = "move",
    /// Copies A to B.
    Copy = "copy",
    /// Makes B a link to A.
    Link = "link",
    /// Changes who may do what with A to B.
    Mode = "mode",
    /// Asks the host of the URL A, and returns the answer.
    Fetch = "fetch",
    /// Asks the host of the URL A, and writes the answer to B.
    Download = "download",
    /// Sends B and all further arguments to the URL A.
    Send = "send",
    /// Fetches from A, or sends to it where the options have a body.
    Request = "request",
    /// Connects to the host A.
    Connect = "connect",
    /// Connects to the host in A, if A is a pair of host and port.
    ConnectPair = "connect-pair",
    /// Names a host that will be connected to.
    Host = "host",
    /// Opens a port.
    Listen = "listen",
    /// Returns what came over the connection.
    Receive = "receive",
    /// Sends A over the connection.
    SendOver = "send-over",
    /// A shell runs A, and its output is printed.
    System = "system",
    /// A shell runs A, and its output is returned.
    Shell = "shell",
    /// A program runs with all arguments, or with the items of A.
    Program = "program",
    /// A program A runs with the items of B.
    ProgramWith = "program-with",
    /// A list is a program with its arguments; a text is run by a shell if B says so.
    Command = "command",
    /// One text is run by a shell; several are a program with its arguments.
    ShellOrProgram = "shell-or-program",
    /// Code of the same language runs.
    Code = "code",
    /// The file A is run as code of the same language.
    RunFile = "run-file",
    /// Native code is loaded from A.
    Load = "load",
    /// A is made to an object, which may run code.
    Deserialise = "deserialise",
    /// A process is stopped.
    Kill = "kill",
    /// The variable A of the environment is set to B.
    SetVariable = "set-variable",
    /// The variable A of the environment.
    Variable = "variable",
    /// The whole environment.
    Environment = "environment",
    /// Rights change.
    Elevate = "elevate",
    /// The process is doubled.
    Fork = "fork",
    /// Standard streams are tied to something else.
    Redirect = "redirect",
    /// A shell is tied to this terminal.
    Terminal = "terminal",
    /// The folder becomes A.
    Folder = "folder",
    /// A statement A is run by a database.
    Sql = "sql",
    /// A patch A is applied to files.
    Patch = "patch",
    /// Arguments are printed.
    Print = "print",
    /// What stands in standard input.
    Input = "input",
    /// The module A.
    Module = "module",
    /// The member B of A.
    Member = "member",
    /// The function A is called with the other arguments.
    Call = "call",
    /// The function A is called with the items of B.
    CallWith = "call-with",
    /// The same as A.
    Same = "same",
    /// The arguments, joined to a path.
    Join = "join",
    /// The same, but each absolute one starts anew.
    Resolve = "resolve",
    /// The folder that A is in.
    Parent = "parent",
    /// A constant that stands in the table.
    Constant = "constant",
    /// A is decoded from what the table says.
    Decode = "decode",
    /// An object whose type stands in the table, for the path, URL or host A.
    Makes = "makes",
    /// Names an origin for what is made: nothing else happens.
    Nothing = "nothing",
}

impl Role {
    /// Whether it only makes something of its arguments.
    pub(super) fn is_pure(self) -> bool {
        matches!(
            self,
            Role::Print
                | Role::Input
                | Role::Same
                | Role::Join
                | Role::Resolve
                | Role::Parent
                | Role::Constant
                | Role::Nothing
                | Role::Variable
                | Role::Environment
                | Role::Decode
        )
    }
}

/// Which argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// By position.
    At(usize),
    /// All from a position.
    From(usize),
    /// By name.
    Named(String),
    /// The object whose method it is.
    Receiver,
    /// The last one.
    Last,
}

/// One thing that a function does.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub(super) role: Role,
    /// For each argument of the role, where it may stand.
    pub(super) arguments: Vec<Vec<Which>>,
    /// A word of the table: a type, a constant, an encoding.
    pub(super) word: String,
}

/// The functions of all languages.
pub struct FunctionTable {
    by_language: Vec<(Language, Functions)>,
}

/// The functions of one language.
#[derive(Default)]
pub(super) struct Functions {
    by_name: HashMap<String, Vec<Act>>,
    /// Methods of whatever it may be, by what stands behind the `*.`.
    by_method: HashMap<String, Vec<Act>>,
    /// The last parts of all names: most names in code are none of them.
    last_parts: HashSet<String>,
    /// The last parts of those that do something, with what may stand before them.
    acting: HashMap<String, Vec<String>>,
}

impl Functions {
    pub(super) fn named(&self, name: &str) -> Option<&[Act]> {
        self.by_name.get(name).map(Vec::as_slice)
    }

    pub(super) fn method(&self, name: &str) -> Option<&[Act]> {
        self.by_method.get(name).map(Vec::as_slice)
    }

    /// Whether any name ends with this part.
    pub(super) fn ends_with(&self, part: &str) -> bool {
        self.last_parts.contains(part)
    }

    /// Whether a function of this last part does something, and of what it may be a member.
    pub(super) fn acts_under(&self, part: &str) -> Option<&[String]> {
        self.acting.get(part).map(Vec::as_slice)
    }

    fn insert(&mut self, name: String, acts: Vec<Act>) {
        let last = name.rsplit('.').next().unwrap_or(&name);
        self.last_parts.insert(last.to_owned());
        let acts_itself =
            |act: &Act| !act.role.is_pure() && !matches!(act.role, Role::Makes | Role::Module);
        if acts.iter().any(acts_itself) {
            let owner = name.rsplit('.').nth(1).unwrap_or("").to_owned();
            self.acting.entry(last.to_owned()).or_default().push(owner);
        }
        match name.strip_prefix("*.") {
            Some(method) => self.by_method.insert(method.to_owned(), acts),
            None => self.by_name.insert(name, acts),
        };
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    python: HashMap<String, String>,
    javascript: HashMap<String, String>,
    perl: HashMap<String, String>,
    ruby: HashMap<String, String>,
    php: HashMap<String, String>,
    lua: HashMap<String, String>,
    compiled: HashMap<String, String>,
}

impl FunctionTable {
    /// Reads the table.
    pub fn read(yaml: &str) -> Result<Self, String> {
        let written: Written = serde_saphyr::from_str(yaml).map_err(|e| e.to_string())?;
        let mut by_language = Vec::new();
        for (language, functions) in [
            (Language::Python, written.python),
            (Language::JavaScript, written.javascript),
            (Language::Perl, written.perl),
            (Language::Ruby, written.ruby),
            (Language::Php, written.php),
            (Language::Lua, written.lua),
            (Language::Compiled, written.compiled),
        ] {
            let mut table = Functions::default();
            for (names, acts) in functions {
                let acts: Vec<Act> = acts
                    .split(';')
                    .map(|act| read_act(act).map_err(|e| format!("functions.yaml: `{names}`: {e}")))
                    .collect::<Result<_, _>>()?;
                for name in names.split_whitespace() {
                    table.insert(plain_name(name), acts.clone());
                }
            }
            by_language.push((language, table));
        }
        Ok(FunctionTable { by_language })
    }

    pub(super) fn of(&self, language: Language) -> Option<&Functions> {
        let found = self.by_language.iter().find(|(l, _)| *l == language)?;
        Some(&found.1)
    }
}

impl fmt::Debug for FunctionTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self
            .by_language
            .iter()
            .map(|(l, t)| (l.word(), t.by_name.len()));
        f.debug_map().entries(counts).finish()
    }
}

/// One spelling for all languages: `Net::HTTP.get`, `$db->query` and `os.system` alike.
pub(super) fn plain_name(name: &str) -> String {
    name.replace("::", ".")
        .replace("->", ".")
        .replace('\\', ".")
}

fn read_act(written: &str) -> Result<Act, String> {
    let mut words = written.split_whitespace();
    let word = words.next().ok_or("the entry is empty")?;
    let role = Role::from_word(word).ok_or_else(|| format!("unknown role `{word}`"))?;
    let takes_word = matches!(role, Role::Constant | Role::Decode | Role::Makes);
    let word = if takes_word {
        words.next().ok_or("a word is missing")?.to_owned()
    } else {
        String::new()
    };
    let arguments = words
        .map(|places| places.split('|').map(read_which).collect())
        .collect();
    Ok(Act {
        role,
        arguments,
        word,
    })
}

fn read_which(place: &str) -> Which {
    if place == "self" {
        return Which::Receiver;
    }
    if place == "last" {
        return Which::Last;
    }
    if let Some(from) = place.strip_suffix('*') {
        return Which::From(from.parse().unwrap_or(0));
    }
    match place.parse() {
        Ok(at) => Which::At(at),
        Err(_) => Which::Named(place.to_owned()),
    }
}
