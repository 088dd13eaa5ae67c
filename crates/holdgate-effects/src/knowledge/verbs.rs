//! `verbs.yaml`: what words say that no other table settles.

use super::tools::words;
use crate::table::Table;
use crate::tag::Tag;
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};

/// `verbs.yaml`, ready to look up.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerbTable {
    deletes: Vec<String>,
    undoes: Vec<String>,
    light: Vec<String>,
    confirms: Vec<String>,
    loses: Vec<String>,
    all: Vec<String>,
    takes_code: Vec<String>,
    sends: Vec<String>,
    shows: Vec<String>,
    secrets: Vec<String>,
    tokens: Vec<String>,
    overwrites: Vec<String>,
    requests: BTreeMap<Tag, Vec<String>>,
    services: Vec<String>,
    programs: HashSet<String>,
    packagers: HashSet<String>,
    looks: HashSet<String>,
    changes: HashSet<String>,
    releases: HashSet<String>,
    workbench: HashSet<String>,
    names: HashSet<String>,
}

impl VerbTable {
    /// Reads the table.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        table.read().map_err(|e| format!("verbs.yaml: {e}"))
    }

    /// Whether a sub-command takes something away that weighs.
    pub(crate) fn deletes(&self, sub_commands: &[&str]) -> bool {
        says(sub_commands, &self.deletes) && !says(sub_commands, &self.light)
    }

    /// The same, or whether it undoes something.
    pub(crate) fn takes_back(&self, sub_commands: &[&str]) -> bool {
        let undoes = says(sub_commands, &self.undoes) && !says(sub_commands, &self.light);
        undoes || self.deletes(sub_commands)
    }

    /// Whether a word anywhere in a command line says that something goes away which weighs.
    pub(crate) fn loses(&self, word: &str) -> bool {
        let said = [word];
        // Options that stop or end something are frequent: `--terminate`.
        let option = word.starts_with('-') && !says(&said, &self.loses);
        let deletes = if option {
            word.contains("delete")
        } else {
            says(&said, &self.deletes)
        };
        (says(&said, &self.loses) || deletes) && !self.is_light(word)
    }

    /// Whether a word names something that weighs little.
    pub(crate) fn is_light(&self, word: &str) -> bool {
        says(&[word], &self.light)
    }

    /// Whether a word says that all of it is meant, or that it shall be done at once.
    pub(crate) fn means_all(&self, word: &str) -> bool {
        says(&[word], &self.all)
    }

    /// Whether a word says that code comes from the address beside it.
    pub(crate) fn takes_code(&self, word: &str) -> bool {
        !word.contains("://") && says(&[word], &self.takes_code)
    }

    /// Whether a sub-command sends files.
    pub(crate) fn sends(&self, sub_commands: &[&str]) -> bool {
        says(sub_commands, &self.sends)
    }

    /// Whether an option answers the question whether it shall be done.
    pub(crate) fn confirms(&self, option: &str) -> bool {
        let name = option.split('=').next().unwrap_or("");
        self.confirms.iter().any(|known| known == name)
    }

    /// Whether a program shows something that must not be shown, by its sub-commands, or by one of them
    /// and its own name.
    pub(crate) fn shows_secret(&self, program: &str, sub_commands: &[&str]) -> bool {
        let named = words(program).iter().any(|w| self.secrets.contains(w));
        // `print-access-token`, and not `token-count`.
        let is_token = |sub: &&str| words(sub).last().is_some_and(|w| self.tokens.contains(w));
        let secret = says(sub_commands, &self.secrets) || sub_commands.iter().any(is_token);
        says(sub_commands, &self.shows) && (named || secret)
    }

    /// Whether an option empties or overwrites the place beside it.
    pub(crate) fn overwrites(&self, option: &str) -> bool {
        let name = option.split('=').next().unwrap_or("");
        self.overwrites
            .iter()
            .any(|known| match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => known == name,
            })
    }

    /// What a request changes, by the parts of its path.
    pub(crate) fn request(&self, path: &str) -> Option<Tag> {
        let path = path
            .split(['?', '#'])
            .next()
            .unwrap_or("")
            .to_ascii_lowercase();
        let parts: Vec<&str> = path.split(['/', ':']).collect();
        let has = |names: &&Vec<String>| names.iter().any(|name| parts.contains(&name.as_str()));
        let mut found = self.requests.iter().filter(|(_, names)| has(names));
        found.next().map(|(tag, _)| *tag)
    }

    /// Whether an address belongs to the API of a service.
    pub(crate) fn is_service(&self, address: &str) -> bool {
        let lower = address.to_ascii_lowercase();
        self.services
            .iter()
            .any(|part| lower.contains(part.as_str()))
    }

    /// Whether a program is for a cloud, a cluster, a platform, a store or who may do what there.
    pub(crate) fn is_service_program(&self, program: &str) -> bool {
        self.programs.contains(program)
    }

    /// Whether a program installs packages.
    pub(crate) fn is_packager(&self, program: &str) -> bool {
        self.packagers.contains(program)
    }

    /// Whether people work on code or packages with a program of a service.
    pub(crate) fn is_workbench(&self, program: &str) -> bool {
        self.workbench.contains(program)
    }

    /// Whether the first word of a sub-command says that it only looks, or acts on this machine.
    pub(crate) fn looks(&self, word: &str) -> bool {
        self.looks.contains(word)
    }

    /// Whether the first word of a sub-command says that it changes something.
    pub(crate) fn changes(&self, word: &str) -> bool {
        self.changes.contains(word)
    }

    /// Whether a word says that what was built is released.
    pub(crate) fn releases(&self, word: &str) -> bool {
        self.releases.contains(word)
    }

    /// Whether a word stands for names in the internet.
    pub(crate) fn is_about_names(&self, word: &str) -> bool {
        self.names.contains(word)
    }

    /// What a mutation deletes, if it does: `deleteRef`, `removeCollaborator`.
    pub(crate) fn mutation_deletes(&self, name: &str) -> bool {
        let said = words(name);
        let verb = said.first().is_some_and(|word| {
            matches!(
                word.as_str(),
                "delete" | "destroy" | "purge" | "remove" | "transfer"
            )
        });
        verb && !said.iter().any(|word| self.light.contains(word))
    }
}

/// Whether one of the words in these sub-commands is in a list.
fn says(sub_commands: &[&str], list: &[String]) -> bool {
    let mut all = sub_commands.iter().flat_map(|sub| words(sub));
    all.any(|word| list.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_commands_and_requests_do() {
        let table = VerbTable::read(compiled!("verbs")).unwrap();
        assert!(table.deletes(&["backup", "delete"]));
        assert!(table.deletes(&["apps:destroy"]));
        assert!(!table.deletes(&["cache", "delete"]));
        assert!(!table.deletes(&["list"]) && !table.deletes(&["reset"]));
        assert!(table.takes_back(&["db", "reset"]));
        assert!(table.shows_secret("docker-credential-desktop", &["get"]));
        assert!(table.shows_secret("frob", &["auth", "print-access-token"]));
        assert!(!table.shows_secret("frob", &["auth", "login"]));
        assert!(!table.shows_secret("frob", &["token-count", "show"]));
        assert!(!table.shows_secret("token-counter", &["show"]));
        assert!(table.confirms("--yes") && table.confirms("--force=true"));
        assert!(table.overwrites("--emptyOutDir") && table.overwrites("--delete-after"));
        assert!(!table.overwrites("--cleanup"));
        assert_eq!(table.request("repos/o/r/collaborators/x"), Some(Tag::User));
        assert_eq!(table.request("repos/o/r/keys?x=1"), Some(Tag::Key));
        assert_eq!(table.request("repos/o/r/issues/1/comments"), None);
        assert!(table.mutation_deletes("deleteRef") && !table.mutation_deletes("addComment"));
        assert!(!table.mutation_deletes("removeLabelsFromLabelable"));
    }
}
