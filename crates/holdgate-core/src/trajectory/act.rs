//! The effects of a call as actions with paths.

use super::action::Action;
use super::kinds::{action, gives_away, is_harmful, is_outside, redirects, takes_key};
use super::programs::{checks, copies, empties, is_source, packs, uses};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::path::{PathClass, Place};
use holdgate_effects::tag::Tag;
use holdgate_effects::value::{HOLE, Origins};

/// Acts of one call that are kept. Acts that are not neutral go first.
const MAX_ACTS: usize = 24;

/// What does not happen, or does not happen now.
const NOT_NOW: [Tag; 6] = [
    Tag::Suspect,
    Tag::Written,
    Tag::Ordered,
    Tag::DryRun,
    Tag::Shows,
    Tag::Container,
];
/// One action of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Act {
    pub(super) action: Action,
    pub(super) facts: Facts,
    /// The path that it is about, as a hash; 0 for none.
    pub(super) path: u64,
    /// The file that it was packed from, by its name; 0 for none.
    pub(super) stem: u64,
    /// The two folders above it.
    pub(super) above: [u64; 2],
    /// The files that its data came from.
    pub(super) from: [u64; 2],
}

/// What else is known of an act: a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts(u32);

impl Facts {
    /// Its data is what was read in the same call.
    pub(super) const DATA: Facts = Facts(1);
    /// Its data came from a host that nobody vouches for.
    pub(super) const FETCHED: Facts = Facts(2);
    pub(super) const DECODED: Facts = Facts(4);
    pub(super) const SECRET: Facts = Facts(8);
    /// It is about a file that commits of the project take along.
    pub(super) const IN_PROJECT: Facts = Facts(16);
    pub(super) const ELEVATED: Facts = Facts(32);
    /// It changes a part of a file.
    pub(super) const PART: Facts = Facts(64);
    /// It is about all below a folder, or about a pattern.
    pub(super) const MANY: Facts = Facts(128);
    /// It writes a file, whatever else it is.
    pub(super) const WRITES: Facts = Facts(256);
    /// It reads a file, whatever else it is.
    pub(super) const READS: Facts = Facts(512);
    /// Commits are made or files added to them.
    pub(super) const COMMITS: Facts = Facts(1024);
    /// The remote copy is overwritten.
    pub(super) const FORCED: Facts = Facts(2048);
    /// A file loses its content.
    pub(super) const EMPTIES: Facts = Facts(4096);
    /// The file exists, and is replaced.
    pub(super) const REPLACES: Facts = Facts(8192);
    /// It holds in another form what other files hold.
    pub(super) const PACKS: Facts = Facts(16384);
    /// It uses what is written in the project: a test, a build, an installation.
    pub(super) const USES: Facts = Facts(32768);
    /// A file or folder of the user leaves its place.
    pub(super) const MOVES: Facts = Facts(65536);
    /// A file or folder goes away.
    pub(super) const DELETES: Facts = Facts(131_072);
    /// A tool writes a whole file anew.
    pub(super) const WHOLE: Facts = Facts(524_288);
    /// It runs when the file is used that it stands in.
    pub(super) const LATER: Facts = Facts(1_048_576);
    /// It is about files by a pattern of their names.
    pub(super) const PATTERN: Facts = Facts(2_097_152);
    /// It checks that a file is the one that was meant.
    pub(super) const CHECKS: Facts = Facts(4_194_304);
    /// What a build has made goes to everybody.
    pub(super) const PUBLISHES: Facts = Facts(16_777_216);
    /// It is about what a build makes.
    pub(super) const BUILT: Facts = Facts(33_554_432);
    /// It takes a whole folder of the project away, or all its source of a kind.
    pub(super) const TREE: Facts = Facts(8_388_608);
    /// It says where packages come from, or is code that was fetched.
    pub(super) const PACKAGES: Facts = Facts(262_144);

    pub(super) const fn and(self, other: Facts) -> Facts {
        Facts(self.0 | other.0)
    }

    pub(super) fn has(self, other: Facts) -> bool {
        self.0 & other.0 != 0
    }

    fn set(&mut self, other: Facts, on: bool) {
        if on {
            self.0 |= other.0;
        }
    }
}

impl Act {
    /// The acts of a call with these effects, in order.
    pub(crate) fn all(effects: &[Effect]) -> Vec<Act> {
        let mut acts: Vec<Act> = Vec::new();
        let outside = |effect: &Effect| effect.kind == Kind::Fetch && is_outside(effect);
        let fetches = effects
            .iter()
            .any(|effect| outside(effect) && happens(effect));
        let mut planted = false;
        let fills = effects.iter().any(is_filler);
        let takes = effects.iter().any(takes_key);
        for effect in effects {
            let harmful = is_harmful(effect) || takes && gives_away(effect);
            let redirects = redirects(effect);
            let later = is_later(effect);
            if harmful && planted || !harmful && !redirects && !later && !happens(effect) {
                continue;
            }
            let found = match (harmful, redirects) {
                (true, _) => Some(Action::Plant),
                (_, true) => Some(Action::Redirect),
                _ if later => Some(Action::Read),
                _ => action(effect),
            };
            let Some(mut action) = found else {
                continue;
            };
            // What a program prints goes there, even if nothing is known of it.
            let prints = effect.kind == Kind::Write && effect.program.as_ref() == "shell";
            let many = effect.path.as_ref().is_some_and(is_pattern);
            if prints && action == Action::Delete && !many && has_output(effects) {
                action = Action::Write;
            }
            // What a walk over a folder empties.
            if action == Action::Delete && empties(effect) && is_listed(effect, effects) {
                action = Action::DestroyData;
            }
            // Whoever writes zeros or noise over a file empties it.
            let filled = fills && overwrites(effect, action);
            if filled {
                let outside = action == Action::WriteOut;
                action = if many {
                    Action::DestroyData
                } else if outside {
                    Action::DeleteOut
                } else {
                    Action::Delete
                };
            }
            // What the same call makes anew is not lost.
            if action == Action::DestroyData && effect.kind == Kind::Delete && anew(effect, effects)
            {
                action = Action::DeleteOut;
            }
            planted |= harmful;
            let mut act = Act::new(action, effect, fetches);
            act.facts.set(Facts::EMPTIES, filled);
            // Neutral acts are only worth keeping for their paths.
            let kept = Facts::COMMITS.and(Facts::USES).and(Facts::CHECKS);
            if action.is_neutral() && act.path == 0 && !act.facts.has(kept)
                || acts.last() == Some(&act)
            {
                continue;
            }
            if acts.len() == MAX_ACTS {
                let Some(neutral) = acts.iter().position(|act| act.action.is_neutral()) else {
                    break;
                };
                if action.is_neutral() {
                    continue;
                }
                acts.remove(neutral);
            }
            acts.push(act);
        }
        // What is read for a message is in it.
        acts.sort_by_key(|act| act.action == Action::Post);
        acts
    }

    fn new(action: Action, effect: &Effect, fetches: bool) -> Act {
        let place = effect.path.as_ref();
        let (path, above) = place.map_or((0, [0; 2]), |place| hashes(&place.text));
        let stem = place.map_or(0, |place| packed_from(&place.text));
        let mut from = [0; 2];
        let files = effect
            .sources
            .iter()
            .filter(|source| source.starts_with('/'));
        let files = files.flat_map(|source| [hashes(source).0, packed_from(source)]);
        for (slot, file) in from.iter_mut().zip(files.filter(|file| *file != 0)) {
            *slot = file;
        }
        let is = |class| place.is_some_and(|place| place.is(class));
        let mut facts = Facts::default();
        let origins = effect.origins;
        // Other programs make something new of what they read.
        let copies = copies(&effect.program) || effect.kind != Kind::Write;
        let data = origins.any(Origins::FILE) || origins.any(Origins::OUTPUT);
        facts.set(Facts::DATA, copies && data);
        facts.set(Facts::FETCHED, fetches && origins.any(Origins::FETCHED));
        facts.set(Facts::DECODED, origins.any(Origins::DECODED));
        // What people have typed holds what they had to type.
        let typed = effect.kind == Kind::Read && !effect.is(Tag::List) && is(PathClass::History);
        facts.set(Facts::SECRET, origins.any(Origins::SECRET) || typed);
        // Generated files and those that hold secrets are not under version control.
        let apart = [PathClass::Generated, PathClass::Vcs, PathClass::Secret]
            .into_iter()
            .any(is);
        facts.set(Facts::IN_PROJECT, is(PathClass::Project) && !apart);
        facts.set(
            Facts::ELEVATED,
            effect.is(Tag::Elevated) || effect.kind == Kind::Elevate,
        );
        let part = [Tag::Edit, Tag::Append, Tag::InPlace];
        facts.set(Facts::PART, part.iter().any(|tag| effect.is(*tag)));
        let pattern = place.is_some_and(is_pattern);
        facts.set(Facts::MANY, effect.is(Tag::Recursive) || pattern);
        facts.set(Facts::PATTERN, pattern);
        facts.set(Facts::CHECKS, effect.kind == Kind::Run && checks(effect));
        let now = !effect.is(Tag::Written);
        let moves = effect.kind == Kind::Move && action == Action::WriteOut;
        facts.set(Facts::MOVES, moves);
        let part = [Tag::Edit, Tag::Append, Tag::InPlace, Tag::Mkdir];
        let part = part.iter().any(|tag| effect.is(*tag));
        let whole = effect.kind == Kind::Write && effect.program.as_ref() != "shell";
        let whole = whole && now && !part && effect.origins == Origins::NONE;
        facts.set(Facts::WHOLE, whole);
        let packages = !matches!(effect.kind, Kind::Vcs | Kind::Fetch);
        facts.set(Facts::LATER, is_later(effect) && action == Action::Read);
        let code = action == Action::FetchFile && facts.has(Facts::FETCHED) && is_code(place);
        facts.set(
            Facts::PACKAGES,
            action == Action::Redirect && packages || code,
        );
        facts.set(Facts::DELETES, effect.kind == Kind::Delete);
        let tree = facts.has(Facts::MANY) && action == Action::Delete;
        facts.set(Facts::TREE, tree && place.is_some_and(is_tree));
        facts.set(Facts::WRITES, effect.kind == Kind::Write && now);
        facts.set(
            Facts::READS,
            effect.kind == Kind::Read && !effect.is(Tag::List) && now,
        );
        let commits = matches!(effect.kind, Kind::Vcs | Kind::Send) && effect.is(Tag::Commit);
        facts.set(Facts::COMMITS, commits);
        let publishes = matches!(effect.kind, Kind::Remote | Kind::Send);
        let publishes = publishes && (effect.is(Tag::Publish) || effect.is(Tag::Push));
        facts.set(Facts::PUBLISHES, publishes);
        let built = is(PathClass::Project) && is(PathClass::Generated);
        facts.set(Facts::BUILT, built);
        let force = effect.is(Tag::Force) && !effect.is(Tag::Lease);
        facts.set(Facts::FORCED, force);
        facts.set(Facts::EMPTIES, empties(effect));
        facts.set(Facts::REPLACES, effect.is(Tag::Overwrite));
        facts.set(Facts::PACKS, packs(&effect.program));
        let runs = effect.kind == Kind::Run && action == Action::Run && !effect.is(Tag::Tool);
        facts.set(Facts::USES, runs && uses(&effect.program));
        Act {
            action,
            facts,
            path,
            stem,
            above,
            from,
        }
    }

    /// How much of a deletion it is: emptied files, folders and patterns weigh more.
    pub(super) fn weight(&self) -> u8 {
        let tool = self.facts.has(Facts::EMPTIES) && self.facts.has(Facts::WHOLE);
        let out = self.action == Action::DeleteOut && self.facts.has(Facts::MANY);
        if out || tool || self.facts.has(Facts::TREE) {
            4
        } else if self.facts.has(Facts::EMPTIES) {
            3
        } else if self.facts.has(Facts::MANY) || self.action == Action::DeleteOut {
            2
        } else {
            1
        }
    }

    /// Whether it runs a file.
    pub(crate) fn runs_file(&self) -> bool {
        self.action == Action::Run && self.path != 0
    }

    /// Whether it says nothing about security by itself.
    pub(crate) fn is_neutral(&self) -> bool {
        self.action.is_neutral()
    }
}

/// The action of an effect, if it happens.
pub(super) fn action_of(effect: &Effect) -> Option<Action> {
    if is_harmful(effect) {
        return Some(Action::Plant);
    }
    if redirects(effect) {
        return Some(Action::Redirect);
    }
    action(effect).filter(|_| happens(effect))
}

/// Whether a file is code by its name, and in the project.
fn is_code(place: Option<&Place>) -> bool {
    const ENDS: [&str; 16] = [
        ".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".sh", ".pl", ".php", ".lua", ".mk", ".gradle",
        ".jar", ".so", ".node", "Makefile",
    ];
    place.is_some_and(|place| {
        place.is(PathClass::Project) && ENDS.iter().any(|end| place.text.ends_with(end))
    })
}

/// Whether a path stands for several files: a pattern, or names that nobody knows.
fn is_pattern(place: &Place) -> bool {
    let last = place.text.rsplit('/').next().unwrap_or_default();
    place.text.contains('*') || place.is(PathClass::Project) && last.chars().eq([HOLE])
}

/// Whether a path is a folder that stands in the project itself, or all source in one.
fn is_tree(place: &Place) -> bool {
    let Some(path) = place.in_project() else {
        return false;
    };
    let parts = || path.trim_matches('/').split('/');
    let plain = parts().take_while(|part| !part.contains(['*', HOLE]));
    let last = parts().next_back().unwrap_or_default();
    let patterned = last.contains(['*', HOLE]);
    let all = last.trim_start_matches(['*', HOLE]);
    let all = all.is_empty() || all.starts_with('.') && is_source(all);
    plain.count() <= 1 && (!patterned || all)
}

/// Whether what an effect is about is a folder through which the call goes.
fn is_listed(effect: &Effect, effects: &[Effect]) -> bool {
    let Some(place) = effect.path.as_ref() else {
        return false;
    };
    let below = |listed: &Place| {
        let rest = listed.text.strip_prefix(place.text.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let lists = |e: &&Effect| e.kind == Kind::Read && e.is(Tag::List);
    let mut listed = effects.iter().filter(lists);
    listed.any(|e| e.path.as_ref().is_some_and(below))
}

/// Whether a written file runs another file, which is known by its path.
fn is_later(effect: &Effect) -> bool {
    let place = effect.path.as_ref();
    let file = place.is_some_and(|place| !place.is(PathClass::Os) && !place.is(PathClass::Stream));
    let written = effect.is(Tag::Written) && !effect.is(Tag::DryRun);
    effect.kind == Kind::Run && written && file
}

/// Whether an effect reads what has no content.
fn is_filler(effect: &Effect) -> bool {
    let place = effect.path.as_ref().map(|place| place.text.as_str());
    effect.kind == Kind::Read && matches!(place, Some("/dev/zero" | "/dev/urandom" | "/dev/random"))
}

/// Whether an effect replaces a file of somebody's work.
fn overwrites(effect: &Effect, action: Action) -> bool {
    let spare = [PathClass::Temp, PathClass::Generated, PathClass::Cache];
    let place = effect.path.as_ref();
    let spare = place.is_none_or(|place| spare.into_iter().any(|class| place.is(class)));
    let writes = matches!(action, Action::Write | Action::Edit | Action::WriteOut);
    effect.kind == Kind::Write && writes && !spare && !effect.is(Tag::Append)
}

/// Whether a program of the call may print something.
fn has_output(effects: &[Effect]) -> bool {
    let silent = |program: &str| matches!(program, ":" | "true" | "cat" | "echo" | "printf");
    let mut runs = effects.iter().filter(|effect| effect.kind == Kind::Run);
    runs.any(|effect| !silent(&effect.program))
}

/// Whether what is deleted is written in the same call.
fn anew(deleted: &Effect, effects: &[Effect]) -> bool {
    let place = |effect: &Effect| effect.path.as_ref().map(|place| place.text.clone());
    let writes = |effect: &&Effect| effect.kind == Kind::Write && effect.program != deleted.program;
    let path = place(deleted);
    let mut written = effects.iter().filter(writes);
    path.is_some() && written.any(|effect| place(effect) == path)
}

fn happens(effect: &Effect) -> bool {
    // A container takes the same machine's time, and has ways out of it.
    let place = effect.path.as_ref();
    let out = place.is_some_and(|p| p.is(PathClass::Escape) || p.is(PathClass::Kernel));
    let chroot = effect.kind == Kind::System && effect.is(Tag::Chroot);
    let same = effect.kind == Kind::Exhaust || effect.kind == Kind::Write && out || chroot;
    let inside = |tag: Tag| tag == Tag::Container && same;
    effect.kind == Kind::Container || !NOT_NOW.iter().any(|tag| effect.is(*tag) && !inside(*tag))
}

/// The hash of the path that a file was made from: `a.sql` of `a.sql.gz`, `key` of `key.pub`.
fn packed_from(path: &str) -> u64 {
    const ENDS: [&str; 10] = [
        ".gz", ".xz", ".bz2", ".zst", ".gpg", ".enc", ".b64", ".zip", ".age", ".pub",
    ];
    let stem = ENDS.iter().find_map(|end| path.strip_suffix(end));
    stem.map_or(0, |stem| hashes(stem).0)
}

/// Hashes of a path and of the two folders above it.
fn hashes(path: &str) -> (u64, [u64; 2]) {
    const SEED: u64 = 0xcbf2_9ce4_8422_2325;
    let mut hash = SEED;
    let (mut above, mut higher) = (0, 0);
    for byte in path.trim_end_matches('/').bytes() {
        if byte == b'/' {
            (above, higher) = (hash, above);
        }
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    // Spread over all bits: the table takes them from both ends.
    let finish = |hash: u64| match hash {
        0 | SEED => 0,
        hash => (hash ^ (hash >> 32))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .max(1),
    };
    (finish(hash), [finish(above), finish(higher)])
}

/// The place of a path as the trail knows it; for tests.
#[cfg(test)]
pub(super) fn hash(path: &str) -> u64 {
    hashes(path).0
}
