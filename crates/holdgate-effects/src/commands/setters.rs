//! Commands that write a setting of their own program: what the setting means counts as if the file had
//! been written by hand.

use super::units::Run;
use crate::effect::{Effect, Kind};
use crate::knowledge::setters::{Setter, is_key};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Settings of one command.
const MAX_PAIRS: usize = 16;

/// Names of tools that people set: they are looked for on the search path.
const USUAL: [&str; 32] = [
    "less",
    "more",
    "cat",
    "bat",
    "vim",
    "vi",
    "nvim",
    "nano",
    "emacs",
    "code",
    "hx",
    "delta",
    "true",
    "false",
    "store",
    "cache",
    "osxkeychain",
    "manager",
    "manager-core",
    "libsecret",
    "gh",
    "ssh",
    "gpg",
    "gpg2",
    "git-lfs",
    "diff-so-fancy",
    "meld",
    "input",
    "none",
    "firefox",
    "xdg-open",
    "open",
];

/// Whether a command is one that people set for an editor, a pager or a helper.
pub(super) fn is_usual(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or("");
    USUAL.contains(&program.rsplit('/').next().unwrap_or(""))
}

/// Notes what a setting means.
pub(super) fn sets(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let parsed = run.parsed;
    let known = parsed.subs.iter().map(String::as_str);
    let operands = parsed.operands.iter().map(|word| word.text.as_str());
    let words: Vec<&str> = known.chain(operands.take(3)).collect();
    let know = scene.know;
    let Some((setter, count)) = know.setters.find(run.call.program, &words) else {
        return Ok(());
    };
    let with: Vec<&str> = setter.with.iter().map(String::as_str).collect();
    if !with.is_empty() && !parsed.given(&with) {
        return Ok(());
    }
    let passed = count.saturating_sub(parsed.subs.len());
    let operands = parsed.operands.get(passed..).unwrap_or(&[]);
    for (key, value) in pairs(run, operands) {
        set(scene, run, setter, &key, &value)?;
    }
    Ok(())
}

/// Keys and values: `key value`, `key=value`, and options.
fn pairs(run: Run<'_>, operands: &[Value]) -> Vec<(String, Value)> {
    let mut pairs = Vec::new();
    let mut operands = operands.iter().peekable();
    while let Some(operand) = operands.next() {
        if let Some((key, value)) = operand.text.split_once('=') {
            pairs.push((key.to_owned(), operand.map(value)));
        } else if let Some(value) = operands.next_if(|next| !is_pair(&next.text)) {
            pairs.push((operand.text.clone(), value.clone()));
        } else if operand.text.contains("://") {
            pairs.push((String::new(), operand.clone()));
        }
    }
    for given in &run.parsed.options {
        let Some((_, value)) = &given.value else {
            pairs.push((given.name.clone(), Value::known("true")));
            continue;
        };
        // `--docker host=tcp://…,ca=…`
        let inner = value
            .text
            .split(',')
            .filter_map(|part| part.split_once('='));
        pairs.extend(inner.map(|(key, inner)| (key.to_owned(), value.map(inner))));
        pairs.push((given.name.clone(), value.clone()));
    }
    pairs.truncate(MAX_PAIRS);
    pairs
}

/// `host=tcp://…`, which is no value of the word before it.
fn is_pair(text: &str) -> bool {
    let name = text.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn set(scene: &mut Scene<'_>, run: Run<'_>, setter: &Setter, key: &str, value: &Value) -> Fueled {
    let place = scene.place(&Value::known(setter.file.as_str()));
    let note = |tag: Tag| -> Effect {
        let effect = run
            .actor
            .does(Kind::System)
            .tagged(Tag::ProgramSetting)
            .tagged(tag);
        let text = format!("{key}={}", value.text);
        effect.at(place.clone()).about(&text).of(value)
    };
    if is_key(&setter.runs, key) && !value.text.is_empty() && !is_usual(&value.text) {
        scene.emit(note(Tag::RunsProgram))?;
        scene.apart(|scene| scene.shell(run.actor, value))?;
    }
    if is_key(&setter.leads, key) && value.text.contains(['.', ':']) {
        let host = scene.know.hosts.host(value);
        if scene.know.hosts.is_unheard_of(&host) {
            scene.emit(note(Tag::Redirects).with(host))?;
        }
    }
    let off = matches!(value.text.as_str(), "true" | "false" | "no" | "0" | "off");
    if is_key(&setter.loosens, key) && off {
        scene.emit(note(Tag::Weakens))?;
    }
    Ok(())
}
