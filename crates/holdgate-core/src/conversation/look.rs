//! Looks at what the results in a request have shown.

use super::parts::{CallReader, Part};
use super::{Said, finished};
use crate::history::{MAX_SECRET_BYTES, Step};
use crate::request::Request;
use crate::shown::Shown;
use holdgate_effects::json::JsonError;
use std::collections::HashMap;
use std::sync::Arc;

/// Looks at what the results have shown that are new. That needs their calls, which may be in any
/// message before them.
pub(super) fn look(
    read: &mut [Said],
    request: &Request,
    reader: &CallReader<'_>,
) -> Result<(), JsonError> {
    let mut new: HashMap<usize, Arc<Step>> = HashMap::new();
    {
        let parts: Vec<&Part> = read.iter().flat_map(|(_, parts)| parts.iter()).collect();
        for finished in finished(&parts) {
            if let (Some(result), None) = (finished.result, finished.shown) {
                new.entry(result).or_insert_with(|| finished.step.clone());
            }
        }
    }
    let skipped = request.messages().count().saturating_sub(read.len());
    let mut first = 0;
    for ((_, parts), message) in read.iter_mut().zip(request.messages().skip(skipped)) {
        let numbers = first..first + parts.len();
        first = numbers.end;
        let results = numbers.zip(parts.iter());
        let results = results.filter(|(_, part)| matches!(part, Part::Result { .. }));
        let steps: Vec<_> = results
            .map(|(number, _)| new.get(&number).cloned())
            .collect();
        if steps.iter().all(Option::is_none) {
            continue;
        }
        let mut shown = reader.shown(request, message, &steps)?.into_iter();
        *parts = parts
            .iter()
            .map(|part| match part {
                Part::Result {
                    call,
                    in_order,
                    failed,
                    shown: known,
                } => Part::Result {
                    call: call.clone(),
                    in_order: *in_order,
                    failed: *failed,
                    shown: shown.next().flatten().or_else(|| known.clone()),
                },
                Part::Call(_) | Part::Refused(_) | Part::User(_) => part.clone(),
            })
            .collect();
    }
    bound(read);
    Ok(())
}

/// Keeps the secrets of the latest messages as far as there is room.
fn bound(read: &mut [Said]) {
    let secrets = |parts: &[Part]| -> usize {
        let shown = parts.iter().filter_map(Part::shown);
        shown.map(Shown::secret_bytes).sum()
    };
    let all: usize = read.iter().map(|(_, parts)| secrets(parts)).sum();
    if all <= MAX_SECRET_BYTES {
        return;
    }
    let mut room = MAX_SECRET_BYTES;
    for (_, parts) in read.iter_mut().rev() {
        match room.checked_sub(secrets(parts)) {
            Some(left) => room = left,
            None => *parts = parts.iter().map(Part::without_secrets).collect(),
        }
    }
}
