//! Which calls count as equal.

use crate::call::ToolCall;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::tag::Tag;

/// Equal for calls that do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// Of calls that do nothing more when they are repeated: no two of them are equal.
    const IDLE: Fingerprint = Fingerprint(0);

    /// Whether it is worth counting.
    pub(super) fn counts(self) -> bool {
        self != Fingerprint::IDLE
    }
}

/// Commands are equal if they do the same, however they are written. A collision only counts a call
/// as repeated, so speed matters more than strength. `None`: the call only waits for something to
/// happen, as often as it takes.
pub(crate) fn fingerprint(call: &ToolCall, effects: &[Effect]) -> Option<Fingerprint> {
    let waits = |e: &Effect| e.is(Tag::Tool) && (e.is(Tag::Inert) || e.is(Tag::Typed));
    if !effects.is_empty() && effects.iter().all(waits) {
        return None;
    }
    if !effects.is_empty() && only_looks_or_sets(effects) {
        return Some(Fingerprint::IDLE);
    }
    let runs = |e: &&Effect| e.kind == Kind::Run && !e.is(Tag::Tool);
    let mut hash = mix_text(0, call.name.as_bytes());
    if effects.iter().any(|e| runs(&e)) {
        for effect in effects {
            hash = mix(hash, effect.kind as u64);
            hash = mix_text(hash, effect.program.as_bytes());
            let path = effect.path.as_ref().map_or("", |p| p.text.as_str());
            hash = mix_text(hash, path.as_bytes());
            hash = mix_text(hash, effect.text.as_deref().unwrap_or("").as_bytes());
        }
        return Some(Fingerprint(hash));
    }
    Some(Fingerprint(mix_text(hash, call.text.as_bytes())))
}

/// Whether a call reads files, or has tools set what they hold: twice is as good as once. Programs
/// without a path of their own may stand beside that, as in `cat x | sort`.
fn only_looks_or_sets(effects: &[Effect]) -> bool {
    let reads = |e: &Effect| e.kind == Kind::Read;
    let filters = |e: &Effect| e.kind == Kind::Run && e.path.is_none() && !e.is(Tag::Tool);
    let sets = |e: &Effect| e.kind == Kind::Write && !e.is(Tag::Append);
    if effects.iter().any(|e| e.kind == Kind::Run) {
        return effects.iter().any(reads) && effects.iter().all(|e| reads(e) || filters(e));
    }
    effects.iter().all(|e| reads(e) || sets(e))
}

fn mix_text(mut hash: u64, text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    for byte in rest {
        hash = mix(hash, u64::from(*byte));
    }
    mix(hash, text.len() as u64)
}

fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}
