//! `code/doors.yaml`: the names by which back doors and grabbers are found in source.

use crate::table::Table;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use rustc_hash::FxHashSet as HashSet;
use serde::Deserialize;

/// Groups of names of which one must stand in a file before the file is searched for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Requests,
    Parameters,
    Routes,
    Chats,
    Handlers,
    Typed,
    Deletes,
    Homes,
    Miners,
    Comparisons,
    Unverified,
    Grants,
    Bare,
    Listeners,
    /// Words for those who may do more than others, and for names of whole modules.
    Raised,
    Clouds,
    /// Words around tokens that a request brings.
    Bearers,
    Addresses,
}

const GROUPS: usize = Group::Addresses as usize + 1;

const COMPARISONS: [&str; 2] = ["==", ".equals("];
const RAISED: [&str; 5] = ["superuser", "dmin", "* as ", "require(", "globals()"];
const CLOUDS: [&str; 8] = [
    "aws",
    "cdk",
    "pulumi",
    "google",
    "azure",
    "Microsoft.",
    "k8s",
    "kubernetes",
];
const BEARERS: [&str; 2] = ["uthorization", "earer "];

/// The names that a file has, by their groups.
#[derive(Debug, Default)]
pub(crate) struct Present<'t>([Vec<&'t str>; GROUPS]);

impl<'t> Present<'t> {
    pub(crate) fn has(&self, group: Group) -> bool {
        !self.of(group).is_empty()
    }

    /// The names of a group that stand in the file, in the order of the table.
    pub(crate) fn of(&self, group: Group) -> &[&'t str] {
        self.0.get(group as usize).map_or(&[], Vec::as_slice)
    }
}

/// Finds the names of all groups in one pass.
#[derive(Debug)]
struct Search {
    names: AhoCorasick,
    /// The group of each name, and the name.
    groups: Vec<(Group, String)>,
}

/// `code/doors.yaml`, as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoorTable {
    /// What a request, a message or a peer brings.
    pub(crate) requests: Vec<String>,
    /// Marks of parameters that a framework fills from a request.
    pub(crate) parameters: Vec<String>,
    /// Marks of functions that answer requests.
    pub(crate) routes: Vec<String>,
    /// Marks of functions that answer messages of a chat.
    pub(crate) chats: Vec<String>,
    /// Calls with a function that answers requests: its first parameter is the request.
    pub(crate) handlers: Vec<String>,
    /// Types of parameters that a framework fills from a request.
    pub(crate) typed: Vec<String>,
    /// What stands around a part of a request and leaves it what it is.
    pub(crate) wrappers: Vec<String>,
    /// Functions that run a command.
    pub(crate) commands: Vec<String>,
    /// Functions that run code.
    pub(crate) code: Vec<String>,
    /// Functions that call another by its name.
    pub(crate) callers: Vec<String>,
    /// Functions that make objects or pages of any kind out of data.
    pub(crate) objects: Vec<String>,
    /// Functions that find a function, a class or a module by its name.
    pub(crate) named: Vec<String>,
    /// Words of Ruby that run or show what follows them without brackets.
    pub(crate) bare: Vec<String>,
    /// Functions that read a token without asking who signed it.
    pub(crate) tokens: Vec<String>,
    /// Settings with which nobody checks who is at the other end.
    unverified: Vec<String>,
    /// Texts with which a cloud lets everybody in, or gives somebody full power.
    grants: Vec<String>,
    /// Functions that give out the file that they are given the name of.
    pub(crate) files: Vec<String>,
    /// Methods that give a program one more argument.
    pub(crate) arguments: Vec<String>,
    /// Names of functions and classes that send.
    pub(crate) sends: Vec<String>,
    /// What people type or keep in a page.
    pub(crate) private: Vec<String>,
    /// All variables of the environment at once.
    pub(crate) environment: Vec<String>,
    /// The same under names that are honest by themselves: only where a call that sends takes all of it.
    pub(crate) environments: Vec<String>,
    /// Events of keys in a page.
    pub(crate) typed_keys: Vec<String>,
    /// All fields of a page at once.
    pub(crate) all_fields: Vec<String>,
    /// Fields of a payment card.
    pub(crate) cards: Vec<String>,
    /// What listens to all keys of a system.
    pub(crate) listeners: Vec<String>,
    /// Functions that open a way out of the machine.
    pub(crate) channels: Vec<String>,
    /// Parts of addresses where people log in.
    pub(crate) logins: Vec<String>,
    /// Names that hold what somebody must know to be let in.
    pub(crate) keys: Vec<String>,
    /// Functions that run the script at an address, whoever keeps it there.
    pub(crate) sources: Vec<String>,
    /// Functions that run the code at an address or in a file.
    pub(crate) loads: Vec<String>,
    /// Functions that run a text as code.
    pub(crate) runs_text: Vec<String>,
    /// Words that begin a statement which does so.
    pub(crate) load_words: Vec<String>,
    /// Words that begin a list of Lisp which does so.
    pub(crate) lisp_loads: Vec<String>,
    /// Functions that fetch.
    pub(crate) fetches: Vec<String>,
    /// Functions that delete a folder with all that is in it.
    pub(crate) deletes: Vec<String>,
    /// Names of somebody's home.
    pub(crate) homes: Vec<String>,
    /// What only programs that mine know.
    pub(crate) miners: Vec<String>,
    /// The last parts of the names of all functions that run or delete.
    #[serde(skip)]
    last_parts: HashSet<String>,
    #[serde(skip)]
    search: Option<Search>,
}

impl DoorTable {
    /// Reads the table.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        let mut table: DoorTable = table.read().map_err(|e| format!("code/doors.yaml: {e}"))?;
        let functions = table
            .commands
            .iter()
            .chain(&table.code)
            .chain(&table.objects)
            .chain(&table.callers)
            .chain(&table.named)
            .chain(&table.tokens)
            .chain(&table.files)
            .chain(&table.arguments)
            .chain(&table.deletes);
        table.last_parts = functions.map(|name| last_part(name).to_owned()).collect();
        let listed: [(Group, &[String]); 13] = [
            (Group::Requests, &table.requests),
            (Group::Parameters, &table.parameters),
            (Group::Routes, &table.routes),
            (Group::Chats, &table.chats),
            (Group::Handlers, &table.handlers),
            (Group::Typed, &table.typed),
            (Group::Deletes, &table.deletes),
            (Group::Homes, &table.homes),
            (Group::Miners, &table.miners),
            (Group::Unverified, &table.unverified),
            (Group::Grants, &table.grants),
            (Group::Bare, &table.bare),
            (Group::Listeners, &table.listeners),
        ];
        let fixed: [(Group, &[&str]); 5] = [
            (Group::Comparisons, &COMPARISONS),
            (Group::Raised, &RAISED),
            (Group::Clouds, &CLOUDS),
            (Group::Bearers, &BEARERS),
            (Group::Addresses, &["://"]),
        ];
        let each = |(group, names): &(Group, &[String])| {
            let group = *group;
            names
                .iter()
                .map(move |name| (group, name.clone()))
                .collect::<Vec<_>>()
        };
        let groups = listed.iter().flat_map(each);
        let fixed = fixed
            .iter()
            .flat_map(|(group, names)| names.iter().map(|name| (*group, (*name).to_owned())));
        let groups: Vec<(Group, String)> = groups.chain(fixed).collect();
        // Every file that is written is searched: what is fast is worth the memory.
        let names = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .build(groups.iter().map(|(_, name)| name));
        table.search = Some(Search {
            names: names.map_err(|e| format!("code/doors.yaml: {e}"))?,
            groups,
        });
        Ok(table)
    }

    /// The names that `code` has.
    pub(crate) fn present(&self, code: &str) -> Present<'_> {
        let mut present = Present::default();
        let Some(search) = &self.search else {
            return present;
        };
        let mut stands = vec![false; search.groups.len()];
        for found in search.names.find_overlapping_iter(code) {
            if let Some(stands) = stands.get_mut(found.pattern().as_usize()) {
                *stands = true;
            }
        }
        for ((group, name), _) in search
            .groups
            .iter()
            .zip(stands)
            .filter(|(_, stands)| *stands)
        {
            if let Some(names) = present.0.get_mut(*group as usize) {
                names.push(name);
            }
        }
        present
    }

    /// Whether `code` calls a function that may run or delete something.
    pub(crate) fn acts_in(&self, code: &str) -> bool {
        code.match_indices('(').any(|(at, _)| {
            let before = code.get(..at).unwrap_or("").trim_end_matches(['!', ' ']);
            self.may_act(before)
        })
    }

    /// Whether a text may end with the name of a function that runs or deletes something.
    pub(crate) fn may_act(&self, before: &str) -> bool {
        self.last_parts.contains(last_part(before))
    }
}

/// The name at the end of a text.
fn last_part(text: &str) -> &str {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = text.bytes().rev().take_while(part).count();
    text.get(text.len() - length..).unwrap_or("")
}
