//! A question of one response, from its asking to its end.

use super::App;
use super::records::Writing;
use crate::asks::Ticket;
use holdgate_core::{Action, Answer, Question, Record};
use std::sync::Arc;
use std::time::Duration;

/// A question that somebody was asked. If it ends without a decision, that is recorded.
#[derive(Debug)]
pub(super) struct Asked {
    app: Arc<App>,
    record: Record,
    since: Duration,
    pub(super) deadline: Duration,
    pub(super) ticket: Ticket,
    decided: bool,
}

impl Asked {
    /// Asks and records that, unless nobody is there.
    pub(super) fn ask(app: &Arc<App>, question: Question) -> Option<(Asked, Writing)> {
        let now = app.now();
        let left = question.deadline.saturating_sub(now);
        let ticket = app.asks.ask(&question, left)?;
        let writing = app.records.write(question.record.clone());
        let asked = Asked {
            app: app.clone(),
            record: question.record,
            since: now,
            deadline: question.deadline,
            ticket,
            decided: false,
        };
        Some((asked, writing))
    }

    /// The incident.
    pub(super) fn id(&self) -> &str {
        &self.record.id
    }

    /// The question is closed. Unless it was `withdrawn`, the decision has been recorded.
    pub(super) fn end(mut self, withdrawn: bool) {
        self.decided = !withdrawn;
    }

    /// The answer, or that none came in time.
    pub(super) async fn wait(&mut self) -> Answer {
        let left = self.deadline.saturating_sub(self.app.now());
        match tokio::time::timeout(left, &mut self.ticket).await {
            Ok(answer) => answer,
            Err(_) => self.ticket.close().unwrap_or(Answer::Timeout),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.decided {
            return;
        }
        self.record.action = Action::LeftOut;
        let waited = self.app.now().saturating_sub(self.since);
        self.record.answer = Some((Answer::Withdrawn, waited));
        drop(self.app.records.write(self.record.clone()));
    }
}
