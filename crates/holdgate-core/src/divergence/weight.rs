//! What effects do in the words of people, and how much it weighs.

use super::table::{Act, Acts};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::{Host, HostClass};
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;

/// What a kind of effect does; `None` if it only looks.
pub(super) fn by_kind(effect: &Effect) -> Option<(Acts, bool)> {
    use Act::{
        Change, Commit, Disable, Elevate, Erase, Install, Persist, Publish, Push, Reveal, Run,
        Send, Stop,
    };
    let is = |tags: &[Tag]| tags.iter().any(|tag| effect.is(*tag));
    let path = effect.path.as_ref();
    let outside = path.is_some_and(|path| !path.is_harmless());
    let (acts, heavy): (&[Act], bool) = match effect.kind {
        Kind::Read if path.is_some_and(|path| path.is(PathClass::Secret)) => (&[Reveal], true),
        Kind::Read | Kind::Fetch | Kind::Env | Kind::Listen => return None,
        Kind::Write if path.is_some_and(|path| path.is(PathClass::Stream)) => return None,
        Kind::Write if is(&[Tag::Overwrite]) => (&[Change, Erase], outside),
        Kind::Delete => (&[Erase, Change], true),
        Kind::Write | Kind::Move => (&[Change], outside),
        Kind::Mode => (
            &[Elevate, Change],
            outside || is(&[Tag::WorldWritable, Tag::Setuid]),
        ),
        Kind::Send | Kind::Connect => {
            let local = |host: &Host| host.class == HostClass::Loopback;
            let stays = effect.host.as_ref().is_some_and(local);
            (&[Send, Publish, Reveal], !stays)
        }
        Kind::RemoteShell => (&[Send, Run, Reveal], true),
        Kind::ExecuteFetched | Kind::ExecuteDecoded => (&[Run, Install], true),
        Kind::Elevate => (&[Elevate, Run], true),
        Kind::Persist => (&[Persist, Change], true),
        Kind::Kill => (&[Stop, Erase], true),
        Kind::Vcs if is(&[Tag::Push]) && is(&[Tag::Force]) => {
            (&[Push, Publish, Send, Change, Erase], true)
        }
        Kind::Vcs if is(&[Tag::Push]) => (&[Push, Publish, Send, Change], true),
        Kind::Vcs if is(LOSES) => (&[Erase, Change], true),
        Kind::Vcs if is(&[Tag::Commit]) => (&[Commit, Change], false),
        Kind::Vcs if is(&[Tag::Merge, Tag::Rebase]) => (&[Publish, Change], false),
        Kind::Vcs => (&[Change], false),
        Kind::Install => (&[Install], true),
        Kind::Container if is(LOSES) => (&[Erase, Stop, Change], true),
        Kind::Container if is(&[Tag::Stop, Tag::Kill, Tag::Restart]) => (&[Stop, Change], true),
        Kind::Run | Kind::Agent | Kind::Unreadable | Kind::ExecuteOpaque | Kind::Container => {
            (&[Run], false)
        }
        Kind::Database => (&[Change], true),
        Kind::Service => (&[Stop, Change, Disable], true),
        Kind::System => (&[Change, Stop, Disable, Elevate], true),
        Kind::Remote => (&[Publish, Change, Send], true),
        Kind::Guard => (&[Disable, Change, Stop], true),
        Kind::Exhaust => (&[Stop, Run], true),
    };
    let mut acts = Acts::of(acts);
    if is(LOSES) && !matches!(effect.kind, Kind::Write | Kind::Run | Kind::Read) {
        acts.add(Erase);
    }
    let guards = path.is_some_and(|path| path.is(PathClass::Hook));
    if guards && acts.meets(Acts::of(&[Change])) {
        acts.add(Disable);
    }
    Some((acts, heavy))
}

/// Tags of effects that lose something.
const LOSES: &[Tag] = &[
    Tag::Delete,
    Tag::DeleteAll,
    Tag::Destroy,
    Tag::Drop,
    Tag::Hard,
    Tag::Discard,
    Tag::Discards,
    Tag::Clean,
    Tag::Clear,
    Tag::Prune,
    Tag::PruneNow,
    Tag::Remove,
    Tag::Removes,
    Tag::Rm,
    Tag::Reset,
    Tag::Rewrite,
    Tag::FilterBranch,
    Tag::FilterRepo,
    Tag::ReflogExpire,
    Tag::UpdateRefDelete,
    Tag::WorktreeRemove,
    Tag::VolumeDelete,
    Tag::Wipe,
    Tag::Mirror,
];

/// What tags say in addition, and whether that alone weighs much.
const SAYS: &[(&[Tag], Act, bool)] = &[
    (
        &[
            Tag::SecurityOff,
            Tag::FirewallOff,
            Tag::NoVerify,
            Tag::Insecure,
            Tag::Weakens,
        ],
        Act::Disable,
        true,
    ),
    (&[Tag::Disable], Act::Disable, false),
    (&[Tag::Payment], Act::Pay, true),
    (
        &[Tag::Deploy, Tag::Publish, Tag::Merge],
        Act::Publish,
        false,
    ),
    (
        &[
            Tag::Mail,
            Tag::Message,
            Tag::Comment,
            Tag::Upload,
            Tag::Transfer,
        ],
        Act::Send,
        true,
    ),
    (&[Tag::Elevated], Act::Elevate, true),
    (
        &[Tag::Stop, Tag::Shutdown, Tag::Reboot, Tag::Restart],
        Act::Stop,
        false,
    ),
];

/// What the tags of an effect say.
pub(super) fn by_tags(effect: &Effect) -> (Acts, bool) {
    let mut acts = Acts::default();
    let mut severe = false;
    for (tags, act, weighs) in SAYS {
        if tags.iter().any(|tag| effect.is(*tag)) {
            acts.add(*act);
            severe |= *weighs && effect.kind != Kind::Run;
        }
    }
    (acts, severe)
}
