//! One-time codes: a terminal shows a code with each question, and an answer from elsewhere needs
//! it.

use super::{Asks, Open, Shown, closed};
use crate::threads::lock;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use subtle::ConstantTimeEq as _;

/// Capital letters and digits without `0`, `1`, `I` and `O`: 32 characters, five bits each.
const ALPHABET: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const LENGTH: usize = 6;
/// Wrong tries after which a question's code is dead.
const MAX_TRIES: u8 = 3;

/// A code. Only the terminal that shows the question prints it, so `Debug` does not.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Code([u8; LENGTH]);

impl Code {
    /// A random one. Without randomness there is none, and nobody can answer elsewhere.
    pub(crate) fn new() -> Option<Code> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).ok()?;
        let letter = |byte: u8| ALPHABET.get(usize::from(byte % 32)).copied();
        for byte in &mut bytes {
            *byte = letter(*byte)?;
        }
        Some(Code(bytes))
    }

    /// Whether `typed` is this code, in time that does not depend on where they differ.
    pub(crate) fn is(&self, typed: &str) -> bool {
        let typed = typed.trim().to_ascii_uppercase();
        self.0.as_slice().ct_eq(typed.as_bytes()).into()
    }

    /// The code, for the terminal that shows the question.
    pub(crate) fn show(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(…)")
    }
}

/// Why a code was not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WrongCode {
    /// It is another; so many tries are left for this question.
    Wrong {
        /// Tries.
        left: u8,
    },
    /// It was not looked at.
    Refused(String),
}

impl Asks {
    /// The open questions with their codes: for the terminal of this process, and nothing else.
    pub(crate) fn open_here(&self) -> Vec<Arc<Shown>> {
        let with_code = |open: &Open| {
            Arc::new(Shown {
                code: open.code.clone(),
                ..(*open.shown).clone()
            })
        };
        self.lock().iter().map(with_code).collect()
    }

    /// Whether `typed` is the code of the question `id`. After a few wrong tries no code is, and
    /// only the terminal that shows the question can answer it.
    pub(crate) fn check_code(&self, id: &str, typed: &str) -> Result<(), WrongCode> {
        let refused = |why: String| Err(WrongCode::Refused(why));
        let mut all = lock(&self.wrong_codes);
        let now = SystemTime::now();
        if let Some(left) = all.pause(now) {
            return refused(paused(left));
        }
        let mut open = self.lock();
        let Some(question) = open.iter_mut().find(|open| open.shown.id == id) else {
            return refused(closed(id));
        };
        if question.code.as_ref().is_some_and(|code| code.is(typed)) {
            *all = Tries::default();
            return Ok(());
        }
        if question.code.is_none() {
            return refused("this question can only be answered where it is shown".into());
        }
        all.fail(now);
        question.wrong += 1;
        let left = MAX_TRIES.saturating_sub(question.wrong);
        if left == 0 {
            question.code = None;
        }
        Err(WrongCode::Wrong { left })
    }
}

/// Wrong tries in a row, and until when no more are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tries {
    pub(crate) wrong: u32,
    pub(crate) until: Option<SystemTime>,
}

impl Tries {
    /// Wrong tries that cost nothing but a record.
    pub(crate) const FREE: u32 = 5;
    const FIRST_PAUSE: Duration = Duration::from_mins(1);
    const LONGEST_PAUSE: Duration = Duration::from_hours(24);

    /// How long no try is taken.
    pub(crate) fn pause(&self, now: SystemTime) -> Option<Duration> {
        let left = self.until?.duration_since(now).ok()?;
        // A clock that was set back must not lock the operator out for years.
        Some(left.min(Self::LONGEST_PAUSE)).filter(|left| !left.is_zero())
    }

    /// One more was wrong: from the fifth on, each doubles the pause.
    pub(crate) fn fail(&mut self, now: SystemTime) {
        self.wrong = self.wrong.saturating_add(1);
        if let Some(beyond) = self.wrong.checked_sub(Self::FREE) {
            let pause = Self::FIRST_PAUSE.saturating_mul(1 << beyond.min(16));
            self.until = now.checked_add(pause.min(Self::LONGEST_PAUSE));
        }
    }

    /// The stricter of two counts.
    pub(crate) fn stricter(self, other: Tries) -> Tries {
        Tries {
            wrong: self.wrong.max(other.wrong),
            until: self.until.max(other.until),
        }
    }
}

/// The error for an attempt during a pause.
pub(crate) fn paused(left: Duration) -> String {
    let left = Duration::from_secs(left.as_secs().saturating_add(1));
    format!(
        "too many wrong attempts; try again in {}",
        humantime::format_duration(left)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_typed_as_it_is_shown() {
        let code = Code::new().unwrap();
        let shown = code.show();
        assert_eq!(shown.len(), LENGTH);
        assert!(code.is(&shown) && code.is(&format!(" {}\n", shown.to_lowercase())));
        assert!(
            !code.is("") && !code.is(shown.get(1..).unwrap()) && !code.is(&format!("{shown}A"))
        );
        assert_ne!(code, Code::new().unwrap(), "a fresh one each time");
        assert_eq!(format!("{code:?}"), "Code(…)");
    }

    #[test]
    fn pauses_grow_and_end() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(1);
        let mut tries = Tries::default();
        for _ in 1..Tries::FREE {
            tries.fail(now);
            assert_eq!(tries.pause(now), None);
        }
        tries.fail(now);
        assert_eq!(tries.pause(now), Some(Duration::from_mins(1)));
        assert_eq!(tries.pause(now + Duration::from_mins(1)), None);
        tries.fail(now);
        assert_eq!(tries.pause(now), Some(Duration::from_mins(2)));
        for _ in 0..100 {
            tries.fail(now);
        }
        assert_eq!(tries.pause(now), Some(Duration::from_hours(24)));
        assert_eq!(
            tries.pause(SystemTime::UNIX_EPOCH),
            Some(Duration::from_hours(24))
        );
    }
}
