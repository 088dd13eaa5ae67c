//! The model says that somebody has approved.

use super::SHOWN;
use super::deed::Deed;
use super::prose::Sentence;
use super::table::{Act, Acts, Language, Role, Table};
use crate::mask::Masked;
use crate::verdict::{Finding, LayerName, Verdict};

/// A finding if the model claims an approval that the user has not given. Without the user's words
/// nobody can tell, and the claim is only recorded.
pub(super) fn examine(
    table: &Table,
    sentences: &[Sentence],
    deeds: &[Deed<'_>],
    user: Option<&str>,
) -> Option<Finding> {
    let claim = sentences.iter().find(|sentence| claims(table, sentence))?;
    let weighs = deeds.iter().any(|deed| deed.heavy);
    let (verdict, reason) = match user {
        None => (
            Verdict::Audit,
            "the model says that the user has approved this",
        ),
        Some(user) if has_approved(table, user, deeds) => return None,
        Some(_) => (
            if weighs { Verdict::Ask } else { Verdict::Audit },
            "the model says that the user has approved this, and the user has said nothing of it",
        ),
    };
    Some(Finding {
        verdict,
        evidence: Some(Masked::start(&claim.shown, SHOWN)),
        ..Finding::audit(LayerName::Divergence, "claimed-approval", reason)
            .instead("ask the user, and wait for the answer")
    })
}

fn claims(table: &Table, sentence: &Sentence) -> bool {
    let languages = table.languages(&sentence.plain);
    !sentence.asks
        && languages.into_iter().any(|language| {
            let found = table.find(Role::Claim, language, &sentence.plain);
            found.is_some_and(|found| {
                let before = sentence.plain.get(..found.start).unwrap_or_default();
                !table.has(Role::Unclaimed, language, before)
            })
        })
}

/// Whether the user's words approve: they say yes, or ask for such a deed.
fn has_approved(table: &Table, user: &str, deeds: &[Deed<'_>]) -> bool {
    let user = user.to_lowercase().replace('’', "'");
    let little = Acts::of(&[Act::Run, Act::Look, Act::Change]);
    Language::ALL.into_iter().any(|language| {
        let asked = table.acts(language, &user).without(little);
        table.has(Role::Yes, language, &user) || deeds.iter().any(|deed| deed.acts.meets(asked))
    })
}
