//! Libraries of clouds, databases and keys: no table names all their functions, but the words of a name
//! tell what it does, as those of a sub-command do.

use super::Call;
use crate::code::read::Reader;
use crate::code::thing::AbstractValue;
use crate::effect::{Actor, Kind};
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Words of a name that are looked at.
const MAX_WORDS: usize = 8;

const DELETES: [&str; 7] = [
    "delete",
    "terminate",
    "destroy",
    "drop",
    "purge",
    "truncate",
    "wipe",
];
/// What comes back with the next run, or was read already.
const LIGHT: [&str; 8] = [
    "message", "messages", "tag", "tags", "label", "labels", "metadata", "index",
];
/// Words of functions that put something into a store, and of what they put there.
const UPLOADS: [&str; 4] = ["upload", "put", "write", "save"];
const OBJECTS: [&str; 6] = ["object", "file", "fileobj", "blob", "upload", "writer"];
const SECRETS: [&str; 5] = ["secret", "password", "passphrase", "credentials", "token"];
/// What only speaks of secrets: it makes, counts or checks them.
const ABOUT: [&str; 10] = [
    "set", "create", "delete", "list", "describe", "check", "verify", "is", "has", "update",
];

/// Whether a name of such a library says that it gives out a secret: `key_export_secret`, `password`.
pub(in crate::code) fn gives_secret(name: &str) -> bool {
    let words = words(name);
    let has = |all: &[&str]| words.iter().any(|word| all.contains(&word.as_str()));
    let private = name.to_ascii_lowercase().replace('_', "");
    (has(&SECRETS) || private.contains("privatekey") || private.contains("secretkey"))
        && !has(&ABOUT)
}

/// Whether a function of a model may change all of its rows: a look before the chain of calls is read.
pub(in crate::code) fn may_change_rows(name: &str) -> bool {
    matches!(
        name,
        "_raw_delete"
            | "update_all"
            | "update"
            | "updateMany"
            | "update_many"
            | "bulk_update"
            | "find_each"
            | "each"
            | "in_batches"
            | "bulkDelete"
            | "execute"
            | "exec_query"
            | "execute_sql"
    )
}

/// The words of `terminate_instances`, `deleteMany`, `DeleteBucketCommand`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    for c in name.chars().take(64) {
        let starts = c.is_ascii_uppercase() || c == '_';
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c != '_') {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.truncate(MAX_WORDS);
    words
}

impl Reader<'_, '_, '_> {
    pub(super) fn serves(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let name = &*call.actor.program;
        let family = call.one(0);
        let family = family.as_ref().and_then(AbstractValue::known).unwrap_or("");
        let words = words(name);
        let has = |all: &[&str]| words.iter().any(|word| all.contains(&word.as_str()));
        if family != "cloud" && gives_secret(name) {
            let store = call.actor.does(Kind::Read).tagged(Tag::SecretStore);
            self.scene.emit(store)?;
            return Ok(AbstractValue::value(Value::unknown(Origins::SECRET)));
        }
        if family == "cloud" && has(&DELETES) && !has(&LIGHT) && !self.is_local() {
            let effect = call.actor.does(Kind::Remote).tagged(Tag::Delete);
            self.scene.emit(effect.about(&call.actor.evidence))?;
        }
        if family == "cloud" && has(&UPLOADS) && has(&OBJECTS) && !self.is_local() {
            self.uploads(call)?;
        }
        if family == "database" && has(&["drop", "truncate"]) && !has(&LIGHT) && !self.is_local() {
            self.empties(&call.actor, Tag::Drop)?;
        }
        Ok(AbstractValue::Nothing)
    }

    /// Files go to a store in the cloud, as with the cloud's own program.
    fn uploads(&mut self, call: &Call<'_>) -> Fueled {
        let mut data = Value::default();
        let mut paths = Vec::new();
        for argument in call.arguments.all() {
            data.taint(&self.value_of(argument)?);
            let path = argument.known().filter(|text| text.contains(['/', '.']));
            paths.extend(path.map(Value::known));
        }
        // `upload_file(path, …)`
        if call.actor.program.to_ascii_lowercase().contains("file")
            && let Some(path) = paths.first()
        {
            data.taint(&self.scene.read(&call.actor, path)?);
        }
        if data
            .origins
            .any(Origins::FILE | Origins::SECRET | Origins::ENVIRONMENT)
        {
            let store = Value::known("s3://store");
            self.scene
                .send(&call.actor.and(Tag::Transfer), &store, &data)?;
        }
        Ok(())
    }

    /// Models of an application, whose names nobody knows, lose all their rows: by the chain of calls
    /// that leads there.
    pub(in crate::code) fn empties_model(
        &mut self,
        object: &str,
        last: &str,
        start: usize,
    ) -> Fueled {
        // `()`, `({})`, `({ where: {} })`: no row is named.
        let actor = Actor::new(last, &self.evidence(start));
        let given = actor
            .evidence
            .rsplit_once(last)
            .map_or("", |(_, given)| given);
        let unasked = given
            .replace("where", "")
            .chars()
            .all(|c| "(){}:; ".contains(c));
        let emptied = match last {
            "delete" => {
                object.ends_with(".objects.all()")
                    || object.ends_with(".query()")
                    || object.ends_with(".unscoped")
            }
            "delete_all" | "destroy_all" => object.starts_with(|c: char| c.is_ascii_uppercase()),
            // `User::truncate()`, `DB::table('users')->truncate()`
            "truncate" => {
                let model = object.rsplit('.').next().unwrap_or(object);
                model.starts_with(|c: char| c.is_ascii_uppercase()) || object.ends_with(".table()")
            }
            "deleteMany" | "delete_many" => unasked && !object.is_empty(),
            "drop_all" => object.ends_with("metadata") || object.ends_with("db"),
            _ => false,
        };
        let narrowed = [".where", ".filter", ".limit", ".exclude"];
        if !emptied && !narrowed.iter().any(|word| object.contains(word)) {
            return self.changes_production(&actor, object, last, given);
        }
        if !emptied || !unasked || narrowed.iter().any(|word| object.contains(word)) {
            return Ok(());
        }
        self.empties(&actor, Tag::DeleteAll)
    }

    /// What production holds is changed as a whole, by a function that is seldom used for less.
    fn changes_production(
        &mut self,
        actor: &Actor,
        object: &str,
        last: &str,
        given: &str,
    ) -> Fueled {
        let model = object
            .rsplit(['.', ':'])
            .any(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
            || object.contains(".objects")
            || object.contains("query")
            || object.contains("Repo");
        let tag = match last {
            "_raw_delete" | "bulkDelete" => Tag::DeleteAll,
            "delete_all" if object.ends_with("Repo") && !given.contains("where") => Tag::DeleteAll,
            "delete"
                if object.rsplit('.').next() == Some("query") || object.ends_with("objects") =>
            {
                Tag::DeleteAll
            }
            "find_each" | "each" | "in_batches"
                if given.contains("destroy") || given.contains("delete") =>
            {
                Tag::DeleteAll
            }
            "update_all" | "updateMany" | "update_many" | "bulk_update" => Tag::Overwrite,
            "update" if object.contains(".objects") || object.contains("query") => Tag::Overwrite,
            "execute" | "exec_query" | "execute_sql" => {
                let lower = given.to_ascii_lowercase();
                let all = lower.contains("delete from") && !lower.contains("where");
                if !all && !lower.contains("truncate") && !lower.contains("drop table") {
                    return Ok(());
                }
                Tag::DeleteAll
            }
            _ => return Ok(()),
        };
        if !model || self.scene.target_by_variables() != Some(Tag::Prod) {
            return Ok(());
        }
        let effect = actor.does(Kind::Database).tagged(tag).tagged(Tag::Prod);
        self.scene.emit(effect.about(&actor.evidence))
    }

    /// Whether the code names this machine as the one that it works on.
    fn is_local(&self) -> bool {
        let local = ["localhost", "127.0.0.1", ":memory:"];
        self.has_token(|token| local.iter().any(|host| token.text.contains(host)))
    }

    fn empties(&mut self, actor: &Actor, tag: Tag) -> Fueled {
        let mut effect = actor.does(Kind::Database).tagged(tag);
        let targets = &self.scene.know.hosts.targets;
        let by_code =
            self.has_token(|token| token.text.contains("://") && targets.is_production(token.text));
        let target = by_code.then_some(Tag::Prod);
        if let Some(target) = target.or_else(|| self.scene.target_by_variables()) {
            effect = effect.tagged(target);
        }
        self.scene.emit(effect.about(&actor.evidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_gives_out_secrets() {
        for name in [
            "key_export_secret",
            "password",
            "exportPrivateKey",
            "secret_key",
        ] {
            assert!(gives_secret(name), "{name}");
        }
        for name in ["create_secret", "list_keys", "export", "tokenize", "cursor"] {
            assert!(!gives_secret(name), "{name}");
        }
    }
}
