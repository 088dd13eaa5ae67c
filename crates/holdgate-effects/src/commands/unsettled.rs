//! Sub-commands that no entry settles. Their words say whether something goes away or a secret shows, and
//! the options beside a place whether it is emptied.

use super::Call;
use super::handler::Handler;
use super::role::Role;
use super::services;
use super::strangers;
use super::units::Run;
use super::weights;
use crate::effect::{Actor, Kind};
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Words that may be sub-commands.
const MAX_SUB: usize = 3;
/// A longer word is no sub-command.
const MAX_LENGTH: usize = 40;
/// Where programs are that are not the project's own scripts.
const INSTALLED: [&str; 6] = [
    "/usr/",
    "/bin/",
    "/opt/",
    "/snap/",
    "node_modules/.bin/",
    "venv/bin/",
];

/// A program that no entry knows. Returns what it prints, if that is a secret.
pub(super) fn unlisted(
    scene: &mut Scene<'_>,
    call: &Call<'_>,
    actor: &Actor,
) -> Fueled<Option<Value>> {
    empties(scene, call, actor)?;
    let written = call.words.first().map_or("", |word| word.text.as_str());
    let own = written.contains('/') && !INSTALLED.iter().any(|part| written.contains(part));
    if own {
        // It is judged by what it holds.
        return Ok(None);
    }
    let words = call.words.get(1..).unwrap_or(&[]);
    by_options(scene, actor, words)?;
    opens(scene, actor, words)?;
    strangers::says(scene, call, actor)?;
    services::of_unlisted(scene, call, actor)?;
    let service = scene.know.verbs.is_service_program(call.program);
    weights::of_words(scene, actor, words, &sub_commands(words), service)?;
    by_words(scene, actor, call.program, &sub_commands(words), words)
}

/// Options that say alone what happens, whatever the program is.
fn by_options(scene: &mut Scene<'_>, actor: &Actor, words: &[Value]) -> Fueled {
    let given = |option: &str| words.iter().any(|word| word.text == option);
    if given("--tunnel") && !given("--help") {
        scene.emit(actor.does(Kind::Listen).tagged(Tag::Tunnel))?;
    }
    Ok(())
}

/// Options of an unlisted program with which it lets everybody in to what it makes or changes.
fn opens(scene: &mut Scene<'_>, actor: &Actor, words: &[Value]) -> Fueled {
    const OPTIONS: [&str; 5] = [
        "--public",
        "--visibility=public",
        "--access=public",
        "--private=false",
        "--allow-anonymous",
    ];
    const VERBS: [&str; 8] = [
        "create", "share", "update", "set", "edit", "expose", "deploy", "publish",
    ];
    let given = words
        .iter()
        .any(|word| OPTIONS.contains(&word.text.as_str()));
    let said = sub_commands(words).iter().any(|word| VERBS.contains(word));
    if given && said && !words.iter().any(|word| word.text == "--help") {
        let about = Value::join(words, " ").text;
        scene.emit(actor.does(Kind::Remote).tagged(Tag::Publish).about(&about))?;
    }
    Ok(())
}

/// A program whose entry does not know this sub-command.
pub(super) fn settles(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let parsed = run.parsed;
    let words = run.call.words.get(1..).unwrap_or(&[]);
    by_options(scene, run.actor, words)?;
    let plain = || {
        // A row of many sub-commands that are said to do nothing.
        let roles = &parsed.spec.operands;
        let data = !roles.is_empty() && roles.iter().all(|(role, _)| *role == Role::Data);
        let does = !parsed.spec.does.is_empty() || run.chosen.is_some();
        data && !does && !parsed.subs.is_empty() && parsed.handlers.is_empty()
    };
    let plain = plain();
    let open = (!parsed.spec.sub.is_empty() || plain) && parsed.spec.builds.is_empty();
    // What a cloud's program deletes is told by `cloud`.
    if !open || parsed.operands.is_empty() || parsed.handlers.contains(&Handler::Cloud) {
        return Ok(());
    }
    // What such a row lists itself is known not to matter.
    let known = parsed.subs.iter().filter(|_| !plain).map(String::as_str);
    let said: Vec<&str> = known.chain(sub_commands(&parsed.operands)).collect();
    by_words(scene, run.actor, "", &said, words).map(drop)
}

/// The words at the start that look like sub-commands.
pub(super) fn sub_commands(words: &[Value]) -> Vec<&str> {
    let is_verb = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.len() <= MAX_LENGTH
            && text
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_:".contains(c))
    };
    let texts = words.iter().map(|word| word.text.as_str());
    // An address is the value of an option.
    let plain = texts.filter(|text| !text.starts_with('-') && !text.contains("://"));
    plain
        .take_while(|text| is_verb(text))
        .take(MAX_SUB)
        .collect()
}

/// Whether a word says that all of it is meant, or that it shall be gone at once.
fn is_everything(word: &str) -> bool {
    matches!(word, "all" | "*" | "all()" | "now" | ".*") || word.ends_with("=now")
}

fn by_words(
    scene: &mut Scene<'_>,
    actor: &Actor,
    program: &str,
    said: &[&str],
    words: &[Value],
) -> Fueled<Option<Value>> {
    let know = scene.know;
    if said.is_empty() {
        return Ok(None);
    }
    if words.iter().any(|word| word.text == "--help") {
        return Ok(None);
    }
    scene.fuel.spend(8 * said.len() as u64)?;
    let targets = &know.hosts.targets;
    let confirmed = |word: &Value| know.verbs.confirms(&word.text) || is_everything(&word.text);
    let production = |word: &Value| targets.is_production(&word.text);
    if know.verbs.takes_back(said) && words.iter().any(|w| confirmed(w) || production(w)) {
        let mut effect = actor.does(Kind::Remote).tagged(Tag::Delete);
        if words.iter().any(|word| targets.is_test(&word.text)) {
            effect = effect.tagged(Tag::TestTarget);
        }
        scene.emit(effect.about(&Value::join(words, " ").text))?;
    }
    let stranger = words.iter().find(|word| {
        let address = word
            .text
            .split_once('=')
            .map_or(word.text.as_str(), |(_, value)| value);
        address.contains("://")
            && know
                .hosts
                .is_unheard_of(&know.hosts.host(&word.map(address)))
    });
    if let Some(address) = stranger.filter(|_| know.verbs.sends(said)) {
        let files = Value::unknown(Origins::FILE);
        scene.send(&actor.and(Tag::Transfer), address, &files)?;
    }
    if know.verbs.shows_secret(program, said) {
        scene.emit(actor.does(Kind::Read).tagged(Tag::SecretStore))?;
        let secret = Value::unknown(Origins::SECRET).with_source(&actor.program);
        return Ok(Some(secret));
    }
    Ok(None)
}

/// A place outside of the project is named beside an option that empties or overwrites it.
fn empties(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    let words = call.words.get(1..).unwrap_or(&[]);
    if !words
        .iter()
        .any(|word| scene.know.verbs.overwrites(&word.text))
    {
        return Ok(());
    }
    for word in words {
        let path = match word.text.split_once('=') {
            Some((option, path)) if option.starts_with('-') => word.map(path),
            _ => word.clone(),
        };
        let elsewhere = path.text.starts_with(['/', '~']) || path.text.starts_with("..");
        let place = scene.place(&path);
        let kept = [PathClass::Home, PathClass::HomeRoot, PathClass::System];
        if elsewhere && !place.is_harmless() && kept.iter().any(|class| place.is(*class)) {
            scene.touch(actor, Kind::Write, &path)?;
        }
    }
    Ok(())
}
