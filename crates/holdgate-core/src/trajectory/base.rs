//! The counts that are shipped.

use super::action::Action;
use super::ppm::{Gram, Ppm};
use std::sync::OnceLock;

/// Lines of actions and a count: the last action followed the others so often, `-` is the beginning.
const COUNTS: &str = include_str!("base.txt");

/// The shipped counts: what real agents' sessions did, and the paper's normal patterns.
pub fn base() -> &'static Ppm {
    static BASE: OnceLock<Ppm> = OnceLock::new();
    BASE.get_or_init(|| Ppm::of(COUNTS.lines().filter_map(read)))
}

fn read(line: &str) -> Option<(Gram, u16)> {
    let line = line.split('#').next()?;
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let count = words.pop()?.parse().ok()?;
    let action = Action::from_word(words.pop()?)?;
    let before = |word: &&str| match *word {
        "-" => Some(None),
        word => Action::from_word(word).map(Some),
    };
    let context: Vec<Option<Action>> = words.iter().map(before).collect::<Option<_>>()?;
    Some((Gram::new(&context, action)?, count))
}
