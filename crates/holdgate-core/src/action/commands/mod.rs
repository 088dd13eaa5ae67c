//! What programs do with their arguments: a command line to effects.

mod args;
mod find;
mod folder;
mod git;
mod network;
mod reads;
mod role;
mod spec;
mod special;
pub(crate) mod values;

pub(crate) use role::Role;
pub use spec::CommandTable;

use crate::action::effect::{Actor, Kind};
use crate::action::scene::{Done, Scene};
use crate::action::value::{HOLE, Origins, Value};
use args::Parsed;
use spec::{Prints, Spec};
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
    let Some(spec) = know.commands.get(call.program) else {
        return unknown(scene, call, actor);
    };
    run_spec(scene, spec, call, actor)
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
    if call.program == "git" && actor.is("config") {
        git::config_command(scene, &parsed, &actor)?;
    }
    actor.tag(git::tags(call.program, &parsed));
    actor.tag(reads::tags(call.program, &parsed));
    network::usual_index(scene, &parsed, &mut actor);
    if let Some(handler) = &parsed.spec.handler
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
        if role_of(&parsed.spec.operands, at, parsed.operands.len()) == Role::ModeBits {
            actor.tags.extend(values::mode_tags(&operand.text));
        }
    }
    does(scene, &parsed, chosen, call, &actor)?;
    let outer_cwd = scene.cwd.clone();
    let marks = scene.marks.len();
    scene.marks.extend(parsed.inside.clone());
    if parsed
        .spec
        .does
        .iter()
        .any(|(kind, _)| *kind == Kind::Elevate)
    {
        scene.marks.push("elevated".into());
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
            act(
                scene,
                other.unwrap_or(*role),
                value,
                call,
                &actor,
                &mut gathered,
            )?;
        }
    }
    operands(scene, &parsed, chosen, call, &actor, &mut gathered)?;
    standard_input(scene, &parsed, chosen, call, &actor, &mut gathered)?;
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
    git::destinations(scene, call.program, &parsed, &actor)?;
    reads::revisions(scene, call.program, &parsed, &actor)?;
    reads::searches_here(scene, call, &parsed, &actor)?;
    folder::runs_what_lies_here(scene, call.program, &parsed, &actor)?;
    if !gathered.commands.is_empty() && actor.is("interpreter") {
        // `sh -c 'code' zero one …`
        scene.positional = parsed.operands.get(1..).unwrap_or(&[]).to_vec();
    }
    if actor.is("pkg") && actor.is("set") {
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
    let output = finish(scene, &parsed, chosen, &actor, gathered)?;
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
            effect = effect.tagged(tag);
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

fn operands(
    scene: &mut Scene<'_>,
    parsed: &Parsed,
    chosen: Option<&Spec>,
    call: &Call<'_>,
    actor: &Actor,
    gathered: &mut Gathered,
) -> Done {
    let roles = match chosen {
        Some(spec) if !spec.operands.is_empty() => &spec.operands,
        _ => &parsed.spec.operands,
    };
    let count = parsed.operands.len();
    if !parsed.command.is_empty() {
        gathered.output = Some(scene.argv(&parsed.command, call.stdin)?);
    }
    for (at, operand) in parsed.operands.iter().enumerate() {
        let role = role_of(roles, at, count);
        if matches!(role, Role::Argv | Role::ArgvAndInput) {
            let words = parsed.operands.get(at..).unwrap_or(&[]);
            // `sudo NAME=value program`
            let is_assignment = |w: &&Value| {
                w.text
                    .split_once('=')
                    .is_some_and(|(n, _)| special::is_name(n))
            };
            let assigned = words.iter().take_while(is_assignment).count();
            for word in words.iter().take(assigned) {
                special::environment(scene, actor, word)?;
            }
            let words = words.get(assigned..).unwrap_or(&[]);
            let listed = gathered.reads.then(|| gathered.input.clone());
            let input = listed.as_ref().or(call.stdin);
            let mark = parsed
                .options
                .iter()
                .find(|o| matches!(o.name.as_str(), "-I" | "--replace" | "-i"));
            let mark = mark
                .and_then(|o| o.value.as_ref())
                .map_or("{}", |(_, v)| v.text.as_str());
            let words = values::with_input(words, role, input, mark);
            gathered.output = Some(scene.argv(&words, call.stdin.filter(|_| role == Role::Argv))?);
            break;
        }
        if role == Role::Module {
            let words = parsed.operands.get(at..).unwrap_or(&[]);
            gathered.output = Some(scene.argv(words, call.stdin)?);
            break;
        }
        act(scene, role, operand, call, actor, gathered)?;
    }
    Ok(())
}

/// The role of operand `at` of `count`. What follows a repeating role is counted from the end.
fn role_of(roles: &[(Role, bool)], at: usize, count: usize) -> Role {
    let Some(repeating) = roles.iter().position(|(_, repeats)| *repeats) else {
        return roles.get(at).map_or(Role::Data, |(role, _)| *role);
    };
    let after = roles.len() - repeating - 1;
    let index = if at < repeating {
        at
    } else if count - at <= after && at > repeating {
        roles.len() - (count - at)
    } else {
        repeating
    };
    roles.get(index).map_or(Role::Data, |(role, _)| *role)
}

fn standard_input(
    scene: &mut Scene<'_>,
    parsed: &Parsed,
    chosen: Option<&Spec>,
    call: &Call<'_>,
    actor: &Actor,
    gathered: &mut Gathered,
) -> Done {
    let Some(stdin) = call.stdin else {
        return Ok(());
    };
    let role = chosen.and_then(|s| s.stdin).or(parsed.spec.stdin);
    let dash = parsed
        .operands
        .iter()
        .any(|o| o.text == "-" || o.text == "/dev/stdin");
    // An interpreter that was given a script or code reads its data from there, not its code.
    let runs_it = |role: Role| {
        matches!(
            role,
            Role::Shell
                | Role::Code(_)
                | Role::Script(_)
                | Role::Source
                | Role::Module
                | Role::Argv
                | Role::Sql
        )
    };
    let count = parsed.operands.len();
    let has_code = (0..count).any(|at| runs_it(role_of(&parsed.spec.operands, at, count)))
        || parsed
            .options
            .iter()
            .any(|o| matches!(&o.value, Some((role, _)) if runs_it(*role)));
    let forced = parsed
        .options
        .iter()
        .any(|o| matches!(o.name.as_str(), "-s" | "-i"));
    if let Some(role) = role {
        let runs = matches!(role, Role::Shell | Role::Code(_) | Role::Sql);
        if call.program == "ssh" && has_code {
            // The command over there reads it.
            if let Some(host) = gathered.connections.first().cloned() {
                let mut actor = actor.clone();
                actor.tags.push("transfer".into());
                scene.send(&actor, &host, stdin)?;
            }
            return Ok(());
        }
        if !runs || !has_code || dash || forced {
            let stdin = values::schedule_lines(call.program, stdin);
            return act(scene, role, &stdin, call, actor, gathered);
        }
        return Ok(());
    }
    if !gathered.reads || dash {
        gathered.input.push(stdin);
    }
    Ok(())
}

/// What one argument does.
fn act(
    scene: &mut Scene<'_>,
    role: Role,
    value: &Value,
    call: &Call<'_>,
    actor: &Actor,
    gathered: &mut Gathered,
) -> Done {
    scene.fuel.spend(2)?;
    let is_dash = value.text == "-";
    match role {
        Role::Data
        | Role::Cwd
        | Role::Argv
        | Role::ArgvAndInput
        | Role::Module
        | Role::ModeBits => {}
        Role::Read | Role::Write if is_dash => {}
        Role::Read => {
            let content = if value.text.contains("://") && !value.text.starts_with("file:") {
                scene.fetch(actor, value)?
            } else {
                scene.read(actor, value)?
            };
            gathered.input.push(&content);
            gathered.reads = true;
        }
        Role::Write => gathered.writes.push((value.clone(), actor.is("append"))),
        Role::Append => gathered.writes.push((value.clone(), true)),
        Role::Delete if is_root_if_unset(value) => {
            let mut actor = actor.clone();
            actor.tag(["root-if-unset".into()]);
            scene.delete(&actor, value)?;
        }
        Role::Delete => scene.delete(actor, value)?,
        Role::Move => {
            let content = scene.content(value);
            gathered.input.push(&content);
            scene.touch(actor, Kind::Move, value)?;
        }
        Role::Mode => scene.touch(actor, Kind::Mode, value)?,
        Role::Fetch => gathered.urls.push(value.clone()),
        Role::Send => {
            let data = network::data_to_send(scene, actor, value, call.stdin)?;
            gathered.sent.push(data);
        }
        Role::SendFile => {
            let data = if is_dash {
                call.stdin.cloned().unwrap_or_default()
            } else {
                scene.read(actor, value)?
            };
            gathered.sent.push(data);
        }
        Role::Connect => {
            gathered.connections.push(value.clone());
            let host = scene.know.hosts.host(value);
            scene.emit(actor.does(Kind::Connect).with(host).about(&value.text))?;
        }
        Role::Listen => scene.emit(actor.does(Kind::Listen).about(&value.text))?,
        Role::Transfer => gathered.transfers.push(value.clone()),
        Role::Shell => gathered.commands.push(value.clone()),
        Role::Code(language) => {
            // What is piped in is what the code reads from its standard input.
            let name = crate::action::code::STANDARD_INPUT;
            if let Some(stdin) = call.stdin {
                scene.variables.insert(name.to_owned(), vec![stdin.clone()]);
            }
            let mut code = value.clone();
            let stays = call.words.iter().any(|w| w.text == "-i");
            if let Some(stdin) = call.stdin.filter(|s| stays && s.is_known()) {
                // It goes on with what it reads.
                code.push_text("\n");
                code.push(stdin);
            }
            gathered.output = Some(scene.interpret(actor, language, &code)?);
            scene.variables.remove(name);
        }
        Role::Script(language) if is_dash => {
            if let Some(stdin) = call.stdin {
                gathered.output = Some(scene.interpret(actor, language, stdin)?);
            }
        }
        Role::Script(language) => {
            if actor.is("shows-source") {
                scene.read(actor, value)?;
            }
            if !is_dash {
                gathered.output = Some(scene.script(actor, language, value)?);
            }
        }
        Role::Source => {
            let code = scene.read(actor, value)?;
            if code.is_known()
                || code
                    .origins
                    .any(Origins::FETCHED | Origins::DECODED | Origins::OUTPUT)
            {
                gathered.output = Some(scene.shell(actor, &code)?);
            }
        }
        Role::Env => special::environment(scene, actor, value)?,
        Role::GitConfig => git::config(scene, actor, value)?,
        Role::ExecAction => {
            if let Some(command) = value.text.strip_prefix("exec=") {
                scene.shell(actor, &value.map(command.to_owned()))?;
            }
        }
        Role::Patch => {
            let is_file = !value.text.contains('\n') && !value.text.starts_with("***");
            if is_file && value.is_known() {
                scene.read(actor, value)?;
            } else if value.is_known() && !value.text.trim().is_empty() {
                crate::action::patch::apply(scene, actor, value)?;
            }
        }
        Role::Mount => values::mount(scene, actor, value)?,
        Role::Sql => values::sql(scene, actor, value)?,
        Role::Install => network::install(scene, actor, value)?,
        Role::Kill => special::kill(scene, actor, value)?,
        Role::About(kind) => scene.emit(actor.does(kind).about(&value.text).of(value))?,
    }
    Ok(())
}

/// `$UNSET/*`: all there is, if nothing has set the variable.
fn is_root_if_unset(value: &Value) -> bool {
    let rest = value.text.trim_start_matches(HOLE);
    value.origins == Origins::UNKNOWN
        && rest.len() < value.text.len()
        && matches!(rest, "/" | "/*" | "/.*" | "/**")
}

/// What needs all arguments at once: sending, transfers, and where the output goes.
fn finish(
    scene: &mut Scene<'_>,
    parsed: &Parsed,
    chosen: Option<&Spec>,
    actor: &Actor,
    gathered: Gathered,
) -> Done<Value> {
    let Gathered {
        mut input,
        urls,
        sent,
        writes,
        transfers,
        commands,
        output,
        connections,
        ..
    } = gathered;
    let mut output = output;
    if !commands.is_empty() {
        let mut code = Value::default();
        for (at, command) in commands.iter().enumerate() {
            if at > 0 {
                code.push_text(" ");
            }
            code.push(command);
        }
        output = Some(scene.shell(actor, &code)?);
        if actor.is("network") && (!connections.is_empty() || actor.is("listen")) {
            // What it runs, it joins to the connection.
            let host = connections.first().map(|c| scene.know.hosts.host(c));
            let mut effect = actor.does(Kind::RemoteShell);
            effect.host = host;
            scene.emit(effect)?;
        }
    }
    if !transfers.is_empty() {
        network::transfer(scene, actor, &transfers)?;
    }
    let mut fetched = Value::default();
    for url in &urls {
        for data in &sent {
            fetched.push(&scene.send(actor, url, data)?);
        }
        if sent.is_empty() {
            fetched.push(&scene.fetch(actor, url)?);
        }
    }
    if urls.is_empty() && !sent.is_empty() {
        let nowhere = [Value::unknown(Origins::UNKNOWN)];
        let targets = if connections.is_empty() {
            &nowhere[..]
        } else {
            &connections
        };
        for (target, data) in targets
            .iter()
            .flat_map(|t| sent.iter().map(move |d| (t, d)))
        {
            scene.send(actor, target, data)?;
        }
    }
    if !urls.is_empty() {
        input.push(&fetched);
    }
    let prints = match chosen {
        Some(spec) if spec.prints != Prints::Input => spec.prints,
        _ => parsed.spec.prints,
    };
    let mut printed = match prints {
        Prints::Input => {
            if let Some(mut output) = output {
                if output.text.is_empty() {
                    output.text.push(HOLE);
                }
                output.taint(&input);
                output
            } else {
                // What a program makes of its input is not known, but where it comes from is.
                let known = input.origins | Origins::OUTPUT;
                let mut made = Value::unknown(known);
                made.taint(&input);
                made
            }
        }
        Prints::Report => Value::unknown(Origins::OUTPUT),
        Prints::Environment => Value::unknown(Origins::ENVIRONMENT).with_source("environment"),
        Prints::Secret => {
            scene.emit(actor.does(Kind::Read).tagged("secret-store"))?;
            Value::unknown(Origins::SECRET).with_source(&actor.program)
        }
        Prints::Decoded => {
            let mut made = Value::unknown(Origins::DECODED);
            made.taint(&input);
            made
        }
    };
    for (path, append) in &writes {
        // A program such as `tee` or `cp` writes what it read, to the letter.
        let copies = matches!(
            &*actor.program,
            "tee" | "cp" | "mv" | "dd" | "install" | "ln" | "sponge"
        );
        let content = if copies { &input } else { &printed };
        let content = if content.is_known() || copies {
            content.clone()
        } else {
            printed.clone()
        };
        scene.write(actor, path, &content, *append)?;
    }
    if matches!(&*actor.program, "tee" | "cat") {
        printed = input;
    }
    Ok(printed)
}
