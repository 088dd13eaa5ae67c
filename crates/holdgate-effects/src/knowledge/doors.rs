//! `code/doors.yaml`: the names by which back doors and grabbers are found in source.

use serde::Deserialize;

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
}

impl DoorTable {
    /// Reads the table.
    pub fn read(yaml: &str) -> Result<Self, String> {
        serde_saphyr::from_str(yaml).map_err(|e| format!("code/doors.yaml: {e}"))
    }
}
