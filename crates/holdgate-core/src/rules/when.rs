//! Conditions, ready to match.

use super::lazy::LazyRegex;
use super::reach::{self, Sample};
use super::sets::Kinds;
use globset::GlobSet;
use holdgate_effects::effect::{Effect, Kind, Refs};
use holdgate_effects::fuel::{Fuel, OutOfFuel};
use holdgate_effects::host::{Host, HostClass};
use holdgate_effects::path::{PathClass, PathGlobs, Place};
use holdgate_effects::tag::Tag;
use holdgate_effects::value::{HOLE, Origins};
use std::sync::Arc;

/// What must hold for a call.
#[derive(Debug)]
pub(super) enum Call {
    /// Some effect of the call matches.
    Some(Box<Pattern>),
    /// Each holds, possibly for different effects.
    All(Vec<Call>),
    /// One of them holds.
    Any(Vec<Call>),
    /// It does not hold.
    Not(Box<Call>),
}

/// Whether a condition holds, and the effect that meets it, if there is one.
pub(super) enum Met<'e> {
    No,
    Yes(Option<&'e Effect>),
}

impl Call {
    /// The call must have an effect of one of these kinds; `None` if it can hold without effects.
    pub(super) fn needs(&self) -> Option<Kinds> {
        match self {
            Call::Some(pattern) => Some(pattern.kinds),
            Call::All(parts) => {
                let needs = parts.iter().filter_map(Call::needs);
                needs.min_by_key(|kinds| kinds.len())
            }
            Call::Any(parts) => {
                let needs: Option<Vec<Kinds>> = parts.iter().map(Call::needs).collect();
                Some(needs?.into_iter().fold(Kinds::default(), Kinds::or))
            }
            Call::Not(_) => None,
        }
    }

    /// One of these programs must have an effect; `None` if any program can.
    pub(super) fn programs(&self) -> Option<Vec<&str>> {
        match self {
            Call::Some(pattern) => pattern.programs(),
            Call::All(parts) => parts.iter().find_map(Call::programs),
            Call::Any(parts) => {
                let each: Option<Vec<_>> = parts.iter().map(Call::programs).collect();
                Some(each?.concat())
            }
            Call::Not(_) => None,
        }
    }

    /// Whether it holds for `effect` only because its branch is not known.
    pub(super) fn is_branch_in_doubt(&self, effect: &Effect) -> bool {
        match self {
            Call::Some(pattern) => pattern.is_branch_in_doubt(effect),
            Call::All(parts) | Call::Any(parts) => {
                parts.iter().any(|part| part.is_branch_in_doubt(effect))
            }
            Call::Not(_) => false,
        }
    }

    /// Whether it holds for a call with these effects.
    pub(super) fn met<'e>(&self, effects: &'e [Effect], fuel: &Fuel) -> Result<Met<'e>, OutOfFuel> {
        fuel.spend(1)?;
        match self {
            Call::Some(pattern) => {
                for effect in effects {
                    if pattern.matches(effect, fuel)? {
                        return Ok(Met::Yes(Some(effect)));
                    }
                }
                Ok(Met::No)
            }
            Call::All(parts) => {
                let mut shown = None;
                for part in parts {
                    match part.met(effects, fuel)? {
                        Met::No => return Ok(Met::No),
                        Met::Yes(effect) => shown = shown.or(effect),
                    }
                }
                Ok(Met::Yes(shown))
            }
            Call::Any(parts) => {
                for part in parts {
                    if let Met::Yes(effect) = part.met(effects, fuel)? {
                        return Ok(Met::Yes(effect));
                    }
                }
                Ok(Met::No)
            }
            Call::Not(part) => match part.met(effects, fuel)? {
                Met::No => Ok(Met::Yes(None)),
                Met::Yes(_) => Ok(Met::No),
            },
        }
    }
}

/// How a path is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathMatch {
    /// As written.
    Said,
    /// A glob, a folder or an unknown part stands for every path that it may have been.
    Possible,
}

/// What must hold for one effect: all of it.
#[derive(Debug, Default)]
pub(super) struct Pattern {
    pub(super) kinds: Kinds,
    pub(super) programs: Option<Names>,
    pub(super) is: Vec<Tag>,
    pub(super) is_any: Vec<Tag>,
    pub(super) is_not: Vec<Tag>,
    pub(super) from: Option<Origins>,
    pub(super) not_from: Option<Origins>,
    pub(super) path: Option<PathTest>,
    pub(super) host: Option<HostTest>,
    pub(super) branch: Option<RefTest>,
    pub(super) remote: Option<RefTest>,
    pub(super) any: Vec<Pattern>,
    pub(super) not: Option<Box<Pattern>>,
    pub(super) text: Option<LazyRegex>,
    pub(super) not_text: Option<LazyRegex>,
    pub(super) evidence: Option<LazyRegex>,
}

impl Pattern {
    fn programs(&self) -> Option<Vec<&str>> {
        if let Some(names) = &self.programs {
            let all = names.exact.iter().map(String::as_str).collect();
            return names.globs.is_none().then_some(all);
        }
        if self.any.is_empty() {
            return None;
        }
        let each: Option<Vec<_>> = self.any.iter().map(Pattern::programs).collect();
        Some(each?.concat())
    }

    /// Whether the condition on a branch holds for `effect` only because the branch is not known.
    fn is_branch_in_doubt(&self, effect: &Effect) -> bool {
        let own = self.branch.as_ref().is_some_and(|b| b.is_in_doubt(effect));
        own || self.any.iter().any(|part| part.is_branch_in_doubt(effect))
            || self.not.as_ref().is_some_and(|not| {
                let unknown = |refs: &Arc<Refs>| refs.has_unknown_branch();
                not.branch.is_some() && effect.refs.as_ref().is_none_or(unknown)
            })
    }

    /// Whether `effect` matches.
    pub(super) fn matches(&self, effect: &Effect, fuel: &Fuel) -> Result<bool, OutOfFuel> {
        self.matches_as(effect, PathMatch::Said, fuel)
    }

    /// The same for an earlier effect. Cheap tests come first.
    pub(super) fn matches_as(
        &self,
        effect: &Effect,
        path_match: PathMatch,
        fuel: &Fuel,
    ) -> Result<bool, OutOfFuel> {
        if !self.kinds.has(effect.kind) {
            return Ok(false);
        }
        fuel.spend(1)?;
        let cheap = self.is.iter().all(|tag| effect.is(*tag))
            && (self.is_any.is_empty() || self.is_any.iter().any(|tag| effect.is(*tag)))
            && !self.is_not.iter().any(|tag| effect.is(*tag))
            && self.from.is_none_or(|from| effect.origins.any(from))
            && !self.not_from.is_some_and(|from| effect.origins.any(from))
            && self
                .programs
                .as_ref()
                .is_none_or(|names| names.have(&effect.program));
        if !cheap {
            return Ok(false);
        }
        let place = |test: &PathTest| {
            let path = effect.path.as_ref();
            path.is_some_and(|path| test.holds(effect, path, path_match))
        };
        let host = |test: &HostTest| effect.host.as_ref().is_some_and(|h| test.holds(h));
        if !self.path.as_ref().is_none_or(place) || !self.host.as_ref().is_none_or(host) {
            return Ok(false);
        }
        let branch = |test: &RefTest| test.holds_for_branch(effect);
        let remote = |test: &RefTest| test.holds_for_remote(effect);
        if !self.branch.as_ref().is_none_or(branch) || !self.remote.as_ref().is_none_or(remote) {
            return Ok(false);
        }
        let text = effect.text.as_deref();
        Ok(self.one_of_any(effect, path_match, fuel)?
            && !self.is_excluded(effect, fuel)?
            && finds(self.evidence.as_ref(), Some(&effect.evidence), fuel)?.unwrap_or(true)
            && finds(self.text.as_ref(), text, fuel)?.unwrap_or(true)
            && !finds(self.not_text.as_ref(), text, fuel)?.unwrap_or(false))
    }

    fn one_of_any(
        &self,
        effect: &Effect,
        path_match: PathMatch,
        fuel: &Fuel,
    ) -> Result<bool, OutOfFuel> {
        for pattern in &self.any {
            if pattern.matches_as(effect, path_match, fuel)? {
                return Ok(true);
            }
        }
        Ok(self.any.is_empty())
    }

    fn is_excluded(&self, effect: &Effect, fuel: &Fuel) -> Result<bool, OutOfFuel> {
        match &self.not {
            Some(pattern) => pattern.matches(effect, fuel),
            None => Ok(false),
        }
    }
}

/// Whether a regex matches a text; `None` if there is no regex. A missing text counts as empty.
fn finds(
    regex: Option<&LazyRegex>,
    text: Option<&str>,
    fuel: &Fuel,
) -> Result<Option<bool>, OutOfFuel> {
    let Some(regex) = regex else {
        return Ok(None);
    };
    let text = text.unwrap_or_default();
    // A kilobyte of text takes a regex about as long as a step elsewhere.
    fuel.spend(1 + text.len() as u64 / 1024)?;
    // A regex that cannot be built stops the call: nobody knows whether it would have matched.
    let regex = regex.get().ok_or(OutOfFuel)?;
    Ok(Some(regex.is_match(text)))
}

/// Names, and patterns of names.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) exact: Vec<String>,
    pub(super) globs: Option<GlobSet>,
    /// The patterns as written.
    pub(super) patterns: Vec<String>,
}

impl Names {
    fn any(&self, is: impl Fn(&str) -> bool) -> bool {
        let mut all = self.exact.iter().chain(&self.patterns);
        all.any(|name| is(name))
    }

    fn have(&self, name: &str) -> bool {
        self.exact.iter().any(|n| n == name)
            || self
                .globs
                .as_ref()
                .is_some_and(|globs| globs.is_match(name))
    }
}

/// Globs of paths.
#[derive(Debug)]
pub(super) struct Globs {
    /// `/etc/**`, `~/.ssh/**`, `**/.env`
    pub(super) anywhere: PathGlobs,
    /// `src/**`, compared with paths from the project's folder.
    pub(super) in_project: PathGlobs,
}

impl Globs {
    fn find(&self, place: &Place) -> bool {
        let inside = |path| self.in_project.is_match(path);
        self.anywhere.find(place) || place.in_project().is_some_and(inside)
    }
}

/// What must hold for a path: all of it.
#[derive(Debug)]
pub(super) struct PathTest {
    pub(super) within: Vec<PathClass>,
    pub(super) outside: Vec<PathClass>,
    pub(super) globs: Option<Globs>,
    pub(super) not_globs: Option<Globs>,
    /// Paths that the globs match, for comparing with paths that do not name a single file.
    pub(super) samples: Vec<Sample>,
}

impl PathTest {
    fn holds(&self, effect: &Effect, place: &Place, path_match: PathMatch) -> bool {
        let any = |globs: &Globs| globs.find(place);
        let may_include = |sample: &Sample| reach::may_include(effect, place, sample);
        if path_match == PathMatch::Possible && self.samples.iter().any(may_include) {
            return self.is_in_classes(place);
        }
        self.is_in_classes(place)
            && self.globs.as_ref().is_none_or(any)
            && !self.not_globs.as_ref().is_some_and(any)
    }

    fn is_in_classes(&self, place: &Place) -> bool {
        (self.within.is_empty() || self.within.iter().any(|class| place.is(*class)))
            && !self.outside.iter().any(|class| place.is(*class))
    }
}

/// What must hold for a branch or a remote of version control.
#[derive(Debug)]
pub(super) struct RefTest {
    pub(super) names: Names,
    /// Whether what is not known counts: it does in rules that ask or deny.
    pub(super) unknown: bool,
}

impl RefTest {
    /// Version control that says nothing about branches may act on any.
    fn without_refs(&self, effect: &Effect) -> bool {
        effect.kind == Kind::Vcs && self.unknown
    }

    fn holds_for_branch(&self, effect: &Effect) -> bool {
        let Some(refs) = &effect.refs else {
            return self.without_refs(effect);
        };
        let mut branches = refs.branches.iter();
        if self.unknown {
            branches.any(|branch| branch.contains(HOLE) || self.names.have(branch))
        } else {
            !refs.branches.is_empty()
                && branches.all(|branch| !branch.contains(HOLE) && self.names.have(branch))
        }
    }

    /// Addresses are compared with patterns that look like one.
    fn holds_for_remote(&self, effect: &Effect) -> bool {
        let Some(refs) = &effect.refs else {
            return self.without_refs(effect);
        };
        let is_address = |name: &str| name.contains([':', '/']);
        let holds = |text: Option<&String>, of_address: bool| match text {
            Some(text) if text.contains(HOLE) => {
                self.unknown && self.names.any(|name| is_address(name) == of_address)
            }
            Some(text) => self.names.have(text),
            None => false,
        };
        holds(refs.remote.as_ref(), false) || holds(refs.url.as_ref(), true)
    }

    /// Whether it holds only because a branch is not known.
    fn is_in_doubt(&self, effect: &Effect) -> bool {
        let known = |refs: &Refs| {
            let known = refs.branches.iter().filter(|b| !b.contains(HOLE));
            known.into_iter().any(|branch| self.names.have(branch))
        };
        self.unknown && !effect.refs.as_deref().is_some_and(known)
    }
}

/// What must hold for a host: all of it.
#[derive(Debug)]
pub(super) struct HostTest {
    pub(super) within: Vec<HostClass>,
    pub(super) outside: Vec<HostClass>,
    pub(super) names: Option<Names>,
}

impl HostTest {
    fn holds(&self, host: &Host) -> bool {
        (self.within.is_empty() || self.within.contains(&host.class))
            && !self.outside.contains(&host.class)
            && self
                .names
                .as_ref()
                .is_none_or(|names| names.have(&host.name))
    }
}
