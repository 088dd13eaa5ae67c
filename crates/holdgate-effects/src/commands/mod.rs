//! What programs do with their arguments: a command line to effects.

mod args;
mod argument;
mod find;
mod folder;
mod git;
mod network;
mod outcome;
mod own;
mod packages;
mod reads;
mod role;
mod spec;
mod special;
mod transfer;
pub(crate) mod values;

pub(crate) use role::Role;
pub use spec::CommandTable;

use crate::effect::{Actor, Kind};
use crate::scene::{Done, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};
use args::Parsed;
use spec::Spec;
use std::sync::Arc;

/// What a program is run with.
pub(crate) struct Call<'v> {
    /// The program's name without its folder.
    pub(crate) program: &'v str,
    /// All words; the first is the program as written.
    pub(crate) words: &'v [Value],
    /// What it reads from its standard input, if that is not the terminal.
    pub(crate) stdin: Option<&'v Value>,
}

/// What gathers while the arguments are gone through.
#[derive(Default)]
struct Gathered {
    /// What it reads, and so may print, write or send.
    input: Value,
    reads: bool,
    urls: Vec<Value>,
    sent: Vec<Value>,
    /// Raw connections.
    connections: Vec<Value>,
    writes: Vec<(Value, bool)>,
    transfers: Vec<Value>,
    commands: Vec<Value>,
    /// What an inner program prints.
    output: Option<Value>,
}

/// Runs a program. Returns what it prints.
pub(crate) fn run(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Done<Value> {
    let know = scene.know;
    if call.program == know.own.program {
        return own::run(scene, call, actor);
    }
    let spec = know.commands.get(call.program);
    own::notice(scene, call, actor, spec.is_some())?;
    if let Some(tag) = own::takes_over(call, actor) {
        scene.emit(actor.does(Kind::System).tagged(tag).about(&actor.evidence))?;
    }
    let Some(spec) = spec else {
        return unknown(scene, call, actor);
    };
    let mut actor = actor.clone();
    actor.tag(own::merges(call, &know.own.program));
    if actor.is(Tag::Editor) {
        own::edits(scene, call, &actor)?;
    }
    run_spec(scene, spec, call, &actor)
}

/// A program that nothing is known of: it runs, and what it prints may hold what it was given.
fn unknown(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Done<Value> {
    let mut output = Value::unknown(Origins::OUTPUT);
    if let Some(stdin) = call.stdin {
        output.taint(stdin);
    }
    // Many programs are wrappers: a known program among the arguments is taken as run.
    special::wrapped(scene, call, actor)?;
    Ok(output)
}

fn run_spec(
    scene: &mut Scene<'_>,
    spec: &Arc<Spec>,
    call: &Call<'_>,
    actor: &Actor,
) -> Done<Value> {
    let bundles = call.words.iter().filter(|w| w.text.starts_with('-'));
    let letters: usize = bundles.map(|w| w.text.len()).sum();
    scene.fuel.spend(3 * (call.words.len() + letters) as u64)?;
    if let [_, only] = call.words
        && matches!(
            only.text.as_str(),
            "--help" | "--version" | "-V" | "help" | "version"
        )
    {
        return Ok(Value::unknown(Origins::OUTPUT));
    }
    let words = network::with_config(scene, call);
    let parsed = args::parse(spec, words.as_deref().unwrap_or(call.words));
    let mut actor = actor.clone();
    actor.tag(parsed.tags.iter().cloned());
    if call.program == "git" && actor.is(Tag::Config) {
        git::config_command(scene, &parsed, &actor)?;
    }
    actor.tag(git::tags(call.program, &parsed));
    actor.tag(reads::tags(call.program, &parsed));
    packages::usual_index(scene, &parsed, &mut actor);
    if let Some(handler) = parsed.spec.handler.as_ref().or(spec.handler.as_ref())
        && let Some(output) = special::handle(scene, handler, &parsed, call, &actor)?
    {
        return Ok(output);
    }
    let mut chosen: Option<&Spec> = None;
    // An entry of `when` may have entries of its own.
    while let Some((_, spec)) = chosen
        .unwrap_or(&parsed.spec)
        .when
        .iter()
        .find(|(names, _)| parsed.has(names))
    {
        chosen = Some(spec);
    }
    actor.tag(chosen.iter().flat_map(|s| s.tags.iter().cloned()));
    for given in &parsed.options {
        if let Some((Role::ModeBits, value)) = &given.value {
            actor.tags.extend(values::mode_tags(&value.text));
        }
    }
    for (at, operand) in parsed.operands.iter().enumerate() {
        if argument::role_of(&parsed.spec.operands, at, parsed.operands.len()) == Role::ModeBits {
            actor.tags.extend(values::mode_tags(&operand.text));
        }
    }
    does(scene, &parsed, chosen, call, &actor)?;
    let outer_cwd = scene.cwd.clone();
    let marks = scene.marks.len();
    scene.marks.extend(parsed.inside);
    if parsed
        .spec
        .does
        .iter()
        .any(|(kind, _)| *kind == Kind::Elevate)
    {
        scene.marks.push(Tag::Elevated);
    }
    let mut gathered = Gathered::default();
    // Where it works comes first: all other paths depend on it.
    for given in &parsed.options {
        if let Some((Role::Cwd, value)) = &given.value {
            scene.enter(value);
        }
    }
    for given in &parsed.options {
        // Variables from a file go to the program, not to the screen.
        if given.name.contains("env-file") {
            continue;
        }
        if let Some((role, value)) = &given.value {
            let other = chosen
                .and_then(|s| s.options.get(&given.name))
                .and_then(|m| m.value);
            argument::act(
                scene,
                other.unwrap_or(*role),
                value,
                call,
                &actor,
                &mut gathered,
            )?;
        }
    }
    argument::operands(scene, &parsed, chosen, call, &actor, &mut gathered)?;
    argument::standard_input(scene, &parsed, chosen, call, &actor, &mut gathered)?;
    network::downloads(scene, call, &parsed, &gathered.urls);
    network::unpacks(scene, call.program, &parsed, &gathered.input);
    let target = gathered
        .urls
        .first()
        .or(gathered.connections.first())
        .cloned();
    if let Some(target) = target {
        network::carried(scene, call, &target, &actor)?;
    }
    if call.program == "git" {
        git::destinations(scene, &parsed, &actor)?;
        reads::revisions(scene, &parsed, &actor)?;
    }
    reads::searches_here(scene, call, &parsed, &actor)?;
    folder::runs_what_lies_here(scene, call.program, &parsed, &actor)?;
    if !gathered.commands.is_empty() && actor.is(Tag::Interpreter) {
        // `sh -c 'code' zero one …`
        scene.positional = parsed.operands.get(1..).unwrap_or(&[]).to_vec();
    }
    if parsed.is_sub(&["pkg"]) && parsed.is_sub(&["set"]) {
        // npm's scripts, set by a command.
        for operand in &parsed.operands {
            if let Some((_, code)) = operand
                .text
                .split_once('=')
                .filter(|_| operand.text.starts_with("scripts."))
            {
                let code = operand.map(code.to_owned());
                scene.apart(|scene| scene.shell(&actor, &code))?;
            }
        }
    }
    let output = outcome::finish(scene, &parsed, chosen, &actor, gathered)?;
    let output = reads::listing(scene, call.program, &parsed).unwrap_or(output);
    scene.positional.clear();
    special::links(scene, call.program, &parsed);
    scene.cwd = outer_cwd;
    scene.marks.truncate(marks);
    Ok(output)
}

fn does(
    scene: &mut Scene<'_>,
    parsed: &Parsed,
    chosen: Option<&Spec>,
    call: &Call<'_>,
    actor: &Actor,
) -> Done {
    let does = match chosen {
        Some(spec) if !spec.does.is_empty() => &spec.does,
        _ => &parsed.spec.does,
    };
    for (kind, tags) in does {
        let mut effect = actor.does(*kind);
        for tag in tags {
            effect = effect.tagged(*tag);
        }
        let text = call
            .words
            .iter()
            .skip(1)
            .map(|w| w.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        scene.emit(effect.about(&text))?;
    }
    Ok(())
}
