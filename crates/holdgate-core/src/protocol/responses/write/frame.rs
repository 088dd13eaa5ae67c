//! Frames with other numbers or other data.

use super::super::MAX_DEPTH;
use crate::canonical::{Canonical, Frames};
use crate::sse;
use holdgate_effects::json::{Json, LoneSurrogates, write_string};

/// The number of an event. The first key of this name is the event's own in all that servers write.
pub(super) fn number(raw: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"\"sequence_number\":";
    let at = memchr::memmem::find(raw, KEY)? + KEY.len();
    let rest = raw.get(at..)?.trim_ascii_start();
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(rest.get(..length)?).ok()?.parse().ok()
}

/// The text of an object with other numbers in these members.
pub(super) fn with_numbers(text: &str, json: &Json<'_>, wanted: &[(&str, u64)]) -> String {
    let mut places: Vec<(usize, usize, u64)> = wanted
        .iter()
        .filter_map(|(key, to)| {
            let Some(Json::Number(old)) = json.get(key) else {
                return None;
            };
            // The number borrows from the text, so its place is known.
            let at = old.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
            Some((at, old.len(), *to))
        })
        .collect();
    places.sort_unstable();
    let mut changed = String::with_capacity(text.len() + 16);
    let mut from = 0;
    for (at, length, to) in places {
        changed.push_str(text.get(from..at).unwrap_or_default());
        changed.push_str(&to.to_string());
        from = at + length;
    }
    changed.push_str(text.get(from..).unwrap_or_default());
    changed
}

/// The frame with other data. The frame was read before, so it is readable; one that is not would
/// not leave.
pub(super) fn rewrite(
    raw: &Canonical,
    change: impl FnOnce(&str, &Json<'_>) -> String,
) -> Canonical {
    let changed = || {
        let fields = sse::fields(raw, false).ok()?;
        let data = fields.data?;
        let text = std::str::from_utf8(&data).ok()?;
        // The reader wraps calls, one level deeper than they came.
        let json = Json::read(&data, MAX_DEPTH + 2, LoneSurrogates::Replace).ok()?;
        Some(single(fields.event?, &change(text, &json)))
    };
    changed().unwrap_or_default()
}

/// Appends an event with these members.
pub(in super::super::super) fn push_event(
    kind: &str,
    number: u64,
    members: Vec<(&'static str, Json<'static>)>,
    out: &mut Frames,
) {
    let mut data = String::from("{\"type\":");
    write_string(kind, &mut data);
    data.push_str(&format!(",\"sequence_number\":{number}"));
    for (key, value) in members {
        data.push_str(&format!(",\"{key}\":"));
        data.push_str(&value.text());
    }
    data.push('}');
    out.push(Some(kind), &data);
}

/// One frame.
pub(in super::super) fn single(event: &str, data: &str) -> Canonical {
    let mut out = Frames::default();
    out.push(Some(event), data);
    out.finish()
}
