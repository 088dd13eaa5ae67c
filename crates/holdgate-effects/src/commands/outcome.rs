//! What needs all arguments at once: sending, transfers, and where the output goes.

use super::args::Parsed;
use super::spec::Prints;
use super::units::Run;
use super::{Gathered, in_place, told, transfer};
use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{ENDLESS, HOLE, Origins, Value};

/// Carries out what has gathered. Returns what the program prints.
pub(super) fn finish(scene: &mut Scene<'_>, run: Run<'_>, gathered: Gathered) -> Fueled<Value> {
    let Run {
        parsed,
        chosen,
        actor,
        ..
    } = run;
    let Gathered {
        mut input,
        urls,
        sent,
        writes,
        transfers,
        commands,
        mut output,
        connections,
        ..
    } = gathered;
    if input.is_endless() && parsed.given(&["count", "-c", "--bytes", "-n", "--lines"]) {
        input = input.without_end();
    }
    if !commands.is_empty() {
        let code = Value::join(&commands, " ");
        output = Some(scene.shell(actor, &code)?);
        if actor.is(Tag::Network) && (!connections.is_empty() || actor.is(Tag::Listen)) {
            // What it runs, it joins to the connection.
            let mut effect = actor.does(Kind::RemoteShell);
            effect.host = connections.first().map(|c| scene.know.hosts.host(c));
            scene.emit(effect)?;
        }
    }
    if !transfers.is_empty() {
        transfer::transfer(scene, actor, &transfers)?;
    }
    let fetched = sends(scene, actor, &urls, &connections, &sent)?;
    if !urls.is_empty() {
        input.push(&fetched);
    }
    let prints = match chosen {
        Some(spec) if spec.prints != Prints::Input => spec.prints,
        _ => parsed.spec.prints,
    };
    let printed = match prints {
        Prints::Input => made_of(&input, output),
        Prints::Same => input.clone(),
        Prints::Report => Value::unknown(Origins::OUTPUT),
        Prints::Nothing => Value::default(),
        Prints::Endless => Value::unknown(Origins::OUTPUT).with_source(ENDLESS),
        Prints::Environment => scene.environment(),
        Prints::Secret if shows_names(parsed) => Value::unknown(Origins::OUTPUT),
        Prints::Secret => {
            let mut effect = actor.does(Kind::Read).tagged(Tag::SecretStore);
            if scene.captured > 0 {
                effect = effect.tagged(Tag::Captured);
            }
            scene.emit(effect)?;
            Value::unknown(Origins::SECRET).with_source(&actor.program)
        }
        Prints::Decoded => {
            let mut made = Value::unknown(Origins::DECODED);
            made.taint(&input);
            made
        }
    };
    let edits = in_place::edits(run);
    for (path, append) in &writes {
        if let Some(edits) = &edits {
            scene.edit(actor, path, &edits.added(), |text| edits.apply(text))?;
            continue;
        }
        let content = if parsed.spec.copies { &input } else { &printed };
        if in_place::empties(run) {
            scene.write(&actor.and(Tag::Empties), path, content, *append)?;
        } else if parsed.spec.copies {
            let actor = Scene::filler(actor, path, content, *append);
            scene.write(&actor, path, content, *append)?;
        } else {
            scene.write(actor, path, content, *append)?;
        }
    }
    Ok(printed)
}

/// What a program prints that has read `input`, and whose inner program prints `output`.
fn made_of(input: &Value, output: Option<Value>) -> Value {
    // What it makes of its input is not known, but where that comes from is.
    let mut made = output.unwrap_or_else(|| Value::unknown(input.origins | Origins::OUTPUT));
    if made.text.is_empty() {
        made.text.push(HOLE);
    }
    made.taint(input);
    made
}

/// `-o name`, `-o wide`: which secrets there are, and nothing of what they hold.
fn shows_names(parsed: &Parsed) -> bool {
    let form = parsed.value_of(&["-o", "--output"]);
    form.is_some_and(|form| super::kinds::shows_names(&form.text))
}

/// Sends what has gathered to where it goes, and asks the rest of the addresses. Returns what comes.
fn sends(
    scene: &mut Scene<'_>,
    actor: &Actor,
    urls: &[Value],
    connections: &[Value],
    sent: &[Value],
) -> Fueled<Value> {
    let mut fetched = Value::default();
    for url in urls {
        for data in sent {
            fetched.push(&scene.send(actor, url, data)?);
            told::requests(scene, actor, url, data)?;
        }
        if sent.is_empty() {
            fetched.push(&scene.fetch(actor, url)?);
        }
    }
    if urls.is_empty() {
        let nowhere = [Value::unknown(Origins::UNKNOWN)];
        let targets = if connections.is_empty() {
            &nowhere[..]
        } else {
            connections
        };
        for target in targets {
            for data in sent {
                scene.send(actor, target, data)?;
            }
        }
    }
    Ok(fetched)
}
