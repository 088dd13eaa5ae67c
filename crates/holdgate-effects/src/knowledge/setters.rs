//! `setters.yaml`: commands that write a setting of their own program.

use crate::table::Table;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use serde::Deserialize;

/// What a command sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setter {
    /// The file that changes.
    pub(crate) file: String,
    /// Keys whose value is a program.
    #[serde(default)]
    pub(crate) runs: Vec<String>,
    /// Keys whose value is an address.
    #[serde(default)]
    pub(crate) leads: Vec<String>,
    /// Keys that switch a check off.
    #[serde(default)]
    pub(crate) loosens: Vec<String>,
    /// Options of which one must be given.
    #[serde(default)]
    pub(crate) with: Vec<String>,
}

/// All such commands.
#[derive(Debug, Default)]
pub struct SetterTable {
    commands: HashMap<String, Setter>,
    /// The first words of the commands.
    programs: HashSet<String>,
}

impl SetterTable {
    /// Reads the table.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        let commands: HashMap<String, Setter> =
            table.read().map_err(|e| format!("setters.yaml: {e}"))?;
        let programs = commands.keys().filter_map(|name| name.split(' ').next());
        Ok(SetterTable {
            programs: programs.map(str::to_owned).collect(),
            commands,
        })
    }

    /// What a program sets with these words, of which the first are its sub-commands.
    pub(crate) fn find(&self, program: &str, words: &[&str]) -> Option<(&Setter, usize)> {
        let first = program.split(' ').next().unwrap_or(program);
        if !self.programs.contains(first) {
            return None;
        }
        let most = words.len().min(3);
        (0..=most).rev().find_map(|count| {
            let mut name = program.to_owned();
            for word in words.iter().take(count) {
                name.push(' ');
                name.push_str(word);
            }
            Some((self.commands.get(&name)?, count))
        })
    }
}

/// Whether a key is one of these; `*` stands for any text.
pub(crate) fn is_key(keys: &[String], key: &str) -> bool {
    keys.iter().any(|known| {
        let mut parts = known.split('*');
        let first = parts.next().unwrap_or("");
        let Some(mut rest) = key.strip_prefix(first) else {
            return false;
        };
        let parts: Vec<&str> = parts.collect();
        let Some((last, middle)) = parts.split_last() else {
            return rest.is_empty();
        };
        for part in middle {
            let Some((_, after)) = rest.split_once(part) else {
                return false;
            };
            rest = after;
        }
        rest.ends_with(last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_by_its_words() {
        let table = SetterTable::read(compiled!("setters")).unwrap();
        let (_, count) = table.find("gh", &["config", "set", "pager"]).unwrap();
        assert_eq!(count, 2);
        assert!(table.find("gh", &["pr", "list"]).is_none());
        let keys = |text: &str| vec![text.to_owned()];
        assert!(is_key(
            &keys("*credential_process"),
            "profile.x.credential_process"
        ));
        assert!(is_key(&keys("clusters.*.server"), "clusters.prod.server"));
        assert!(!is_key(&keys("pager"), "pagers") && is_key(&keys("*"), "x"));
    }
}
