//! Where the steps of a conversation have been: what the user and the project name, and elsewhere.

use super::History;
use crate::drift::{Drift, Touched};
use crate::shown::hash;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::path::{PathClass, Place};
use holdgate_effects::tag::Tag;

/// Effects of one call that count for drift.
const MAX_TOUCHED: usize = 32;

impl History {
    /// How far the agent has left what the user's words and the project name, with so many calls in
    /// the last minute.
    pub fn drift(&self, rate: usize) -> Drift {
        self.wander.drift(Touched::default(), rate)
    }

    /// The same after a call with these effects.
    pub(crate) fn drift_with(&self, effects: &[Effect], rate: usize) -> Drift {
        self.wander.drift(self.touched(effects).0, rate)
    }

    /// What a call touches, and in which folders.
    pub(super) fn touched(&self, effects: &[Effect]) -> (Touched, Vec<u64>) {
        let mut touched = Touched::default();
        let mut folders: Vec<u64> = Vec::new();
        for effect in effects.iter().take(MAX_TOUCHED) {
            let Some(place) = effect
                .path
                .as_ref()
                .filter(|place| !place.is(PathClass::Stream))
            else {
                continue;
            };
            let reads = effect.kind == Kind::Read;
            let writes = [Kind::Write, Kind::Delete, Kind::Move, Kind::Mode].contains(&effect.kind);
            let later = effect.is(Tag::Suspect) || effect.is(Tag::Written);
            if later || !reads && !writes {
                continue;
            }
            touched.reads += u16::from(reads);
            touched.writes += u16::from(writes);
            if self.in_scope(place) {
                touched.inside += 1;
            } else {
                touched.outside += 1;
            }
            let folder = place.text.rsplit_once('/').map_or("", |(folder, _)| folder);
            let folder = u64::from(hash(folder));
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        let new = folders
            .iter()
            .filter(|folder| self.wander.is_new(**folder))
            .count();
        touched.folders = u16::try_from(folders.len()).unwrap_or(u16::MAX);
        touched.new_folders = u16::try_from(new).unwrap_or(u16::MAX);
        (touched, folders)
    }

    /// Whether a path is the project's, can be created again, or was named by the user.
    fn in_scope(&self, place: &Place) -> bool {
        let named = |text: &str| self.user_named(hash(text));
        place.is_harmless()
            || place.is(PathClass::Os)
            || named(&place.text)
            || named(&place.short)
            || place.text.rsplit('/').next().is_some_and(named)
    }
}
