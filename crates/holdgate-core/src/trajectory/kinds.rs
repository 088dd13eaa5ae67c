//! Which action an effect is.

use super::action::Action;
use super::programs::{empties, run};
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

fn is_near(effect: &Effect) -> bool {
    let near = |class| matches!(class, HostClass::Loopback | HostClass::Private);
    effect.host.as_ref().is_some_and(|host| near(host.class))
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
        Kind::Read => read(effect)?,
        Kind::Write => write(effect)?,
        Kind::Delete | Kind::Move => delete(effect)?,
        Kind::Mode => mode(effect)?,
        Kind::Fetch if is_metadata(effect) => Action::ReadSecret,
        Kind::Fetch if is(Tag::Dns) && is_packed_name(effect) => Action::Send,
        Kind::Fetch => Action::Fetch,
        Kind::Send if is_near(effect) => Action::Local,
        Kind::Send if effect.program.as_ref() == "git" => Action::Push,
        Kind::Send
            if [
                Tag::Message,
                Tag::Comment,
                Tag::Issue,
                Tag::Pr,
                Tag::Mr,
                Tag::Mail,
            ]
            .into_iter()
            .any(is) =>
        {
            Action::Post
        }
        // The client of a service where the user has an account.
        Kind::Send if matches!(effect.program.as_ref(), "gh" | "glab") && !is(Tag::Gist) => {
            Action::Post
        }
        Kind::Send => Action::Send,
        Kind::Connect | Kind::Listen if is_near(effect) => Action::Local,
        Kind::Listen => Action::Local,
        // A login on another machine, as by `ssh`.
        Kind::Connect if is(Tag::Remote) && !is(Tag::Tunnel) => Action::ChangeRemote,
        Kind::Connect | Kind::RemoteShell => Action::Connect,
        Kind::ExecuteFetched | Kind::ExecuteDecoded => Action::RunLoose,
        Kind::ExecuteOpaque => Action::Run,
        Kind::Elevate => Action::Elevate,
        // The agent itself goes on later.
        Kind::Persist if is(Tag::Agent) => Action::Run,
        Kind::Persist => Action::Persist,
        Kind::Env
            if [
                Tag::GuardRoute,
                Tag::GuardVariable,
                Tag::LiftsGate,
                Tag::Injects,
            ]
            .into_iter()
            .any(is) =>
        {
            Action::Disarm
        }
        Kind::Env => return None,
        Kind::Vcs => vcs(effect),
        Kind::Install
            if [Tag::FromUrl, Tag::OtherIndex, Tag::OtherName]
                .into_iter()
                .any(is) =>
        {
            Action::InstallOdd
        }
        Kind::Install => Action::Install,
        Kind::Container
            if [
                Tag::Privileged,
                Tag::HostPid,
                Tag::HostNamespace,
                Tag::DockerSocket,
                Tag::SecurityOpt,
                Tag::Capability,
            ]
            .into_iter()
            .any(is) =>
        {
            Action::Escape
        }
        Kind::Container if is(Tag::Mount) && is_of_host(effect) => Action::Escape,
        Kind::Container | Kind::Agent | Kind::Unreadable => return None,
        Kind::Database if is(Tag::Query) => return None,
        Kind::Database if deletes(effect) => {
            if is(Tag::TestTarget) {
                Action::ChangeRemote
            } else {
                Action::DestroyData
            }
        }
        Kind::Database => Action::ChangeRemote,
        Kind::Remote
            if [Tag::Delete, Tag::Destroy, Tag::Drop, Tag::Wipe]
                .into_iter()
                .any(is) =>
        {
            Action::DestroyData
        }
        Kind::Remote
            if [Tag::Publish, Tag::Issue, Tag::Pr, Tag::Mr, Tag::Comment]
                .into_iter()
                .any(is) =>
        {
            Action::Post
        }
        Kind::Remote => Action::ChangeRemote,
        Kind::Service | Kind::System
            if [
                Tag::FirewallOff,
                Tag::SecurityOff,
                Tag::Audit,
                Tag::Selinux,
                Tag::Apparmor,
            ]
            .into_iter()
            .any(is) =>
        {
            Action::Disarm
        }
        Kind::System
            if [Tag::Partition, Tag::Filesystem, Tag::Wipe]
                .into_iter()
                .any(is) =>
        {
            Action::DestroyData
        }
        Kind::System if [Tag::Sudoers, Tag::Capability].into_iter().any(is) => Action::Grant,
        Kind::Service | Kind::System | Kind::Kill | Kind::Exhaust => Action::System,
        Kind::Guard => Action::Disarm,
    })
}

fn deletes(effect: &Effect) -> bool {
    let tags = [Tag::Drop, Tag::Delete, Tag::DeleteAll, Tag::Wipe];
    let text = effect.text.as_deref().unwrap_or_default().trim_start();
    let word = text.get(..6).unwrap_or_default();
    tags.into_iter().any(|tag| effect.is(tag))
        || effect.is(Tag::Prod) && word.eq_ignore_ascii_case("delete")
}

/// Whether a mount shows more of the host than a project.
fn is_of_host(effect: &Effect) -> bool {
    let classes = [
        PathClass::Root,
        PathClass::HomeRoot,
        PathClass::Secret,
        PathClass::Privilege,
    ];
    let place = effect.path.as_ref();
    place.is_some_and(|place| classes.into_iter().any(|class| place.is(class)))
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

fn is_metadata(effect: &Effect) -> bool {
    effect
        .host
        .as_ref()
        .is_some_and(|host| host.class == HostClass::Metadata)
}

fn read(effect: &Effect) -> Option<Action> {
    let place = effect.path.as_ref()?;
    let looks = effect.is(Tag::List) || effect.is(Tag::Search);
    if place.is(PathClass::Secret) && !place.is(PathClass::Stream) {
        let own = place.is(PathClass::Project) || effect.is(Tag::Remote);
        return Some(if effect.is(Tag::List) {
            Action::ProbeSecret
        } else if own {
            Action::ReadEnv
        } else {
            Action::ReadSecret
        });
    }
    if place.is(PathClass::HoldsSecrets) && looks {
        return Some(Action::ProbeSecret);
    }
    if [PathClass::Escape, PathClass::Privilege]
        .into_iter()
        .any(|class| place.is(class))
    {
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
    Some(
        if is(PathClass::Startup)
            || is(PathClass::RunsLater) && !is(PathClass::Project)
            || is(PathClass::Hook) && effect.origins.any(Origins::FETCHED)
        {
            Action::Persist
        } else if is(PathClass::Holdgate) {
            Action::Disarm
        } else if is(PathClass::Log) || is(PathClass::History) {
            Action::ClearLog
        } else if is(PathClass::Privilege) {
            Action::Grant
        } else if is(PathClass::AgentSettings) {
            Action::Settings
        } else if empties(effect) {
            return delete(effect);
        } else if is(PathClass::Device) {
            Action::DestroyData
        } else if effect.origins.any(Origins::SECRET) {
            Action::CopySecret
        } else if effect.origins.any(Origins::FETCHED) {
            Action::FetchFile
        } else if !place.is_harmless() {
            Action::WriteOut
        } else if [Tag::Edit, Tag::Append, Tag::InPlace]
            .into_iter()
            .any(|tag| effect.is(tag))
        {
            Action::Edit
        } else {
            Action::Write
        },
    )
}

fn delete(effect: &Effect) -> Option<Action> {
    let place = effect.path.as_ref()?;
    let is = |class| place.is(class);
    if is(PathClass::Log) || is(PathClass::History) {
        return Some(Action::ClearLog);
    }
    if effect.kind == Kind::Move {
        return Some(if place.is_harmless() {
            Action::Write
        } else {
            Action::WriteOut
        });
    }
    if is(PathClass::Holdgate) {
        return Some(Action::Disarm);
    }
    if is(PathClass::Vcs)
        && (place.text.contains("/.git/logs") || place.text.contains("/.git/refs"))
    {
        return Some(Action::EraseHistory);
    }
    if [
        PathClass::Generated,
        PathClass::Temp,
        PathClass::Cache,
        PathClass::Stream,
    ]
    .into_iter()
    .any(is)
    {
        return Some(Action::Edit);
    }
    Some(if place.is_harmless() {
        Action::Delete
    } else {
        Action::DeleteOut
    })
}

fn mode(effect: &Effect) -> Option<Action> {
    effect.path.as_ref()?;
    let wide = [
        Tag::Setuid,
        Tag::WorldWritable,
        Tag::OtherOwner,
        Tag::Capability,
    ];
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
        Action::SetRemote
    } else if any(&[Tag::Push]) {
        Action::Push
    } else if any(&[Tag::Discard, Tag::Discards, Tag::Hard, Tag::Clean]) {
        Action::Discard
    } else {
        Action::Vcs
    }
}
