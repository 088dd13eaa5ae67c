//! The semantic facts about a unit: what it does, to what, with data from where, and whether the like
//! was ever seen. Every weight is at least 0, so that one more fact never lowers a score.

use super::hash::Hash;
use super::shape::Shape;
use super::unit::Unit;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::HostClass;
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;

/// Hashed facts, as a power of two.
pub(crate) const BITS: u32 = 13;
/// How many there are.
pub(crate) const SLOTS: usize = 1 << BITS;
/// Facts of one unit.
const MAX_FACTS: usize = 160;
/// Tags and classes of one effect that are combined.
const MAX_CROSSED: usize = 5;

/// Where a mistake costs most.
const SENSITIVE: [PathClass; 15] = [
    PathClass::Secret,
    PathClass::HoldsSecrets,
    PathClass::Sensitive,
    PathClass::Startup,
    PathClass::RunsLater,
    PathClass::Hook,
    PathClass::Privilege,
    PathClass::AgentSettings,
    PathClass::Holdgate,
    PathClass::History,
    PathClass::Log,
    PathClass::Escape,
    PathClass::Kernel,
    PathClass::Device,
    PathClass::RootHome,
];
/// Not the project's own.
const OUTSIDE: [PathClass; 7] = [
    PathClass::Home,
    PathClass::HomeRoot,
    PathClass::Root,
    PathClass::System,
    PathClass::Os,
    PathClass::Binary,
    PathClass::Unknown,
];

/// What makes something new a risk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Risks {
    /// A sensitive place is near.
    pub sensitive: bool,
    /// A host outside is addressed.
    pub host: bool,
    /// A place outside of the project is reached.
    pub outside: bool,
    /// Something runs, or is written or sent, and nobody can tell what.
    pub opaque: bool,
    /// What no table settles touches something.
    pub suspect: bool,
    /// Something changes, runs or leaves; the unit does more than read.
    pub acts: bool,
    /// Data is sent to a known host outside.
    pub sends: bool,
}

impl Risks {
    /// Those of a unit.
    pub fn of(unit: &Unit<'_>) -> Risks {
        let mut risks = Risks::default();
        for effect in &unit.effects {
            risks.add(effect);
        }
        risks
    }

    fn add(&mut self, effect: &Effect) {
        if let Some(path) = &effect.path {
            self.sensitive |= SENSITIVE.iter().any(|class| path.is(*class));
            self.outside |= OUTSIDE.iter().any(|class| path.is(*class));
        }
        if let Some(host) = &effect.host {
            let is_outside = match host.class {
                HostClass::Loopback | HostClass::Installer | HostClass::Registry => false,
                HostClass::Private
                | HostClass::Metadata
                | HostClass::Drop
                | HostClass::External
                | HostClass::Unknown => true,
            };
            self.host |= is_outside;
            self.sends |= effect.kind == Kind::Send
                && matches!(host.class, HostClass::External | HostClass::Drop);
        }
        let hidden = Origins::UNKNOWN | Origins::DECODED | Origins::FETCHED | Origins::SECRET;
        self.opaque |= effect.origins.any(hidden) && effect.kind != Kind::Env
            || matches!(effect.kind, Kind::ExecuteOpaque | Kind::Unreadable);
        self.suspect |= effect.is(Tag::Suspect);
        self.acts |= !matches!(effect.kind, Kind::Run | Kind::Read | Kind::Env);
    }

    /// Words for those that hold.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.sensitive, "a sensitive place"),
            (self.host, "a host outside"),
            (self.outside, "a place outside of the project"),
            (self.opaque, "a value that nobody knows"),
            (self.suspect, "something that no table settles"),
            (self.acts, "more than reading"),
            (self.sends, "data that is sent"),
        ];
        all.into_iter()
            .filter_map(|(holds, word)| holds.then_some(word))
    }
}

/// How new a unit is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Novelty {
    /// The program was never seen.
    pub program: bool,
    /// The sub-command was never seen.
    pub subcommand: bool,
    /// A flag was never seen with it.
    pub flag: bool,
    /// It never reached such a place or host.
    pub place: bool,
}

impl Novelty {
    /// Compares a shape with what was seen.
    pub fn of(shape: &Shape, is_seen: impl Fn(u32) -> bool) -> Novelty {
        let new = |hash: &u32| !is_seen(*hash);
        Novelty {
            program: new(&shape.program),
            subcommand: shape.subcommand.as_ref().is_some_and(new),
            flag: shape.flags.iter().any(new),
            place: shape.places.iter().any(new),
        }
    }

    /// Whether anything is new.
    pub fn any(self) -> bool {
        self != Novelty::default()
    }

    /// Words for what is new.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.program, "program"),
            (self.subcommand, "sub-command"),
            (self.flag, "flag"),
            (self.place, "kind of place"),
        ];
        all.into_iter()
            .filter_map(|(holds, word)| holds.then_some(word))
    }
}

/// The facts about a unit, as places in the table of weights, each once.
pub(crate) fn facts(unit: &Unit<'_>, novelty: Novelty) -> Vec<u16> {
    let mut facts = Vec::with_capacity(24);
    name_facts(unit, novelty, |fact| {
        if facts.len() < MAX_FACTS {
            facts.push(fact.slot(BITS));
        }
    });
    facts.sort_unstable();
    facts.dedup();
    facts
}

/// Calls `each` with every fact.
fn name_facts(unit: &Unit<'_>, novelty: Novelty, mut each: impl FnMut(Hash)) {
    for new in novelty.words() {
        let start = Hash::of("new").and(new);
        each(start);
        for risk in Risks::of(unit).words() {
            each(start.and(risk));
        }
    }
    let mut kinds = 0_u64;
    for effect in &unit.effects {
        let kind = Hash::of(effect.kind.word());
        kinds |= 1 << (effect.kind as u64);
        each(kind);
        if let Some(host) = &effect.host {
            let host = kind.and("host").and(host.class.word());
            each(host);
            for origin in effect.origins.names() {
                each(host.and(origin));
            }
        }
        for origin in effect.origins.names() {
            each(kind.and("from").and(origin));
        }
        for tag in effect.tags.iter().take(MAX_CROSSED) {
            each(kind.and("tag").and(tag.word()));
        }
        if let Some(path) = &effect.path {
            for class in path.classes.iter().take(MAX_CROSSED) {
                let class = kind.and("path").and(class.word());
                each(class);
                for tag in effect.tags.iter().take(MAX_CROSSED) {
                    each(class.and(tag.word()));
                }
            }
        }
    }
    let present = || {
        let all = Kind::ALL.iter();
        all.filter(move |kind| kinds & (1 << (**kind as u64)) != 0)
    };
    for (at, first) in present().enumerate() {
        for second in present().skip(at + 1) {
            each(Hash::of("both").and(first.word()).and(second.word()));
        }
    }
}
