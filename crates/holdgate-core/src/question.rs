//! A call that a person has to decide about.

use crate::exception::{Allowance, NoAllowance};
use crate::incident::Record;
use std::time::Duration;

/// A call that waits for a person.
#[derive(Clone, Debug)]
pub struct Question {
    /// The program that asks, by the name that its requests give, if they give one.
    pub agent: Option<String>,
    /// The folder that it works in, if that is known.
    pub folder: Option<String>,
    /// The last calls before it, oldest first: each a tool, and what it did.
    pub before: Vec<String>,
    /// The question as it is recorded, once it is asked: its id is that of the incident.
    pub record: Record,
    /// When the call is refused if nobody has answered.
    pub deadline: Duration,
    /// What a rule would have to allow so that the same is not asked again, or why none can.
    pub allowances: Result<Vec<Allowance>, NoAllowance>,
}
