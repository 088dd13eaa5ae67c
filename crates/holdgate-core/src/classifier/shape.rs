//! The shape of a unit: its program, sub-command, flags and the classes of its places. Shapes are
//! compared with those that were seen in honest work; only their hashes are kept.

use super::hash::Hash;
use super::unit::Unit;
use holdgate_effects::effect::{Effect, Kind};

/// Words of a command that are looked at.
const MAX_WORDS: usize = 48;
/// Flags of one command.
const MAX_FLAGS: usize = 12;
/// Letters of a flag that begins with two dashes, and with one.
const MAX_FLAG: usize = 24;
const MAX_SHORT: usize = 8;
/// A longer first word is not a sub-command.
const MAX_SUBCOMMAND: usize = 24;

/// What is compared, from the coarsest to the finest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The program, tool or function.
    pub program: u32,
    /// The program and its first word, if that is a sub-command.
    pub subcommand: Option<u32>,
    /// The program, the sub-command and one flag, for each flag.
    pub flags: Vec<u32>,
    /// The program, what it does, and to which class of places or hosts, for each effect.
    pub places: Vec<u32>,
    /// All of it together.
    pub whole: u32,
}

/// Set in the hashes of a program whose first operand is a sub-command.
const HAS_SUBCOMMANDS: &str = "has sub-commands";

/// What says that a program has sub-commands.
pub(crate) fn marker(program: &str) -> u32 {
    Hash::of(program).and(HAS_SUBCOMMANDS).short()
}

impl Shape {
    /// The shape of a unit. `is_marked` says whether a marker is known.
    pub fn of(unit: &Unit<'_>, is_marked: impl Fn(u32) -> bool) -> Shape {
        let name = program(unit);
        let start = Hash::of("unit").and(name);
        let words = Words::of(unit);
        let subcommand = words.first.filter(|_| is_marked(marker(name)));
        let with_sub = subcommand.map_or(start.and(""), |word| start.and(word));
        let mut flags: Vec<u32> = words
            .flags
            .iter()
            .map(|flag| with_sub.and("flag").and(flag).short())
            .collect();
        flags.sort_unstable();
        flags.dedup();
        let mut places: Vec<u32> = unit
            .effects
            .iter()
            .filter_map(|e| place(start, e))
            .collect();
        places.sort_unstable();
        places.dedup();
        let whole = flags
            .iter()
            .chain(&places)
            .fold(with_sub, |hash, part| hash.and(&part.to_string()));
        Shape {
            program: start.short(),
            subcommand: subcommand.map(|_| with_sub.and("sub").short()),
            flags,
            places,
            whole: whole.and("whole").short(),
        }
    }

    /// The parts that are compared with honest work anywhere.
    pub fn parts(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(self.program)
            .chain(self.subcommand)
            .chain(self.flags.iter().copied())
            .chain(self.places.iter().copied())
    }

    /// All hashes of the shape.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.parts().chain(std::iter::once(self.whole))
    }
}

/// The first word of a unit's command, if it looks like a sub-command.
pub(crate) fn first_word<'e>(unit: &Unit<'e>) -> Option<&'e str> {
    Words::of(unit).first
}

/// The name of the program, tool or function.
pub(crate) fn program<'e>(unit: &Unit<'e>) -> &'e str {
    unit.program()
}

/// A class of places or hosts that an effect reaches.
fn place(start: Hash, effect: &Effect) -> Option<u32> {
    let mut hash = start.and("does").and(effect.kind.word());
    if let Some(path) = &effect.path {
        for class in path.classes.iter() {
            hash = hash.and(class.word());
        }
    } else if let Some(host) = &effect.host {
        hash = hash.and("host").and(host.class.word());
    } else if matches!(effect.kind, Kind::Run) {
        return None;
    }
    Some(hash.short())
}

/// What the words of a command say.
#[derive(Default)]
struct Words<'e> {
    first: Option<&'e str>,
    flags: Vec<&'e str>,
}

impl<'e> Words<'e> {
    fn of(unit: &Unit<'e>) -> Words<'e> {
        let mut words = Words::default();
        let run = unit.effects.iter().find(|effect| effect.kind == Kind::Run);
        let Some(text) = run.and_then(|run| run.text.as_deref()) else {
            return words;
        };
        // A later word may be the value of a flag.
        let first = text.split_ascii_whitespace().next();
        words.first = first.filter(|word| is_subcommand(word));
        for word in text.split_ascii_whitespace().take(MAX_WORDS) {
            if let Some(flag) = flag(word) {
                if words.flags.len() < MAX_FLAGS && !words.flags.contains(&flag) {
                    words.flags.push(flag);
                }
                // What follows is code, not flags.
                if matches!(flag, "-c" | "-e" | "-lc" | "-Command" | "--eval") {
                    break;
                }
            }
        }
        words
    }
}

/// A flag without its value; `-20` is a number. A value may be joined to a short flag, and may be a
/// password: such a flag is cut where it could begin.
fn flag(word: &str) -> Option<&str> {
    let name = word.strip_prefix('-')?;
    if let Some(long) = name.strip_prefix('-') {
        let end = long.find(|c: char| !c.is_ascii_alphabetic() && c != '-');
        let is_name = long.starts_with(|c: char| c.is_ascii_alphabetic());
        let end = end.unwrap_or(long.len()).min(MAX_FLAG) + 2;
        return word.get(..end).filter(|_| is_name);
    }
    let letters = name.find(|c: char| !c.is_ascii_alphabetic());
    let letters = letters.unwrap_or(name.len());
    let most = match name.as_bytes().first() {
        Some(b'p' | b'P' | b'u' | b'k' | b'w') => 1,
        _ => MAX_SHORT,
    };
    let end = letters.min(most) + 1;
    word.get(..end).filter(|_| letters > 0)
}

fn is_subcommand(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
    word.len() <= MAX_SUBCOMMAND
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(plain)
}

/// The first bits of a hash, by which it is found.
const PREFIX_BITS: u32 = 12;

/// The hashes of shapes that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// In order.
    hashes: Vec<u32>,
    /// Where the hashes with each prefix begin, and where the last of them end.
    starts: Vec<usize>,
}

impl Seen {
    /// All of these.
    pub fn of(hashes: impl IntoIterator<Item = u32>) -> Seen {
        let mut hashes: Vec<u32> = hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes.dedup();
        let start = |prefix: u32| hashes.partition_point(|hash| prefix_of(*hash) < prefix);
        let starts = (0..=1 << PREFIX_BITS).map(start).collect();
        Seen { hashes, starts }
    }

    /// Whether a hash was seen.
    pub fn has(&self, hash: u32) -> bool {
        let prefix = prefix_of(hash) as usize;
        let start = self.starts.get(prefix).copied().unwrap_or_default();
        let end = self.starts.get(prefix + 1).copied().unwrap_or_default();
        let alike = self.hashes.get(start..end).unwrap_or_default();
        alike.binary_search(&hash).is_ok()
    }

    /// All of them, in order.
    pub fn hashes(&self) -> &[u32] {
        &self.hashes
    }
}

fn prefix_of(hash: u32) -> u32 {
    hash >> (u32::BITS - PREFIX_BITS)
}
