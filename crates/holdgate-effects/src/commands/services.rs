//! Programs of clouds, clusters, databases, names and accounts: a sub-command that does not look changes something
//! there, also one that no entry knows. It matters where people depend on it, where a name in the internet
//! leads elsewhere, and where a manifest comes from the input.

use super::Call;
use super::role::Role;
use super::target;
use super::units::Run;
use crate::effect::{Actor, Kind};
use crate::language::Language;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Words that may be sub-commands, and options that may stand for one.
const MAX_VERBS: usize = 8;
const MAX_WORDS: usize = 16;
/// A longer word is no sub-command.
const MAX_LENGTH: usize = 64;
/// Words before the verb of such a sub-command: `batch-get-item`, `admin-get-user`.
const BEFORE: [&str; 4] = ["batch", "admin", "bulk", "transact"];
/// Programs whose first word is the name of a service.
const BY_SERVICE: [&str; 3] = ["aws", "awslocal", "aliyun"];

/// First parts of sub-commands that look: `describe-instances`.
#[rustfmt::skip]
const LOOKS: [&str; 28] = [
    "get", "list", "describe", "show", "search", "lookup", "head", "view", "validate", "check", "verify", "estimate",
    "preview", "simulate", "filter", "decode", "detect", "query", "scan", "download", "export", "count", "explain",
    "test", "assume", "select", "generate", "print",
];

/// What a sub-command does, by its words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deed {
    Looks,
    Changes,
    Releases,
    /// There is no sub-command.
    Nothing,
}

/// A program by its entry.
pub(super) fn of_known(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    if !scene.know.verbs.is_service_program(run.call.program) {
        return Ok(());
    }
    let given = |role: Role| role == Role::Manifest;
    let options = run.parsed.options.iter();
    let read = options
        .filter_map(|o| o.value.as_ref())
        .any(|(role, _)| given(*role));
    let idle = run.actor.is(Tag::DryRun);
    acts(scene, run.call, run.actor, read || idle)
}

/// The same for a program without one.
pub(super) fn of_unlisted(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    acts(scene, call, actor, false)
}

fn acts(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor, read: bool) -> Fueled {
    let verbs = &scene.know.verbs;
    let service = verbs.is_service_program(call.program);
    let words = call.words.get(1..).unwrap_or(&[]);
    let help = |word: &Value| matches!(word.text.as_str(), "--help" | "-h" | "help" | "--dry-run");
    if words.iter().any(help) {
        return Ok(());
    }
    scene.fuel.spend(2 * words.len().min(64) as u64)?;
    let names = names_lead_elsewhere(scene, call.program, words, service);
    let from_input = |word: &Value| matches!(word.text.as_str(), "-" | "/dev/stdin" | "-f-");
    let manifest = call
        .stdin
        .filter(|s| !read && words.iter().any(from_input) && is_manifest(s));
    if !service && !names && manifest.is_none() {
        return Ok(());
    }
    let deed = deed(scene, call.program, words);
    if deed == Deed::Looks {
        return Ok(());
    }
    let about = || Value::join(words, " ").text;
    if names {
        let effect = actor.does(Kind::Remote).tagged(Tag::Redirects);
        scene.emit(effect.about(&about()))?;
    }
    if deed == Deed::Nothing {
        return Ok(());
    }
    if let Some(manifest) = manifest {
        scene.emit(actor.does(Kind::Remote).tagged(Tag::Apply).about(&about()))?;
        scene.code(Language::Embedded, &manifest.clone())?;
    }
    let work = scene.know.verbs.is_workbench(call.program);
    let changes = service && deed == Deed::Changes && !work;
    if changes && target::names_production(scene, call) {
        let effect = actor.does(Kind::Remote);
        let effect = effect.tagged(Tag::Changes).tagged(Tag::Prod);
        scene.emit(effect.about(&about()))?;
    }
    Ok(())
}

/// Whether a text is a manifest of a cluster.
fn is_manifest(text: &Value) -> bool {
    let start = crate::text::beginning(&text.text, 16 << 10);
    start.contains("apiVersion") && start.contains("kind")
}

/// What the words of a command line say: the first that is known decides; one that nothing knows changes
/// something.
fn deed(scene: &Scene<'_>, program: &str, words: &[Value]) -> Deed {
    let texts = words.iter().map(|word| word.text.as_str());
    let is_verb = |text: &&str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.len() <= MAX_LENGTH
            && text
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_:".contains(c))
    };
    let mut skip = BY_SERVICE.contains(&program);
    let mut last = "";
    let mut any = false;
    let mut runs = false;
    for text in texts.clone().take(MAX_WORDS) {
        let option = std::mem::replace(&mut last, text);
        // A value of an option may be a name: it decides only if it is known.
        let stands = !option.starts_with('-') || option.contains('=');
        if text.starts_with('-') || !is_verb(&text) {
            continue;
        }
        if skip && stands {
            skip = false;
            continue;
        }
        any |= stands;
        // `heroku run`, and the service of that name: other words decide.
        if text == "run" {
            runs = true;
            continue;
        }
        if let Some(deed) = deed_of(scene, text) {
            return deed;
        }
    }
    if runs {
        return Deed::Looks;
    }
    let options = texts.filter(|text| text.starts_with("--"));
    for option in options.take(MAX_VERBS) {
        let name = option.trim_start_matches('-');
        let verbs = &scene.know.verbs;
        if matches!(name, "list" | "describe" | "version") {
            return Deed::Looks;
        }
        if verbs.changes(name) {
            return Deed::Changes;
        }
    }
    if any { Deed::Changes } else { Deed::Nothing }
}

/// What one word says: `describe-instances`, `config:set`, `update`.
fn deed_of(scene: &Scene<'_>, word: &str) -> Option<Deed> {
    let verbs = &scene.know.verbs;
    // `pg:info`: what stands before the mark is a thing.
    let word = word.rsplit(':').next().unwrap_or(word);
    let mut parts = word.split(['-', '_']);
    let first = parts.next().unwrap_or("");
    let first = if BEFORE.contains(&first) {
        parts.next().unwrap_or(first)
    } else {
        first
    };
    let whole = [word, first];
    if whole.iter().any(|word| verbs.releases(word)) {
        return Some(Deed::Releases);
    }
    if verbs.looks(word) {
        return Some(Deed::Looks);
    }
    if whole.iter().any(|word| verbs.changes(word)) {
        return Some(Deed::Changes);
    }
    LOOKS.contains(&first).then_some(Deed::Looks)
}

/// Whether a name in the internet leads elsewhere from now on: `dns update --type MX`.
fn names_lead_elsewhere(scene: &Scene<'_>, program: &str, words: &[Value], service: bool) -> bool {
    const TYPES: [&str; 8] = ["MX", "NS", "CNAME", "AAAA", "SRV", "CAA", "TXT", "DNAME"];
    const VERBS: [&str; 14] = [
        "add", "update", "set", "edit", "create", "put", "upsert", "change", "modify", "replace",
        "push", "sync", "rrcreate", "transfer",
    ];
    let verbs = &scene.know.verbs;
    let marks = |c: char| !c.is_ascii_alphanumeric();
    let short = words.iter().take(24).filter(|w| w.text.len() <= 200);
    let plain = short.clone().filter(|w| !w.text.starts_with('-'));
    let said = plain.take(MAX_VERBS).flat_map(|w| w.text.split(marks));
    let named = program.split(marks);
    let program_names = program.contains("dns");
    let about = said.clone().any(|w| verbs.is_about_names(w)) && (service || program_names);
    let typed = short
        .flat_map(|w| w.text.split([' ', '=', ',']))
        .any(|part| TYPES.contains(&part));
    let changes = said.chain(named).any(|w| VERBS.contains(&w));
    changes && (about || typed || program_names) && !is_local_name_server(program)
}

/// Name servers and resolvers of this machine.
fn is_local_name_server(program: &str) -> bool {
    ["dnsmasq", "dnscrypt", "coredns"]
        .iter()
        .any(|name| program.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_told_by_their_members() {
        assert!(is_manifest(&Value::known("apiVersion: v1\nkind: Pod\n")));
        assert!(!is_manifest(&Value::known("kind: letter\n")));
    }
}
