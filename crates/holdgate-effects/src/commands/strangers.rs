//! Programs that no entry knows, by all of their words: what goes away, who gets power, whose code runs.
//! Words stand anywhere: behind the value of an option, in the name of one, in a setting.

mod gives;
mod signs;

use super::Call;
use crate::effect::{Actor, Kind};
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, Value};

/// Words of one command line that are looked at.
const MAX_WORDS: usize = 64;
/// A longer word is a text.
const MAX_LENGTH: usize = 200;

/// What a program that no entry knows says it does.
pub(super) fn says(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    let words = call.words.get(1..).unwrap_or(&[]);
    let idle = |word: &Value| matches!(word.text.as_str(), "--help" | "-h" | "--dry-run" | "-n");
    if words.is_empty() || words.iter().any(idle) {
        return Ok(());
    }
    scene.fuel.spend(8 * words.len() as u64)?;
    let short = |word: &&Value| word.text.len() <= MAX_LENGTH;
    let words: Vec<&Value> = words.iter().filter(short).take(MAX_WORDS).collect();
    loses(scene, actor, &words)?;
    rises(scene, actor, &words)?;
    signs::puts(scene, actor, &words)?;
    signs::observes(scene, call.program, actor, &words)?;
    if !gives::gives(scene, actor, &words)? {
        takes(scene, actor, &words)?;
    }
    Ok(())
}

/// A verb of loss beside a place that people keep, or beside a word for everything.
fn loses(scene: &mut Scene<'_>, actor: &Actor, words: &[&Value]) -> Fueled {
    let verbs = &scene.know.verbs;
    let operands = words
        .iter()
        .filter(|word| is_plain(word) && !word.text.starts_with('-'));
    if operands.clone().any(|word| verbs.is_light(&word.text)) {
        return Ok(());
    }
    let says = |word: &&&Value| is_plain(word) && verbs.loses(&word.text);
    let Some(verb) = words.iter().find(says) else {
        return Ok(());
    };
    let everything = |word: &&Value| {
        let text = word.text.as_str();
        verbs.confirms(text) || verbs.means_all(text)
    };
    let named = verb.text.starts_with('-') && verbs.means_all(&verb.text);
    let sure = named
        || words
            .iter()
            .any(|word| everything(word) && !std::ptr::eq(*word, *verb));
    let kept = |word: &&Value| is_kept(scene, value_of(word));
    if sure || words.iter().any(kept) {
        let about = words.iter().map(|word| word.text.as_str());
        let about = about.collect::<Vec<_>>().join(" ");
        scene.emit(actor.does(Kind::Remote).tagged(Tag::Delete).about(&about))?;
    }
    Ok(())
}

/// Whether a word is a folder of a person, of the system, or all of the project.
fn is_kept(scene: &Scene<'_>, text: &str) -> bool {
    let is_path = text.starts_with(['/', '~', '.']) && !text.starts_with("/dev/");
    if !is_path || text.contains(HOLE) {
        return false;
    }
    let place = scene.place(&Value::known(text));
    if place.is(PathClass::ProjectRoot) {
        return true;
    }
    let folders = [
        PathClass::Home,
        PathClass::HomeRoot,
        PathClass::System,
        PathClass::Root,
    ];
    !place.is_harmless() && folders.iter().any(|class| place.is(*class))
}

/// It asks for the rights of root.
fn rises(scene: &mut Scene<'_>, actor: &Actor, words: &[&Value]) -> Fueled {
    let mut pairs = words.windows(2);
    let as_root = |pair: &[&Value]| {
        let [option, value] = pair else { return false };
        value.text == "root"
            && matches!(
                option.text.as_str(),
                "--run-as" | "--as" | "--become-user" | "--sudo-user"
            )
    };
    let asks = |word: &&&Value| {
        let text = word.text.trim_start_matches(['-', '_']);
        matches!(
            text,
            "sudo"
                | "sudo=true"
                | "sudo=True"
                | "become"
                | "become=true"
                | "run-as=root"
                | "privileged"
        ) && word.text.starts_with(['-', '_'])
    };
    if words.iter().any(|word| asks(&word)) || pairs.any(as_root) {
        scene.emit(actor.does(Kind::Elevate))?;
    }
    Ok(())
}

/// Code from an address that nobody has heard of.
fn takes(scene: &mut Scene<'_>, actor: &Actor, words: &[&Value]) -> Fueled {
    let know = scene.know;
    let strange = |word: &&&Value| {
        let address = value_of(word);
        let remote = address.contains("://") && !address.starts_with("file:");
        remote
            && know
                .hosts
                .is_unheard_of(&know.hosts.host(&Value::known(address)))
    };
    let Some(address) = words.iter().find(strange) else {
        return takes_from_forge(scene, actor, words);
    };
    let runs = |word: &&Value| is_plain(word) && know.verbs.takes_code(&word.text);
    let runs = words.iter().any(runs);
    if runs || is_code(value_of(address)) {
        let host = know.hosts.host(&Value::known(value_of(address)));
        let effect = actor.does(Kind::Install).tagged(Tag::FromUrl);
        scene.emit(effect.with(host).about(&address.text))?;
    }
    Ok(())
}

/// `install owner/name`: managers of plugins take that from a forge.
fn takes_from_forge(scene: &mut Scene<'_>, actor: &Actor, words: &[&Value]) -> Fueled {
    let pairs = words.windows(2);
    let named = pairs.filter_map(|pair| match pair {
        [verb, name] if matches!(verb.text.as_str(), "install" | "bundle") => Some(*name),
        _ => None,
    });
    for name in named {
        let part = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(plain)
        };
        if let Some((owner, rest)) = name.text.split_once('/')
            && part(owner)
            && part(rest)
            && !owner.contains('.')
            && !scene.know.publishers.is_known_owner(owner)
        {
            let effect = actor.does(Kind::Install).tagged(Tag::FromVcs);
            scene.emit(effect.tagged(Tag::Script).about(&name.text))?;
        }
    }
    Ok(())
}

/// Whether a word is neither a path nor a text.
fn is_plain(word: &Value) -> bool {
    !word.text.contains(['/', ' ', '\n'])
}

/// Whether an address ends like a program or a repository.
fn is_code(address: &str) -> bool {
    const ENDS: [&str; 41] = [
        "sh", "bash", "zsh", "fish", "py", "pyz", "rb", "pl", "js", "mjs", "cjs", "ts", "tsx",
        "kts", "sc", "scala", "jar", "war", "wasm", "lua", "ps1", "bat", "git", "so", "dylib",
        "dll", "nix", "ipynb", "jl", "r", "rmd", "qmd", "whl", "gem", "vsix", "deb", "rpm", "apk",
        "exs", "tf", "star",
    ];
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let (_, path) = path.split_once("://").unwrap_or(("", path));
    let name = path
        .split_once('/')
        .map_or("", |(_, path)| path.rsplit('/').next().unwrap_or(""));
    name.rsplit_once('.')
        .is_some_and(|(_, end)| ENDS.contains(&end.to_ascii_lowercase().as_str()))
}

/// The value of `--option=value` or `name=value`, or the word itself.
fn value_of(word: &Value) -> &str {
    match word.text.split_once('=') {
        Some((name, value)) if !name.contains(['/', ':', '?']) => value,
        _ => &word.text,
    }
}
