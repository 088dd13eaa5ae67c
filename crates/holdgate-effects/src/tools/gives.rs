//! What a call of a service gives to others, by its values: an address of somebody beside words that share,
//! hand over or forward; a switch that makes something public; many things at once that are deleted.

use super::fields::{Call, Leaf, leaves};
use super::leads::leads_outside;
use super::name::Name;
use super::{Role, Roles};
use crate::host::HostClass;
use crate::json::Json;
use crate::knowledge::tools::words;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Words in names of tools, actions and arguments by which somebody gets a part in something.
#[rustfmt::skip]
const SHARES: [&str; 34] = [
    "invite", "invites", "invitation", "invitations", "invited", "share", "shared", "sharing", "transfer", "grant",
    "delegate", "delegates", "delegation", "forward", "forwarding", "redirect", "collaborator", "collaborators",
    "guest", "guests", "owner", "ownership", "access", "permission", "permissions", "acl", "cohost", "cohosts",
    "editors", "viewers", "member", "members", "impersonate", "promote",
];
/// The same for arguments alone.
#[rustfmt::skip]
const SHARING_KEYS: [&str; 14] = [
    "hosts", "cohost", "delegate", "forward", "forwarding", "redirect", "owner", "collaborators", "editors", "guests",
    "invitees", "recovery", "sendas", "impersonate",
];
/// Words of what tells another machine about everything that happens.
#[rustfmt::skip]
const STREAMS: [&str; 16] = [
    "webhook", "webhooks", "hook", "hooks", "integration", "subscription", "export", "exporter", "stream", "sink",
    "connector", "notification", "notifications", "callback", "drain", "replication",
];
#[rustfmt::skip]
const MAKES: [&str; 12] = [
    "create", "add", "update", "set", "register", "configure", "modify", "enable", "upsert", "put", "connect",
    "subscribe",
];
/// Words of switches that make something public while they are on.
#[rustfmt::skip]
const PUBLIC: [&str; 9] = [
    "public", "publish", "publicly", "published", "anonymous", "anyone", "everyone", "ispublic", "sharetoweb",
];
const DELETES: [&str; 10] = [
    "delete", "remove", "purge", "destroy", "trash", "wipe", "erase", "clear", "archive", "expunge",
];
/// From so many on, things are many.
const MANY: usize = 10;

/// What the values of a call add to what its name says.
pub(super) fn tags(scene: &Scene<'_>, call: &Call<'_>, name: &Name) -> Fueled<Vec<Tag>> {
    let mut tags = Vec::new();
    if name.server.is_empty() {
        return Ok(tags);
    }
    let all = leaves(scene, call.input)?;
    let said = |words: &[&str]| name.own.iter().any(|word| words.contains(&word.as_str()));
    let somebody = all.iter().any(is_somebody);
    let by_key = all.iter().any(|leaf| {
        is_somebody(leaf)
            && words(leaf.key)
                .iter()
                .any(|w| SHARING_KEYS.contains(&w.as_str()) || w.starts_with("forward"))
    });
    let ranks = [
        "role",
        "roles",
        "permission",
        "permissions",
        "rights",
        "privilege",
        "accesslevel",
    ];
    let ranked = call
        .input
        .as_object()
        .unwrap_or_default()
        .iter()
        .any(|(key, _)| {
            let words = words(key);
            words.iter().any(|word| ranks.contains(&word.as_str()))
                || ranks.contains(&words.concat().as_str())
        });
    if somebody && (said(&SHARES) || ranked) || by_key {
        tags.push(Tag::User);
    }
    if said(&MAKES)
        && (said(&STREAMS) || streams_by_key(&all))
        && all.iter().any(|leaf| is_outside(scene, leaf.text.trim()))
    {
        tags.push(Tag::User);
    }
    if !tags.contains(&Tag::User) && leads_outside(scene, call, name)? {
        tags.push(Tag::User);
    }
    if all.iter().any(holds_key) {
        tags.push(Tag::Key);
    }
    if turns_public(call.input, 4) {
        tags.push(Tag::Publish);
    }
    if said(&DELETES) && (is_many(call.input, 3) || takes_all(call.input)) {
        tags.push(Tag::Delete);
    }
    Ok(tags)
}

/// Whether a string is the address of somebody, and nothing else.
pub(super) fn is_somebody(leaf: &Leaf<'_>) -> bool {
    let prose = Roles::of(&[Role::Content, Role::Prompt, Role::Query, Role::Code]);
    let text = leaf.text.trim();
    let holds = [
        "value",
        "address",
        "principal",
        "grantee",
        "subject",
        "identity",
    ];
    let plain = !leaf.roles.any(prose)
        || holds.contains(&leaf.key)
        || words(leaf.key).iter().any(|word| word.contains("mail"));
    let of_self = ["author", "from", "sender", "committer", "me"];
    let own = words(leaf.key)
        .iter()
        .any(|word| of_self.contains(&word.as_str()));
    plain && !own && text.split(',').any(|one| is_address(one.trim()))
}

/// Whether a text is the address of a mail.
pub(super) fn is_address(text: &str) -> bool {
    let text = text
        .trim_start_matches("mailto:")
        .trim_start_matches("smtp:");
    let text = text
        .rsplit('<')
        .next()
        .unwrap_or(text)
        .trim_end_matches('>');
    text.split_once('@').is_some_and(|(name, host)| {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '%');
        !name.is_empty()
            && host.contains('.')
            && !host.ends_with('.')
            && name.chars().all(part)
            && host.chars().all(part)
    })
}

fn streams_by_key(all: &[Leaf<'_>]) -> bool {
    all.iter().any(|leaf| {
        words(leaf.key)
            .iter()
            .any(|word| matches!(word.as_str(), "webhook" | "callback" | "hook"))
    })
}

/// Whether a string holds a key that opens something for whoever has its other half.
fn holds_key(leaf: &Leaf<'_>) -> bool {
    let forms = [
        "ssh-ed25519 AAAA",
        "ssh-rsa AAAA",
        "ecdsa-sha2-nistp256 AAAA",
    ];
    let prose = Roles::of(&[Role::Prompt, Role::Query]);
    !leaf.roles.any(prose) && forms.iter().any(|form| leaf.text.contains(form))
}

/// Whether a text is the address of a machine outside, and nothing else.
pub(super) fn is_outside(scene: &Scene<'_>, text: &str) -> bool {
    let schemes = ["http://", "https://", "s3://", "wss://", "ws://"];
    let url = schemes.iter().any(|scheme| text.starts_with(scheme));
    if !url || text.contains(char::is_whitespace) {
        return false;
    }
    let host = scene.know.hosts.host(&Value::known(text));
    matches!(host.class, HostClass::External | HostClass::Drop)
}

/// Whether a switch makes something public.
fn turns_public(input: &Json<'_>, depth: u32) -> bool {
    let members = input.as_object().unwrap_or_default();
    depth > 0
        && members.iter().any(|(key, value)| match value {
            Json::Bool(true) => {
                let words = words(key);
                let said = words.iter().any(|word| PUBLIC.contains(&word.as_str()))
                    || PUBLIC.contains(&words.concat().as_str());
                let only = [
                    "only", "exclude", "include", "key", "repos", "no", "not", "key",
                ];
                said && !words.iter().any(|word| only.contains(&word.as_str()))
            }
            Json::Object(_) => turns_public(value, depth - 1),
            Json::Array(items) => items
                .iter()
                .take(16)
                .any(|item| turns_public(item, depth - 1)),
            Json::Null | Json::Bool(false) | Json::Number(_) | Json::String(_) => false,
        })
}

/// Whether a list names many things.
fn is_many(input: &Json<'_>, depth: u32) -> bool {
    depth > 0
        && match input {
            Json::Array(items) => items.len() >= MANY,
            Json::Object(members) => members.iter().any(|(_, value)| is_many(value, depth - 1)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
        }
}

/// Whether everything is chosen: `filter: {}`, `query: "*"`, `all: true`.
fn takes_all(input: &Json<'_>) -> bool {
    let members = input.as_object().unwrap_or_default();
    members.iter().any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let chooses = [
            "filter", "query", "where", "pattern", "selector", "ids", "names", "search",
        ]
        .contains(&key.as_str());
        match value {
            Json::Bool(on) => {
                *on && matches!(
                    key.as_str(),
                    "all" | "delete_all" | "everything" | "permanent" | "permanently"
                )
            }
            Json::String(text) => {
                chooses
                    && matches!(
                        text.trim(),
                        "*" | ".*" | "**" | "all" | "%" | "in:anywhere" | "*:*"
                    )
            }
            Json::Object(inner) => chooses && inner.is_empty(),
            Json::Null | Json::Number(_) | Json::Array(_) => false,
        }
    })
}
