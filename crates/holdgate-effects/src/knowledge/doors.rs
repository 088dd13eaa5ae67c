//! `code/doors.yaml`: the names by which back doors and grabbers are found in source.

use serde::Deserialize;
use std::collections::HashSet;

/// `code/doors.yaml`, as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoorTable {
    /// What a request, a message or a peer brings.
    pub(crate) requests: Vec<String>,
    /// Marks of parameters that a framework fills from a request.
    pub(crate) parameters: Vec<String>,
    /// Marks of functions that answer requests.
    pub(crate) routes: Vec<String>,
    /// Functions that run a command.
    pub(crate) commands: Vec<String>,
    /// Functions that run code.
    pub(crate) code: Vec<String>,
    /// Names of functions and classes that send.
    pub(crate) sends: Vec<String>,
    /// What people type or keep in a page.
    pub(crate) private: Vec<String>,
    /// All variables of the environment at once.
    pub(crate) environment: Vec<String>,
    /// Parts of addresses where people log in.
    pub(crate) logins: Vec<String>,
    /// Names that hold what somebody must know to be let in.
    pub(crate) keys: Vec<String>,
    /// Functions that run a script from an address.
    pub(crate) loads: Vec<String>,
    /// Functions that delete a folder with all that is in it.
    pub(crate) deletes: Vec<String>,
    /// Names of somebody's home.
    pub(crate) homes: Vec<String>,
    /// What only programs that mine know.
    pub(crate) miners: Vec<String>,
    /// The last parts of the names of all functions that run or delete.
    #[serde(skip)]
    last_parts: HashSet<String>,
}

impl DoorTable {
    /// Reads the table.
    pub fn read(yaml: &str) -> Result<Self, String> {
        let mut table: DoorTable =
            serde_saphyr::from_str(yaml).map_err(|e| format!("code/doors.yaml: {e}"))?;
        let functions = table
            .commands
            .iter()
            .chain(&table.code)
            .chain(&table.deletes);
        table.last_parts = functions.map(|name| last_part(name).to_owned()).collect();
        Ok(table)
    }

    /// Whether `code` calls a function that may run or delete something.
    pub(crate) fn acts_in(&self, code: &str) -> bool {
        code.match_indices('(').any(|(at, _)| {
            let before = code.get(..at).unwrap_or("").trim_end_matches(['!', ' ']);
            self.last_parts.contains(last_part(before))
        })
    }
}

/// The name at the end of a text.
fn last_part(text: &str) -> &str {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| part(*c))
        .last();
    start.map_or("", |(at, _)| text.get(at..).unwrap_or(""))
}
