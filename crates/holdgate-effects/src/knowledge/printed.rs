//! `printed.yaml`: the places that programs print.

use crate::table::Table;
use rustc_hash::FxHashMap as HashMap;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What one program prints, called in a certain way.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Printed {
    /// Words that must all be there.
    #[serde(default)]
    pub(crate) with: Vec<String>,
    /// The place, with names in braces for what depends on the call.
    pub(crate) prints: String,
}

/// All programs that print places.
#[derive(Debug, Default)]
pub struct PrintedTable {
    programs: HashMap<String, Vec<Printed>>,
}

impl PrintedTable {
    /// Reads the table. A key may name several programs.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        let written: BTreeMap<String, Vec<Printed>> =
            table.read().map_err(|e| format!("printed.yaml: {e}"))?;
        let mut programs = HashMap::default();
        for (names, entries) in written {
            for name in names.split_whitespace() {
                if programs.insert(name.to_owned(), entries.clone()).is_some() {
                    return Err(format!("printed.yaml: `{name}` has two entries"));
                }
            }
        }
        Ok(PrintedTable { programs })
    }

    /// The entry for `program` with these words.
    pub(crate) fn find(&self, program: &str, words: &[&str]) -> Option<&Printed> {
        let entries = self.programs.get(program)?;
        let fits = |entry: &&Printed| entry.with.iter().all(|w| words.contains(&w.as_str()));
        entries.iter().find(fits)
    }
}
