//! What the name of a tool says, by its words.

use super::fields::{Call, Fields};
use super::{Role, Verb};
use crate::knowledge::tools::{last_part, words};
use crate::scene::Scene;

/// The words of a tool's name.
pub(super) struct Name {
    /// Of the tool itself, and of the verb that one of its arguments holds.
    pub(super) own: Vec<String>,
    /// Of the server that it belongs to.
    pub(super) server: Vec<String>,
}

impl Name {
    pub(super) fn of(call: &Call<'_>) -> Name {
        let own = last_part(call.name).unwrap_or(call.name);
        let server = call.name.strip_suffix(own).unwrap_or_default();
        let mut own = words(own);
        // Several verbs in one tool: `repository {action: "delete"}`.
        own.extend(action_words(&call.fields));
        let mut server = words(server);
        server.retain(|word| word != "mcp");
        Name { own, server }
    }

    /// Whether one of the words says this. A server for terminals runs things by whatever tool.
    pub(super) fn says(&self, scene: &Scene<'_>, verb: Verb) -> bool {
        let whole = matches!(verb, Verb::Run | Verb::Database | Verb::Tell | Verb::Reveal);
        let table = &scene.know.tools;
        table.says(&self.own, verb) || whole && table.says(&self.server, verb)
    }

    /// Whether it shows something, and does nothing else by its words.
    pub(super) fn only_reads(&self, scene: &Scene<'_>) -> bool {
        let others = [Verb::Write, Verb::Send, Verb::Run];
        let own = |verb| scene.know.tools.says(&self.own, verb);
        own(Verb::Read) && !others.into_iter().any(own)
    }

    /// The words, and each two that follow each other as one: `deploy`, `key`, `deploykey`.
    pub(super) fn joined(&self) -> Vec<String> {
        let pairs = self.own.windows(2).map(<[String]>::concat);
        self.own.iter().cloned().chain(pairs).collect()
    }
}

/// A short verb in an argument.
fn action_words(fields: &Fields<'_>) -> Vec<String> {
    let is_verb = |text: &&str| text.len() <= 40 && !text.contains(char::is_whitespace);
    let verbs = fields.texts(Role::Action).into_iter().filter(is_verb);
    verbs.take(4).flat_map(words).collect()
}
