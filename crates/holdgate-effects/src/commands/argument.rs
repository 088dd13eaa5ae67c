//! What one argument does, by its role.

use super::args::Parsed;
use super::role::Role;
use super::spec::Spec;
use super::{Call, Gathered, git, network, packages, processes, special, units, values};
use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};

pub(super) fn operands(
    scene: &mut Scene<'_>,
    parsed: &Parsed,
    chosen: Option<&Spec>,
    call: &Call<'_>,
    actor: &Actor,
    gathered: &mut Gathered,
) -> Fueled {
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
pub(super) fn role_of(roles: &[(Role, bool)], at: usize, count: usize) -> Role {
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

pub(super) fn standard_input(
    scene: &mut Scene<'_>,
    parsed: &Parsed,
    chosen: Option<&Spec>,
    call: &Call<'_>,
    actor: &Actor,
    gathered: &mut Gathered,
) -> Fueled {
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
        if let Some(host) = gathered.connections.first().cloned()
            && parsed.inside == Some(Tag::Remote)
            && has_code
        {
            // The command over there reads it.
            let mut actor = actor.clone();
            actor.tags.push(Tag::Transfer);
            scene.send(&actor, &host, stdin)?;
            return Ok(());
        }
        if !runs || !has_code || dash || forced {
            let stdin = units::input(&parsed.handlers, stdin);
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
pub(super) fn act(
    scene: &mut Scene<'_>,
    role: Role,
    value: &Value,
    call: &Call<'_>,
    actor: &Actor,
    gathered: &mut Gathered,
) -> Fueled {
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
        Role::Write => gathered.writes.push((value.clone(), actor.is(Tag::Append))),
        Role::Append => gathered.writes.push((value.clone(), true)),
        Role::Delete if is_root_if_unset(value) => {
            let mut actor = actor.clone();
            actor.tag([Tag::RootIfUnset]);
            scene.delete(&actor, value)?;
        }
        Role::Delete => scene.delete(actor, value)?,
        Role::Move => {
            let content = scene.content(value);
            gathered.input.push(&content);
            scene.touch(actor, Kind::Move, value)?;
        }
        Role::Mode => scene.touch(actor, Kind::Mode, value)?,
        Role::Fetch
        | Role::Send
        | Role::SendFile
        | Role::Connect
        | Role::Listen
        | Role::Transfer => talk(scene, role, value, call, actor, gathered)?,
        Role::Shell => gathered.commands.push(value.clone()),
        Role::Code(_) | Role::Script(_) | Role::Source => {
            interpret(scene, role, value, call, actor, gathered)?;
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
                crate::patch::apply(scene, actor, value)?;
            }
        }
        Role::Mount => values::mount(scene, actor, value)?,
        Role::Sql => values::sql(scene, actor, value)?,
        Role::Install => packages::install(scene, actor, value)?,
        Role::Kill => processes::kill(scene, actor, value)?,
        Role::About(kind) => scene.emit(actor.does(kind).about(&value.text).of(value))?,
    }
    Ok(())
}

/// What is asked of a host or sent to it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the caller hands over these roles only"
)]
fn talk(
    scene: &mut Scene<'_>,
    role: Role,
    value: &Value,
    call: &Call<'_>,
    actor: &Actor,
    gathered: &mut Gathered,
) -> Fueled {
    let is_dash = value.text == "-";
    match role {
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
        _ => scene.emit(actor.does(Kind::Unreadable).about(&value.text))?,
    }
    Ok(())
}

/// Code that runs: the argument itself, or the file that it names.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the caller hands over these roles only"
)]
fn interpret(
    scene: &mut Scene<'_>,
    role: Role,
    value: &Value,
    call: &Call<'_>,
    actor: &Actor,
    gathered: &mut Gathered,
) -> Fueled {
    let is_dash = value.text == "-";
    match role {
        Role::Code(language) => {
            // What is piped in is what the code reads from its standard input.
            let name = crate::scene::STANDARD_INPUT;
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
            if actor.is(Tag::ShowsSource) {
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
        _ => scene.emit(actor.does(Kind::Unreadable).about(&value.text))?,
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
