//! Steps of workflows that are given to somebody else's action, with the secrets of the repository.

use super::Reader;
use crate::effect::{Actor, Kind};
use crate::json::Json;
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{Origins, Value};

impl Reader<'_, '_, '_> {
    /// `uses: owner/name@version`: the code of the owner gets what stands under `with` and `env`.
    pub(super) fn action(&mut self, step: &Json<'_>) -> Fueled {
        let Some(uses) = step.get("uses").and_then(Json::as_str) else {
            return Ok(());
        };
        let owner = uses.split('/').next().unwrap_or("");
        let elsewhere = uses.contains('/') && !owner.starts_with('.');
        if !elsewhere || self.scene.know.publishers.is_known_owner(owner) {
            return Ok(());
        }
        let given = ["with", "env", "secrets"].iter();
        let mut given = given.filter_map(|key| step.get(key));
        if given.any(|values| holds_secret(&values.text())) {
            let actor = Actor::new("uses", uses);
            let effect = actor.does(Kind::Install).tagged(Tag::FromVcs).about(uses);
            let secret = Value::unknown(Origins::SECRET);
            self.scene.emit(effect.tagged(Tag::Ci).of(&secret))?;
        }
        Ok(())
    }
}

/// Whether a text holds a secret of the repository. The token of the run itself is given to all steps,
/// and says what they may do.
fn holds_secret(text: &str) -> bool {
    let plain: String = text.split_whitespace().collect();
    let lower = plain.to_ascii_lowercase();
    let named = lower.split("secrets.").skip(1);
    lower.contains("tojson(secrets)")
        || lower.contains("secrets[")
        || named
            .into_iter()
            .any(|rest| !rest.starts_with("github_token"))
}
