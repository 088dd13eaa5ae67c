//! What code fetches, puts into a file and runs, however one goes to the other: by a callback, a stream
//! or a buffer that is not followed.

use super::Reader;
use crate::effect::{Actor, Effect, Kind as EffectKind};
use crate::host::HostClass;
use crate::path::Place;
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};

/// Programs of one code that are compared with the files that it fills.
const MAX_RUNS: usize = 16;

impl Reader<'_, '_, '_> {
    /// Says that something fetched runs, if the code since there were `before` effects has asked a
    /// host, filled a file with what nobody knows, and runs that file.
    pub(super) fn joins(&mut self, before: usize) -> Fueled {
        let done = self.scene.effects.get(before..).unwrap_or(&[]);
        let Some(url) = done.iter().find_map(asked) else {
            return Ok(());
        };
        if done.iter().any(|e| e.kind == EffectKind::ExecuteFetched) {
            return Ok(());
        }
        self.scene.fuel.spend(done.len() as u64)?;
        let runs = done.iter().filter(|e| e.kind == EffectKind::Run);
        let runs = runs.filter_map(|e| Some((e, e.path.as_ref()?)));
        let found = runs.take(MAX_RUNS).find(|(_, place)| {
            let fills = |e: &Effect| fills(e, place);
            done.iter().any(fills)
        });
        let Some((run, _)) = found else {
            return Ok(());
        };
        let actor = Actor::new(&run.program, &run.evidence);
        let code = Value::unknown(Origins::FETCHED).with_source(url);
        self.scene.executes(&actor, &code)
    }
}

/// The address that an effect asks something of, unless it is on this machine.
fn asked(effect: &Effect) -> Option<&str> {
    let here = [HostClass::Loopback, HostClass::Private];
    let host = effect.host.as_ref()?;
    let fetches = effect.kind == EffectKind::Fetch && !here.contains(&host.class);
    fetches.then_some(effect.text.as_deref()?)
}

/// Whether an effect puts something unknown into a file.
fn fills(effect: &Effect, place: &Place) -> bool {
    let unknown = |text: &str| text.chars().all(|c| c == HOLE || c.is_whitespace());
    let part = [Tag::Edit, Tag::InPlace, Tag::Mkdir, Tag::Link];
    effect.kind == EffectKind::Write
        && effect.path.as_ref().is_some_and(|p| p.text == place.text)
        && !part.iter().any(|tag| effect.is(*tag))
        && effect.text.as_deref().is_none_or(unknown)
}
