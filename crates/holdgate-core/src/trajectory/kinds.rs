//! Which action an effect is: by its kind and tags, whatever program does it.

mod harm;
mod places;
mod remote;

use super::action::Action;
use super::programs::{run, tunnels_all};
pub(super) use harm::{gives_away, is_harmful, redirects, takes_key};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::HostClass;
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;

/// A host that nobody vouches for.
pub(super) fn is_outside(effect: &Effect) -> bool {
    effect.host.as_ref().is_some_and(|host| match host.class {
        HostClass::External | HostClass::Drop | HostClass::Unknown => true,
        HostClass::Loopback
        | HostClass::Private
        | HostClass::Metadata
        | HostClass::Installer
        | HostClass::Registry => false,
    })
}

/// A host that is known, and that nobody vouches for.
fn is_strange(effect: &Effect) -> bool {
    let strange = |class| matches!(class, HostClass::External | HostClass::Drop);
    effect.host.as_ref().is_some_and(|host| strange(host.class))
}

fn is_near(effect: &Effect) -> bool {
    let near = |class| matches!(class, HostClass::Loopback | HostClass::Private);
    // What `rclone` calls a host is a name for a service elsewhere.
    effect.program.as_ref() != "rclone" && effect.host.as_ref().is_some_and(|host| near(host.class))
}

fn of(effect: &Effect, class: HostClass) -> bool {
    effect.host.as_ref().is_some_and(|host| host.class == class)
}

/// Whether something may leave with it.
pub(crate) fn leads_out(effect: &Effect) -> bool {
    match action(effect) {
        Some(Action::Fetch) => is_strange(effect),
        Some(action) => matches!(
            action,
            Action::Send | Action::HandOver | Action::Post | Action::PushAway | Action::Connect
        ),
        None => false,
    }
}

fn any(effect: &Effect, tags: &[Tag]) -> bool {
    tags.iter().any(|tag| effect.is(*tag))
}

/// What an effect is, as far as the sequence of calls is concerned.
#[allow(
    clippy::match_same_arms,
    reason = "the arms are in the order of the kinds, and the guards are in between"
)]
pub(super) fn action(effect: &Effect) -> Option<Action> {
    let is = |tag| effect.is(tag);
    Some(match effect.kind {
        Kind::Run => run(effect),
        Kind::Read => places::read(effect)?,
        Kind::Write => places::write(effect)?,
        Kind::Delete | Kind::Move => places::delete(effect)?,
        Kind::Mode => places::mode(effect)?,
        Kind::Fetch => fetch(effect),
        Kind::Send => send(effect),
        Kind::Listen if is(Tag::Tunnel) => tunnel(effect),
        Kind::Listen if is(Tag::Serves) && shows_home(effect) => Action::Expose,
        Kind::Connect | Kind::Listen if is_near(effect) => Action::Local,
        Kind::Listen => Action::Local,
        // A login on another machine, as by `ssh`.
        Kind::Connect if is(Tag::Remote) && !is(Tag::Tunnel) => Action::ChangeRemote,
        Kind::Connect | Kind::RemoteShell => Action::Connect,
        Kind::ExecuteFetched if of(effect, HostClass::Installer) => Action::Install,
        // A file of a release, which was fetched before.
        Kind::ExecuteFetched
            if of(effect, HostClass::Registry) && effect.origins.any(Origins::FILE) =>
        {
            Action::Install
        }
        Kind::ExecuteFetched | Kind::ExecuteDecoded => Action::RunLoose,
        Kind::ExecuteOpaque => Action::Run,
        Kind::Elevate => Action::Elevate,
        // The agent itself goes on later.
        Kind::Persist if is(Tag::Agent) => Action::Run,
        Kind::Persist => Action::Persist,
        Kind::Env => env(effect)?,
        Kind::Vcs => vcs(effect),
        Kind::Install => install(effect),
        Kind::Container => remote::container(effect)?,
        Kind::Agent if is(Tag::Unguarded) => Action::Disarm,
        Kind::Agent | Kind::Unreadable => return None,
        Kind::Database => remote::database(effect)?,
        Kind::Remote => remote::remote(effect),
        Kind::Service | Kind::System => remote::system(effect),
        Kind::Kill => remote::kill(effect),
        Kind::Exhaust => Action::Exhaust,
        Kind::Guard => Action::Disarm,
    })
}

fn fetch(effect: &Effect) -> Action {
    let carries = [Origins::SECRET, Origins::FILE, Origins::ENVIRONMENT];
    let carries = carries.into_iter().any(|origin| effect.origins.any(origin));
    let remote = effect.is(Tag::Remote) && any(effect, &[Tag::Add, Tag::SetUrl]);
    if of(effect, HostClass::Metadata) {
        Action::ReadSecret
    } else if effect.is(Tag::Scan) && !of(effect, HostClass::Loopback) {
        Action::Intrude
    } else if remote && is_strange(effect) {
        Action::Redirect
    } else if effect.is(Tag::Dns) && is_packed_name(effect)
        || is_strange(effect) && (effect.is(Tag::Payload) || carries)
    {
        Action::Send
    } else {
        Action::Fetch
    }
}

fn send(effect: &Effect) -> Action {
    let is = |tag| effect.is(tag);
    let program = effect.program.as_ref();
    if is_near(effect) {
        return Action::Local;
    }
    if program == "git" && is(Tag::Commit) {
        // The message of a commit.
        return if effect.origins.any(Origins::SECRET) {
            Action::CopySecret
        } else {
            Action::Vcs
        };
    }
    if program == "git" {
        let all = [Tag::GivenUrl, Tag::Mirror, Tag::All];
        return if any(effect, &all) && is_strange(effect) {
            Action::PushAway
        } else {
            Action::Push
        };
    }
    let posts = [
        Tag::Message,
        Tag::Comment,
        Tag::Issue,
        Tag::Pr,
        Tag::Mr,
        Tag::Mail,
    ];
    // What everybody can read.
    let public =
        is(Tag::Gist) || is(Tag::Paste) || ["gist", "paste"].iter().any(|w| program.contains(w));
    // The client of a service where the user has an account.
    let client = matches!(program, "gh" | "glab");
    if (any(effect, &posts) || client) && !public {
        return if effect.origins.any(Origins::SECRET) {
            Action::Send
        } else {
            Action::Post
        };
    }
    let data = [
        Origins::FILE,
        Origins::OUTPUT,
        Origins::SECRET,
        Origins::ENVIRONMENT,
    ];
    let data = data.into_iter().any(|origin| effect.origins.any(origin));
    // What lies in a temporary folder may be anything.
    let temp = |source: &str| source.starts_with("/tmp/") || source.starts_with("/var/tmp/");
    let temp = effect.sources.iter().any(|source| temp(source));
    let built = is(Tag::Transfer) && is(Tag::BuildOutput) && !temp;
    let built = built && !effect.origins.any(Origins::SECRET);
    if data && !built || public || is(Tag::Payload) {
        Action::Send
    } else {
        Action::HandOver
    }
}

/// A tunnel to a web server is for a demonstration; one to a shell or a database is not.
fn tunnel(effect: &Effect) -> Action {
    const DOORS: [&str; 12] = [
        "tcp", "ssh", "socks", ":22", " 22", "5432", "3306", "6379", "27017", "3389", "5900", "R:",
    ];
    let door = DOORS.iter().any(|door| effect.evidence.contains(door));
    if door || tunnels_all(&effect.program) {
        Action::Connect
    } else {
        Action::Tunnel
    }
}

/// Whether what is served is somebody's own.
fn shows_home(effect: &Effect) -> bool {
    let classes = [PathClass::Root, PathClass::HomeRoot, PathClass::Secret];
    let place = effect.path.as_ref();
    place.is_some_and(|place| classes.into_iter().any(|class| place.is(class)))
}

fn env(effect: &Effect) -> Option<Action> {
    let guards = [
        Tag::GuardRoute,
        Tag::GuardVariable,
        Tag::LiftsGate,
        Tag::Injects,
    ];
    if any(effect, &guards) {
        return Some(Action::Disarm);
    }
    let text: &str = &effect.evidence;
    if text.contains("HISTFILE") || text.contains("HISTSIZE") {
        return Some(Action::ClearLog);
    }
    // Programs are looked for where anybody may put some.
    let temp = effect
        .path
        .as_ref()
        .is_some_and(|place| place.is(PathClass::Temp));
    let search = temp && text.starts_with("PATH=");
    (search || effect.is(Tag::Insecure)).then_some(Action::Redirect)
}

fn install(effect: &Effect) -> Action {
    let odd = [Tag::FromUrl, Tag::OtherIndex, Tag::OtherName];
    let wrong = [Tag::Impostor, Tag::LookAlike, Tag::Insecure];
    if any(effect, &wrong) || any(effect, &odd) && is_strange(effect) {
        Action::InstallWrong
    } else if any(effect, &odd) {
        Action::InstallOdd
    } else {
        Action::Install
    }
}

fn vcs(effect: &Effect) -> Action {
    let any = |tags: &[Tag]| any(effect, tags);
    if any(&[
        Tag::ReflogExpire,
        Tag::PruneNow,
        Tag::UpdateRefDelete,
        Tag::FilterBranch,
        Tag::FilterRepo,
    ]) {
        Action::EraseHistory
    } else if any(&[Tag::RunsProgram]) {
        Action::Persist
    } else if any(&[Tag::Weakens]) {
        Action::Disarm
    } else if any(&[Tag::Remote]) && any(&[Tag::Add, Tag::SetUrl])
        || any(&[Tag::SetUrl, Tag::Redirects])
    {
        if is_strange(effect) && any(&[Tag::Redirects]) {
            // All that was to come from there.
            Action::Expose
        } else if is_strange(effect) {
            Action::Redirect
        } else {
            Action::SetRemote
        }
    } else if any(&[Tag::NoVerify]) {
        Action::Bypass
    } else if any(&[Tag::Push]) {
        if any(&[Tag::Delete]) && is_shared(effect) {
            Action::DestroyData
        } else if any(&[Tag::Delete]) {
            Action::DeleteData
        } else if any(&[Tag::Force]) && !any(&[Tag::Lease]) && is_shared(effect) {
            Action::EraseHistory
        } else {
            Action::Push
        }
    } else if any(&[Tag::Discard, Tag::Discards, Tag::Hard, Tag::Clean]) {
        Action::Discard
    } else {
        Action::Vcs
    }
}

/// Whether version control acts on a branch that everybody works from.
fn is_shared(effect: &Effect) -> bool {
    const SHARED: [&str; 6] = [
        "main",
        "master",
        "trunk",
        "develop",
        "production",
        "release",
    ];
    let branches = effect.refs.as_ref().map(|refs| refs.branches.as_slice());
    let shared = |branch: &String| SHARED.contains(&branch.as_str());
    branches.unwrap_or_default().iter().any(shared)
}

/// Whether a name that is looked up holds data: its first part is long, and made of digits and few
/// letters.
fn is_packed_name(effect: &Effect) -> bool {
    const SHORTEST: usize = 20;
    let name = effect.host.as_ref().map(|host| host.name.as_str());
    let first = name.and_then(|name| name.split('.').next());
    first.is_some_and(|part| {
        part.len() >= SHORTEST && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}
