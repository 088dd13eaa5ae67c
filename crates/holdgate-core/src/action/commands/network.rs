//! Programs that talk to hosts: what they fetch, where it lands, and what they carry away.

use super::Call;
use super::args::Parsed;
use super::role::Role;
use crate::action::effect::{Actor, Kind};
use crate::action::host::HostClass;
use crate::action::path::PathClass;
use crate::action::scene::{Done, Scene};
use crate::action::value::{Origins, Value};
use std::sync::Arc;

/// Files that a program makes without being told their names: `wget URL`, `curl -O URL`, `git clone`.
pub(super) fn downloads(scene: &mut Scene<'_>, call: &Call<'_>, parsed: &Parsed, urls: &[Value]) {
    let given = |names: &[&str]| {
        parsed
            .options
            .iter()
            .any(|o| names.contains(&o.name.as_str()))
    };
    let named = match call.program {
        "wget" | "wget2" => !given(&["-O", "--output-document", "--spider"]),
        "curl" => given(&["-O", "--remote-name", "--remote-name-all"]),
        "aria2c" | "axel" => true,
        _ => false,
    };
    for url in urls.iter().take(8) {
        let host = scene.know.hosts.host(url);
        if named {
            let option = |names: &[&str]| {
                let found = parsed
                    .options
                    .iter()
                    .find(|o| names.contains(&o.name.as_str()));
                found
                    .and_then(|o| o.value.as_ref())
                    .map(|(_, v)| v.text.clone())
            };
            let end = url
                .text
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .unwrap_or("");
            let end = end.split(['?', '#']).next().unwrap_or("");
            let name = option(&["-o", "--out"])
                .filter(|_| call.program == "aria2c")
                .unwrap_or_else(|| end.to_owned());
            let folder = option(&["-P", "--directory-prefix", "-d", "--dir", "--output-dir"]);
            let path = match folder {
                Some(folder) => format!("{}/{name}", folder.trim_end_matches('/')),
                None => name,
            };
            let content = Value::unknown(Origins::FETCHED).with_source(&url.text);
            let path = scene.place(&Value::known(path)).text;
            scene.files.insert(path, content);
        } else if call.program == "git"
            && parsed.tags.iter().any(|t| &**t == "clone")
            && host.class == HostClass::External
        {
            let end = url
                .text
                .trim_end_matches('/')
                .rsplit(['/', ':'])
                .next()
                .unwrap_or("");
            let folder = parsed
                .operands
                .get(1)
                .map_or(end.trim_end_matches(".git"), |o| o.text.as_str());
            let folder = scene.place(&Value::known(folder)).text;
            scene
                .fetched_folders
                .push((folder, host.name.as_str().into()));
        }
    }
}

/// What comes out of an archive came from where the archive came from.
pub(super) fn unpacks(scene: &mut Scene<'_>, program: &str, parsed: &Parsed, gathered: &Value) {
    let unpacks = matches!(program, "tar" | "bsdtar" | "unzip" | "7z" | "cpio");
    if !unpacks || !gathered.origins.any(Origins::FETCHED) {
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
    let named = ["-C", "--directory", "-d"];
    let folder = parsed
        .options
        .iter()
        .find(|o| named.contains(&o.name.as_str()))
        .and_then(|o| o.value.as_ref());
    match folder {
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
pub(super) fn carried(
    scene: &mut Scene<'_>,
    call: &Call<'_>,
    target: &Value,
    actor: &Actor,
) -> Done {
    for word in call.words.iter().skip(1) {
        let text = word.text.to_ascii_lowercase();
        let login = [
            "authorization",
            "token",
            "-key:",
            "api_key",
            "apikey",
            "bearer",
        ]
        .iter()
        .any(|w| text.contains(w));
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
            scene.send(actor, target, word)?;
            break;
        }
    }
    Ok(())
}

/// Packages from a registry that everybody uses are from no other index.
pub(super) fn usual_index(scene: &Scene<'_>, parsed: &Parsed, actor: &mut Actor) {
    if !actor.is("other-index") {
        return;
    }
    let values = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let mut urls = values
        .map(|(_, value)| value)
        .filter(|value| value.text.contains("://"))
        .peekable();
    let vouched = |url: &Value| {
        let class = scene.know.hosts.host(url).class;
        class == HostClass::Registry && !url.text.contains("git")
    };
    if urls.peek().is_some() && urls.all(vouched) {
        actor.tags.retain(|tag| &**tag != "other-index");
    }
}

/// `go run host/module@version`: it is fetched, built and run.
pub(super) fn run_module(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Done {
    let module = parsed.operands.first().filter(|o| o.text.contains('@'));
    let Some(module) = module.filter(|o| !o.text.starts_with(['.', '/'])) else {
        return Ok(());
    };
    let path = module.text.split('@').next().unwrap_or("");
    let host = scene.know.hosts.host(&module.map(path.to_owned()));
    let mut effect = actor.does(Kind::Install).about(&module.text);
    if matches!(host.class, HostClass::External | HostClass::Drop) {
        effect = effect.tagged("from-url");
    }
    scene.emit(effect.with(host))
}

/// What a client for files is told to send, line by line: `put file`.
pub(super) fn put_lines(
    scene: &mut Scene<'_>,
    parsed: &Parsed,
    call: &Call<'_>,
    actor: &Actor,
) -> Done {
    let batch = parsed.options.iter().find(|o| o.name == "-b");
    let batch = batch.and_then(|o| o.value.as_ref());
    let script = match batch {
        Some((_, file)) if file.text != "-" => Some(scene.content(file)),
        _ => call.stdin.cloned(),
    };
    let (Some(script), Some(host)) = (script, parsed.operands.first()) else {
        return Ok(());
    };
    for line in script.text.lines().take(64) {
        let mut words = line.split_whitespace();
        let puts = words
            .next()
            .is_some_and(|w| matches!(w, "put" | "mput" | "reput" | "send" | "append"));
        let file = words.find(|w| !w.starts_with('-')).filter(|_| puts);
        if let Some(file) = file {
            let content = scene.read(actor, &script.map(file.to_owned()))?;
            let mut sender = actor.clone();
            sender.tag(["transfer".into()]);
            scene.send(&sender, host, &content)?;
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
    let file = call.words.get(at + 1).filter(|_| call.program == "curl")?;
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
            words.push(content.map(value.trim().trim_matches('"').to_owned()));
        }
    }
    Some(words)
}

/// curl's ways to say what is sent: a text, `@file`, `name=@file`, `name@file`, `-`.
pub(super) fn data_to_send(
    scene: &mut Scene<'_>,
    actor: &Actor,
    value: &Value,
    stdin: Option<&Value>,
) -> Done<Value> {
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
    scene.read(actor, &value.map(file.to_owned()))
}

/// Two addresses, joined: a shell on one side and the network on the other is a remote shell.
pub(super) fn socat(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Done<Value> {
    let (mut network, mut runs) = (None, false);
    let mut content = call.stdin.cloned();
    let addresses = call
        .words
        .iter()
        .skip(1)
        .filter(|w| !w.text.starts_with('-') || w.text == "-");
    for address in addresses {
        let (kind, rest) = address.text.split_once(':').unwrap_or((&address.text, ""));
        let rest_value = address.map(rest.to_owned());
        match kind.to_ascii_lowercase().as_str() {
            "exec" | "system" | "shell" => {
                runs = true;
                let command = rest.split(",pty").next().unwrap_or(rest);
                let command = command
                    .split(",stderr")
                    .next()
                    .unwrap_or(command)
                    .trim_matches(['\'', '"']);
                scene.shell(actor, &address.map(command.to_owned()))?;
            }
            kind if kind.contains("listen") || kind.ends_with("-l") => {
                scene.emit(actor.does(Kind::Listen).about(rest))?;
                network = Some(Value::known("0.0.0.0"));
            }
            kind if kind.starts_with("tcp")
                || kind.starts_with("udp")
                || kind.starts_with("openssl")
                || kind.starts_with("sctp") =>
            {
                let host = scene.know.hosts.host(&rest_value);
                scene.emit(actor.does(Kind::Connect).with(host).about(rest))?;
                network = Some(rest_value);
            }
            "file" | "open" | "gopen" => {
                let path = rest.split(',').next().unwrap_or(rest);
                content = Some(scene.read(actor, &address.map(path.to_owned()))?);
            }
            "create" => {
                let path = rest.split(',').next().unwrap_or(rest);
                scene.write(
                    actor,
                    &address.map(path.to_owned()),
                    &Value::default(),
                    false,
                )?;
            }
            _ => {}
        }
    }
    if let (Some(address), true) = (&network, runs) {
        let host = scene.know.hosts.host(address);
        scene.emit(actor.does(Kind::RemoteShell).with(host))?;
    }
    if let (Some(address), Some(data)) = (&network, &content) {
        scene.send(actor, address, data)?;
    }
    Ok(match network {
        Some(_) => Value::unknown(Origins::FETCHED),
        None => Value::unknown(Origins::OUTPUT),
    })
}

/// `scp`, `rsync`, `aws s3 cp`: all but the last go to where the last one says.
pub(super) fn transfer(scene: &mut Scene<'_>, actor: &Actor, operands: &[Value]) -> Done {
    let Some((target, sources)) = operands.split_last() else {
        return Ok(());
    };
    let mut content = Value::default();
    for source in sources {
        if let Some(host) = remote(source) {
            content.push(&scene.fetch(actor, &host)?);
        } else {
            let read = scene.read(actor, source)?;
            content.push(&read);
            if actor.is("move") {
                scene.touch(actor, Kind::Move, source)?;
            }
        }
    }
    if let Some(host) = remote(target) {
        let mut actor = actor.clone();
        actor.tags.push("transfer".into());
        scene.send(&actor, &host, &content)?;
    } else {
        let folder = target.text.ends_with('/') || matches!(target.text.as_str(), "." | ".." | "~");
        let name = sources
            .first()
            .and_then(|s| s.text.rsplit(['/', ':']).next())
            .unwrap_or("");
        let path = if folder {
            target.map(format!("{}/{name}", target.text.trim_end_matches('/')))
        } else {
            target.clone()
        };
        scene.write(actor, &path, &content, false)?;
    }
    if actor.is("delete") && remote(target).is_none() {
        let place = scene.place(target);
        if !place.is(PathClass::Stream) {
            scene.emit(actor.does(Kind::Delete).tagged("recursive").at(place))?;
        }
    }
    Ok(())
}

/// The host of `user@host:path`, `scheme://host/…`; `None` for a local path.
pub(super) fn remote(operand: &Value) -> Option<Value> {
    let text = operand.text.as_str();
    if text.contains("://") {
        return Some(operand.clone());
    }
    let (host, _) = text.split_once(':')?;
    let is_host = !host.is_empty() && !host.contains('/') && host.len() > 1;
    is_host.then(|| operand.map(host.to_owned()))
}

/// A package by name, by URL, or from here.
pub(super) fn install(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Done {
    let mut effect = actor.does(Kind::Install).about(&value.text).of(value);
    let text = value.text.as_str();
    if text.contains("://") || text.starts_with("git+") || text.starts_with("git@") {
        let url = text.strip_prefix("git+").unwrap_or(text);
        let url = url.rsplit_once(" @ ").map_or(url, |(_, url)| url);
        effect = effect
            .tagged("from-url")
            .with(scene.know.hosts.host(&value.map(url.to_owned())));
    } else if text.starts_with(['.', '/', '~'])
        || matches!(text.rsplit('.').next(), Some("whl" | "tgz" | "deb" | "rpm"))
    {
        effect = effect.tagged("from-file").at(scene.place(value));
    } else if text.starts_with("github:")
        || text.matches('/').count() == 1 && !text.starts_with('@')
    {
        effect = effect.tagged("from-vcs");
    }
    let fetched = scene
        .files
        .get(&scene.place(value).text)
        .is_some_and(|c| c.origins.any(Origins::FETCHED));
    scene.emit(effect)?;
    if fetched {
        // Its scripts run while it is installed.
        let content = scene.content(value);
        scene.executes(actor, &content)?;
    }
    Ok(())
}
