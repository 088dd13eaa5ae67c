//! What programs that no entry knows give to machines that nobody has heard of: the project, or what a store holds.

use super::value_of;
use crate::effect::Actor;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};

/// Data of the project, or of another store, goes to a machine that nobody has heard of. Returns whether it
/// does.
pub(super) fn gives(scene: &mut Scene<'_>, actor: &Actor, words: &[&Value]) -> Fueled<bool> {
    let strange = |word: &&Value| {
        let address = value_of(word);
        let address = address
            .rsplit(['"', '\''])
            .find(|part| part.contains("://"));
        address.filter(|a| is_strange(scene, a)).map(str::to_owned)
    };
    let Some(address) = words.iter().find_map(strange) else {
        return bare(scene, actor, words);
    };
    let scheme = address.split("://").next().unwrap_or("");
    let store = is_store(scheme);
    let other = |word: &&Value| {
        let value = value_of(word);
        let known = value.contains("://") && !value.contains(address.as_str());
        known || value.contains(HOLE) && !word.text.contains(address.as_str())
    };
    let tree = words.iter().any(|word| is_tree(value_of(word)));
    let moved = store && words.iter().any(other);
    let machine =
        is_store(scheme) || matches!(scheme, "tcp" | "ssh" | "grpc" | "grpcs" | "rsync" | "sftp");
    if moved || tree && (machine || is_number(&address) || says_copy(words)) {
        let files = Value::unknown(Origins::FILE);
        let url = Value::known(address);
        scene.send(&actor.and(Tag::Transfer), &url, &files)?;
        return Ok(true);
    }
    Ok(false)
}

/// The same for a machine by its address alone: `tool . 203.0.113.9 /x`, `tool . user@203.0.113.9:/x`.
fn bare(scene: &mut Scene<'_>, actor: &Actor, words: &[&Value]) -> Fueled<bool> {
    if !words.iter().any(|word| is_tree(value_of(word))) {
        return Ok(false);
    }
    let machine = words.iter().find(|word| {
        let text = word.text.as_str();
        let host = text.rsplit('@').next().unwrap_or(text);
        let host = host.split([':', '/']).next().unwrap_or("");
        let remote = text.contains('@') && text.contains(':');
        let number =
            host.split('.').count() == 4 && host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        (number || remote && host.contains('.')) && is_strange(scene, host)
    });
    let Some(machine) = machine else {
        return Ok(false);
    };
    let files = Value::unknown(Origins::FILE);
    let machine = (*machine).clone();
    scene.send(&actor.and(Tag::Transfer), &machine, &files)?;
    Ok(true)
}

fn is_strange(scene: &Scene<'_>, address: &str) -> bool {
    let hosts = &scene.know.hosts;
    !address.starts_with("file:") && hosts.is_unheard_of(&hosts.host(&Value::known(address)))
}

/// Whether a word is the whole project, by itself or behind a name: `.`, `context=.`, `::`.
fn is_tree(text: &str) -> bool {
    matches!(
        text,
        "." | "./" | "./." | "*" | "./*" | "src" | "src/" | "./src"
    ) || text.ends_with("=.")
}

/// Whether a command says that one side becomes like the other.
fn says_copy(words: &[&Value]) -> bool {
    const COPIES: [&str; 8] = [
        "sync",
        "mirror",
        "copy",
        "cp",
        "backup",
        "replicate",
        "archive",
        "put",
    ];
    words
        .iter()
        .any(|word| COPIES.contains(&word.text.as_str()))
}

/// Whether an address names its machine by numbers.
fn is_number(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.rsplit('@').next().unwrap_or(rest);
    let host = host.split(['/', ':']).next().unwrap_or("");
    host.contains('.') && host.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// Whether an address with this scheme is that of a database.
fn is_store(scheme: &str) -> bool {
    #[rustfmt::skip]
    const STORES: [&str; 22] = [
        "postgres", "postgresql", "mysql", "mariadb", "mongodb", "mongodb+srv", "redis", "rediss", "clickhouse",
        "mssql", "sqlserver", "oracle", "snowflake", "cassandra", "neo4j", "bolt", "amqp", "amqps", "kafka", "nats",
        "influxdb", "duckdb",
    ];
    let scheme = scheme.rsplit(['=', ':', '"']).next().unwrap_or(scheme);
    STORES.contains(&scheme.split('+').next().unwrap_or(scheme))
}
