//! What a clause refuses, by its verbs.

use super::clause::{Clause, What, spaced};
use super::deed::Objects;
use super::prose::QUOTED;
use super::table::{Act, Acts, Language, Role};
use std::ops::Range;

/// Words between an opening and its verb.
const BETWEEN: usize = 6;
/// Other words before a verb.
const SKIPPED: usize = 7;

impl Clause<'_> {
    /// The verb follows the opening.
    pub(super) fn verb_after(
        &self,
        rest: Range<usize>,
        unwilling: bool,
    ) -> Option<(What, Objects)> {
        let mut at = rest.start;
        for _ in 0..BETWEEN {
            let text = self.text(at..rest.end);
            let gap = text.len() - text.trim_start_matches([' ', ',']).len();
            at += gap;
            let Some(end) = self.begins(Role::Between, self.text(at..rest.end)) else {
                break;
            };
            at += end;
        }
        let head = self.text(at..rest.end);
        if head.trim_matches(|c: char| !c.is_alphanumeric()).is_empty() && !head.contains(QUOTED) {
            return Some((What::All, Objects::default())).filter(|_| unwilling);
        }
        // "I can't help but …" goes on.
        let whole = self.text(at..self.sentence.plain.len());
        let idle = self.begins(Role::Cognition, whole).is_some()
            || (!unwilling && self.begins(Role::Perceive, head).is_some());
        if idle {
            return None;
        }
        let (mut acts, mut used) = self.verbs(head);
        if acts.is_empty() && !self.says_little(head) {
            let skipped = self.skipped(head);
            (acts, used) = self.verbs(head.get(skipped..).unwrap_or_default());
            used += skipped;
            if skipped > 0 && self.language != Language::English {
                // The object may stand before the verb.
                used = 0;
            }
        }
        if used == 0 {
            let little = self
                .begins(Role::Light, head)
                .or(self.begins(Role::Do, head));
            used = little.unwrap_or(0);
        }
        let mut objects = self.objects(self.listed(at + used..rest.end));
        // "Publish this release" names no more than "publish".
        objects
            .words
            .retain(|word| !self.table.acts(self.language, word).meets(acts));
        let specific = acts.without(Acts::of(&[Act::Run]));
        let unnamed = objects.is_empty();
        let says_little = self.begins(Role::Light, head).is_some()
            || self.begins(Role::Do, head).is_some() && unnamed;
        let what = if says_little && specific.is_empty() {
            What::All
        } else if head.starts_with(QUOTED) {
            What::Acts(Acts::of(&[Act::Run]))
        } else if acts.is_empty() {
            What::Unlisted
        } else {
            What::Acts(acts)
        };
        Some((what, objects))
    }

    /// The part of a clause up to a comma behind which something new begins. A list goes on.
    fn listed(&self, range: Range<usize>) -> Range<usize> {
        let text = self.text(range.clone());
        for (at, _) in text.match_indices(", ") {
            let rest = text.get(at + 2..).unwrap_or_default();
            let item = rest.split([',', '.']).next().unwrap_or_default();
            let items = item.split(" and ").flat_map(|item| item.split(" or "));
            let goes_on =
                rest.len() > item.len() || item.contains(" and ") || item.contains(" or ");
            let is_short = |item: &str| item.split_whitespace().count() <= 3;
            let is_list = goes_on && items.into_iter().all(is_short);
            if !is_list && !self.objects(range.start..range.start + at).is_empty() {
                return range.start..range.start + at;
            }
        }
        range
    }

    fn says_little(&self, head: &str) -> bool {
        self.begins(Role::Light, head).is_some() || self.begins(Role::Do, head).is_some()
    }

    /// How much of `head` stands before its verb, if other words do: "feel right about deleting".
    /// An article begins an object, and then no verb follows.
    fn skipped(&self, head: &str) -> usize {
        let mut before = "";
        for (at, word) in spaced(head).take(SKIPPED) {
            let from = head.get(at..).unwrap_or_default();
            let act = self.table.act_of(self.language, from);
            let is_act = !act.without(Acts::of(&[Act::Look])).is_empty();
            let is_verb = word.ends_with("ing")
                || self.language != Language::English
                || before.ends_with("ly")
                || matches!(
                    before,
                    "to" | "be" | "ever" | "just" | "should" | "can" | "will"
                );
            if is_act && is_verb {
                return at;
            }
            let ends = self
                .begins(Role::Subject, word)
                .is_some_and(|end| end == word.len());
            if ends && !matches!(word, "a" | "an") || word.ends_with([',', ';', ':']) {
                return 0;
            }
            before = word;
        }
        0
    }

    /// What the verbs at the start of `head` do, and where they end: the first word and those that
    /// are joined to it, or the next verb after one that says little.
    fn verbs(&self, head: &str) -> (Acts, usize) {
        let says_little = self.says_little(head);
        if self.language.is_joined() {
            return (self.table.acts(self.language, head), 0);
        }
        let mut acts = Acts::default();
        let mut used = 0;
        let mut expected = true;
        let mut left = if says_little { 8 } else { 0 };
        for (at, word) in spaced(head) {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let joins = matches!(
                bare,
                "or" | "and" | "nor" | "oder" | "und" | "ou" | "et" | "o"
            ) || matches!(bare, "y" | "e" | "или" | "и" | "ni" | "né" | "");
            let from = head.get(at..).unwrap_or_default();
            let act = self.table.act_of(self.language, from);
            if expected && !act.is_empty() {
                acts = acts.or(act);
                used = at + word.len();
                left = if act.without(Acts::of(&[Act::Run])).is_empty() {
                    left
                } else {
                    0
                };
                expected = word.ends_with(',');
            } else if joins && used > 0 {
                expected = true;
            } else if left > 0 {
                left -= 1;
                expected = true;
            } else {
                break;
            }
        }
        (acts, used)
    }

    /// The verb stands anywhere in the clause.
    pub(super) fn verb_inside(
        &self,
        clause: Range<usize>,
        unwilling: bool,
    ) -> Option<(What, Objects)> {
        let text = self.text(clause.clone());
        let acts = self.table.acts(self.language, text);
        let acts = acts.without(Acts::of(&[Act::Look]));
        let specific = acts.without(Acts::of(&[Act::Run, Act::Reveal]));
        let idle = self.has(Role::Cognition, text)
            || self.has(Role::Report, text)
            || (!unwilling && self.has(Role::Perceive, text));
        if idle && specific.is_empty() || self.has(Role::Report, text) {
            return None;
        }
        let mut objects = self.objects(clause);
        objects.words.retain(|word| {
            self.table.acts(self.language, word).is_empty()
                && !self.has(Role::Light, word)
                && !self.has(Role::Do, word)
        });
        let unnamed = objects.concrete.is_empty() && objects.things.is_empty();
        let says_little = self.has(Role::Light, text) || self.has(Role::Do, text) && unnamed;
        let what = if says_little && specific.is_empty() {
            What::All
        } else if acts.is_empty() {
            What::Unlisted
        } else {
            What::Acts(acts)
        };
        Some((what, objects))
    }
}
