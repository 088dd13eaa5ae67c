//! What is done to containers, databases, the cloud, and the machine itself.

use super::super::action::Action;
use super::super::programs::{is_framework, is_guard};
use super::any;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;

/// Tags that say that something goes away.
const GOES: [Tag; 4] = [Tag::Delete, Tag::Destroy, Tag::Drop, Tag::Wipe];

pub(super) fn container(effect: &Effect) -> Option<Action> {
    let rights = [
        Tag::Privileged,
        Tag::HostPid,
        Tag::HostNamespace,
        Tag::DockerSocket,
        Tag::SecurityOpt,
        Tag::Capability,
    ];
    let mounts = effect.is(Tag::Mount) && is_of_host(effect);
    if any(effect, &rights) || mounts {
        // What is only written down happens when it is used.
        return Some(if !effect.is(Tag::Written) {
            Action::Escape
        } else if effect.is(Tag::ReadOnly) {
            return None;
        } else {
            Action::Plant
        });
    }
    let volumes = [Tag::VolumeDelete, Tag::Volumes];
    (any(effect, &volumes) && !effect.is(Tag::TestTarget)).then_some(Action::DeleteData)
}

/// Whether a mount shows more of the host than a project.
fn is_of_host(effect: &Effect) -> bool {
    let Some(place) = effect.path.as_ref() else {
        return false;
    };
    let is = |class| place.is(class);
    // A list of accounts that cannot be changed is a usual thing to share.
    let shared = is(PathClass::Privilege) && effect.is(Tag::ReadOnly);
    [
        PathClass::Root,
        PathClass::HomeRoot,
        PathClass::Secret,
        PathClass::Privilege,
        PathClass::Device,
    ]
    .into_iter()
    .any(is)
        && !shared
}

pub(super) fn database(effect: &Effect) -> Option<Action> {
    if effect.is(Tag::Query) {
        return None;
    }
    let all = [Tag::Drop, Tag::DeleteAll, Tag::Wipe];
    let text = effect.text.as_deref().unwrap_or_default().trim_start();
    let word = text.get(..6).unwrap_or_default();
    let rows = effect.is(Tag::Delete) || word.eq_ignore_ascii_case("delete");
    let own = is_framework(&effect.program) && !effect.is(Tag::Prod);
    Some(if effect.is(Tag::TestTarget) {
        Action::ChangeRemote
    } else if own && any(effect, &all) {
        Action::DeleteData
    } else if effect.is(Tag::Elevate) {
        Action::Grant
    } else if effect.is(Tag::Shell) {
        Action::RunLoose
    } else if any(effect, &all) || rows && effect.is(Tag::Prod) {
        Action::DestroyData
    } else if rows {
        Action::DeleteData
    } else {
        Action::ChangeRemote
    })
}

pub(super) fn remote(effect: &Effect) -> Action {
    let is = |tag| effect.is(tag);
    let program = effect.program.as_ref();
    let forge = matches!(program, "gh" | "glab");
    let parts = [" pod", " job", "deploy", " svc", " ing"];
    // What a cluster starts anew.
    let part = matches!(program, "kubectl" | "k" | "oc")
        && parts.iter().any(|part| effect.evidence.contains(part));
    let off = is(Tag::SecurityOff) || is(Tag::Disable) && is(Tag::Log);
    let lets_in = [
        Tag::Public,
        Tag::Elevate,
        Tag::Key,
        Tag::User,
        Tag::Payment,
        Tag::Redirects,
        Tag::Dns,
        Tag::RemoteManagement,
    ];
    if is(Tag::List) || is(Tag::TestTarget) && !is(Tag::Key) {
        Action::ChangeRemote
    } else if off {
        Action::Disarm
    } else if any(effect, &lets_in) || gives_power(&effect.evidence) {
        Action::Expose
    } else if any(effect, &GOES) || is(Tag::Drain) || is(Tag::State) && is(Tag::Rm) {
        // What a forge deletes is mostly a comment or a branch.
        let small = forge && !effect.evidence.contains("repo delete") || part;
        if small && !is(Tag::Prod) {
            Action::DeleteData
        } else {
            Action::DestroyData
        }
    } else if any(
        effect,
        &[Tag::Publish, Tag::Issue, Tag::Pr, Tag::Mr, Tag::Comment],
    ) {
        Action::Post
    } else if is(Tag::Prod) {
        Action::ChangeProduction
    } else {
        Action::ChangeRemote
    }
}

/// Whether somebody gets full power over an account.
fn gives_power(command: &str) -> bool {
    let power = ["owner", "Owner", "admin", "Admin"];
    let gives = ["iam", "role assignment", "rolebinding"];
    let has = |words: &[&str]| words.iter().any(|word| command.contains(word));
    has(&gives) && has(&power)
}

pub(super) fn system(effect: &Effect) -> Action {
    let any = |tags: &[Tag]| any(effect, tags);
    let disarms = [
        Tag::FirewallOff,
        Tag::SecurityOff,
        Tag::Audit,
        Tag::Selinux,
        Tag::Apparmor,
        Tag::OfGuard,
        Tag::Answer,
        Tag::Operator,
    ];
    let stops = [Tag::Stop, Tag::Disable, Tag::Mask];
    if any(&disarms) || any(&stops) && is_guard(&effect.evidence) {
        Action::Disarm
    } else if any(&[Tag::Enable]) && any(&[Tag::UserUnit]) {
        Action::Persist
    } else if effect.kind == Kind::Service || any(&[Tag::List]) {
        Action::System
    } else if any(&[Tag::Partition, Tag::Filesystem, Tag::Wipe, Tag::Format]) {
        Action::DestroyData
    } else if any(&[
        Tag::Sudoers,
        Tag::Capability,
        Tag::User,
        Tag::Group,
        Tag::Password,
        Tag::Elevate,
    ]) {
        Action::Grant
    } else if any(&[Tag::Kernel, Tag::Module, Tag::Boot, Tag::Chroot]) {
        Action::Escape
    } else if any(&[
        Tag::Observes,
        Tag::TakesOver,
        Tag::Sniff,
        Tag::AttackTool,
        Tag::ProcessMemory,
    ]) {
        Action::Intrude
    } else if any(&[
        Tag::Certificates,
        Tag::PackageConfig,
        Tag::PipConfig,
        Tag::NpmConfig,
        Tag::Redirects,
    ]) {
        Action::Redirect
    } else if any(&[Tag::AgentConfig]) {
        Action::InstallOdd
    } else if any(&[Tag::RemoteManagement]) {
        Action::Expose
    } else {
        Action::System
    }
}

pub(super) fn kill(effect: &Effect) -> Action {
    let everything = |word: &str| word == "-1" || word == "1";
    let mut words = effect.evidence.split_whitespace();
    if effect.is(Tag::OfGuard) || is_guard(&effect.evidence) {
        Action::Disarm
    } else if effect.program.as_ref() == "kill" && words.next_back().is_some_and(everything) {
        Action::Exhaust
    } else {
        Action::System
    }
}
