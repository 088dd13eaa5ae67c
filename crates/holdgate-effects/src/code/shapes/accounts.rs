//! Accounts that come with the source: somebody who may do everything, with a password that stands there.

use super::door;
use super::scan::{Text, around, has_any, quoted};
use crate::effect::Effect;

/// Mentions of one file that are looked at.
const MAX_MENTIONS: usize = 64;

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    let raised = ["admin", "superuser", "is_staff", "isstaff", "owner", "root"];
    let mentions = raised
        .iter()
        .flat_map(|word| text.low.match_indices(word))
        .take(MAX_MENTIONS);
    for (at, word) in mentions {
        if !is_given(&text.low, at, word) {
            continue;
        }
        let near = around(&text.low, at, 8, 8, 600);
        let raised = near.contains("update ")
            && near.contains("set ")
            && near.contains('@')
            && has_any(&text.path, &["migrat", "seed"]);
        if !(makes(near) && has_credential(near) || raised) || !text.is_new(text.line(at)) {
            continue;
        }
        if is_for_development(text, near) {
            continue;
        }
        found.push(door(text.line(at)));
        return;
    }
}

/// Whether the word is a role that something gets: `'admin'`, `is_admin: true`, `create_superuser(`, `SUPERUSER`.
fn is_given(low: &str, at: usize, word: &str) -> bool {
    let before = low.get(..at).unwrap_or("");
    let after = low.get(at + word.len()..).unwrap_or("");
    let name_end = after
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(after.len());
    let behind = after
        .get(name_end..)
        .unwrap_or("")
        .trim_start_matches(['"', '\'', ' ']);
    let value = behind.trim_start_matches(['=', ':', '>', ' ']);
    let switched = behind.starts_with(['=', ':'])
        && !behind.starts_with("==")
        && ["true", "1", "'t'", "t,"]
            .iter()
            .any(|on| value.starts_with(on));
    let in_text = before
        .trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'))
        .ends_with(['"', '\'', ':'])
        && after.get(..name_end).is_some_and(|rest| rest.len() < 16)
        && after
            .get(name_end..)
            .is_some_and(|rest| rest.starts_with(['"', '\'', ' ', ',', '\n', ')', '}']));
    let as_value = in_text && {
        // The name of an account is no role: `username: 'admin'`.
        let head = before.rsplit(['\n', ',', '(', '{']).next().unwrap_or("");
        let key = head.split([':', '=']).next().unwrap_or("");
        let named = has_any(
            key,
            &[
                "name", "mail", "login", "pass", "title", "desc", "slug", "path", "url", "text",
                "label",
            ],
        ) && head.contains([':', '=']);
        !named
    };
    let called = word == "superuser"
        && (behind.starts_with('(') || before.ends_with("create_") || before.ends_with("create"));
    // `CREATE ROLE x SUPERUSER`
    let of_sql = word == "superuser" && before.ends_with(' ') && !before.ends_with("no ");
    // `AdminUser.create!(…)`
    let model = after.get(name_end..).is_some_and(|rest| {
        [".create", "::create", ".objects.create", ".insert", ".new("]
            .iter()
            .any(|call| rest.starts_with(call))
    });
    model || switched || as_value || called || of_sql
}

/// Whether an account is made here.
fn makes(near: &str) -> bool {
    let words = [
        "insert into",
        "insert ",
        ".create(",
        ".create!(",
        "create!(",
        ".insert(",
        "create_superuser",
        "createsuperuser",
        "create_user",
        "createuser",
        ".upsert(",
        "objects.create",
        ".save(",
        "bulkinsert",
        "bulk_insert",
        "insert_all",
        "insertone",
        "insertmany",
        "create role",
        "create user",
        "find_or_create",
        "findorcreate",
        "get_or_create",
        "hasdata(",
        "users.add(",
        "->insert(",
        "::create(",
        "firstorcreate",
        "updateorcreate",
        "repo.insert",
        "adduser",
        "add_user",
        "insert_user",
        "merge into",
        "replace into",
        "update users set",
        ".new(",
        "createmany",
        "upsert",
        "save!",
    ];
    has_any(near, &words)
}

/// Whether a fixed password, or what was made of one, stands here.
fn has_credential(near: &str) -> bool {
    if has_any(
        near,
        &[
            "$2a$", "$2b$", "$2y$", "$argon2", "pbkdf2_", "pbkdf2:", "$6$", "scrypt:",
        ],
    ) {
        return true;
    }
    let keys = [
        "password",
        "passwd",
        "pwd",
        "pass",
        "password_hash",
        "passwordhash",
        "encrypted_password",
        "identified by",
        "hash(",
    ];
    quoted(near).iter().any(|(at, value)| {
        let head = near
            .get(at.saturating_sub(48)..at.saturating_sub(1))
            .unwrap_or("");
        let head = head.rsplit(['\n', ',', ';']).next().unwrap_or("");
        let literal =
            value.len() >= 4 && !value.contains(['{', '<', '%']) && !value.starts_with('$');
        literal && !head.contains("env") && keys.iter().any(|key| head.contains(key))
    }) || has_any(
        near,
        &["create_superuser(", "createsuperuser(", "wp_create_user("],
    ) && quoted(near).len() >= 3
        && !near.contains("environ")
        || near.contains("insert into") && {
            let hash =
                |value: &str| value.len() >= 32 && value.bytes().all(|b| b.is_ascii_hexdigit());
            near.contains("passw")
                && (quoted(near).iter().any(|(_, value)| hash(value))
                    || quoted(near).iter().any(|(_, v)| v.contains('@')) && quoted(near).len() >= 3)
        }
}

/// Accounts that everybody knows to be examples, where data for development is made.
fn is_for_development(text: &Text<'_>, near: &str) -> bool {
    let place = [
        "seed",
        "dev",
        "demo",
        "sample",
        "fixture",
        "local",
        "factory",
        "factories",
        "example",
        "docker",
        "test",
        "mock",
    ];
    let live = ["migrat", "prod", "deploy"];
    if has_any(&text.path, &live) || !has_any(&text.path, &place) {
        return false;
    }
    let known = [
        "@example.com",
        "@example.org",
        "@example.net",
        "@test.com",
        "@localhost",
        ".test",
        ".local",
        "@demo",
        "@test",
        "@acme.com",
        "@dev",
    ];
    let hosts = near.match_indices('@').filter(|(at, _)| {
        let host = near.get(at + 1..).unwrap_or("");
        let host: &str = host
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-')))
            .next()
            .unwrap_or("");
        host.contains('.') && !host.ends_with('.')
    });
    let mut hosts = hosts.peekable();
    hosts.peek().is_none()
        || hosts.all(|(at, _)| {
            let host = near.get(at..).unwrap_or("");
            let host = host
                .split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '@')))
                .next()
                .unwrap_or("");
            known.iter().any(|k| {
                host == *k
                    || k.starts_with('.') && host.ends_with(k)
                    || !k.contains('.') && host.starts_with(k)
            })
        })
}
