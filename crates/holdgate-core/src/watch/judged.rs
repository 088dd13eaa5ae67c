//! Which commands were judged already, and how many more may be.

use super::command::SeenCommand;
use std::collections::HashMap;
use std::sync::Arc;

/// Calls that are remembered, and bytes of each: screens are drawn again and again.
const MAX_JUDGED: usize = 256;
const MAX_REMEMBERED: usize = 1 << 10;
/// Commands on the screen that are judged at once, and bytes of output after which one more is.
const AT_ONCE: u64 = 4096;
const PER_COMMAND: u64 = 96;

/// Which patterns matched recent calls, by tool and input.
#[derive(Debug, Default)]
pub(super) struct Judged {
    known: HashMap<String, Matched>,
    /// Where in the output the work for commands is used up to.
    used: u64,
}

/// Which patterns match a call, by their index in the list, and why.
pub(super) type Matched = Arc<[(usize, String)]>;

impl Judged {
    /// Whether one more command on the screen may be judged, `at` bytes into the output: a flood of
    /// short ones must not delay the output.
    pub(super) fn has_room(&mut self, at: u64) -> bool {
        self.used = self.used.max(at);
        self.used - at < AT_ONCE * PER_COMMAND
    }

    /// The patterns that match a call, from `judge` if they are not known yet.
    pub(super) fn of(&mut self, said: &SeenCommand, judge: impl FnOnce() -> Matched) -> Matched {
        let key = format!("{}\n{}", said.tool, said.input.text());
        if let Some(matched) = self.known.get(&key) {
            return matched.clone();
        }
        self.used += PER_COMMAND;
        let matched = judge();
        if key.len() <= MAX_REMEMBERED {
            if self.known.len() == MAX_JUDGED {
                self.known.clear();
            }
            self.known.insert(key, matched.clone());
        }
        matched
    }
}
