//! Programs that talk to hosts: what they fetch, where it lands, and what they carry away.

use super::Call;
use super::args::Parsed;
use super::handler::Handler;
use super::role::Role;
use super::units::Run;
use crate::effect::Actor;
use crate::language::Language;
use crate::path::PathClass;
use crate::scene::{Fueled, Scene, hides_secret};
use crate::tag::Tag;
use crate::text::secret::{self, Mark};
use crate::value::{Origins, Value};
use std::sync::Arc;

/// Files that a program makes without being told their names: `wget URL`, `curl -O URL`.
pub(super) fn downloads(handler: Handler, scene: &mut Scene<'_>, parsed: &Parsed, urls: &[Value]) {
    let named = if handler == Handler::Wget {
        !parsed.given(&["-O", "--output-document", "--spider"])
    } else {
        handler != Handler::Curl || parsed.given(&["-O", "--remote-name", "--remote-name-all"])
    };
    if !named {
        return;
    }
    let option = |names: &[&str]| parsed.value_of(names).map(|v| v.text.as_str());
    for url in urls.iter().take(8) {
        let end = last_part(&url.text);
        let end = end.split(['?', '#']).next().unwrap_or("");
        let name = option(&["-o", "--out"]).filter(|_| handler == Handler::Aria2);
        let name = name.unwrap_or(end);
        let folder = option(&["-P", "--directory-prefix", "-d", "--dir", "--output-dir"]);
        let path = match folder {
            Some(folder) => format!("{}/{name}", folder.trim_end_matches('/')),
            None => name.to_owned(),
        };
        let content = Value::unknown(Origins::FETCHED).with_source(&url.text);
        let path = scene.place(&Value::known(path)).text;
        scene.files.insert(&path, content);
    }
}

/// The files of a release, by the names that are given or asked for.
pub(super) fn release_files(scene: &mut Scene<'_>, parsed: &Parsed) {
    let option = |names: &[&str]| parsed.value_of(names).map(|v| v.text.as_str());
    let folder = option(&["-D", "--dir"]);
    let name = option(&["-O", "--output"]).or_else(|| option(&["-p", "--pattern"]));
    let Some(name) = name.filter(|name| *name != "-") else {
        return;
    };
    let path = match folder {
        Some(folder) => format!("{}/{name}", folder.trim_end_matches('/')),
        None => name.to_owned(),
    };
    let source = option(&["-R", "--repo"]).unwrap_or("");
    let content =
        Value::unknown(Origins::FETCHED).with_source(&format!("https://github.com/{source}"));
    let path = scene.place(&Value::known(path)).text;
    scene.files.insert(&path, content);
}

/// A text for people goes where others read it, with the commit or the comment that it belongs to: a
/// secret in it leaves.
pub(super) fn publishes(scene: &mut Scene<'_>, run: Run<'_>, text: &Value) -> Fueled {
    let is_read = [
        Tag::Pr,
        Tag::Mr,
        Tag::Issue,
        Tag::Publish,
        Tag::Gist,
        Tag::Comment,
        Tag::Commit,
        Tag::Message,
        Tag::Api,
    ];
    if !is_read.iter().any(|tag| run.actor.is(*tag)) {
        return Ok(());
    }
    scene.fuel.spend_on(text.text.len())?;
    // An address of a service is no key of it.
    let is_key = |mark: &Mark<'_>| !matches!(mark, Mark::Start(start) if start.contains('/'));
    let is_secret = text.origins.any(Origins::SECRET | Origins::ENVIRONMENT)
        || text.sources.iter().any(|source| &**source == "environment")
        || secret::marks(&text.text, false).iter().any(is_key)
        || hides_secret(&text.text)
        || scene.leaks(&text.text, None);
    if is_secret {
        let data = text.clone().marked(Origins::SECRET);
        scene.send(&run.actor.and(Tag::Message), &Value::default(), &data)?;
    }
    Ok(())
}

/// What follows the last `/` of an address.
pub(super) fn last_part(url: &str) -> &str {
    url.trim_end_matches('/').rsplit('/').next().unwrap_or("")
}

/// What comes out of an archive came from where the archive came from.
pub(super) fn unpacks(scene: &mut Scene<'_>, parsed: &Parsed, gathered: &Value) {
    if !gathered.origins.any(Origins::FETCHED) {
        return;
    }
    // Sources are unpacked and built all day; from a bare address nobody's are.
    let address = |s: &&Arc<str>| {
        let host = scene.know.hosts.host(&Value::known(s.to_string()));
        host.name.parse::<std::net::Ipv4Addr>().is_ok()
    };
    let bare = gathered.sources.iter().find(address).cloned();
    if let Some(host) = bare {
        let folder = scene.folder().to_owned();
        scene.fetched_folders.push((folder, host));
        return;
    }
    let unheard_of = |s: &&Arc<str>| {
        let host = scene.know.hosts.host(&Value::known(s.to_string()));
        !s.starts_with('/') && scene.know.hosts.is_unheard_of(&host)
    };
    let Some(host) = gathered.sources.iter().find(unheard_of).cloned() else {
        return;
    };
    let folder = parsed.options_named(&["-C", "--directory", "-d"]).next();
    match folder.and_then(|o| o.value.as_ref()) {
        // It is entered already.
        Some((Role::Cwd, _)) => {
            let folder = scene.folder().to_owned();
            scene.fetched_folders.push((folder, host));
        }
        Some((_, folder)) => {
            let folder = scene.place(folder).text;
            scene.fetched_folders.push((folder, host));
        }
        None => {
            let folder = scene.folder().to_owned();
            scene.unpacked.push((folder, host));
        }
    }
}

/// An argument of a program that talks to a host goes there, whatever option it stands in. A login is
/// what stands where logins stand and came from where logins are kept.
pub(super) fn carried(scene: &mut Scene<'_>, run: Run<'_>, target: &Value) -> Fueled {
    let host = scene.know.hosts.host(target);
    let mut before = "";
    for word in run.call.words.iter().skip(1) {
        let option = std::mem::replace(&mut before, &word.text);
        let whole_environment = word.sources.iter().any(|s| &**s == "environment");
        let foreign = |s: &Arc<str>| s.starts_with('$') && scene.know.hosts.is_foreign(s, &host);
        let others = word.origins.any(Origins::ENVIRONMENT) && word.sources.iter().any(foreign);
        let data = word.origins.any(Origins::FILE | Origins::SECRET) || whole_environment;
        if !data && !others {
            continue;
        }
        // An address is asked as a whole elsewhere; `user@host` and `@file` are read there too.
        let in_option = option.starts_with('-') || word.text.starts_with('-');
        let by_itself = !in_option && word.text.contains("://") || word.text == target.text;
        let named = word.text.contains('@') && !word.text.contains(char::is_whitespace);
        let login = is_login(option, &word.text) && is_kept(scene, word) && !whole_environment;
        if !by_itself && !named && !login || others {
            scene.send(run.actor, target, word)?;
            break;
        }
    }
    Ok(())
}

/// Whether a word stands where logins stand: `-u x`, or a header that is for them.
fn is_login(option: &str, word: &str) -> bool {
    const HEADERS: &str = "auth token key cookie secret session";
    const LOGINS: [&str; 9] = [
        "-u",
        "--user",
        "-U",
        "--proxy-user",
        "--oauth2-bearer",
        "-b",
        "--cookie",
        "--password",
        "--http-password",
    ];
    let word = word.strip_prefix("--header=").unwrap_or(word);
    let word = word.strip_prefix("-H").unwrap_or(word);
    let header = word.split(':').next().unwrap_or("").to_ascii_lowercase();
    let by_header = word.contains(':')
        && header.len() < 64
        && !header.contains(' ')
        && HEADERS.split(' ').any(|w| header.contains(w));
    // `--token x`, `--api-key=x` of clients of a service.
    let name = if word.starts_with("--") { word } else { option };
    let name = name.split('=').next().unwrap_or("");
    let by_name = name.starts_with("--")
        && ["token", "key", "secret", "auth"]
            .iter()
            .any(|w| name.ends_with(w));
    LOGINS.contains(&option) || by_header || by_name
}

/// Whether a value came from where logins are kept: a store of secrets, a variable, a file of its own
/// that is no part of the project's source.
fn is_kept(scene: &Scene<'_>, word: &Value) -> bool {
    const NAMES: [&str; 8] = [
        "token", "jwt", "cookie", "auth", "key", "secret", "session", "pass",
    ];
    let mut files = word.sources.iter().filter(|s| s.starts_with('/'));
    files.all(|file| {
        let place = scene.place(&Value::known(file.to_string()));
        let name = file.rsplit('/').next().unwrap_or("").to_ascii_lowercase();
        let language = scene.know.files.language(&place.short, "");
        let is_source = !matches!(
            language,
            None | Some(Language::Data | Language::Source | Language::Lines)
        );
        let named = NAMES.iter().any(|n| name.contains(n)) && !is_source;
        named || place.is(PathClass::Secret) || place.is(PathClass::Temp)
    })
}

/// curl's options may stand in a file, or come from its input: `curl -K -`.
pub(super) fn with_config(scene: &Scene<'_>, call: &Call<'_>) -> Option<Vec<Value>> {
    let at = call
        .words
        .iter()
        .position(|w| matches!(w.text.as_str(), "-K" | "--config"))?;
    let file = call.words.get(at + 1)?;
    let content = if file.text == "-" {
        call.stdin?.clone()
    } else {
        scene.content(file)
    };
    let mut words = call.words.to_vec();
    for line in content.as_known()?.lines().take(64) {
        let line = line.trim().trim_start_matches('-');
        let (key, value) = line.split_once(['=', ':', ' ']).unwrap_or((line, ""));
        if !key.is_empty() && !key.starts_with('#') {
            words.push(content.map(format!("--{}", key.trim())));
            words.push(content.map(value.trim().trim_matches('"')));
        }
    }
    Some(words)
}

/// `name@file` as `name=@file`.
pub(super) fn named(value: &Value) -> Value {
    match value.text.split_once('@') {
        Some((name, file)) if !name.contains('=') => value.map(format!("{name}=@{file}")),
        _ => value.clone(),
    }
}

/// curl's ways to say what is sent: a text, `@file`, `name=@file`, `name@file`, `-`.
pub(super) fn data_to_send(
    scene: &mut Scene<'_>,
    actor: &Actor,
    value: &Value,
    stdin: Option<&Value>,
) -> Fueled<Value> {
    let text = value.text.as_str();
    let file = match text.find(['@', '<']) {
        Some(0) => text.get(1..),
        Some(at) if text.get(..at).is_some_and(|name| name.ends_with('=')) => text.get(at + 1..),
        _ => None,
    };
    let Some(file) = file else {
        return Ok(value.clone());
    };
    let file = file.split(';').next().unwrap_or(file);
    if file == "-" || file == "/dev/stdin" {
        return Ok(stdin.cloned().unwrap_or_default());
    }
    scene.read(actor, &value.map(file))
}
