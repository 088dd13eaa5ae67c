//! Where the arguments of a call come from, and what the conversation holds by then.
//!
//! Text that tools return may be anybody's: a page, a mail, a file of somebody else. What a call
//! names only because such a text did is marked [`Tag::Untrusted`]. A call that leads outwards or
//! changes something is marked [`Tag::Exposed`] if the conversation holds both such text and what
//! must not get around. Rules match these with `provenance`.

use crate::history::History;
use crate::shown::{self, hash};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::HostClass;
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;

/// A shorter text shares passages by chance.
const MIN_CONTENT: usize = 40;

/// Marks the effects of a call that comes after `history`.
pub(crate) fn mark(effects: &mut [Effect], history: &History) {
    if !history.has_external() {
        return;
    }
    let exposed = history.has_sensitive();
    for effect in effects {
        if exposed && acts(effect) {
            effect.tags.push(Tag::Exposed);
        }
        if is_untrusted(effect, history) {
            effect.tags.push(Tag::Untrusted);
        }
    }
}

/// Whether it leads outwards or changes what does not belong to the project.
fn acts(effect: &Effect) -> bool {
    match effect.kind {
        Kind::Send
        | Kind::Connect
        | Kind::RemoteShell
        | Kind::ExecuteFetched
        | Kind::Elevate
        | Kind::Persist
        | Kind::Vcs
        | Kind::Install
        | Kind::Database
        | Kind::Service
        | Kind::System
        | Kind::Remote => true,
        Kind::Fetch => effect.host.as_ref().is_some_and(|host| {
            matches!(
                host.class,
                HostClass::External | HostClass::Drop | HostClass::Unknown
            )
        }),
        Kind::Write | Kind::Delete | Kind::Move => {
            let place = effect.path.as_ref();
            place.is_some_and(|place| !place.is(PathClass::Project) && !place.is(PathClass::Temp))
        }
        Kind::Run
        | Kind::Read
        | Kind::Mode
        | Kind::Listen
        | Kind::ExecuteDecoded
        | Kind::ExecuteOpaque
        | Kind::Kill
        | Kind::Env
        | Kind::Container
        | Kind::Agent
        | Kind::Guard
        | Kind::Exhaust
        | Kind::Unreadable => false,
    }
}

/// Whether what it names, or what it writes, comes from a text that others wrote.
fn is_untrusted(effect: &Effect, history: &History) -> bool {
    names(effect).iter().any(|name| is_foreign(*name, history))
        || effect.kind == Kind::Write && is_copied(effect, history)
}

/// What an effect names, if that could have been taken from somewhere.
fn names(effect: &Effect) -> Vec<u32> {
    let mut names = Vec::new();
    if let Some(host) = &effect.host
        && matches!(
            host.class,
            HostClass::External | HostClass::Drop | HostClass::Private
        )
    {
        names.push(hash(&host.name));
    }
    if let Some(place) = &effect.path
        && !place.is(PathClass::Project)
    {
        names.push(hash(&place.text));
        names.push(hash(&place.short));
    }
    if let (Kind::Install, Some(text)) = (effect.kind, &effect.text) {
        names.push(hash(text));
    }
    names
}

/// Whether the user, or a text of the project, has named something before a foreign text did.
pub(crate) fn is_named(name: &str, history: &History) -> bool {
    let name = hash(name);
    let first = history.shown().find(|(_, shown)| shown.has_name(name));
    first.is_some_and(|(_, shown)| !shown.external) || history.user_named(name)
}

/// Whether a name stood in a foreign text before it stood anywhere else.
fn is_foreign(name: u32, history: &History) -> bool {
    let first = history.shown().find(|(_, shown)| shown.has_name(name));
    first.is_some_and(|(_, shown)| shown.external) && !history.user_named(name)
}

/// Whether a passage of what it writes stood in a foreign text.
fn is_copied(effect: &Effect, history: &History) -> bool {
    let Some(text) = effect
        .text
        .as_deref()
        .filter(|text| text.len() >= MIN_CONTENT)
    else {
        return false;
    };
    let passages = shown::passages(text);
    let mut foreign = history.shown().filter(|(_, shown)| shown.external);
    !passages.is_empty() && foreign.any(|(_, shown)| shown.shares(&passages) > 0)
}
