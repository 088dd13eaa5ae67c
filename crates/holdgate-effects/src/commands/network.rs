//! Programs that talk to hosts: what they fetch, where it lands, and what they carry away.

use super::Call;
use super::args::Parsed;
use super::handler::Handler;
use super::role::Role;
use super::units::Run;
use crate::effect::Actor;
use crate::scene::{Fueled, Scene};
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
        scene.files.insert(path, content);
    }
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
        scene.fetched_folders.push((scene.cwd.clone(), host));
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
        Some((Role::Cwd, _)) => scene.fetched_folders.push((scene.cwd.clone(), host)),
        Some((_, folder)) => {
            let folder = scene.place(folder).text;
            scene.fetched_folders.push((folder, host));
        }
        None => scene.unpacked.push((scene.cwd.clone(), host)),
    }
}

/// An argument of a program that talks to a host goes there, whatever option it stands in.
pub(super) fn carried(scene: &mut Scene<'_>, run: Run<'_>, target: &Value) -> Fueled {
    const LOGIN: &str = "authorization token -key: api_key apikey bearer";
    for word in run.call.words.iter().skip(1) {
        let text = word.text.to_ascii_lowercase();
        let login = LOGIN.split(' ').any(|w| text.contains(w));
        let whole_environment = word.sources.iter().any(|s| &**s == "environment");
        let host = scene.know.hosts.host(target);
        let foreign = |s: &Arc<str>| s.starts_with('$') && scene.know.hosts.is_foreign(s, &host);
        let others = word.origins.any(Origins::ENVIRONMENT) && word.sources.iter().any(foreign);
        if (word.origins.any(Origins::FILE | Origins::SECRET) || whole_environment)
            && !login
            && !text.contains("://")
            && !text.contains('@')
            || others
        {
            scene.send(run.actor, target, word)?;
            break;
        }
    }
    Ok(())
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
