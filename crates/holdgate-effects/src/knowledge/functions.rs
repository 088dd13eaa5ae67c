//! `functions.yaml`: what well-known functions do with their arguments.

use crate::language::Language;
use crate::table::Table;
use crate::worded::worded;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::fmt;

worded! {
    /// What a function does with its arguments. `A`, `B`: the first, the second argument named.
    pub(crate) enum Role as "role" {
        Read = "read": "Reads the file A, and returns its content.",
        Write = "write": "Writes B to the file A.",
        Append = "append": "Adds B to the file A.",
        Open = "open": "Opens the file A in the mode B.",
        PerlOpen = "perl-open": "Perl's `open`: the mode may stand before the path, and may be a pipe.",
        FileOrPipe = "file-or-pipe": "Writes the file A, or opens it in the mode B if there is one; behind `|` stands a command.",
        WriteTo = "write-to": "Writes A to the file that the object has opened.",
        Delete = "delete": "Deletes the file A.",
        DeleteTree = "delete-tree": "Deletes the folder A with all that is in it.",
        DeleteMaybe = "delete-maybe": "Deletes A, as a tree if B says so.",
        Move = "move": "Moves A to B.",
        Copy = "copy": "Copies A to B.",
        Link = "link": "Makes B a link to A.",
        Mode = "mode": "Changes who may do what with A to B.",
        Entries = "entries": "The paths of what is in the folder A.",
        Names = "names": "The names of what is in the folder A.",
        Below = "below": "The paths of all that is below the folder A, if B is a pattern of those that match it.",
        Walk = "walk": "For each folder below A: its path, and the names of folders and files in it.",
        Matches = "matches": "The paths that match the pattern A.",
        Arguments = "arguments": "The words of the command line.",
        Fetch = "fetch": "Asks the host of the URL A, and returns the answer.",
        Download = "download": "Asks the host of the URL A, and writes the answer to B.",
        Send = "send": "Sends B and all further arguments to the URL A.",
        Request = "request": "Fetches from A, or sends to it where the options have a body.",
        Connect = "connect": "Connects to the host A.",
        ConnectPair = "connect-pair": "Connects to the host in A, if A is a pair of host and port.",
        Host = "host": "Names a host that will be connected to.",
        Listen = "listen": "Opens a port.",
        Receive = "receive": "Returns what came over the connection.",
        SendOver = "send-over": "Sends A over the connection.",
        System = "system": "A shell runs A, and its output is printed.",
        Shell = "shell": "A shell runs A, and its output is returned.",
        Program = "program": "A program runs with all arguments, or with the items of A.",
        ProgramWith = "program-with": "A program A runs with the items of B.",
        Command = "command": "A list is a program with its arguments; a text is run by a shell if B says so.",
        ShellOrProgram = "shell-or-program": "One text is run by a shell; several are a program with its arguments.",
        Code = "code": "Code of the same language runs.",
        RunFile = "run-file": "The file A is run as code of the same language.",
        Load = "load": "Native code is loaded from A.",
        Deserialise = "deserialise": "A is made to an object, which may run code.",
        Reference = "reference": "Code is fetched from the repository A, `owner/name`, and run.",
        Container = "container": "A container is made; its options are among the arguments.",
        Keys = "keys": "Keys are typed, or the mouse is moved, in a person's place.",
        Login = "login": "A token is taken out of a store, to log in with.",
        Service = "service": "A function of a library for a cloud, a database or keys, as A says: its name tells what it does.",
        Twin = "twin": "The same as a command, whose words A has between commas.",
        Kill = "kill": "A process is stopped.",
        KillListed = "kill-listed": "Processes are stopped that were picked from a list of all of them.",
        Observe = "observe": "The clipboard, the screen, the microphone, the camera or the keyboard is observed.",
        SetVariable = "set-variable": "The variable A of the environment is set to B.",
        Variable = "variable": "The variable A of the environment.",
        Environment = "environment": "The whole environment.",
        Elevate = "elevate": "Rights change.",
        Fork = "fork": "The process is doubled.",
        Redirect = "redirect": "Standard streams are tied to something else.",
        Terminal = "terminal": "A shell is tied to this terminal.",
        Folder = "folder": "The folder becomes A.",
        Sql = "sql": "A statement A is run by a database.",
        Patch = "patch": "A patch A is applied to files.",
        Print = "print": "Arguments are printed.",
        Input = "input": "What stands in standard input.",
        Module = "module": "The module A.",
        Member = "member": "The member B of A.",
        Call = "call": "The function A is called with the other arguments.",
        CallWith = "call-with": "The function A is called with the items of B.",
        Same = "same": "The same as A.",
        Join = "join": "The arguments, joined to a path.",
        Resolve = "resolve": "The same, but each absolute one starts anew.",
        Parent = "parent": "The folder that A is in.",
        OwnFile = "own-file": "The path of the file in which the code stands.",
        Constant = "constant": "A constant that stands in the table.",
        Decode = "decode": "A is decoded from what the table says.",
        Makes = "makes": "An object whose type stands in the table, for the path, URL or host A.",
        Text = "text": "Compares, searches or shows texts: what they name is not touched.",
        Nothing = "nothing": "Names an origin for what is made: nothing else happens.",
    }
}

impl Role {
    /// Whether it only makes something of its arguments.
    pub(crate) fn is_pure(self) -> bool {
        matches!(
            self,
            Role::Print
                | Role::Input
                | Role::Same
                | Role::Join
                | Role::Resolve
                | Role::Parent
                | Role::OwnFile
                | Role::Constant
                | Role::Nothing
                | Role::Text
                | Role::Arguments
                | Role::Variable
                | Role::Environment
                | Role::Decode
        )
    }
}

/// Which argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
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
    /// None of them: what stands in the table.
    Text(String),
}

/// One thing that a function does.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub(crate) role: Role,
    /// For each argument of the role, where it may stand.
    pub(crate) arguments: Vec<Vec<Which>>,
    /// A word of the table: a type, a constant, an encoding.
    pub(crate) word: String,
}

/// The functions of all languages.
#[derive(Default)]
pub struct FunctionTable {
    by_language: HashMap<Language, Functions>,
}

/// The functions of one language.
#[derive(Clone, Default)]
pub(crate) struct Functions {
    by_name: HashMap<String, Vec<Act>>,
    /// Methods of whatever it may be, by what stands behind the `*.`.
    by_method: HashMap<String, Vec<Act>>,
    /// The last parts of all names: most names in code are none of them.
    last_parts: HashSet<String>,
    /// The last parts of those that do something, with what may stand before them.
    acting: HashMap<String, Vec<String>>,
    /// The last parts of those that make something of a type, with the types.
    makers: HashMap<String, Vec<String>>,
    /// `^several_words`, which may stand anywhere on a line.
    phrases: Vec<String>,
    /// `module.**`: by the module what all functions in it do, or those of one name.
    families: HashMap<String, Vec<(String, Vec<Act>)>>,
}

impl Functions {
    pub(crate) fn named(&self, name: &str) -> Option<&[Act]> {
        self.by_name.get(name).map(Vec::as_slice)
    }

    pub(crate) fn method(&self, name: &str) -> Option<&[Act]> {
        self.by_method.get(name).map(Vec::as_slice)
    }

    /// Whether any name ends with this part.
    pub(crate) fn ends_with(&self, part: &str) -> bool {
        self.last_parts.contains(part)
    }

    /// Whether a function of this last part does something, and of what it may be a member.
    pub(crate) fn acts_under(&self, part: &str) -> Option<&[String]> {
        self.acting.get(part).map(Vec::as_slice)
    }

    /// The types of what a function of this last part may make.
    pub(crate) fn makes_under(&self, part: &str) -> &[String] {
        self.makers.get(part).map_or(&[], Vec::as_slice)
    }

    /// Words that may stand anywhere on a line, joined by `_`.
    pub(crate) fn phrases(&self) -> &[String] {
        &self.phrases
    }

    /// What all functions of a library do that no entry names. Most names in code are of no such
    /// library.
    pub(crate) fn family(&self, name: &str) -> Option<&[Act]> {
        if self.families.is_empty() {
            return None;
        }
        let last = name.rsplit('.').next().unwrap_or(name);
        // What is below a package belongs to it: `@aws-sdk/client-s3`. The longest name says the most.
        let mut ends: Vec<usize> = name
            .match_indices(['.', '(', '/'])
            .map(|(at, _)| at)
            .take(4)
            .collect();
        ends.push(name.len());
        ends.into_iter().rev().find_map(|end| {
            let members = self.families.get(name.get(..end)?)?;
            let fits = |(member, _): &&(String, _)| member.is_empty() || member == last;
            let named = members.iter().find(|(member, _)| member == last);
            let found = named.or_else(|| members.iter().find(fits));
            found.map(|(_, acts)| acts.as_slice())
        })
    }

    fn insert(&mut self, name: String, acts: Vec<Act>) {
        if let Some((module, member)) = name.split_once(".**") {
            let member = member.trim_start_matches('.').to_owned();
            let members = self.families.entry(module.to_owned()).or_default();
            members.push((member, acts));
            return;
        }
        if name.starts_with('^') && (name.contains('_') || name.ends_with('(')) {
            self.phrases.push(name.clone());
        }
        let last = name.rsplit('.').next().unwrap_or(&name);
        self.last_parts.insert(last.to_owned());
        let acts_itself =
            |act: &Act| !act.role.is_pure() && !matches!(act.role, Role::Makes | Role::Module);
        if acts.iter().any(acts_itself) {
            let owner = name.rsplit('.').nth(1).unwrap_or("").to_owned();
            self.acting.entry(last.to_owned()).or_default().push(owner);
        }
        let made = acts.iter().filter(|act| act.role == Role::Makes);
        let made: Vec<String> = made.map(|act| act.word.clone()).collect();
        if !made.is_empty() {
            self.makers.entry(last.to_owned()).or_default().extend(made);
        }
        match name.strip_prefix("*.") {
            Some(method) => self.by_method.insert(method.to_owned(), acts),
            None => self.by_name.insert(name, acts),
        };
    }
}

impl FunctionTable {
    /// Reads the table.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        let written: HashMap<Language, HashMap<String, String>> =
            table.read().map_err(|e| format!("functions.yaml: {e}"))?;
        let mut by_language = HashMap::default();
        // Programs with a language of their own use the libraries of others: compiled comes first.
        let mut written: Vec<_> = written.into_iter().collect();
        written.sort_by_key(|(language, _)| *language != Language::Compiled);
        for (language, functions) in written {
            let mut table = match by_language.get(&Language::Compiled) {
                Some(compiled) if language == Language::Other => Functions::clone(compiled),
                _ => Functions::default(),
            };
            for (names, acts) in functions {
                let acts: Vec<Act> = acts
                    .split(';')
                    .map(|act| read_act(act).map_err(|e| format!("functions.yaml: `{names}`: {e}")))
                    .collect::<Result<_, _>>()?;
                for name in names.split_whitespace() {
                    table.insert(plain_name(name), acts.clone());
                }
            }
            by_language.insert(language, table);
        }
        Ok(FunctionTable { by_language })
    }

    pub(crate) fn of(&self, language: Language) -> Option<&Functions> {
        self.by_language.get(&language)
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
pub(crate) fn plain_name(name: &str) -> String {
    name.replace("::", ".")
        .replace("->", ".")
        .replace('\\', ".")
}

fn read_act(written: &str) -> Result<Act, String> {
    let mut words = written.split_whitespace();
    let word = words.next().ok_or("the entry is empty")?;
    let role = Role::read(word)?;
    let takes_word = matches!(role, Role::Constant | Role::Decode | Role::Makes);
    let word = if takes_word {
        words.next().ok_or("a word is missing")?.to_owned()
    } else {
        String::new()
    };
    let arguments = words
        .map(|places| places.split('|').map(read_which).collect())
        .collect::<Result<_, _>>()?;
    Ok(Act {
        role,
        arguments,
        word,
    })
}

fn read_which(place: &str) -> Result<Which, String> {
    if let Some(from) = place.strip_suffix('*') {
        let from = from.parse();
        return from
            .map(Which::From)
            .map_err(|_| format!("`{place}` is not a position"));
    }
    if let Some(text) = place.strip_prefix('=') {
        return Ok(Which::Text(text.to_owned()));
    }
    Ok(match (place, place.parse()) {
        ("self", _) => Which::Receiver,
        ("last", _) => Which::Last,
        (_, Ok(at)) => Which::At(at),
        (name, Err(_)) => Which::Named(name.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_is_that_of_a_function() {
        let table = FunctionTable::read(compiled!("functions")).unwrap();
        let functions = table.by_language.values();
        let acts: Vec<&Act> = functions
            .flat_map(|f| {
                let families = f.families.values().flatten().map(|(_, acts)| acts);
                let named = f.by_name.values().chain(f.by_method.values());
                named.chain(families).flatten()
            })
            .collect();
        for role in Role::ALL {
            assert!(
                acts.iter().any(|act| act.role == role),
                "nothing is `{role}`"
            );
        }
    }

    #[test]
    fn no_family_hides_another() {
        let table = FunctionTable::read(compiled!("functions")).unwrap();
        for functions in table.by_language.values() {
            for (module, members) in &functions.families {
                for (member, acts) in members {
                    let last = if member.is_empty() {
                        "unlisted"
                    } else {
                        member
                    };
                    let found = functions.family(&format!("{module}.{last}"));
                    let found = found.map(<[Act]>::as_ptr);
                    assert_eq!(found, Some(acts.as_ptr()), "{module}.**.{member}");
                }
            }
        }
    }

    #[test]
    fn a_bad_entry_is_an_error_that_names_file_entry_and_word() {
        let table = |entry: &str| {
            FunctionTable::read(crate::table::compiled(&format!("python:\n  {entry}\n"))).map(drop)
        };
        assert_eq!(table("os.remove: delete 0"), Ok(()));
        let error = "functions.yaml: `os.remove`: unknown role `delet`, did you mean `delete`?";
        assert_eq!(table("os.remove: delet 0"), Err(error.to_owned()));
        let error = "functions.yaml: `os.remove`: `x*` is not a position";
        assert_eq!(table("os.remove: delete x*"), Err(error.to_owned()));
    }
}
