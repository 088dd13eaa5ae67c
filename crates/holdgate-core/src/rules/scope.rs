//! Where and until when a rule that allows holds.

use std::time::SystemTime;

/// The project and the time to which a rule that allows is limited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    /// The project's folder; `None` for all.
    pub(super) project: Option<String>,
    /// `None` for ever.
    pub(super) until: Option<SystemTime>,
}

/// Where and when calls are judged. What is not known is outside of every limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Here {
    pub(super) project: Option<String>,
    pub(super) now: Option<SystemTime>,
}

impl Scope {
    /// Whether a rule with these limits holds here.
    pub(super) fn holds(&self, here: &Here) -> bool {
        let in_project = self.project.is_none() || self.project == here.project;
        let in_time = match (self.until, here.now) {
            (None, _) => true,
            (Some(until), Some(now)) => now < until,
            (Some(_), None) => false,
        };
        in_project && in_time
    }

    /// A place and time at which it holds, for examples.
    pub(super) fn inside(&self) -> Here {
        Here {
            project: self.project.clone(),
            now: self.until.map(|_| SystemTime::UNIX_EPOCH),
        }
    }
}
