//! Commands for servers with a language of their own: `MongoDB`, Redis.

use super::super::units::Run;
use super::tags_of_all;
use crate::effect::{Actor, Effect, Kind};
use crate::scene::{Fueled, Scene};
use crate::value::Value;

/// What scripts for `MongoDB` do, in files or from the input, besides what their language does.
pub(in crate::commands) fn mongo(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let files = run.parsed.operands.iter().skip(1);
    let named = run.parsed.value_of(&["-f", "--file"]);
    for file in files.chain(named) {
        let text = scene.content(file);
        commanded(scene, run.actor, &text)?;
    }
    match run.call.stdin {
        Some(stdin) => commanded(scene, run.actor, stdin),
        None => Ok(()),
    }
}

/// What the words of a command to Redis do.
pub(in crate::commands) fn redis(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let words = run.call.words.get(1..).unwrap_or(&[]);
    commanded(scene, run.actor, &Value::join(words, " "))?;
    match run.call.stdin {
        // With `-x` it is a value.
        Some(stdin) if !run.parsed.given(&["-x"]) => commanded(scene, run.actor, stdin),
        _ => Ok(()),
    }
}

/// A server is told to do what a text says.
fn commanded(scene: &mut Scene<'_>, actor: &Actor, text: &Value) -> Fueled {
    scene.fuel.spend_on(text.text.len())?;
    let tags = tags_of_all(&text.text.to_ascii_lowercase(), &text.text);
    if tags.is_empty() {
        return Ok(());
    }
    let effect = actor.does(Kind::Database).about(&text.text).of(text);
    scene.emit(tags.into_iter().fold(effect, Effect::tagged))
}
