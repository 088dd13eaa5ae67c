//! Programs that a table cannot tell: wrappers, environments, links, processes.

use super::Call;
use super::args::{Given, Parsed};
use super::handler::Handler;
use super::role::Role;
use super::units::Run;
use crate::effect::{Actor, Effect, Kind};
use crate::host::HostClass;
use crate::language::programs;
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// tmux takes several commands, each ended by a word that ends in `;`. `None`: there is only one.
pub(super) fn commands_of_tmux(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<Option<Value>> {
    let mut commands = vec![Vec::new()];
    for word in call.words.iter().skip(1) {
        let last = word.text.strip_suffix(';').filter(|w| !w.ends_with('\\'));
        if let Some(command) = commands.last_mut().filter(|_| last != Some("")) {
            command.push(last.map_or_else(|| word.clone(), |kept| word.map(kept)));
        }
        if last.is_some() {
            commands.push(Vec::new());
        }
    }
    if commands.len() == 1 {
        return Ok(None);
    }
    for command in commands.iter().filter(|command| !command.is_empty()) {
        let program = call.words.first().into_iter();
        let words: Vec<Value> = program.chain(command).cloned().collect();
        scene.argv(&words, None)?;
    }
    Ok(Some(Value::unknown(Origins::OUTPUT)))
}

/// Options as Windows writes them, `/S /Q`, with dashes.
pub(super) fn with_dashes(words: &[Value]) -> Option<Vec<Value>> {
    let is_option = |word: &Value| {
        let letter = word.text.strip_prefix('/').filter(|rest| rest.len() == 1);
        letter.is_some_and(|letter| letter.chars().all(|c| c.is_ascii_alphabetic()))
    };
    words.iter().any(is_option).then(|| {
        let dashed = |word: &Value| {
            if is_option(word) {
                word.map(word.text.replace('/', "-"))
            } else {
                word.clone()
            }
        };
        words.iter().map(dashed).collect()
    })
}

/// A patch as agents write it, given as an argument or as input.
pub(super) fn apply_patch(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled<Value> {
    let body = call.words.get(1).or(call.stdin).cloned();
    crate::patch::apply(scene, actor, &body.unwrap_or_default())?;
    Ok(Value::unknown(Origins::OUTPUT))
}

/// Links, mounts, and copies of programs, lead to the same thing under another name.
pub(super) fn links(handler: Handler, scene: &mut Scene<'_>, parsed: &Parsed) {
    let binds = |name: &str, value: &str| match name {
        "-o" | "--options" => value.contains("bind"),
        name => matches!(name, "--bind" | "--rbind" | "--move" | "-B" | "-R" | "-M"),
    };
    let given = |o: &Given| binds(&o.name, o.value.as_ref().map_or("", |(_, v)| &v.text));
    if handler == Handler::Mount && !parsed.options.iter().any(given) {
        return;
    }
    let into = parsed.value_of(&["-t", "--target-directory"]);
    let (targets, link) = match (parsed.operands.as_slice(), into) {
        ([target, link], None) => (std::slice::from_ref(target), link.clone()),
        // `ln -s /a/b` makes `./b`.
        ([_], None) if handler == Handler::Link => (parsed.operands.as_slice(), Value::known("./")),
        (targets, Some(folder)) | ([targets @ .., folder], None) => (targets, in_folder(folder)),
        ([], None) => return,
    };
    for target in targets {
        let from = scene.place(target);
        let copies = from.is(PathClass::Binary) && !scene.place(&link).is(PathClass::System);
        // What is moved stays what it was under its new name.
        let moved = handler == Handler::Move && (from.is(PathClass::Secret) || !from.is_harmless());
        if handler == Handler::Move {
            scene.note_moved(target, &link);
        }
        if handler == Handler::Link && parsed.given(&["-s", "--symbolic"]) {
            scene.symbolic_link(target, &link);
        } else if matches!(handler, Handler::Link | Handler::Mount) || copies || moved {
            scene.link(target, &link);
        }
    }
}

fn in_folder(folder: &Value) -> Value {
    folder.map(format!("{}/", folder.text))
}

/// A program that is not known, and among its words one that is and gets options: a wrapper.
pub(super) fn wrapped(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled<bool> {
    let words = call.words;
    // A shell and an address: whatever the program is called, it joins them.
    let is_shell = |w: &Value| {
        let named = w.text.starts_with('/') || w.text.strip_suffix(".exe").is_some();
        named && programs::is_shell(&w.text)
    };
    let is_address = |w: &&Value| {
        let known = scene.know.hosts.host(w);
        known.class == HostClass::External && known.name.parse::<std::net::IpAddr>().is_ok()
    };
    if words.iter().skip(1).any(is_shell)
        && let Some(address) = words.iter().skip(1).find(is_address)
    {
        scene.reaches(actor, Kind::RemoteShell, address)?;
    }
    // A whole pipeline as one argument: what runs it does not matter if it opens the machine.
    for word in words.iter().skip(1).filter(|w| w.text.contains(['|', ';'])) {
        let before = scene.effects.len();
        scene.suspect(actor, word)?;
        let opens = |e: &Effect| {
            matches!(
                e.kind,
                Kind::RemoteShell | Kind::ExecuteFetched | Kind::ExecuteDecoded
            )
        };
        let mut at = 0;
        scene.effects.retain(|e| {
            at += 1;
            at <= before || opens(e)
        });
    }
    for (at, word) in words.iter().enumerate().skip(1) {
        let next = words.get(at + 1).map_or("", |w| w.text.as_str());
        if programs::is_telling(&word.text) && next.starts_with('-') {
            scene.argv(words.get(at..).unwrap_or(&[]), call.stdin)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// `NAME=value` before a program, or in `export`.
pub(super) fn environment(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let Some((name, content)) = value.text.split_once('=') else {
        return Ok(());
    };
    let content = value.map(content);
    scene.set_environment(actor, name, &content)
}

/// `exec=command` of tar.
pub(super) fn exec_action(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let command = value.text.strip_prefix("exec=");
    let run = |command| scene.shell(actor, &value.map(command)).map(drop);
    command.map_or(Ok(()), run)
}

/// `key=value` of a program, `build.rustc-wrapper="x"`: some settings name a program or a file to run.
pub(super) fn setting(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let (key, content) = value.text.split_once('=').unwrap_or((&value.text, ""));
    let content = value.map(content.trim().trim_matches(['"', '\'']));
    if programs::setting_runs(key) && !content.text.is_empty() {
        if content.text.contains("://") {
            let code = scene.fetch(actor, &content)?;
            return scene.executes(actor, &code);
        }
        scene.apart(|scene| scene.shell(actor, &content))?;
    }
    scene.touches(actor, value)
}

/// `env [options] [NAME=value]… program …`
pub(super) fn env(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled<Value> {
    let Run {
        call,
        parsed,
        actor,
        ..
    } = run;
    let outer = scene.cwd.clone();
    for given in &parsed.options {
        if matches!(
            given.name.as_str(),
            "-u" | "--unset" | "-i" | "-" | "--ignore-environment"
        ) {
            let name = given.value.as_ref().map_or("*", |(_, v)| v.text.as_str());
            let effect = actor
                .does(Kind::Env)
                .tagged(Tag::Unset)
                .about(&format!("{name}="));
            scene.emit(effect)?;
        }
        match &given.value {
            Some((Role::Cwd, value)) => scene.enter(value),
            Some((Role::Shell, code)) => {
                // `-S` splits a text into words; as a shell reads it, they are the same words.
                let mut code = code.clone();
                for operand in &parsed.operands {
                    code.push_text(" ");
                    code.push(operand);
                }
                let output = scene.shell(actor, &code)?;
                scene.cwd = outer;
                return Ok(output);
            }
            _ => {}
        }
    }
    let assigned = assignments(&parsed.operands);
    let output = scene.apart(|scene| {
        for operand in parsed.operands.iter().take(assigned) {
            environment(scene, actor, operand)?;
        }
        match parsed.operands.get(assigned..) {
            Some(words) if !words.is_empty() => scene.argv(words, call.stdin),
            _ => Ok(scene.environment()),
        }
    })?;
    scene.cwd = outer;
    Ok(output)
}

/// How many of the words, from the first, are `NAME=value`.
pub(super) fn assignments(words: &[Value]) -> usize {
    let is_assignment = |w: &&Value| w.text.split_once('=').is_some_and(|(n, _)| is_name(n));
    words.iter().take_while(is_assignment).count()
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'%')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}
