//! Requests to the API of a service, whichever program makes them: `gh api`, `curl`, `az rest`. The parts of
//! the path, the method and the fields say what changes.

use super::cloud::compact;
use super::handler::Handler;
use super::units::Run;
use crate::effect::Kind;
use crate::host::HostClass;
use crate::knowledge::tools::words;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Mutations of one request that are looked at.
const MAX_MUTATIONS: usize = 32;
/// Options whose value is the method, a body, or the address.
const METHODS: [&str; 4] = ["-X", "--request", "--method", "-m"];
const BODIES: [&str; 14] = [
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--json",
    "-f",
    "--raw-field",
    "-F",
    "--field",
    "--input",
    "-b",
    "--body",
    "--form",
    "--filename",
];
const ADDRESSES: [&str; 5] = ["--url", "--uri", "-u", "--raw", "--endpoint"];
/// Things that a deletion takes away and that weigh little.
const LIGHT: [&str; 14] = [
    "comments",
    "labels",
    "reactions",
    "assignees",
    "requested_reviewers",
    "notes",
    "caches",
    "artifacts",
    "logs",
    "runs",
    "dismissals",
    "subscription",
    "pins",
    "lock",
];
/// Fields of a request that show a project to everybody.
const SHOWS: [&str; 9] = [
    "-fprivate=false",
    "fieldprivate=false",
    "field=private=false",
    "-fvisibility=public",
    "fieldvisibility=public",
    "field=visibility=public",
    "{private:false",
    ",private:false",
    "visibility:public",
];
/// Fields that switch what protects a project.
const PROTECTION: [&str; 5] = [
    "secret_scanning",
    "vulnerability_alerts",
    "enforce_admins",
    "push_protection",
    "required_signatures",
];

/// Notes what a request changes at a service that others rely on.
pub(super) fn requests(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let given = run.call.words.get(1..).unwrap_or(&[]);
    let parsed = run.parsed;
    let is_curl = parsed.handlers.contains(&Handler::Curl);
    let Some(address) = address(run) else {
        return Ok(());
    };
    if is_curl && !scene.know.verbs.is_service(&address.text) {
        return deletes_there(scene, run, address);
    }
    let bytes: usize = given.iter().map(|word| word.text.len()).sum();
    scene.fuel.spend_on(4 * bytes)?;
    let method = method(run);
    if method == "GET" {
        return Ok(());
    }
    let mut tags = by_fields(&compact(scene, given));
    tags.extend(by_path(scene, &method, &address.text));
    if tags.is_empty() && address.text.contains("graphql") {
        tags.extend(by_mutation(scene, given));
    }
    if address.text.contains("git/refs") && given.iter().any(is_forced) {
        tags.push(Tag::Rewrite);
    }
    for tag in tags {
        let effect = run.actor.does(Kind::Remote).tagged(tag);
        scene.emit(effect.about(&Value::join(given, " ").text))?;
    }
    Ok(())
}

/// `force=true`, `"force": true`
fn is_forced(word: &Value) -> bool {
    let plain = word.text.replace(['"', '\'', ' '], "");
    plain.contains("force=true") || plain.contains("force:true")
}

/// A request that deletes in production, or everything of a search index, at a service that no table knows.
fn deletes_there(scene: &mut Scene<'_>, run: Run<'_>, address: &Value) -> Fueled {
    let method = method(run);
    if method == "GET" {
        return Ok(());
    }
    let host = scene.know.hosts.host(address);
    let path = address.text.split_once("://").map_or("", |(_, rest)| rest);
    let path = path.split_once('/').map_or("", |(_, path)| path);
    let path = path.split('?').next().unwrap_or("");
    let all = matches!(path, "*" | "_all") || path.contains("_delete_by_query");
    let deletes = method == "DELETE" || path.contains("_delete_by_query");
    let local = host.class == HostClass::Loopback;
    if !deletes || local || !all && !scene.know.hosts.targets.is_production(&host.name) {
        return Ok(());
    }
    let effect = run.actor.does(Kind::Remote).tagged(Tag::Delete);
    scene.emit(effect.about(&address.text))
}

/// What is asked: the first operand, or the value of an option.
fn address(run: Run<'_>) -> Option<&Value> {
    let is_curl = run.parsed.handlers.contains(&Handler::Curl);
    let mut operands = run.parsed.operands.iter();
    let named = run.parsed.value_of(&ADDRESSES).filter(|_| !is_curl);
    let by_scheme = || operands.clone().find(|word| word.text.contains("://"));
    let url = run.parsed.value_of(&["--url"]);
    if is_curl {
        by_scheme().or(url)
    } else {
        named.or(operands.next())
    }
}

/// The method in capital letters: as given, or as the options say.
fn method(run: Run<'_>) -> String {
    let given = run
        .parsed
        .value_of(&METHODS)
        .map(|m| m.text.to_ascii_uppercase());
    let posts = run.parsed.given(&BODIES);
    // `kubectl create --raw PATH`
    let verb = run.parsed.subs.last().map_or("", String::as_str);
    given.unwrap_or_else(|| match verb {
        "delete" => "DELETE".to_owned(),
        "create" | "apply" | "replace" => "PUT".to_owned(),
        _ if posts => "POST".to_owned(),
        _ => "GET".to_owned(),
    })
}

fn by_fields(text: &str) -> Vec<Tag> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let off = has(&PROTECTION) && has(&["=disabled", ":disabled", "=false", ":false"]);
    if has(&SHOWS) {
        vec![Tag::Public]
    } else if off || has(&["status]=disabled", "status:disabled"]) {
        vec![Tag::SecurityOff]
    } else {
        Vec::new()
    }
}

fn by_path(scene: &Scene<'_>, method: &str, address: &str) -> Vec<Tag> {
    let mut tags: Vec<Tag> = scene.know.verbs.request(address).into_iter().collect();
    let mut parts = address.split(['/', '?']);
    if method == "DELETE" && !parts.any(|part| LIGHT.contains(&part)) {
        tags.push(Tag::Delete);
    }
    tags
}

/// What the mutations in a request do, by their names: `deleteRef`, `addCollaborator`.
fn by_mutation(scene: &Scene<'_>, given: &[Value]) -> Vec<Tag> {
    let know = scene.know;
    let mut tags = Vec::new();
    let texts = given.iter().filter(|word| word.text.contains("mutation"));
    let ends = |c: char| !c.is_ascii_alphanumeric() && c != '(';
    let names = texts.flat_map(|word| word.text.split(ends));
    for name in names
        .filter_map(|name| name.split_once('('))
        .map(|(name, _)| name)
        .take(MAX_MUTATIONS)
    {
        if know.verbs.mutation_deletes(name) {
            tags.push(Tag::Delete);
        }
        if matches!(name, "updateRef" | "updateRefs") && given.iter().any(is_forced) {
            tags.push(Tag::Rewrite);
        }
        let said = words(name);
        let pairs: Vec<String> = said.windows(2).map(<[String]>::concat).collect();
        let has = |list: &[String]| said.iter().chain(&pairs).any(|word| list.contains(word));
        for (tag, change) in &know.tools.changes {
            let weighs = matches!(tag, Tag::User | Tag::Key | Tag::SecurityOff);
            if weighs && has(&change.verbs) && has(&change.things) {
                tags.push(*tag);
            }
        }
    }
    tags
}
