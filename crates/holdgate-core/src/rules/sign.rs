//! What an effect must have for a rule to be about it, as far as sets tell: most rules are ruled out by
//! this before their conditions are looked at.

use super::sets::{Kinds, Tags};
use super::when::{Call, Pattern};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::HostClass;
use holdgate_effects::path::Classes;
use holdgate_effects::value::Origins;

/// What one effect must have. Less than the condition says, never more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sign {
    pub(super) kinds: Kinds,
    /// All of these tags.
    all: Tags,
    /// One of these.
    any: Option<Tags>,
    from: Option<Origins>,
    /// A path, of one of these classes if there are any.
    path: Option<Classes>,
    /// A host, of one of these classes if there are any.
    host: Option<Hosts>,
}

/// A set of classes of hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hosts(u32);

const _: () = assert!(
    HostClass::ALL.len() <= 32,
    "classes of hosts fit into one word"
);

impl Hosts {
    fn of(classes: &[HostClass]) -> Hosts {
        Hosts(
            classes
                .iter()
                .fold(0, |set, class| set | 1 << *class as u32),
        )
    }
}

impl Sign {
    /// What an effect must have that meets the pattern: one of these.
    fn all_of(pattern: &Pattern) -> Vec<Sign> {
        let own = Sign {
            kinds: pattern.kinds,
            all: Tags::of(pattern.is.iter().copied()),
            any: (!pattern.is_any.is_empty()).then(|| Tags::of(pattern.is_any.iter().copied())),
            from: pattern.from,
            path: pattern.path.as_ref().map(|test| {
                let mut classes = Classes::default();
                for class in &test.within {
                    classes.add(*class);
                }
                classes
            }),
            host: pattern.host.as_ref().map(|test| Hosts::of(&test.within)),
        };
        if pattern.any.is_empty() {
            return vec![own];
        }
        let parts = pattern.any.iter().flat_map(Sign::all_of);
        parts.map(|part| own.and(part)).collect()
    }

    /// What an effect must have that has both. Where one set must do, the inner one counts.
    fn and(self, inner: Sign) -> Sign {
        let named = |set: &Classes| *set != Classes::default();
        let hosts = |set: &Hosts| *set != Hosts::default();
        Sign {
            kinds: self.kinds.and(inner.kinds),
            all: self.all.or(inner.all),
            any: inner.any.or(self.any),
            from: inner.from.or(self.from),
            path: inner.path.filter(named).or(self.path).or(inner.path),
            host: inner.host.filter(hosts).or(self.host).or(inner.host),
        }
    }

    /// How much it lets through: a rule that needs several effects is known by the rarest.
    fn width(&self) -> u32 {
        let is_plain = self.all == Tags::default() && self.any.is_none() && self.from.is_none();
        self.kinds.len() * if is_plain { 8 } else { 1 }
    }

    /// Whether an effect of those that were seen may have it, whose kind it is known to be about.
    pub(super) fn may_be_in(&self, seen: &Seen) -> bool {
        // What is compared by one word comes first.
        self.path.is_none_or(|classes| {
            seen.has_path && (classes == Classes::default() || classes.meet(seen.classes))
        }) && self.host.is_none_or(|hosts| {
            seen.hosts.0 != 0 && (hosts == Hosts::default() || hosts.0 & seen.hosts.0 != 0)
        }) && self.from.is_none_or(|from| seen.origins.any(from))
            && seen.tags.have_all(self.all)
            && self.any.is_none_or(|any| any.meets(seen.tags))
    }
}

impl Call {
    /// The call must have an effect with one of these; `None` if it can hold without effects.
    pub(super) fn signs(&self) -> Option<Vec<Sign>> {
        match self {
            Call::Some(pattern) => Some(Sign::all_of(pattern)),
            Call::All(parts) => {
                let signs = parts.iter().filter_map(Call::signs);
                signs.min_by_key(|signs| signs.iter().map(Sign::width).sum::<u32>())
            }
            Call::Any(parts) => {
                let each: Option<Vec<_>> = parts.iter().map(Call::signs).collect();
                Some(each?.concat())
            }
            Call::Not(_) => None,
        }
    }
}

/// What the effects of one kind have, together.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    tags: Tags,
    origins: Origins,
    has_path: bool,
    classes: Classes,
    hosts: Hosts,
}

impl Seen {
    /// What these effects have, by their kinds.
    pub(super) fn all_of(effects: &[Effect]) -> Vec<Seen> {
        let mut all: Vec<Seen> = Vec::with_capacity(4);
        for effect in effects {
            let at = all.iter().position(|seen| seen.kind == effect.kind);
            let at = at.unwrap_or_else(|| {
                all.push(Seen {
                    kind: effect.kind,
                    tags: Tags::default(),
                    origins: Origins::NONE,
                    has_path: false,
                    classes: Classes::default(),
                    hosts: Hosts::default(),
                });
                all.len() - 1
            });
            let Some(seen) = all.get_mut(at) else {
                continue;
            };
            seen.tags.add(effect.tags.iter().copied());
            seen.origins |= effect.origins;
            if let Some(path) = &effect.path {
                seen.has_path = true;
                seen.classes.add_all(path.classes);
            }
            if let Some(host) = &effect.host {
                seen.hosts.0 |= 1 << host.class as u32;
            }
        }
        all
    }
}
