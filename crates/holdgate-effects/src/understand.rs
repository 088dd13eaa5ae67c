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
        let mut scene = Scene::new(world, know, fuel, &Readers, cwd);
        tools::act(&mut scene, call.tool, input)?;
        let end = scene.cwd.moved_to().map(str::to_owned);
        let depends_on_start = scene.depends_on_start();
        let (effects, left) = scene.end();
        traces.add(left);
        Ok(Reading {
            effects,
            end,
            depends_on_start,
        })
    };
    let whole;
    let input = if call.text.contains(value::HOLE) {
        whole = views::without_holes(call.input.clone());
        &whole
    } else {
        call.input
    };
    let Reading {
        mut effects,
        end,
        depends_on_start,
    } = read_from(&world.cwd, input)?;
    note_end(&mut folders, &world.cwd, end.as_deref());
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
        if !depends_on_start {
            note_end(&mut folders, folder, end.as_deref());
            continue;
        }
        fuel.grant(FUEL_OF_FOLDER);
        let reading = read_from(folder, input)?;
        note_end(&mut folders, folder, reading.end.as_deref());
        for effect in reading.effects {
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
        let reading = read(&views::without_holes(input))?;
        note_end(&mut folders, &world.cwd, reading.end.as_deref());
        for effect in reading.effects {
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

/// One reading of a call, from one folder.
struct Reading {
    effects: Vec<Effect>,
    /// The folder that the shell went to, if it did.
    end: Option<String>,
    /// Whether another folder to start from may make another reading.
    depends_on_start: bool,
}

/// Notes the folder where the shell is at the `end` of a reading, if it is not where it was.
fn note_end(folders: &mut Vec<String>, start: &str, end: Option<&str>) {
    let is_new = |end: &&str| *end != start && !end.contains(value::HOLE);
    if let Some(end) = end.filter(is_new)
        && !folders.iter().any(|known| known == end)
    {
        folders.push(end.to_owned());
    }
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
