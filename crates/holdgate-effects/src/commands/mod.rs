//! What programs do with their arguments: a command line to effects.

mod args;
mod argument;
mod arity;
mod branches;
mod carried;
mod cloud;
mod environs;
mod find;
mod folder;
mod forwards;
mod git;
mod images;
mod in_place;
mod inner;
mod keys;
mod kinds;
mod loads;
mod lost;
mod network;
mod outcome;
mod own;
mod packages;
mod printed;
mod processes;
mod reads;
mod reference;
mod refs;
mod requests;
mod scripts;
mod services;
mod setters;
mod special;
pub(crate) mod sql;
mod strangers;
mod target;
mod targets;
mod told;
mod transfer;
mod units;
mod unsettled;
mod uploads;
mod values;
mod vim;
mod weights;
mod work_tree;

use crate::effect::{Actor, Kind};
use crate::knowledge::{commands as spec, handler, role};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};
use role::Role;
use spec::Spec;
use std::sync::Arc;
use units::Run;

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
pub(crate) fn run(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled<Value> {
    let know = scene.know;
    if know.own.is_program(call.program) {
        return own::run(scene, call, actor);
    }
    let spec = know.commands.get(call.program);
    own::notice(scene, call, actor, spec.and_then(Result::ok).map(|s| &**s))?;
    lost::notice(scene, call, actor)?;
    let (output, passes) = match spec {
        Some(Ok(spec)) => {
            let run = run_spec(scene, spec, call, actor)?;
            if let Some(words) = arity::attached(spec, call.words) {
                let other = Call {
                    words: &words,
                    ..*call
                };
                run_spec(scene, spec, &other, actor)?;
            }
            run
        }
        Some(Err(error)) => {
            scene.emit(actor.does(Kind::Unreadable).about(error))?;
            (unknown(scene, call, actor)?, false)
        }
        None => (unknown(scene, call, actor)?, false),
    };
    let output = environs::shows(scene, call, actor, output)?;
    let output = printed::place(scene, call, output);
    let output = printed::ended(call, output);
    if passes || actor.is(Tag::Interpreter) || printed::shows_input(call) {
        return Ok(output);
    }
    // What else is made of its input shows nothing of it.
    Ok(output.without_loaded())
}

/// A program that nothing is known of: it runs, touches what its words name, and may print what it was
/// given.
fn unknown(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled<Value> {
    // `git-filter-repo` is what git runs for `git filter-repo`, and `python -m git_filter_repo` is the same.
    if let Some(sub) = call
        .program
        .strip_prefix("git-")
        .or(call.program.strip_prefix("git_"))
        && let Some(rest) = call.words.get(1..)
    {
        let sub = sub.replace('_', "-");
        let words: Vec<Value> = [Value::known("git"), Value::known(sub)]
            .into_iter()
            .chain(rest.iter().cloned())
            .collect();
        return scene.argv(&words, call.stdin);
    }
    let mut output = Value::unknown(Origins::OUTPUT);
    if let Some(stdin) = call.stdin {
        output.taint(stdin);
    }
    if let Some(secret) = unsettled::unlisted(scene, call, actor)? {
        output.push(&secret);
    }
    uploads::by_options(scene, call, actor)?;
    carried::out(scene, call, actor, false)?;
    let before = scene.effects.len();
    packages::sources(scene, call, actor, before)?;
    loads::by_names(scene, call, actor)?;
    // Many programs are wrappers: a known program among the arguments is taken as run.
    if !special::wrapped(scene, call, actor)? {
        inner::within(scene, call, |_| true)?;
    }
    let mut key = false;
    for word in call.words.iter().skip(1) {
        let (option, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let names_key = is_key_option(option);
        let is_key = key || names_key && !value.is_empty();
        if !is_key {
            scene.touches(actor, word)?;
        }
        key = names_key && value.is_empty();
    }
    Ok(output)
}

/// Whether an option names a file with settings.
fn is_settings_option(option: &str) -> bool {
    matches!(option, "-c" | "-f" | "-C") || option.contains("conf") || option.contains("settings")
}

/// Whether an option of any program names a key or certificate that the program uses and does not
/// show: `--key`, `--tls-cert`, `--identity-file`.
fn is_key_option(option: &str) -> bool {
    let Some(name) = option.strip_prefix('-') else {
        return false;
    };
    let name = name.strip_suffix("file").unwrap_or(name);
    let name = name.trim_end_matches(['-', '_']);
    let ends = [
        "key",
        "cert",
        "certificate",
        "identity",
        "cacert",
        "keystore",
        "creds",
    ];
    let last = name.rsplit(['-', '_', '.']).next().unwrap_or("");
    ends.contains(&last) || ["tlskey", "tlscert", "sslkey", "sslcert", "privkey"].contains(&last)
}

/// Runs a program by its entry. Returns what it prints, and whether that is what an inner program
/// prints.
fn run_spec(
    scene: &mut Scene<'_>,
    spec: &Arc<Spec>,
    call: &Call<'_>,
    actor: &Actor,
) -> Fueled<(Value, bool)> {
    let bundles = call.words.iter().filter(|w| w.text.starts_with('-'));
    let letters: usize = bundles.map(|w| w.text.len()).sum();
    scene.fuel.spend(3 * (call.words.len() + letters) as u64)?;
    let shows_help = |word: &Value| match word.text.as_str() {
        "--help" | "--version" | "-V" => true,
        // For a program without commands, they are files.
        "help" | "version" => !spec.sub.is_empty(),
        _ => false,
    };
    if let [_, only] = call.words
        && shows_help(only)
    {
        return Ok((Value::unknown(Origins::OUTPUT), false));
    }
    let words = spec.handler.and_then(|h| units::words(h, scene, call));
    let parsed = args::parse(spec, words.as_deref().unwrap_or(call.words));
    let mut actor = actor.clone();
    actor.tag(parsed.tags.iter().copied());
    for handler in &parsed.handlers {
        actor.tag(units::tags(*handler, scene, call, &parsed));
    }
    if parsed.handlers.contains(&handler::Handler::Git) {
        actor.refs = refs::of(scene, &parsed);
    }
    packages::usual_index(scene, &parsed, &mut actor);
    actor.tag(target::tags(scene, call, &parsed));
    let chosen = parsed.chosen();
    for handler in &parsed.handlers {
        let run = Run {
            call,
            parsed: &parsed,
            chosen,
            actor: &actor,
        };
        if let Some(output) = units::before(*handler, scene, run)? {
            return Ok((output, false));
        }
    }
    actor.tag(chosen.iter().flat_map(|s| s.tags.iter().copied()));
    actor.tags.extend(values::mode_tags_of(&parsed));
    let run = Run {
        call,
        parsed: &parsed,
        chosen,
        actor: &actor,
    };
    let before = scene.effects.len();
    does(scene, run)?;
    unsettled::settles(scene, run)?;
    weights::of_known(scene, run)?;
    services::of_known(scene, run)?;
    target::receives(scene, run)?;
    uploads::by_options(scene, call, &actor)?;
    carried::out(scene, call, &actor, true)?;
    setters::sets(scene, run)?;
    let outer_cwd = scene.cwd.clone();
    let marks = scene.marks.len();
    scene.marks.extend(parsed.inside);
    let elevates = |(kind, _): &(Kind, _)| *kind == Kind::Elevate;
    if parsed.spec.does.iter().any(elevates) {
        scene.marks.push(Tag::Elevated);
    }
    let outer_mounts = scene.mounts.clone();
    if parsed.inside == Some(Tag::Container) {
        values::enter_container(scene, &parsed);
    }
    let loaded = scene.loaded.clone();
    let output = carry_out(scene, spec, run)?;
    let output = kinds::shows(scene, run, output)?;
    packages::whole_index(scene, run, before)?;
    packages::sources(scene, call, &actor, before)?;
    loads::by_names(scene, call, &actor)?;
    inner::runs(scene, run)?;
    scene.loaded = loaded;
    scene.mounts = outer_mounts;
    scene.cwd = outer_cwd;
    scene.marks.truncate(marks);
    if actor.is(Tag::List) {
        // Names, and nothing of what they stand for.
        return Ok((output.without_loaded(), false));
    }
    let runs = |(role, _): &(Role, bool)| matches!(role, Role::Argv | Role::ArgvAndInput);
    let passes = actor.is(Tag::Interpreter) || parsed.spec.operands.last().is_some_and(runs);
    Ok((output, passes))
}

/// Goes through the arguments, then does what needs all of them.
fn carry_out(scene: &mut Scene<'_>, spec: &Spec, run: Run<'_>) -> Fueled<Value> {
    let parsed = run.parsed;
    let mut gathered = Gathered::default();
    // Where it works comes first: all other paths depend on it.
    for given in &parsed.options {
        if let Some((Role::Cwd, value)) = &given.value {
            scene.enter(value);
        }
    }
    for given in &parsed.options {
        // Variables from a file go to the program, not to the screen: what it shows of them counts.
        if let Some((role, path)) = &given.value
            && (*role == Role::Variables || given.name.contains("env-file"))
        {
            scene.load_secrets(path);
            continue;
        }
        if let Some((role, value)) = &given.value {
            let other = run.chosen.and_then(|s| s.options.get(&given.name));
            let mut role = other.and_then(|m| m.value).unwrap_or(*role);
            if role == Role::Data && is_key_option(&given.name) {
                role = Role::Key;
            }
            if role == Role::Read && is_settings_option(&given.name) {
                scene.obeys(run.actor, value)?;
            }
            gathered.argument(scene, run, role, value)?;
        }
    }
    gathered.operands(scene, run)?;
    gathered.standard_input(scene, run)?;
    let target = gathered.urls.first().or(gathered.connections.first());
    if let Some(target) = target {
        network::carried(scene, run, target)?;
    }
    for handler in &parsed.handlers {
        units::after(*handler, scene, run, &gathered)?;
    }
    folder::run_build_files(scene, &spec.builds, run)?;
    folder::run_known_files(scene, &parsed.spec.runs, run)?;
    if !gathered.commands.is_empty() && run.actor.is(Tag::Interpreter) {
        // `sh -c 'code' zero one …`
        scene.positional = parsed.operands.get(1..).unwrap_or(&[]).to_vec();
    }
    let mut output = outcome::finish(scene, run, gathered)?;
    scene.positional.clear();
    for handler in &parsed.handlers {
        output = units::finish(*handler, scene, run, output);
    }
    Ok(output)
}

fn does(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let does = match run.chosen {
        Some(spec) if !spec.does.is_empty() => &spec.does,
        _ => &run.parsed.spec.does,
    };
    let text = Value::join(run.call.words.get(1..).unwrap_or(&[]), " ").text;
    let subs: Vec<&str> = run.parsed.subs.iter().map(String::as_str).collect();
    let shows_help = run.parsed.given(&["--help"]);
    let deletes = scene.know.verbs.deletes(&subs) && !shows_help;
    for (kind, tags) in does {
        let mut effect = run.actor.does(*kind);
        for tag in tags {
            effect = effect.tagged(*tag);
        }
        if *kind == Kind::Remote && deletes {
            effect = effect.tagged(Tag::Delete);
        }
        scene.emit(effect.about(&text))?;
    }
    // `helmfile destroy`: without a name, all of it.
    let all = matches!(
        run.parsed.spec.operands.first(),
        Some((Role::About(Kind::Remote), _))
    );
    if all && deletes && run.parsed.operands.is_empty() && does.is_empty() {
        scene.emit(run.actor.does(Kind::Remote).about(&text))?;
    }
    Ok(())
}

/// The command as evaluated, for people.
pub(crate) fn evidence(words: &[Value]) -> String {
    let length: usize = words.iter().map(|word| word.text.len() + 1).sum();
    let mut text = String::with_capacity(length.min(512));
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.text);
        if text.len() > 400 {
            break;
        }
    }
    if text.contains(HOLE) {
        text = text.replace(HOLE, "…");
    }
    crate::json::shorten(&text, 200)
}

#[cfg(test)]
mod tests {
    use super::is_key_option;

    #[test]
    fn options_that_name_keys_are_known_by_their_ends() {
        for option in [
            "--key",
            "--tls-cert",
            "--identity-file",
            "--ca.cert",
            "-key",
        ] {
            assert!(is_key_option(option), "{option}");
        }
        for option in ["key", "--keyword", "--output", "--certify", "-k"] {
            assert!(!is_key_option(option), "{option}");
        }
    }
}
