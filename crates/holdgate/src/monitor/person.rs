//! A person who is asked about output when the judge gives no verdict, while the agent stands still.

use super::Shared;
use super::decide::Found;
use super::incident::Decided;
use crate::asks::{About, Shown};
use crate::judge::{Outcome, Ruling, outcome};
use holdgate_core::Answer;
use holdgate_effects::json::shorten;
use std::time::{Duration, Instant};

/// How often it is looked whether the agent was killed meanwhile.
const LOOK: Duration = Duration::from_millis(200);
/// Characters of a question.
const SHOWN: usize = 400;

impl Shared {
    /// What a ruling leads to, by way of a person if there is none.
    pub(super) fn decided(
        &self,
        ruling: Ruling,
        found: &mut Found,
        runtime: &tokio::runtime::Runtime,
    ) -> (Decided, Outcome) {
        let person = self.settings.person.as_ref();
        let attended = person.is_some_and(|(asks, _)| asks.is_attended());
        let found_so = outcome(&ruling, &found.hit, attended);
        if found_so != Outcome::Ask {
            return (Decided::ByRuling(ruling), found_so);
        }
        match self.ask_person(found, runtime) {
            Some(answer @ (Answer::Once | Answer::Session | Answer::Rule)) => {
                if answer != Answer::Once {
                    self.lock().let_go.insert(found.hit.pattern.clone());
                }
                (Decided::ByPerson(ruling, answer), Outcome::Thaw)
            }
            Some(Answer::Deny) => (Decided::ByPerson(ruling, Answer::Deny), Outcome::Kill),
            Some(
                Answer::Judge
                | Answer::Timeout
                | Answer::Nobody
                | Answer::NoPin
                | Answer::Withdrawn,
            )
            | None => {
                let alone = outcome(&ruling, &found.hit, false);
                (Decided::ByRuling(ruling), alone)
            }
        }
    }

    fn ask_person(&self, found: &mut Found, runtime: &tokio::runtime::Runtime) -> Option<Answer> {
        let hit = &found.hit;
        if self.lock().let_go.contains(&hit.pattern) {
            return Some(Answer::Session);
        }
        let (asks, left) = self.settings.person.as_ref()?;
        let deadline = Instant::now() + *left;
        let evidence = shorten(&hit.evidence, SHOWN);
        let id = self.next_id();
        found.id = Some(id.clone());
        let finding = [
            hit.pattern.to_string(),
            "monitor".to_owned(),
            shorten(&hit.because, SHOWN),
        ];
        let mut shown = Shown::other(
            About::Output,
            (id, self.settings.session.clone()),
            (format!("the agent's output ({})", found.stream), evidence),
            finding,
            deadline,
        );
        shown.rule = Err(
            "there are no rules for output; add `known_safe` to a pattern instead \
                   (docs/watch.md)"
                .into(),
        );
        let mut ticket = asks.put(shown)?;
        // Tickets are told by the runtime's clock; a killed agent needs no answer.
        runtime.block_on(async {
            while Instant::now() < deadline && !self.lock().killed {
                if let Ok(answer) = tokio::time::timeout(LOOK, &mut ticket).await {
                    return Some(answer);
                }
            }
            ticket.close()
        })
    }
}
