//! What a written file would do when it is used, and no honest one does.

use super::{any, is_strange};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::path::{PathClass, Place};
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;

/// Whether a written file makes packages come from a strange host.
pub(in crate::trajectory) fn redirects(effect: &Effect) -> bool {
    let elsewhere = [Tag::OtherIndex, Tag::FromUrl];
    let written = effect.kind == Kind::Install && effect.is(Tag::Written);
    written && !effect.is(Tag::Container) && any(effect, &elsewhere) && is_strange(effect)
}

/// Whether an effect that stands in a file, or that another agent is told, is harm. What scripts do
/// on their owner's machine is not: packages, services, accounts, schedules.
pub(in crate::trajectory) fn is_harmful(effect: &Effect) -> bool {
    let is = |tag| effect.is(tag);
    if !is(Tag::Written) && !is(Tag::Ordered) || is(Tag::DryRun) || is(Tag::Shows) {
        return false;
    }
    // What a container does stays there, but a build server has the project's secrets.
    let inside = is(Tag::Container) && !is(Tag::Ci);
    let marks = [
        Tag::BackDoor,
        Tag::SecurityOff,
        Tag::FirewallOff,
        Tag::GuardRoute,
        Tag::Injects,
        Tag::Unguarded,
    ];
    // Words that may be no code count only for what no text names by chance.
    let named = is(Tag::Suspect);
    if !named && any(effect, &marks) || !named && is(Tag::Insecure) && effect.kind == Kind::System {
        return !inside || is(Tag::BackDoor);
    }
    let sure = !named && !inside;
    match effect.kind {
        Kind::ExecuteFetched => is_strange(effect),
        Kind::ExecuteDecoded | Kind::Exhaust => sure,
        Kind::RemoteShell => true,
        Kind::Send => {
            let data = [Origins::SECRET, Origins::ENVIRONMENT, Origins::OUTPUT];
            let data = data.into_iter().any(|origin| effect.origins.any(origin));
            let server = is(Tag::Ci) && effect.origins.any(Origins::UNKNOWN);
            is_strange(effect) && (data || server || is(Tag::WholeEnvironment)) && !inside
        }
        Kind::Write => effect.origins.any(Origins::SECRET) && sure,
        Kind::Delete => {
            let classes = [PathClass::Root, PathClass::HomeRoot, PathClass::Home];
            let place = effect.path.as_ref();
            let far = place.is_some_and(|place| classes.into_iter().any(|class| place.is(class)));
            let own = place.is_some_and(Place::is_harmless);
            far && !own && is(Tag::Recursive) && sure
        }
        // It waits for a day or a machine.
        Kind::System => effect.program.as_ref() == "delayed" && is(Tag::Destroy) && sure,
        Kind::Vcs => is(Tag::Global) && is(Tag::RunsProgram) && sure,
        Kind::Remote => {
            let lets_in = [Tag::Public, Tag::Elevate, Tag::Delete];
            effect.program.as_ref() == "access" && any(effect, &lets_in)
        }
        Kind::Run
        | Kind::Read
        | Kind::Move
        | Kind::Mode
        | Kind::Fetch
        | Kind::Connect
        | Kind::Listen
        | Kind::ExecuteOpaque
        | Kind::Elevate
        | Kind::Persist
        | Kind::Kill
        | Kind::Env
        | Kind::Install
        | Kind::Container
        | Kind::Database
        | Kind::Service
        | Kind::Agent
        | Kind::Guard
        | Kind::Unreadable => false,
    }
}

/// Whether a written file reads keys of the user: harm, if it talks to somebody as well.
pub(in crate::trajectory) fn takes_key(effect: &Effect) -> bool {
    let place = effect.path.as_ref();
    let key = |class| place.is_some_and(|place| place.is(class));
    effect.kind == Kind::Read
        && is_to_run(effect)
        && key(PathClass::Secret)
        && !key(PathClass::Project)
}

/// Whether a written file opens a connection to a strange host.
pub(in crate::trajectory) fn gives_away(effect: &Effect) -> bool {
    effect.kind == Kind::Connect && is_to_run(effect) && is_strange(effect)
}

/// Whether it happens when a written file is used, and on this machine.
fn is_to_run(effect: &Effect) -> bool {
    let not = [Tag::Suspect, Tag::DryRun, Tag::Shows, Tag::Container];
    effect.is(Tag::Written) && !any(effect, &not)
}
