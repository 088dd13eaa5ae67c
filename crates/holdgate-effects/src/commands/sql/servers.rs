//! Commands for servers with a language of their own: `MongoDB`, Redis.

use super::super::units::Run;
use super::tags_of_all;
use crate::effect::{Actor, Effect, Kind};
use crate::host::HostClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// What scripts for `MongoDB` do, in files or from the input, besides what their language does.
pub(in crate::commands) fn mongo(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let files = run.parsed.operands.iter().skip(1);
    let named = run.parsed.value_of(&["-f", "--file"]);
    for file in files.chain(named) {
        let text = scene.content(file);
        commanded(scene, run.actor, &text)?;
    }
    for word in run.call.words.iter().skip(1) {
        joins(scene, run.actor, word)?;
    }
    match run.call.stdin {
        Some(stdin) => {
            joins(scene, run.actor, stdin)?;
            commanded(scene, run.actor, stdin)
        }
        None => Ok(()),
    }
}

/// Another machine becomes part of the cluster, and gets what it holds.
fn joins(scene: &mut Scene<'_>, actor: &Actor, text: &Value) -> Fueled {
    const CALLS: [&str; 5] = [
        "rs.add(",
        "rs.initiate(",
        "addShard(",
        "cloneDatabase(",
        "copyDatabase(",
    ];
    if !CALLS.iter().any(|call| text.text.contains(call)) {
        return Ok(());
    }
    let quoted = text
        .text
        .split(['"', '\'', '/'])
        .filter(|part| part.contains('.'));
    for host in quoted.take(8).map(|part| text.map(part)) {
        let known = scene.know.hosts.host(&host);
        if !host.text.contains('(') && scene.know.hosts.is_unheard_of(&known) {
            let all = Value::unknown(Origins::FILE);
            scene.send(&actor.and(Tag::Transfer), &host, &all)?;
        }
    }
    Ok(())
}

/// What the words of a command to Redis do.
pub(in crate::commands) fn redis(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let words = run.call.words.get(1..).unwrap_or(&[]);
    let line = Value::join(words, " ");
    commanded(scene, run.actor, &line)?;
    leaves(scene, run.actor, &line)?;
    match run.call.stdin {
        // With `-x` it is a value.
        Some(stdin) if !run.parsed.given(&["-x"]) => {
            commanded(scene, run.actor, stdin)?;
            leaves(scene, run.actor, stdin)
        }
        _ => Ok(()),
    }
}

/// Less than this many milliseconds or bytes keep no message.
const KEPT: u64 = 1_000_000;

/// A server gives all that it has to another machine, or keeps no message any more.
fn leaves(scene: &mut Scene<'_>, actor: &Actor, text: &Value) -> Fueled {
    let copies = |word: &str| {
        let word = word.to_ascii_lowercase();
        matches!(word.as_str(), "replicaof" | "slaveof" | "migrate")
    };
    let mut words = text.text.split_whitespace();
    if words.by_ref().any(copies)
        && let Some(host) = words.next()
    {
        let address = text.map(host);
        let near = [HostClass::Loopback, HostClass::Private];
        let class = scene.know.hosts.host(&address).class;
        if host.contains('.') && !near.contains(&class) {
            let all = Value::unknown(Origins::FILE);
            scene.send(&actor.and(Tag::Transfer), &address, &all)?;
        }
    }
    if evicts(&text.text) {
        let effect = actor.does(Kind::Database).tagged(Tag::DeleteAll);
        scene.emit(effect.about(&text.text))?;
    }
    let settings = ["retention.ms=", "retention.bytes="];
    let kept = settings.iter();
    let kept = kept.flat_map(|name| text.text.split(name).skip(1));
    let mut kept = kept.filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit());
        let number = rest.get(..end.unwrap_or(rest.len()))?;
        number.parse::<u64>().ok()
    });
    if kept.any(|kept| kept < KEPT) {
        let effect = actor.does(Kind::Database).tagged(Tag::DeleteAll);
        scene.emit(effect.about(&text.text))?;
    }
    Ok(())
}

/// Whether another machine's Redis is told to drop keys that nobody has given a time, or to keep next to
/// nothing: `-h db config set maxmemory-policy allkeys-lru`.
fn evicts(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let sets = words.windows(2).any(|pair| pair == ["config", "set"]);
    let near = ["localhost", "127.0.0.1", "::1"];
    let remote = words.windows(2).any(
        |pair| matches!(pair, ["-h" | "-u", host] if !near.iter().any(|name| host.contains(name))),
    );
    let pairs = words.windows(2);
    sets && remote
        && pairs
            .filter_map(|pair| Some((*pair.first()?, *pair.last()?)))
            .any(|(name, value)| match name {
                "maxmemory-policy" => value.starts_with("allkeys"),
                "maxmemory" => bytes(value).is_some_and(|bytes| (1..KEPT_MEMORY).contains(&bytes)),
                _ => false,
            })
}

/// Less memory than this holds no database that is used.
const KEPT_MEMORY: u64 = 16 << 20;

/// `64mb` as a number of bytes.
fn bytes(text: &str) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor = match unit {
        "" | "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// A server is told to do what a text says.
fn commanded(scene: &mut Scene<'_>, actor: &Actor, text: &Value) -> Fueled {
    scene.fuel.spend_on(text.text.len())?;
    let tags = tags_of_all(&text.text.to_ascii_lowercase(), &text.text);
    if tags.is_empty() {
        return Ok(());
    }
    let effect = actor.does(Kind::Database).about(&text.text).of(text);
    scene.emit(tags.into_iter().fold(effect, Effect::tagged))
}
