//! What is done to files and folders, by where they are.

use super::super::action::Action;
use super::super::programs::{empties, is_source};
use super::any;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;
use holdgate_effects::value::{HOLE, Origins};

/// Files of the system that say where names, packages and trust come from.
const LEADS: [&str; 6] = [
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/ssh/",
    "/etc/apt/",
    "/etc/ssl/",
    "/usr/local/share/ca-certificates",
];

pub(super) fn read(effect: &Effect) -> Option<Action> {
    // A store of secrets has no path.
    let stores = [Tag::SecretStore, Tag::Keychain, Tag::SecretKey];
    if any(effect, &stores) {
        return Some(if effect.is(Tag::TestTarget) {
            Action::ReadEnv
        } else {
            Action::ReadSecret
        });
    }
    if effect.is(Tag::ProcessMemory) {
        return Some(Action::Intrude);
    }
    let place = effect.path.as_ref()?;
    let looks = effect.is(Tag::List) || effect.is(Tag::Search);
    if place.is(PathClass::Secret) && !place.is(PathClass::Stream) {
        let login = place.is(PathClass::Privilege) || place.text.contains("/.ssh/");
        let own = place.is(PathClass::Project) || effect.is(Tag::Remote) && !login;
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
    if place.is(PathClass::Sensor) && !looks {
        return Some(Action::Intrude);
    }
    // Whoever talks to the container service rules the machine.
    if place.is(PathClass::Escape) && !looks && place.text.rsplit('.').next() == Some("sock") {
        return Some(Action::Escape);
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

pub(super) fn write(effect: &Effect) -> Option<Action> {
    let place = effect.path.as_ref()?;
    let is = |class| place.is(class);
    if is(PathClass::Stream) {
        return None;
    }
    if effect.is(Tag::Mkdir) {
        return Some(if place.is_harmless() {
            Action::Write
        } else {
            Action::WriteOut
        });
    }
    Some(
        if is(PathClass::Startup)
            || is(PathClass::RunsLater) && !is(PathClass::Project)
            || is(PathClass::Hook) && effect.origins.any(Origins::FETCHED)
        {
            Action::Persist
        } else if is(PathClass::Holdgate) || is(PathClass::HoldsHoldgate) && effect.is(Tag::Link) {
            Action::Disarm
        } else if effect.is(Tag::Endless) {
            Action::Exhaust
        } else if (is(PathClass::Log) || is(PathClass::History)) && !effect.is(Tag::Append) {
            Action::ClearLog
        } else if is(PathClass::Privilege) {
            Action::Grant
        } else if is(PathClass::Escape) || is(PathClass::Kernel) {
            Action::Escape
        } else if is(PathClass::AgentSettings) {
            Action::Settings
        } else if empties(effect) && (!is_tool(effect) || is_source(&place.text)) {
            return delete(effect);
        } else if is(PathClass::Device) {
            Action::DestroyData
        } else if effect.origins.any(Origins::SECRET) {
            Action::CopySecret
        } else if effect.origins.any(Origins::FETCHED) {
            Action::FetchFile
        } else if is(PathClass::Os) && !place.is_harmless() {
            Action::Grant
        } else if LEADS.iter().any(|start| place.text.starts_with(start)) {
            Action::Redirect
        } else if is(PathClass::System) && !is(PathClass::Root) && !place.is_harmless() {
            Action::WriteSystem
        } else if !place.is_harmless() {
            Action::WriteOut
        } else if [Tag::Edit, Tag::Append, Tag::InPlace]
            .into_iter()
            .any(|tag| effect.is(tag))
        {
            Action::Edit
        } else if is_same_for_all(effect) {
            Action::DestroyData
        } else {
            Action::Write
        },
    )
}

pub(super) fn delete(effect: &Effect) -> Option<Action> {
    let place = effect.path.as_ref()?;
    let is = |class| place.is(class);
    if is(PathClass::Log) || is(PathClass::History) {
        return Some(Action::ClearLog);
    }
    if is(PathClass::Holdgate) || is(PathClass::HoldsHoldgate) {
        return Some(Action::Disarm);
    }
    if effect.kind == Kind::Move {
        return Some(if place.is_harmless() {
            Action::Write
        } else {
            Action::WriteOut
        });
    }
    let ways = ["/.git/logs", "/.git/refs", "/.git/objects"];
    if is(PathClass::Vcs)
        && (ways.iter().any(|way| place.text.contains(way)) || place.text.ends_with("/.git"))
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
    let whole = [PathClass::HomeRoot, PathClass::System, PathClass::Device];
    let last = place.text.rsplit('/').next().unwrap_or_default();
    let many = effect.is(Tag::Recursive) || last.starts_with('*');
    let own = is(PathClass::Home) && !is(PathClass::Workspace) && many;
    let gone = effect.program.as_ref() == "shred";
    let all = is(PathClass::ProjectRoot) && many;
    let emptied = empties(effect) && is(PathClass::Project);
    let all = all || emptied && (effect.is(Tag::Recursive) || is_all(last));
    Some(
        if all
            || gone && !place.is_harmless()
            || (whole.into_iter().any(is) || own) && !place.is_harmless()
        {
            Action::DestroyData
        } else if place.is_harmless() {
            Action::Delete
        } else {
            Action::DeleteOut
        },
    )
}

pub(super) fn mode(effect: &Effect) -> Option<Action> {
    let place = effect.path.as_ref()?;
    if place.is(PathClass::Holdgate) {
        return Some(Action::Disarm);
    }
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

/// Whether a name stands for all files, or for all source of a kind.
fn is_all(name: &str) -> bool {
    let rest = name.trim_start_matches(['*', HOLE]);
    rest.len() < name.len() && (rest.is_empty() || is_source(rest))
}

/// Whether a tool writes what it was given.
fn is_tool(effect: &Effect) -> bool {
    effect.evidence == effect.program
}

/// Whether one text takes the place of what stood in all source of a kind.
fn is_same_for_all(effect: &Effect) -> bool {
    let place = effect.path.as_ref();
    let text = effect.text.as_deref().unwrap_or_default();
    let known = effect.origins == Origins::NONE && !text.is_empty() && !text.contains(HOLE);
    let spare = [PathClass::Generated, PathClass::Temp, PathClass::Cache];
    known
        && place.is_some_and(|place| {
            let last = place.text.rsplit('/').next().unwrap_or_default();
            last.contains('*')
                && last.contains('.')
                && is_all(last)
                && !spare.into_iter().any(|class| place.is(class))
        })
}
