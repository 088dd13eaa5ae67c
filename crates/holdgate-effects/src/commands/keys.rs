//! Arguments with a small language of their own: `key=value …`, JSON, settings of package managers.

use super::args::Parsed;
use super::role::Role;
use super::spec::Style;
use super::special;
use super::units::Run;
use crate::code::{filled, words_of};
use crate::effect::{Actor, Kind};
use crate::json::{Json, LoneSurrogates};
use crate::language::{programs, variables};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;
use std::collections::HashMap;

/// Keys that one argument may set.
const MAX_KEYS: usize = 64;
/// Settings of package managers that name a program which they run.
const RUNS: [&str; 6] = [
    "script-shell",
    "shell",
    "git",
    "init-module",
    "yarnpath",
    "yarn-path",
];
/// Where a module writes if its arguments do not say so.
const USUAL: [(&str, &str); 1] = [("authorized_key", "path=~/.ssh/authorized_keys")];

/// `ansible HOSTS -m MODULE -a 'key=value …'`: the table has an entry `ansible.MODULE`, whose options
/// are the keys. On this machine nothing is remote.
pub(super) fn ansible(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let Run { parsed, actor, .. } = run;
    let module = parsed.value_of(&["-m", "--module-name"]);
    let module = module.map_or("command", |module| module.text.as_str());
    let module = module.rsplit('.').next().unwrap_or(module);
    let name = format!("ansible.{module}");
    let mut words = vec![Value::known(name.as_str())];
    if let Some(arguments) = parsed.value_of(&["-a", "--args"]) {
        scene.fuel.spend_on(arguments.text.len())?;
        let entry = scene.know.commands.get(&name).and_then(Result::ok);
        if entry.is_some_and(|entry| entry.style == Style::Raw) {
            words.push(arguments.clone());
        } else {
            words.extend(pairs(arguments));
        }
        for word in &mut words {
            if word.text.contains("{{") {
                let value = filled(scene, &word.text, &HashMap::new())?;
                word.text.clone_from(&value.text);
                word.taint(&value);
            }
        }
    }
    for (_, usual) in USUAL.iter().filter(|(named, _)| *named == module) {
        words.push(Value::known(*usual));
    }
    let here = |host: &Value| matches!(host.text.as_str(), "localhost" | "127.0.0.1" | "::1");
    let by = parsed.value_of(&["-c", "--connection"]);
    let local = parsed.operands.iter().any(here) || by.is_some_and(|by| by.text == "local");
    let outer = scene.marks.clone();
    if local {
        scene.marks.retain(|mark| *mark != Tag::Remote);
        if parsed.given(&["-b", "--become", "-K", "--ask-become-pass"]) {
            scene.emit(actor.does(Kind::Elevate).about(&actor.evidence))?;
            scene.marks.push(Tag::Elevated);
        }
    }
    let done = scene.apart(|scene| scene.argv(&words, None));
    scene.marks = outer;
    done.map(drop)
}

/// The `key=value` of a text, or of an object of JSON.
fn pairs(text: &Value) -> Vec<Value> {
    if text.text.trim_start().starts_with('{')
        && let Ok(Json::Object(fields)) =
            Json::read(text.text.trim().as_bytes(), 8, LoneSurrogates::Refuse)
    {
        let pair = |(key, value): &(_, Json<'_>)| match value {
            Json::String(value) => Some(text.map(format!("{key}={value}"))),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
        };
        return fields.iter().filter_map(pair).take(MAX_KEYS).collect();
    }
    let words = words_of(&text.text);
    words.into_iter().map(|word| text.map(word)).collect()
}

/// `npm config set key=value`, `yarn config set key value`, `gem sources --add address`: some settings
/// say what runs, where packages come from, or whom to trust.
pub(super) fn package_settings(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let values = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let sources = values.filter(|(role, _)| *role == Role::Index);
    let operands = sources.map(|(_, value)| value).chain(&parsed.operands);
    let mut operands = operands.take(MAX_KEYS);
    while let Some(operand) = operands.next() {
        let setting = if operand.text.contains('=') {
            operand.clone()
        } else if operand.text.starts_with("http") && operand.text.contains("://") {
            operand.map(format!("registry={}", operand.text))
        } else if let Some(value) = operands.next() {
            let mut setting = operand.map(format!("{}=", operand.text));
            setting.push(value);
            setting
        } else {
            continue;
        };
        package_setting(scene, actor, &setting)?;
    }
    Ok(())
}

fn package_setting(scene: &mut Scene<'_>, actor: &Actor, setting: &Value) -> Fueled {
    let (key, value) = setting.text.split_once('=').unwrap_or((&setting.text, ""));
    let key = key.trim().to_ascii_lowercase();
    let value = value.trim();
    let mut effect = actor.does(Kind::System).tagged(Tag::NpmConfig);
    let trust = key.replace(['-', '_'], "");
    let off = matches!(value, "false" | "0" | "off");
    let checks = [
        "strictssl",
        "sslverify",
        "gosumdb",
        "securehttp",
        "disabletls",
    ];
    if off && checks.iter().any(|check| trust.ends_with(check)) || trust == "goinsecure" {
        effect = effect.tagged(Tag::Weakens);
    }
    let address = value.contains("://").then(|| setting.map(value));
    // What goes through a proxy is still from where it says.
    let address = address.filter(|_| !trust.contains("proxy") || trust == "goproxy");
    if let Some(tag) = address.as_ref().and_then(|url| scene.doubt(url)) {
        effect = effect.tagged(tag);
    }
    let runs = RUNS.contains(&key.as_str());
    let named = !value.contains('/') || programs::is_shell(value);
    // `go env -w GOFLAGS=…`, `npm config set node-options …`: variables that stay.
    let variable = key.rsplit('.').next().unwrap_or(&key);
    let variable = variable.replace('-', "_").to_ascii_uppercase();
    let injects = variables::loads(&variable, value);
    if runs && !named && !value.is_empty() || injects {
        effect = effect.tagged(Tag::RunsProgram);
    }
    let about = address.as_ref().unwrap_or(setting);
    scene.emit(effect.about(&about.text).of(setting))?;
    special::setting(scene, actor, setting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_json_are_words() {
        let json = Value::known("{\"path\": \"/x\", \"n\": 1}");
        let pairs: Vec<String> = pairs(&json).into_iter().map(|p| p.text).collect();
        assert_eq!(pairs, ["path=/x"]);
    }
}
