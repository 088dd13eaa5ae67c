//! What a command line carries to a machine that it names, whatever the program is: all variables, a secret, a
//! backup of files, the body of a request to a stranger's repository; and whose orders a worker follows.

use super::Call;
use crate::effect::{Actor, Kind};
use crate::host::{Host, HostClass};
use crate::knowledge::publishers::Registry;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Words of one command line that are looked at.
const MAX_WORDS: usize = 1024;
/// Listed programs that give what they are told to a server.
const CLIENTS: [&str; 22] = [
    "psql",
    "pgcli",
    "usql",
    "mysql",
    "mariadb",
    "mycli",
    "redis-cli",
    "valkey-cli",
    "keydb-cli",
    "mongosh",
    "mongo",
    "sqlcmd",
    "cqlsh",
    "clickhouse-client",
    "influx",
    "kcat",
    "kafkacat",
    "mosquitto_pub",
    "nats",
    "etcdctl",
    "ldapadd",
    "ldapmodify",
];
/// Programs that keep copies of files.
const BACKUPS: [&str; 8] = [
    "restic",
    "borg",
    "kopia",
    "duplicity",
    "bupstash",
    "rustic",
    "rdiff-backup",
    "attic",
];
/// How files are given to requests of forges.
const BODIES: [&str; 6] = [
    "-F",
    "--body-file",
    "--field",
    "--input",
    "--notes-file",
    "--description-file",
];

/// Notes what the words and the input of a call carry out. `listed` programs do what their entries say, and
/// only those that are clients of servers take texts along.
pub(super) fn out(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor, listed: bool) -> Fueled {
    if scene.written {
        return Ok(());
    }
    match call.program {
        "gh" | "glab" | "hub" | "tea" => return to_stranger(scene, call, actor),
        program if BACKUPS.contains(&program) => return keeps(scene, call, actor),
        _ => {}
    }
    follows(scene, call, actor)?;
    if listed && !CLIENTS.contains(&call.program) {
        return Ok(());
    }
    let carries = |value: &&Value| {
        let all = value
            .sources
            .iter()
            .any(|source| &**source == "environment");
        all || !listed && value.origins.any(Origins::SECRET)
    };
    let words = call.words.iter().skip(1).take(MAX_WORDS);
    let Some(data) = words.chain(call.stdin).find(carries).cloned() else {
        return Ok(());
    };
    if let Some(target) = target(scene, call) {
        scene.send(actor, &target, &data)?;
    }
    Ok(())
}

/// The machine outside that a command line names: `-h HOST`, `IP:port`, `host=HOST`.
fn target(scene: &Scene<'_>, call: &Call<'_>) -> Option<Value> {
    let mut named = false;
    for word in call.words.iter().skip(1).take(MAX_WORDS) {
        for part in word.text.split_whitespace() {
            let (key, value) = part.split_once('=').unwrap_or(("", part));
            let key = key.trim_start_matches('-').to_ascii_lowercase();
            let host_key = named
                || ["host", "server", "endpoint", "broker", "url", "addr"]
                    .iter()
                    .any(|end| key.contains(end));
            if is_address(value) || host_key && value.contains('.') {
                let value = word.map(value);
                let host = scene.host_of(&value);
                if matches!(host.class, HostClass::External | HostClass::Drop)
                    && host.name.contains('.')
                {
                    return Some(value);
                }
            }
        }
        let text = word.text.trim_start_matches('-');
        named = word.text.starts_with('-')
            && !word.text.contains('=')
            && (text == "h"
                || text == "b"
                || ["host", "server", "endpoint", "broker", "addr"]
                    .iter()
                    .any(|end| text.contains(end)));
    }
    None
}

/// Whether a text is an address of the net, with or without a port: `203.0.113.7:9000`.
fn is_address(text: &str) -> bool {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split('/').next().unwrap_or(text);
    let address = text.rsplit_once(':').map_or(text, |(address, _)| address);
    address.starts_with(|c: char| c.is_ascii_digit())
        && address.parse::<std::net::Ipv4Addr>().is_ok()
}

/// A backup goes to a machine that nobody has heard of.
fn keeps(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    let words = call.words.iter().skip(1).take(MAX_WORDS);
    if !words.clone().any(|word| {
        matches!(
            word.text.as_str(),
            "backup" | "create" | "full" | "incr" | "copy"
        )
    }) {
        return Ok(());
    }
    for word in words {
        let text = word.text.as_str();
        let text = text.split_once('=').map_or(text, |(_, value)| value);
        let remote = ["sftp:", "rest:", "ssh://", "rclone:"]
            .iter()
            .find_map(|start| text.strip_prefix(start));
        let Some(remote) =
            remote.or_else(|| Some(text).filter(|text| text.contains('@') && text.contains(':')))
        else {
            continue;
        };
        let place = word.map(remote);
        let host = scene.host_of(&place);
        if is_strange(scene, &host) {
            let files = Value::unknown(Origins::FILE);
            scene.send(&actor.and(Tag::Transfer), &place, &files)?;
            return Ok(());
        }
    }
    Ok(())
}

/// A program becomes a worker of a machine that nobody has heard of: `swarm join`, `worker`, `agent`.
fn follows(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    let words = call.words.iter().skip(1).take(MAX_WORDS);
    let serves = |word: &Value| matches!(word.text.as_str(), "worker" | "agent" | "join");
    let starts =
        call.program == "ray" && call.words.get(1).is_some_and(|word| word.text == "start");
    if !starts && !words.clone().any(serves) {
        return Ok(());
    }
    for word in words {
        let text = word.text.as_str();
        let text = text.split_once('=').map_or(text, |(_, value)| value);
        if !text.contains("://") && !is_address(text) {
            continue;
        }
        let host = scene.host_of(&word.map(text));
        if is_strange(scene, &host) {
            let effect = actor.does(Kind::Remote).tagged(Tag::Redirects);
            return scene.emit(effect.with(host).about(text));
        }
    }
    Ok(())
}

fn is_strange(scene: &Scene<'_>, host: &Host) -> bool {
    host.name.contains('.')
        && scene.know.hosts.is_unheard_of(host)
        && !scene.is_own_host(&host.name)
}

/// The project's files go into a request to the repository of somebody whom neither many people nor the
/// project know.
fn to_stranger(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    let words = call.words.get(1..).unwrap_or(&[]);
    let Some(owner) = words
        .iter()
        .enumerate()
        .take(MAX_WORDS)
        .find_map(|(at, word)| {
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let named = before.is_some_and(|word| matches!(word.text.as_str(), "-R" | "--repo"));
            owner(&word.text, named)
        })
    else {
        return Ok(());
    };
    let mut files = Value::default();
    let mut body = false;
    for word in words.iter().take(MAX_WORDS) {
        let attached = BODIES
            .iter()
            .find_map(|option| word.text.strip_prefix(option)?.strip_prefix('='));
        if body || attached.is_some() {
            // `field=@file` for `gh api`, else a file by its name.
            let name = attached.unwrap_or(&word.text);
            let file = match name.split_once('=') {
                Some((_, value)) => value.strip_prefix('@'),
                None => Some(name).filter(|name| *name != "-"),
            };
            if let Some(file) = file {
                files.push(&scene.content(&word.map(file)));
            }
        }
        body = BODIES.contains(&word.text.as_str());
        if word.origins.any(Origins::FILE) {
            files.push(word);
        }
    }
    let words_for_people = [".md", ".txt", ".markdown", ".rst", ".log"];
    let is_code = |source: &str| {
        source.starts_with('/')
            && !words_for_people.iter().any(|end| source.ends_with(end))
            && !scene
                .place(&Value::known(source))
                .is(crate::path::PathClass::Temp)
    };
    if !files.sources.iter().any(|source| is_code(source))
        || scene.publisher(Registry::Forge, owner).is_empty()
    {
        return Ok(());
    }
    let place = Value::known(format!("https://github.com/{owner}"));
    scene
        .send(&actor.and(Tag::Transfer), &place, &files)
        .map(drop)
}

/// The owner of the repository that a word names: behind `--repo`, or in the path of a request.
fn owner(word: &str, named: bool) -> Option<&str> {
    let path = match word.strip_prefix("--repo=") {
        Some(path) => path,
        None if named => word,
        None => word.trim_start_matches('/').strip_prefix("repos/")?,
    };
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let mut parts = path.split('/');
    let first = parts.next()?;
    let owner = if first.contains('.') {
        parts.next()?
    } else {
        first
    };
    parts
        .next()
        .map(|_| owner)
        .filter(|owner| !owner.is_empty() && !owner.starts_with(['{', '$']))
}

#[cfg(test)]
mod tests {
    use super::{is_address, owner};

    #[test]
    fn owners_and_addresses_are_found() {
        assert_eq!(owner("acme/app", true), Some("acme"));
        assert_eq!(owner("github.com/acme/app", true), Some("acme"));
        assert_eq!(owner("repos/acme/app/issues", false), Some("acme"));
        assert_eq!(owner("src/app", false), None);
        assert_eq!(owner("repos/{owner}/{repo}/issues", false), None);
        assert!(is_address("203.0.113.7:4317") && is_address("tcp://203.0.113.7:1"));
        assert!(!is_address("1.2.3") && !is_address("v1.2.3.4"));
    }
}
