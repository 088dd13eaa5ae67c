//! Answers to questions, and the approval that an answer can give.

use holdgate_effects::worded;

worded! {
    /// How a question ended.
    pub enum Answer as "answer" {
        Once = "once": "A person lets this call pass.",
        Session = "session": "A person lets the same call pass for the rest of the session.",
        Rule = "rule": "A person lets the call pass and has written a rule that allows it from now on.",
        Judge = "judge": "The judge found the call safe, and no person was asked.",
        Deny = "deny": "A person says no.",
        Timeout = "timeout": "Nobody answered in time.",
        Nobody = "nobody": "Nobody was there to be asked.",
        NoPin = "no-pin": "Nobody could be asked: no terminal shows questions, and no PIN is set.",
        Withdrawn = "withdrawn": "The client disconnected, or the response broke, before an answer.",
    }
}

impl Answer {
    /// Whether a person gives this answer.
    pub fn is_of_person(self) -> bool {
        match self {
            Answer::Once | Answer::Session | Answer::Rule | Answer::Deny => true,
            Answer::Judge
            | Answer::Timeout
            | Answer::Nobody
            | Answer::NoPin
            | Answer::Withdrawn => false,
        }
    }

    /// The approval, if the call may go on.
    pub fn approval(self) -> Option<Approval> {
        let lasts = match self {
            Answer::Once | Answer::Judge => false,
            Answer::Session | Answer::Rule => true,
            Answer::Deny | Answer::Timeout | Answer::Nobody | Answer::NoPin | Answer::Withdrawn => {
                return None;
            }
        };
        Some(Approval { lasts })
    }
}

/// A person has let a call pass. Only [`Answer::approval`] makes one:
///
/// ```compile_fail,E0451
/// holdgate_core::Approval { lasts: true };
/// ```
#[derive(Debug)]
pub struct Approval {
    lasts: bool,
}

impl Approval {
    /// Whether the same call may pass again in this session.
    pub fn lasts(&self) -> bool {
        self.lasts
    }
}
