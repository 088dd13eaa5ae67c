//! The model says that it will not, and its call does; or it says that the user has approved, and
//! nobody has.
//!
//! The text of the message is read clause by clause: who refuses what, on which condition, and what
//! is announced instead. Only then is it compared to what the call does. One phrase alone says
//! little: agents write "I can't find …" and "I won't change the API, I'll add a wrapper" all day.

mod claim;
mod clause;
mod deed;
mod opening;
mod prose;
mod table;
#[cfg(test)]
mod tests;
mod verb;
mod weight;

use crate::mask::Masked;
use crate::verdict::{Finding, LayerName, Verdict};
use clause::{Announcement, Condition, Form, Refusal, What};
use deed::{Deed, Overlap};
use holdgate_effects::effect::Effect;
use holdgate_effects::path::PathClass;
use prose::Sentence;
use table::{Act, Acts, Language, Role, Table};

/// Bytes of the text that are read, from its end. As much as a message keeps.
const READ: usize = 2 << 10;
/// Characters of a sentence that are shown.
const SHOWN: usize = 300;

/// Findings about a call with these effects, before which the model `said` this. `user` is what the
/// user said lately, if that is known.
pub fn examine(said: &str, effects: &[Effect], user: Option<&str>) -> Vec<Finding> {
    let from = said.ceil_char_boundary(said.len().saturating_sub(READ));
    let text = said.get(from..).unwrap_or_default();
    if text.trim().is_empty() {
        return Vec::new();
    }
    let Some(table) = table::table() else {
        return vec![Finding::block(
            LayerName::Divergence,
            "layer-failure",
            "the tables of this layer cannot be read",
        )];
    };
    let mut sentences = prose::sentences(text);
    // The start of the first sentence may be cut off, and with it what it means.
    if said.len() + 4 > READ && sentences.len() > 1 {
        sentences.remove(0);
    }
    let mut findings = Vec::new();
    let deeds = deed::deeds(effects);
    findings.extend(divergence(table, &sentences, &deeds));
    findings.extend(claim::examine(table, &sentences, &deeds, user));
    findings
}

/// Builds the expressions for English now, so that no call has to wait for it. Those of other
/// languages are built when a message needs them.
pub fn prepare() {
    if let Some(table) = table::table() {
        table.build(Language::English);
    }
}

/// The strictest finding about refusals.
fn divergence(table: &Table, sentences: &[Sentence], deeds: &[Deed<'_>]) -> Option<Finding> {
    let mut refusals = Vec::new();
    for (number, sentence) in sentences.iter().enumerate() {
        let languages = table.languages(&sentence.plain);
        refusals.extend(clause::refusals(table, sentence, number, &languages));
    }
    let mut languages: Vec<_> = refusals.iter().map(|refusal| refusal.language).collect();
    languages.sort_unstable();
    languages.dedup();
    let mut announcements = Vec::new();
    for (number, sentence) in sentences.iter().enumerate() {
        for language in &languages {
            announcements.extend(clause::announcements(
                table, sentence, number, *language, &refusals,
            ));
        }
    }
    let mut worst: Option<(Verdict, &Refusal)> = None;
    for refusal in &refusals {
        let message = Message {
            table,
            refusal,
            announcements: &announcements,
            reasoned: reasoned(table, sentences, refusal),
        };
        let sentence = sentences.get(refusal.sentence);
        let meant = |deed: &&Deed<'_>| sentence.is_none_or(|said| is_meant(&said.plain, deed));
        let meant: Vec<Deed<'_>> = deeds.iter().filter(meant).cloned().collect();
        if let Some(verdict) = message.verdict(&meant)
            && worst.is_none_or(|(known, _)| verdict > known)
        {
            worst = Some((verdict, refusal));
        }
    }
    let (verdict, refusal) = worst?;
    let sentence = sentences.get(refusal.sentence)?;
    let finding = Finding::block(
        LayerName::Divergence,
        "refused-in-words",
        "the model's own words refuse what the call does",
    );
    Some(Finding {
        verdict,
        evidence: Some(Masked::start(&sentence.shown, SHOWN)),
        ..finding.instead("say what is to be done, and call it after the user has agreed")
    })
}

/// Phrases that narrow a refusal down, and what a deed says that is meant by them.
const NARROWING: &[(&str, &[&str])] = &[
    ("force-push", &["force", " -f", " +"]),
    ("force push", &["force", " -f", " +"]),
    ("hard reset", &["hard"]),
    ("reset hard", &["hard"]),
    (" remote", &["remote", "origin", "upstream", "push"]),
];

/// Whether a refusal in this sentence can mean the deed: "I won't force-push" leaves a push alone.
fn is_meant(sentence: &str, deed: &Deed<'_>) -> bool {
    let evidence = deed.effect.evidence.to_lowercase();
    let inside = deed.effect.path.as_ref();
    let inside = inside.is_some_and(|place| place.is(PathClass::Project));
    let narrowed = |(word, forms): &(&str, &[&str])| {
        sentence.contains(word) && !forms.iter().any(|form| evidence.contains(form))
    };
    let elsewhere = inside && sentence.contains("outside");
    !(elsewhere || NARROWING.iter().any(narrowed))
}

/// Whether the refusal or a sentence beside it says why somebody would refuse.
fn reasoned(table: &Table, sentences: &[Sentence], refusal: &Refusal) -> bool {
    let near = sentences.iter().skip(refusal.sentence.saturating_sub(1));
    let count = if refusal.sentence == 0 { 2 } else { 3 };
    let mut near = near.take(count);
    near.any(|sentence| table.has(Role::Reason, refusal.language, &sentence.plain))
}

/// A refusal among what else the message says.
struct Message<'a> {
    table: &'a Table,
    refusal: &'a Refusal,
    announcements: &'a [Announcement],
    reasoned: bool,
}

impl Message<'_> {
    /// The verdict on a call with these deeds.
    fn verdict(&self, deeds: &[Deed<'_>]) -> Option<Verdict> {
        let strictest = deeds.iter().filter_map(|deed| self.on(deed)).max();
        let acts = |deed: &Deed<'_>| deed.heavy || deed.acts.meets(Acts::of(&[Act::Change]));
        if strictest.is_some() || deeds.iter().any(acts) {
            return strictest;
        }
        // The call only looks, or runs something harmless.
        let goes_on = self.later().next().is_some() || self.refusal.condition.is_some();
        (self.refusal.unwilling && !goes_on).then_some(Verdict::Audit)
    }

    /// The verdict on one deed.
    fn on(&self, deed: &Deed<'_>) -> Option<Verdict> {
        let refusal = self.refusal;
        let overlap = deed.overlap(&refusal.objects, self.table);
        // "I can't, because it is locked" tells of an obstacle.
        let is_obstacle = !refusal.unwilling && refusal.caused && !self.reasoned;
        let weighs = deed.heavy || deed.acts.meets(Acts::of(&[Act::Change]));
        match refusal.what {
            What::All => {
                if is_obstacle || !weighs {
                    return None;
                }
                let goes_on = |said: &Announcement| {
                    self.agrees(said, deed)
                        || said.form == Form::Announced
                            && (said.acts.is_empty() || said.acts.meets(deed.acts))
                };
                if self.later().any(goes_on) {
                    return Some(Verdict::Audit);
                }
                Some(self.unless_met(Verdict::Block))
            }
            What::Acts(acts) => {
                let runs = acts.meets(Acts::of(&[Act::Run])) && overlap >= Overlap::Named;
                let same = acts.meets(deed.acts.without(Acts::of(&[Act::Run])));
                if runs && (deed.heavy || overlap == Overlap::Concrete)
                    || same && overlap != Overlap::Other
                {
                    return self.on_same(deed, overlap, is_obstacle);
                }
                // Nearly everything runs or changes something: "I won't change the API" is about
                // the API.
                let little = Acts::of(&[Act::Change, Act::Run]);
                let says_little = acts.without(little).is_empty() && !self.reasoned;
                if says_little && overlap == Overlap::Other {
                    return None;
                }
                self.on_other(deed, overlap, same)
            }
            What::Unlisted => {
                let named = refusal.unwilling && overlap == Overlap::Concrete;
                let agreed = self.later().any(|said| self.agrees(said, deed));
                if !named || agreed || refusal.condition.is_some() {
                    return None;
                }
                match deed.heavy {
                    true => Some(Verdict::Block),
                    false if weighs => Some(Verdict::Ask),
                    false => None,
                }
            }
        }
    }

    /// The deed is what the clause refuses.
    fn on_same(&self, deed: &Deed<'_>, overlap: Overlap, is_obstacle: bool) -> Option<Verdict> {
        if is_obstacle {
            return None;
        }
        // What can be undone need not be announced in the same words.
        let is_known = |said: &Announcement| {
            self.agrees(said, deed) || !deed.heavy && said.acts.meets(deed.acts)
        };
        if self.later().any(is_known) {
            return Some(Verdict::Audit);
        }
        let verdict = match (deed.heavy, overlap) {
            (true, _) => Verdict::Block,
            (false, Overlap::Concrete) if self.refusal.unwilling => Verdict::Block,
            (false, Overlap::Generic) if self.refusal.unwilling && !self.announces(deed) => {
                Verdict::Ask
            }
            (false, _) => Verdict::Audit,
        };
        Some(self.unless_met(verdict))
    }

    /// The deed is something else: as a rule the clause says what is left alone.
    fn on_other(&self, deed: &Deed<'_>, overlap: Overlap, same: bool) -> Option<Verdict> {
        if !deed.heavy || self.announces(deed) || self.refusal.condition.is_some() {
            return None;
        }
        let verdict = match (self.refusal.unwilling, same) {
            (_, true) if self.reasoned => Verdict::Block,
            (true, _) => Verdict::Ask,
            (false, _) if overlap == Overlap::Concrete => Verdict::Ask,
            (false, _) => return None,
        };
        Some(verdict)
    }

    /// A condition weakens a refusal. A person cannot have agreed within one message, so there the
    /// person is asked; anything else may have happened by now.
    fn unless_met(&self, verdict: Verdict) -> Verdict {
        match self.refusal.condition {
            Some(Condition::Consent) => verdict.min(Verdict::Ask),
            Some(Condition::Other) => Verdict::Audit,
            None => verdict,
        }
    }

    /// What the message announces after the refusal.
    fn later(&self) -> impl Iterator<Item = &Announcement> {
        let refusal = self.refusal;
        let from = (refusal.sentence, refusal.span.end.saturating_sub(1));
        let said = self.announcements.iter();
        said.filter(move |said| said.at >= from && said.form != Form::Described)
    }

    /// Whether the message says anything about what is done, in whatever order.
    fn announces(&self, deed: &Deed<'_>) -> bool {
        let looks = Acts::of(&[Act::Look]);
        self.later().next().is_some()
            || self.announcements.iter().any(|said| match said.form {
                Form::Announced => said.acts.is_empty() || !said.acts.without(looks).is_empty(),
                Form::Spared => false,
                Form::Described => self.agrees(said, deed),
            })
    }

    /// Whether an announcement is about this deed.
    fn agrees(&self, said: &Announcement, deed: &Deed<'_>) -> bool {
        let overlap = deed.overlap(&said.objects, self.table);
        let acts = said.acts.without(Acts::of(&[Act::Look]));
        let same = acts.meets(deed.acts) && overlap != Overlap::Other;
        match said.form {
            Form::Spared => same || overlap >= Overlap::Named,
            Form::Announced => same || said.acts.is_empty() && overlap >= Overlap::Named,
            Form::Described => same,
        }
    }
}
