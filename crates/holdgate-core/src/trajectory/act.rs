//! The effects of a call as actions with paths.

use super::action::Action;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::HostClass;
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;

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
/// Programs that list what a system is.
const LOOKS_AROUND: &[&str] = &[
    "arp", "dmesg", "finger", "getent", "groups", "hostname", "id", "ifconfig", "ip", "ipconfig", "last", "lastlog",
    "lscpu", "lsof", "mount", "netstat", "nmap", "ps", "route", "ss", "systeminfo", "tasklist", "uname", "w", "who",
    "whoami",
];
/// Programs that change the form of data, and those that undo it with a flag.
const PACKS: &[&str] = &["7z", "7za", "age", "base32", "base64", "bzip2", "gpg", "gzip", "openssl", "rar", "tar", "uuencode", "xxd", "xz", "zip", "zstd"];

/// One action of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Act {
    pub(super) action: Action,
    pub(super) facts: Facts,
    /// The path that it is about, as a hash; 0 for none.
    pub(super) path: u64,
    /// The two folders above it.
    pub(super) above: [u64; 2],
    /// The files that its data came from.
    pub(super) from: [u64; 2],
}

/// What else is known of an act: a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts(u16);

impl Facts {
    /// Its data is the content of files or the output of programs.
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
        let fetches = effects.iter().any(|effect| outside(effect) && happens(effect));
        for effect in effects.iter().filter(|effect| happens(effect)) {
            let Some(action) = action(effect) else {
                continue;
            };
            let act = Act::new(action, effect, fetches);
            // Neutral acts are only worth keeping for their paths.
            if action.is_neutral() && act.path == 0 && !act.facts.has(Facts::COMMITS)
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
        acts
    }

    fn new(action: Action, effect: &Effect, fetches: bool) -> Act {
        let place = effect.path.as_ref();
        let (path, above) = place.map_or((0, [0; 2]), |place| hashes(&place.text));
        let mut from = [0; 2];
        let files = effect.sources.iter().filter(|source| source.starts_with('/'));
        for (slot, source) in from.iter_mut().zip(files) {
            *slot = hashes(source).0;
        }
        let is = |class| place.is_some_and(|place| place.is(class));
        let mut facts = Facts::default();
        let origins = effect.origins;
        facts.set(Facts::DATA, origins.any(Origins::FILE) || origins.any(Origins::OUTPUT));
        facts.set(Facts::FETCHED, fetches && origins.any(Origins::FETCHED));
        facts.set(Facts::DECODED, origins.any(Origins::DECODED));
        facts.set(Facts::SECRET, origins.any(Origins::SECRET));
        // Generated files and those that hold secrets are not under version control.
        let apart = [PathClass::Generated, PathClass::Vcs, PathClass::Secret].into_iter().any(is);
        facts.set(Facts::IN_PROJECT, is(PathClass::Project) && !apart);
        facts.set(Facts::ELEVATED, effect.is(Tag::Elevated) || effect.kind == Kind::Elevate);
        let part = [Tag::Edit, Tag::Append, Tag::InPlace];
        facts.set(Facts::PART, part.iter().any(|tag| effect.is(*tag)));
        let pattern = place.is_some_and(|place| place.text.contains('*'));
        facts.set(Facts::MANY, effect.is(Tag::Recursive) || pattern);
        facts.set(Facts::WRITES, effect.kind == Kind::Write);
        facts.set(Facts::READS, effect.kind == Kind::Read && !effect.is(Tag::List));
        facts.set(Facts::COMMITS, effect.kind == Kind::Vcs && effect.is(Tag::Commit));
        let force = effect.is(Tag::Force) && !effect.is(Tag::Lease);
        facts.set(Facts::FORCED, force);
        facts.set(Facts::EMPTIES, empties(effect));
        facts.set(Facts::REPLACES, effect.is(Tag::Overwrite));
        Act { action, facts, path, above, from }
    }

    /// How much of a deletion it is: emptied files, folders and patterns weigh more.
    pub(super) fn weight(&self) -> u8 {
        if self.facts.has(Facts::EMPTIES) {
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

fn empties(effect: &Effect) -> bool {
    effect.kind == Kind::Write && matches!(effect.program.as_ref(), "truncate" | "shred")
}

fn happens(effect: &Effect) -> bool {
    effect.kind == Kind::Container || !NOT_NOW.iter().any(|tag| effect.is(*tag))
}

/// A host that nobody vouches for.
fn is_outside(effect: &Effect) -> bool {
    effect.host.as_ref().is_some_and(|host| match host.class {
        HostClass::External | HostClass::Drop | HostClass::Unknown => true,
        HostClass::Loopback
        | HostClass::Private
        | HostClass::Metadata
        | HostClass::Installer
        | HostClass::Registry => false,
    })
}

fn is_near(effect: &Effect) -> bool {
    let near = |class| matches!(class, HostClass::Loopback | HostClass::Private);
    effect.host.as_ref().is_some_and(|host| near(host.class))
}

fn action(effect: &Effect) -> Option<Action> {
    let is = |tag| effect.is(tag);
    Some(match effect.kind {
        Kind::Run => run(effect),
        Kind::Read => read(effect)?,
        Kind::Write => write(effect)?,
        Kind::Delete | Kind::Move => delete(effect)?,
        Kind::Mode => mode(effect)?,
        Kind::Fetch if is_metadata(effect) => Action::ReadSecret,
        Kind::Fetch => Action::Fetch,
        Kind::Send if is_near(effect) => Action::Local,
        Kind::Send if [Tag::Message, Tag::Comment, Tag::Issue, Tag::Pr, Tag::Mr, Tag::Mail].into_iter().any(is) => {
            Action::Post
        }
        Kind::Send => Action::Send,
        Kind::Connect | Kind::Listen if is_near(effect) => Action::Local,
        Kind::Listen => Action::Local,
        Kind::Connect | Kind::RemoteShell => Action::Connect,
        Kind::ExecuteFetched | Kind::ExecuteDecoded => Action::RunLoose,
        Kind::ExecuteOpaque => Action::Run,
        Kind::Elevate => Action::Elevate,
        Kind::Persist => Action::Persist,
        Kind::Env if [Tag::GuardRoute, Tag::GuardVariable, Tag::LiftsGate, Tag::Injects].into_iter().any(is) => {
            Action::Disarm
        }
        Kind::Env => return None,
        Kind::Vcs => vcs(effect),
        Kind::Install if [Tag::FromUrl, Tag::OtherIndex, Tag::OtherName].into_iter().any(is) => Action::InstallOdd,
        Kind::Install => Action::Install,
        Kind::Container
            if [Tag::Privileged, Tag::HostPid, Tag::HostNamespace, Tag::DockerSocket, Tag::SecurityOpt, Tag::Capability]
                .into_iter()
                .any(is) =>
        {
            Action::Escape
        }
        Kind::Container | Kind::Agent | Kind::Unreadable => return None,
        Kind::Database if is(Tag::Query) => return None,
        Kind::Database if deletes(effect) => {
            if is(Tag::TestTarget) { Action::ChangeRemote } else { Action::DestroyData }
        }
        Kind::Database => Action::ChangeRemote,
        Kind::Remote if [Tag::Delete, Tag::Destroy, Tag::Drop, Tag::Wipe].into_iter().any(is) => Action::DestroyData,
        Kind::Remote if [Tag::Publish, Tag::Issue, Tag::Pr, Tag::Mr, Tag::Comment].into_iter().any(is) => Action::Post,
        Kind::Remote => Action::ChangeRemote,
        Kind::Service | Kind::System
            if [Tag::FirewallOff, Tag::SecurityOff, Tag::Audit, Tag::Selinux, Tag::Apparmor].into_iter().any(is) =>
        {
            Action::Disarm
        }
        Kind::System if [Tag::Partition, Tag::Filesystem, Tag::Wipe].into_iter().any(is) => Action::DestroyData,
        Kind::System if [Tag::Sudoers, Tag::Capability].into_iter().any(is) => Action::Elevate,
        Kind::Service | Kind::System | Kind::Kill | Kind::Exhaust => Action::System,
        Kind::Guard => Action::Disarm,
    })
}

fn deletes(effect: &Effect) -> bool {
    let tags = [Tag::Drop, Tag::Delete, Tag::DeleteAll, Tag::Wipe];
    let text = effect.text.as_deref().unwrap_or_default().trim_start();
    let word = text.get(..6).unwrap_or_default();
    tags.into_iter().any(|tag| effect.is(tag)) || effect.is(Tag::Prod) && word.eq_ignore_ascii_case("delete")
}

fn is_metadata(effect: &Effect) -> bool {
    effect.host.as_ref().is_some_and(|host| host.class == HostClass::Metadata)
}

fn run(effect: &Effect) -> Action {
    let program: &str = &effect.program;
    if effect.path.is_none() {
        if LOOKS_AROUND.contains(&program) {
            return Action::Recon;
        }
        if matches!(program, "env" | "printenv") && effect.text.as_deref().is_none_or(str::is_empty) {
            return Action::Recon;
        }
        if PACKS.contains(&program) {
            let text = effect.text.as_deref().unwrap_or_default();
            let mut words = text.split_whitespace();
            let undoes = |word: &str| matches!(word, "-d" | "-D" | "--decode" | "--decrypt" | "-r" | "x" | "e");
            let packs = match program {
                "tar" => text.trim_start_matches('-').starts_with(['c', 'r', 'u']) || words.any(|w| w == "--create"),
                // Hashes, keys and certificates are made with it as well.
                "openssl" => text.starts_with("enc") && !words.any(undoes),
                _ => !words.any(undoes),
            };
            let decodes = program != "tar" && (program != "openssl" || text.starts_with("enc"));
            return match (packs, decodes) {
                (true, _) => Action::Pack,
                (false, true) => Action::Unpack,
                (false, false) => Action::Run,
            };
        }
        if effect.is(Tag::AttackTool) || effect.is(Tag::Scan) {
            return Action::Recon;
        }
    }
    Action::Run
}

fn read(effect: &Effect) -> Option<Action> {
    let place = effect.path.as_ref()?;
    let looks = effect.is(Tag::List) || effect.is(Tag::Search);
    if place.is(PathClass::Secret) && !place.is(PathClass::Stream) {
        return Some(if effect.is(Tag::List) { Action::ProbeSecret } else { Action::ReadSecret });
    }
    if place.is(PathClass::HoldsSecrets) && looks {
        return Some(Action::ProbeSecret);
    }
    if [PathClass::Escape, PathClass::Privilege].into_iter().any(|class| place.is(class)) {
        return Some(Action::Recon);
    }
    if place.is_harmless() || place.is(PathClass::Os) {
        return Some(if looks { Action::Search } else { Action::Read });
    }
    if place.is(PathClass::Home) && !place.is(PathClass::AgentSettings) {
        return Some(Action::ReadPrivate);
    }
    Some(if looks { Action::Search } else { Action::Read })
}

fn write(effect: &Effect) -> Option<Action> {
    let place = effect.path.as_ref()?;
    let is = |class| place.is(class);
    if is(PathClass::Stream) {
        return None;
    }
    Some(if is(PathClass::Startup) || is(PathClass::RunsLater) && !is(PathClass::Project) {
        Action::Persist
    } else if is(PathClass::Holdgate) {
        Action::Disarm
    } else if is(PathClass::Log) || is(PathClass::History) {
        Action::ClearLog
    } else if is(PathClass::Privilege) {
        Action::Elevate
    } else if empties(effect) {
        return delete(effect);
    } else if is(PathClass::Device) {
        Action::DestroyData
    } else if effect.origins.any(Origins::SECRET) {
        Action::CopySecret
    } else if effect.origins.any(Origins::FETCHED) {
        Action::FetchFile
    } else if !place.is_harmless() && !is(PathClass::AgentSettings) {
        Action::WriteOut
    } else if [Tag::Edit, Tag::Append, Tag::InPlace].into_iter().any(|tag| effect.is(tag)) {
        Action::Edit
    } else {
        Action::Write
    })
}

fn delete(effect: &Effect) -> Option<Action> {
    let place = effect.path.as_ref()?;
    let is = |class| place.is(class);
    if is(PathClass::Log) || is(PathClass::History) {
        return Some(Action::ClearLog);
    }
    if effect.kind == Kind::Move {
        return Some(if place.is_harmless() { Action::Write } else { Action::WriteOut });
    }
    if is(PathClass::Holdgate) {
        return Some(Action::Disarm);
    }
    if is(PathClass::Vcs) && (place.text.contains("/.git/logs") || place.text.contains("/.git/refs")) {
        return Some(Action::EraseHistory);
    }
    if [PathClass::Generated, PathClass::Temp, PathClass::Cache, PathClass::Stream].into_iter().any(is) {
        return Some(Action::Edit);
    }
    Some(if place.is_harmless() { Action::Delete } else { Action::DeleteOut })
}

fn mode(effect: &Effect) -> Option<Action> {
    effect.path.as_ref()?;
    let wide = [Tag::Setuid, Tag::WorldWritable, Tag::OtherOwner, Tag::Capability];
    Some(if wide.into_iter().any(|tag| effect.is(tag)) {
        Action::WidenMode
    } else if effect.is(Tag::Executable) {
        Action::MakeExecutable
    } else if effect.is(Tag::Immutable) {
        Action::Disarm
    } else {
        Action::Edit
    })
}

fn vcs(effect: &Effect) -> Action {
    let any = |tags: &[Tag]| tags.iter().any(|tag| effect.is(*tag));
    if any(&[Tag::ReflogExpire, Tag::PruneNow, Tag::UpdateRefDelete, Tag::FilterBranch, Tag::FilterRepo]) {
        Action::EraseHistory
    } else if any(&[Tag::RunsProgram]) {
        Action::Persist
    } else if any(&[Tag::Weakens]) {
        Action::Disarm
    } else if any(&[Tag::Remote]) && any(&[Tag::Add, Tag::SetUrl]) || any(&[Tag::SetUrl, Tag::Redirects]) {
        Action::SetRemote
    } else if any(&[Tag::Push]) {
        Action::Push
    } else if any(&[Tag::Discard, Tag::Discards, Tag::Hard, Tag::Clean]) {
        Action::Discard
    } else {
        Action::Vcs
    }
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
        hash => (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1),
    };
    (finish(hash), [finish(above), finish(higher)])
}

/// The place of a path as the trail knows it; for tests.
#[cfg(test)]
pub(super) fn hash(path: &str) -> u64 {
    hashes(path).0
}

