//! The front door: a call goes in, its effects come out.

use crate::effect::{Effect, EffectKey, Kind};
use crate::fuel::{Fuel, OutOfFuel};
use crate::interpreter::Readers;
use crate::json::Json;
use crate::path::{self, PathClass, Place, World};
use crate::scene::Scene;
use crate::tag::Tag;
use crate::traces::Traces;
use crate::views::{self, Invocation, View};
use crate::{Knowledge, shell, tools, value};
use std::collections::HashSet;

/// Work that one more reading of a call may take.
const FUEL_OF_FOLDER: u64 = 16_000;

/// What a call does, and where it leaves the shell.
#[derive(Debug, Default)]
pub struct Understood {
    /// What it does.
    pub effects: Vec<Effect>,
    /// Where the shell may be afterwards, if the call moves it.
    pub folders: Vec<String>,
    /// What it leaves behind for calls after it, with what those before it have left.
    pub traces: Traces,
}

/// What `call` does, in every reading of it: as written, as a client may decode it, and as it looks.
///
/// The work is paid for with `fuel`; a call that needs more than there is must not be taken for
/// harmless. The [crate](crate)'s page has an example.
pub fn understand(
    call: Invocation<'_>,
    world: &World,
    know: &Knowledge,
    fuel: &Fuel,
) -> Result<Vec<Effect>, OutOfFuel> {
    Ok(understand_all(call, world, know, fuel)?.effects)
}

/// The same, and what it leaves behind.
pub fn understand_all(
    call: Invocation<'_>,
    world: &World,
    know: &Knowledge,
    fuel: &Fuel,
) -> Result<Understood, OutOfFuel> {
    fuel.spend_on(call.text.len())?;
    let once = world.for_one_call();
    let world = once.as_ref().unwrap_or(world);
    let mut folders = Vec::new();
    let mut traces = Traces::default();
    let mut read_from = |cwd: &str, input: &Json<'static>| {
        let mut scene = Scene::new(world, know, fuel, &Readers);
        cwd.clone_into(&mut scene.cwd);
        tools::act(&mut scene, call.tool, input)?;
        if scene.cwd != cwd && !scene.cwd.contains(value::HOLE) && !folders.contains(&scene.cwd) {
            folders.push(scene.cwd.clone());
        }
        let (effects, left) = scene.end();
        traces.add(left);
        Ok(effects)
    };
    let whole;
    let input = if call.text.contains(value::HOLE) {
        whole = views::without_holes(call.input.clone());
        &whole
    } else {
        call.input
    };
    let mut effects = read_from(&world.cwd, input)?;
    let others = views::others(call, world, &know.tools);
    if others.is_empty() && world.folders.is_empty() {
        return Ok(Understood {
            effects,
            folders,
            traces,
        });
    }
    let mut seen: HashSet<EffectKey> = effects.iter().map(EffectKey::of).collect();
    for folder in &world.folders {
        fuel.grant(FUEL_OF_FOLDER);
        for effect in read_from(folder, input)? {
            // Not every client's shell stays there: elsewhere, only what is sensitive counts.
            let counts = |place: &Place| {
                let sensitive = |class: &PathClass| place.is(*class);
                let everything = place.is(PathClass::HomeRoot) || place.is(PathClass::Root);
                everything || place.is(PathClass::Project) || path::SAMPLED.iter().any(sensitive)
            };
            if effect.path.as_ref().is_some_and(counts) && seen.insert(EffectKey::of(&effect)) {
                effects.push(effect);
            }
        }
    }
    let mut read = |input: &Json<'static>| read_from(&world.cwd, input);
    for View { input, tag } in others {
        fuel.spend_on(call.text.len())?;
        for effect in read(&views::without_holes(input))? {
            // How something looks is a guess: if it cannot be read, it tells nothing.
            let idle = tag == Tag::UnicodeView && effect.kind == Kind::Unreadable;
            if !idle && seen.insert(EffectKey::of(&effect)) {
                effects.push(effect.tagged(tag));
            }
        }
    }
    Ok(Understood {
        effects,
        folders,
        traces,
    })
}

/// Whether `text` is a shell script that can be read to its end; if not, where it stops to make
/// sense, and why.
pub fn shell_syntax(text: &str) -> Result<(), String> {
    // As much as any text may need.
    let fuel = Fuel::new(u64::MAX);
    match shell::parse::parse(text, &fuel) {
        Ok((_, None)) => Ok(()),
        Err(OutOfFuel) => Err("reading it takes too much work".to_owned()),
        Ok((_, Some(error))) => Err(format!("at byte {}: {}", error.at, error.what)),
    }
}

#[cfg(test)]
mod tests;
