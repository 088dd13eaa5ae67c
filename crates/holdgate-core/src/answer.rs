//! Answers to questions, and the approval that an answer can give.

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A person lets this call pass.
    Once,
    /// A person lets the same call pass for the rest of the session.
    Session,
    /// A person lets the call pass and has written a rule that allows it from now on.
    Rule,
    /// A person says no.
    Deny,
    /// Nobody answered in time.
    Timeout,
    /// Nobody was there to be asked.
    Nobody,
    /// Nobody could be asked: no terminal shows questions, and no PIN is set to answer elsewhere.
    NoPin,
    /// The client went away, or the response broke, before anybody answered.
    Withdrawn,
}

impl Answer {
    /// The word for it in records and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Once => "once",
            Answer::Session => "session",
            Answer::Rule => "rule",
            Answer::Deny => "deny",
            Answer::Timeout => "timeout",
            Answer::Nobody => "nobody",
            Answer::NoPin => "no-pin",
            Answer::Withdrawn => "withdrawn",
        }
    }

    /// The answer of a person that `word` stands for.
    pub fn from_word(word: &str) -> Option<Answer> {
        [Answer::Once, Answer::Session, Answer::Rule, Answer::Deny]
            .into_iter()
            .find(|answer| answer.word() == word)
    }

    /// The approval, if the call may go on.
    pub fn approval(self) -> Option<Approval> {
        let lasts = match self {
            Answer::Once => false,
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
