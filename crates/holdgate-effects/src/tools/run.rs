//! Tools that run commands and code.

use super::code::run_code;
use super::fields::{Call, Fields, list_of_words};
use super::{Role, shape};
use crate::effect::{Actor, Kind};
use crate::json::Json;
use crate::language::Language;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::text;
use crate::value::Value;

/// More command text than this is refused unread.
const MAX_COMMAND: usize = 64 << 10;

/// Whether the text that runs is too long to be read; says so.
pub(super) fn too_long(scene: &mut Scene<'_>, actor: &Actor, texts: &[&str]) -> Fueled<bool> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    if bytes <= MAX_COMMAND {
        return Ok(false);
    }
    let effect = actor.does(Kind::Unreadable).tagged(Tag::TooLong);
    scene.emit(effect.about(&format!(
        "the command is {bytes} bytes long, more than the {MAX_COMMAND} that are read"
    )))?;
    Ok(true)
}

/// A call's folder is where its relative paths start.
pub(super) fn enter_folder(scene: &mut Scene<'_>, call: &Call<'_>) {
    if let Some(folder) = call.fields.text(Role::Folder) {
        scene.enter(&Value::known(folder));
    }
}

/// Command lines, and lists of words.
pub(super) fn shell(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    enter_folder(scene, call);
    let parts: Vec<Fields<'_>> = call
        .fields
        .items()
        .map(|item| Fields::of(scene, item))
        .collect::<Fueled<_>>()?;
    let all = || std::iter::once(&call.fields).chain(&parts);
    let texts = all().flat_map(|fields| {
        let roles = [Role::Command, Role::Shell, Role::Arguments, Role::Stdin];
        roles.map(|role| fields.texts(role)).concat()
    });
    if too_long(scene, &call.actor, &texts.collect::<Vec<_>>())? {
        return Ok(true);
    }
    for (_, variables) in call.fields.all(Role::Environment) {
        for (name, value) in variables.as_object().unwrap_or_default() {
            let value = Value::known(value.as_str().unwrap_or_default());
            scene.set_environment(&call.actor, name, &value)?;
        }
    }
    let mut found = false;
    for fields in all() {
        found |= commands(scene, call, fields)?;
    }
    if let Some(line) = call.fields.text(Role::Shell) {
        if !found {
            command_line(scene, call, &call.fields, line)?;
            return Ok(true);
        }
        // The one that the client is told to use may be any program.
        let program = [Value::known(line), Value::known("-c"), Value::known("")];
        scene.argv(&program, None)?;
    }
    Ok(found)
}

fn commands(scene: &mut Scene<'_>, call: &Call<'_>, fields: &Fields<'_>) -> Fueled<bool> {
    let mut found = false;
    // A program's name, with its arguments beside it.
    let is_program = |(key, _): &(&str, &Json<'_>)| key.eq_ignore_ascii_case("program");
    let program = fields.all(Role::Code).find(is_program);
    let has_arguments = fields.all(Role::Arguments).next().is_some();
    if let Some((_, Json::String(program))) = program.filter(|_| has_arguments) {
        command_line(scene, call, fields, program)?;
        found = true;
    }
    let line = fields.all(Role::Command).find_map(|(_, v)| v.as_str());
    for (key, value) in fields.all(Role::Command) {
        if let Json::String(line) = value {
            command_line(scene, call, fields, line)?;
            found = true;
            continue;
        }
        let Some(mut words) = list_of_words(value) else {
            // Objects in it are parts of their own; anything else is nothing that runs.
            continue;
        };
        found = true;
        let several = ["commands", "cmds"]
            .iter()
            .any(|k| key.eq_ignore_ascii_case(k));
        if several {
            let lines: Vec<&str> = words.iter().map(|line| line.text.as_str()).collect();
            command_line(scene, call, fields, &lines.join("\n"))?;
        } else {
            let only_options = words.first().is_some_and(|w| w.text.starts_with('-'));
            if let Some(program) = line.filter(|_| only_options) {
                words.insert(0, Value::known(program));
            }
            argv(scene, fields, &words)?;
        }
    }
    Ok(found)
}

fn command_line(scene: &mut Scene<'_>, call: &Call<'_>, fields: &Fields<'_>, line: &str) -> Fueled {
    if text::hides_in_words(line) {
        let effect = call
            .actor
            .does(Kind::Unreadable)
            .tagged(Tag::HiddenCharacters);
        scene.emit(effect.about("the command contains invisible characters"))?;
    }
    let rest = fields
        .all(Role::Arguments)
        .filter_map(|(_, value)| list_of_words(value))
        .flatten();
    let mut all: Vec<Value> = vec![Value::known(line)];
    all.extend(rest);
    // They come again for each spelling of the command's name that is there.
    scene.fuel.spend(all.len() as u64)?;
    if all.len() > 1 {
        argv(scene, fields, &all)?;
    }
    // A program's name alone with arguments beside it is no command line.
    if all.len() == 1 || line.contains(char::is_whitespace) {
        let fed = match fields.text(Role::Stdin) {
            None => line.to_owned(),
            Some(stdin) => {
                scene.fuel.spend_on(stdin.len())?;
                let Some(fed) = fed(line, stdin) else {
                    let effect = call.actor.does(Kind::Unreadable).tagged(Tag::Stdin);
                    return scene.emit(effect.about(
                        "the input of the command contains its end \
                                                    marker",
                    ));
                };
                fed
            }
        };
        scene.shell(&call.actor, &Value::known(fed))?;
    }
    Ok(())
}

/// A command line with a text that it reads, as one script.
fn fed(line: &str, stdin: &str) -> Option<String> {
    let mark = format!("END_OF_{}_BYTES", stdin.len());
    (!stdin.contains(&mark)).then(|| format!("{{ {line}\n}} <<'{mark}'\n{stdin}\n{mark}\n"))
}

fn argv(scene: &mut Scene<'_>, fields: &Fields<'_>, words: &[Value]) -> Fueled {
    if !words.is_empty() {
        let stdin = fields.text(Role::Stdin).map(Value::known);
        scene.argv(words, stdin.as_ref())?;
    }
    Ok(())
}

/// Code of a language that the tool, an argument, the tool's name or the code itself tells.
pub(super) fn code(scene: &mut Scene<'_>, call: &Call<'_>, roles: &[Role]) -> Fueled<bool> {
    enter_folder(scene, call);
    let texts: Vec<&str> = roles.iter().flat_map(|r| call.fields.texts(*r)).collect();
    if too_long(scene, &call.actor, &texts)? {
        return Ok(true);
    }
    for text in &texts {
        let language = shape::language(scene, call, text);
        run_code(scene, &call.actor, language, text)?;
    }
    // A workflow in a file: the interpreter is told to run it.
    let files = call.fields.paths();
    if texts.is_empty()
        && let (Some(path), Some(language)) = (files.first(), scene.know.tools.language(call.name))
    {
        let program = if language == Language::JavaScript {
            "node"
        } else {
            language.word()
        };
        scene.argv(&[Value::known(program), path.clone()], None)?;
    }
    Ok(!texts.is_empty() || !files.is_empty())
}

/// Reads what may be of that language or not: that it breaks the language's rules tells nothing.
pub(super) fn perhaps<T>(
    scene: &mut Scene<'_>,
    run: impl FnOnce(&mut Scene<'_>) -> Fueled<T>,
) -> Fueled<T> {
    let before = scene.effects.len();
    let result = run(scene)?;
    let mut at = 0;
    scene.effects.retain(|effect| {
        at += 1;
        at <= before || effect.kind != Kind::Unreadable || !effect.is(Tag::Syntax)
    });
    Ok(result)
}

/// `git_push {force: true}` as `git push --force`.
pub(super) fn git(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    enter_folder(scene, call);
    let name = call.name.rsplit_once("git_").map_or(call.name, |(_, n)| n);
    let verb = match name {
        "create_branch" => "branch".to_owned(),
        "diff_staged" | "diff_unstaged" => "diff".to_owned(),
        other => other.replace('_', "-"),
    };
    let mut words = vec![Value::known("git"), Value::known(verb)];
    for (key, value) in call.input.as_object().unwrap_or_default() {
        let roles = scene.know.tools.roles(key);
        if roles.has(Role::Folder)
            || (key == "path" && value.as_str().is_some_and(|p| p.starts_with('/')))
        {
            continue;
        }
        match value {
            Json::Bool(true) => words.push(Value::known(format!("--{}", key.replace('_', "-")))),
            Json::String(message) if key == "message" => {
                words.push(Value::known("-m"));
                words.push(Value::known(message.as_ref()));
            }
            Json::String(mode)
                if matches!(mode.as_ref(), "hard" | "soft" | "mixed" | "merge" | "keep") =>
            {
                words.push(Value::known(format!("--{mode}")));
            }
            Json::String(operand) => words.push(Value::known(operand.as_ref())),
            Json::Array(_) => words.extend(list_of_words(value).unwrap_or_default()),
            Json::Null | Json::Bool(false) | Json::Number(_) | Json::Object(_) => {}
        }
    }
    scene.argv(&words, None)?;
    Ok(true)
}
