//! What tools of services change there, by the words of their names and by their arguments; and the
//! programs that some servers run.

use super::fields::{Call, leaves, list_of_words};
use super::name::Name;
use super::{Role, Verb, run};
use crate::effect::Kind;
use crate::json::{Json, shorten};
use crate::knowledge::tools::{plain, words};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Words that let everybody in.
const EVERYBODY: [&str; 8] = [
    "public",
    "anyone",
    "everyone",
    "public-read",
    "public-read-write",
    "allusers",
    "anonymous",
    "internet-facing",
];
/// Words for many at once: with a filter, only those that it chooses.
const BULK: [&str; 5] = ["all", "bulk", "batch", "many", "multiple"];
/// Arguments that say who is let in.
const AUDIENCE: [&str; 9] = [
    "visibility",
    "acl",
    "access",
    "type",
    "principal",
    "sharing",
    "audience",
    "permission",
    "share",
];
/// Words in the name of a setting that protects something.
const PROTECTIONS: [&str; 12] = [
    "blocked",
    "allowed",
    "denied",
    "allowlist",
    "blocklist",
    "whitelist",
    "sandbox",
    "approval",
    "approvals",
    "trust",
    "trusted",
    "permissions",
];

/// A change that others rely on.
pub(super) fn change(scene: &mut Scene<'_>, call: &Call<'_>, name: &Name) -> Fueled {
    if name.only_reads(scene) {
        return Ok(());
    }
    let said = name.joined();
    let keys = keys(call.input);
    let filter = ["filter", "query", "where"].map(|key| call.input.get(key));
    let is_set = |filter: &Json<'_>| filter.as_object().is_some_and(|all| !all.is_empty());
    let filtered = filter.into_iter().flatten().any(is_set);
    let mut tags = Vec::new();
    for (tag, change) in &scene.know.tools.changes {
        scene.fuel.spend(said.len() as u64)?;
        if said.iter().any(|word| change.alone.contains(word)) {
            tags.push(*tag);
            continue;
        }
        let Some(verb) = said.iter().find(|word| change.verbs.contains(word)) else {
            continue;
        };
        // `delete_project_item` deletes an item; `zone_delete` and an action behind say it of all.
        let last = name.own.last();
        let ends = |word: &String| last.is_some_and(|last| word.ends_with(last.as_str()));
        let anywhere = !matches!(tag, Tag::Delete | Tag::Payment) || last == Some(verb);
        let found = said.iter().any(|word| {
            let bulk = BULK.contains(&word.as_str());
            let placed = anywhere || bulk || ends(word);
            let sorts = word == "filter" && only_sorts(call.input);
            change.things.contains(word) && word != verb && placed && !(filtered && bulk) && !sorts
        });
        if found || keys.iter().any(|key| change.keys.contains(key)) {
            tags.push(*tag);
        }
    }
    if super::pays::spends(name, &keys) && !tags.contains(&Tag::Payment) {
        tags.push(Tag::Payment);
    }
    if let Some(tag) = super::clicks::tag(name, call.input).filter(|tag| !tags.contains(tag)) {
        tags.push(tag);
    }
    let creates = said.iter().any(|word| word == "create");
    let told = call.input.get("private") == Some(&Json::Bool(false))
        || call.input.get_str("visibility") == Some("public");
    let of_code = said
        .iter()
        .any(|w| ["repository", "repo", "project", "gist"].contains(&w.as_str()));
    if creates && told && of_code || !creates && lets_everybody_in(scene, call)? {
        tags.push(Tag::Publish);
    }
    if said
        .iter()
        .any(|word| word == "config" || word == "settings")
    {
        let loosens = |text: &str| {
            words(text)
                .iter()
                .any(|w| PROTECTIONS.contains(&w.as_str()))
        };
        let key = call.input.get("key").or_else(|| call.input.get("name"));
        if key.and_then(Json::as_str).is_some_and(loosens) {
            tags.push(Tag::SecurityOff);
        }
    }
    if super::switches::protects_less(call.input) && !creates
        || super::switches::lets_past(call.input)
    {
        tags.push(Tag::SecurityOff);
    }
    if opens_network(call.input, &said) && !tags.contains(&Tag::Publish) {
        tags.push(Tag::Publish);
    }
    if !name.server.is_empty() {
        let all = leaves(scene, call.input)?;
        if super::joins::joins(name, &keys, &all) && !tags.contains(&Tag::User) {
            tags.push(Tag::User);
        }
        if super::blanks::blanks(name, call.input) && !tags.contains(&Tag::Delete) {
            tags.push(Tag::Delete);
        }
    }
    for tag in super::gives::tags(scene, call, name)? {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let live = tags.contains(&Tag::Delete) && names_production(scene, call)?;
    for tag in tags {
        let about = shorten(&call.input.text(), 200);
        let mut effect = call.actor.does(Kind::Remote).tagged(tag).about(&about);
        if live && tag == Tag::Delete {
            effect = effect.tagged(Tag::Prod);
        }
        scene.emit(effect)?;
    }
    Ok(())
}

/// Whether a rule of a firewall lets every address in, to more than pages.
fn opens_network(input: &Json<'_>, said: &[String]) -> bool {
    let named = [
        "firewall",
        "ingress",
        "security",
        "securitygroup",
        "sg",
        "rule",
        "rules",
        "network",
    ];
    let text = input.text();
    let open = ["\"0.0.0.0/0\"", "\"::/0\""]
        .iter()
        .any(|all| text.contains(all));
    let numbers = || text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let pages = numbers().any(|word| matches!(word, "80" | "443" | "http" | "https"));
    let out = text.contains("EGRESS") || text.contains("egress");
    open && !pages && !out && said.iter().any(|word| named.contains(&word.as_str()))
}

/// Whether what a call is about has a name of production: `shop-prod-uploads`.
fn names_production(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    const MAX_NAME: usize = 80;
    let hosts = &scene.know.hosts.targets;
    let is_name = |text: &str| text.len() <= MAX_NAME && !text.contains(' ');
    let all = leaves(scene, call.input)?;
    Ok(all
        .iter()
        .any(|leaf| is_name(leaf.text) && hosts.is_production(leaf.text)))
}

/// Names of arguments that are looked at.
const MAX_KEYS: usize = 64;

/// The names of the arguments, also of those in them, and what a setting is called that an argument names:
/// the words of each as one.
fn keys(input: &Json<'_>) -> Vec<String> {
    fn gather(node: &Json<'_>, depth: u32, found: &mut Vec<String>) {
        if depth == 0 || found.len() >= MAX_KEYS {
            return;
        }
        match node {
            Json::Object(members) => {
                for (key, value) in members {
                    found.push(words(key).concat());
                    let names = matches!(&**key, "setting" | "key" | "field" | "option" | "name");
                    if let Some(text) = value.as_str().filter(|text| names && text.len() < 40) {
                        found.push(words(text).concat());
                    }
                    gather(value, depth - 1, found);
                }
            }
            Json::Array(items) => {
                let items = items.iter().take(8);
                items.for_each(|item| gather(item, depth - 1, found));
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    let mut found = Vec::new();
    gather(input, 4, &mut found);
    found
}

/// Whether a filter of mails only puts them in order: it takes none out of sight, and sends none on.
fn only_sorts(input: &Json<'_>) -> bool {
    let text = input.text().to_ascii_lowercase();
    let hides = [
        "forward",
        "redirect",
        "trash",
        "delete",
        "inbox",
        "unread",
        "archive",
        "spam",
        "skip",
        "copy",
        "send",
        "recipient",
    ];
    text.contains("label") && !hides.iter().any(|word| text.contains(word))
}

/// A store of secrets shows one.
pub(super) fn reveal(scene: &mut Scene<'_>, call: &Call<'_>, name: &Name) -> Fueled {
    let table = &scene.know.tools;
    let reads = table.says(&name.own, Verb::Read)
        || name.own.iter().any(|w| w == "reveal" || w == "export");
    let others = [
        "list",
        "scanning",
        "alert",
        "alerts",
        "search",
        "docs",
        "documentation",
        "status",
    ];
    let only_names = name.own.iter().any(|word| others.contains(&word.as_str()));
    if !reads || only_names || !name.says(scene, Verb::Reveal) {
        return Ok(());
    }
    let about = shorten(&call.input.text(), 200);
    let read = call.actor.does(Kind::Read).tagged(Tag::SecretStore);
    scene.emit(read.about(&about))
}

fn lets_everybody_in(scene: &Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    if call.input.get("private") == Some(&Json::Bool(false)) {
        return Ok(true);
    }
    let all = leaves(scene, call.input)?;
    Ok(all.iter().any(|leaf| {
        let text = leaf.text.trim().to_ascii_lowercase();
        let about = words(leaf.key)
            .last()
            .is_some_and(|w| AUDIENCE.contains(&w.as_str()));
        about
            && (text.starts_with("anyone")
                || EVERYBODY.contains(&text.as_str())
                || text == "*" && leaf.key.eq_ignore_ascii_case("principal"))
    }))
}

/// `kubectl_delete {resourceType, name}` as `kubectl delete ns prod`.
pub(super) fn program(scene: &mut Scene<'_>, call: &Call<'_>, name: &Name) -> Fueled {
    let said = |word: &String| name.own.contains(word) || name.server.contains(word);
    let table = &scene.know.tools;
    let found = table
        .programs
        .iter()
        .find(|(_, words)| words.iter().any(said));
    let Some((program, aliases)) = found else {
        return Ok(());
    };
    let is_verb = |word: &&String| !table.idle.contains(*word) && !aliases.contains(word);
    let mut line = vec![Value::known(program.as_str())];
    let verbs = name.own.iter().filter(is_verb);
    line.extend(verbs.map(|word| Value::known(word.as_str())));
    let has_verb = line.len() > 1;
    let (mut operands, mut last, mut stdin) = (Vec::new(), Vec::new(), None);
    for (key, value) in call.input.as_object().unwrap_or_default() {
        let roles = table.roles_or_guess(key);
        let order = table.operands.iter().position(|k| *k == plain(key));
        if let Some(option) = table.options.get(&*plain(key)) {
            push_option(&mut line, option, value);
        } else if roles.has(Role::Command) || roles.has(Role::Arguments) {
            let words = list_of_words(value).unwrap_or_else(|| {
                let text = value.as_str().unwrap_or_default();
                text.split_whitespace().map(Value::known).collect()
            });
            // The whole line is given: what the name says stands in it.
            let whole = words.len() > 1
                && line
                    .get(1..)
                    .unwrap_or_default()
                    .contains(words.first().unwrap_or(&Value::default()));
            if whole {
                line.truncate(1);
                line.extend(words);
                operands.clear();
                break;
            }
            let said =
                words.len() == 1 && line.contains(words.first().unwrap_or(&Value::default()));
            if has_verb && !said {
                last.extend(words);
            } else if !said {
                line.extend(words);
            }
        } else if let Some(text) = value.as_str().filter(|_| !roles.has(Role::Folder)) {
            match order {
                _ if text.contains('\n') => stdin = Some(Value::known(text)),
                Some(order) => operands.push((order, Value::known(text))),
                None => line.push(Value::known(format!("--{key}={text}"))),
            }
        }
    }
    operands.sort_by_key(|(order, _)| *order);
    line.extend(operands.into_iter().map(|(_, operand)| operand));
    line.extend(last);
    if stdin.is_some() && program == "kubectl" {
        line.truncate(1);
        line.extend(["apply", "-f", "-"].map(Value::known));
    }
    line.truncate(128);
    run::perhaps(scene, |scene| {
        scene.apart(|scene| scene.argv(&line, stdin.as_ref()))
    })?;
    Ok(())
}

/// `--option` for what is on, `--option value` for each value.
fn push_option(line: &mut Vec<Value>, option: &str, value: &Json<'_>) {
    if *value == Json::Bool(true) {
        line.push(Value::known(option));
    }
    for text in settings(value) {
        line.push(Value::known(option));
        line.push(Value::known(text));
    }
}

/// The values of an option: `["/:/host"]`, `{"/": {"bind": "/host"}}`.
fn settings(value: &Json<'_>) -> Vec<String> {
    match value {
        Json::String(text) | Json::Number(text) => vec![text.to_string()],
        Json::Array(items) => items.iter().take(64).flat_map(settings).collect(),
        Json::Object(members) => {
            let one = |(key, value): &(std::borrow::Cow<'_, str>, Json<'_>)| match value {
                Json::String(text) => format!("{key}={text}"),
                other @ (Json::Null
                | Json::Bool(_)
                | Json::Number(_)
                | Json::Array(_)
                | Json::Object(_)) => {
                    let bind = other.get("bind").and_then(Json::as_str).unwrap_or("/mnt");
                    format!("{key}:{bind}")
                }
            };
            members.iter().take(64).map(one).collect()
        }
        Json::Null | Json::Bool(_) => Vec::new(),
    }
}

/// A key that stands in the arguments of a tool of another's service leaves for that service.
pub(super) fn literal_secrets(scene: &mut Scene<'_>, call: &Call<'_>, name: &Name) -> Fueled {
    if name.server.is_empty() || name.says(scene, Verb::Keep) || name.only_reads(scene) {
        return Ok(());
    }
    if super::message::is_for_somebody(scene, call)? {
        return super::message::message(scene, call).map(drop);
    }
    super::message::leaves_with_secrets(scene, call)
}
