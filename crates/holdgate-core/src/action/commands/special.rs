//! Arguments that need more than a role: URLs with data in them, mounts, SQL, transfers.

use super::args::Parsed;
use super::role::Role;
use super::{Call, find};
use crate::action::effect::{Actor, Effect, Kind, Tag};
use crate::action::host::HostClass;
use crate::action::path::PathClass;
use crate::action::scene::{Done, Scene};
use crate::action::shell;
use crate::action::value::{HOLE, Origins, Value};
use std::sync::Arc;

/// Programs whose arguments a table cannot tell. `None`: the table goes on.
pub(super) fn handle(
    scene: &mut Scene<'_>,
    handler: &str,
    parsed: &Parsed,
    call: &Call<'_>,
    actor: &Actor,
) -> Done<Option<Value>> {
    match handler {
        "find" => find::run(scene, call, actor).map(Some),
        "env" => env(scene, parsed, call, actor).map(Some),
        "socat" => socat(scene, call, actor).map(Some),
        "vim" => vim(scene, call, actor).map(|()| None),
        _ => Ok(None),
    }
}

/// The lines of a table of times, without the times.
pub(super) fn schedule_lines(program: &str, stdin: &Value) -> Value {
    if program != "crontab" {
        return stdin.clone();
    }
    let command = |line: &str| {
        let fields = if line.trim_start().starts_with('@') {
            1
        } else {
            5
        };
        let mut rest = line.trim_start();
        for _ in 0..fields {
            rest = rest
                .split_once([' ', '\t'])
                .map_or("", |(_, rest)| rest.trim_start());
        }
        rest.to_owned()
    };
    let lines: Vec<String> = stdin.text.lines().map(command).collect();
    stdin.map(lines.join("\n"))
}

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
pub(super) fn unpacks(scene: &mut Scene<'_>, program: &str, gathered: &Value) {
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
        if word.origins.any(Origins::FILE | Origins::SECRET)
            && !login
            && !text.contains("://")
            && !text.contains('@')
        {
            scene.send(actor, target, word)?;
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

/// Links, and copies of programs, lead to the same thing under another name.
pub(super) fn links(scene: &mut Scene<'_>, program: &str, parsed: &Parsed) {
    let [target, link] = parsed.operands.as_slice() else {
        return;
    };
    let copies = matches!(program, "cp" | "install" | "mv")
        && scene.place(target).is(PathClass::Binary)
        && !scene.place(link).is(PathClass::System);
    if program == "ln" || copies {
        scene.link(target, link);
    }
}

/// A process by number or by name. Where the number came from tells which process it is.
pub(super) fn kill(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Done {
    let mut text = value.text.clone();
    let mut effect = actor.does(Kind::Kill).of(value);
    if !value.sources.is_empty() {
        text.push(' ');
        text.push_str(&value.sources.join(" "));
    }
    if value.sources.iter().any(|s| s.starts_with("processes")) {
        effect = effect.tagged("by-name");
        // A script that goes through all processes names the one it is after somewhere.
        effect = effect.tagged("from-list");
        if value.sources.len() == 1 && value.sources.iter().all(|s| s.starts_with("processes:")) {
            effect = effect.tagged("unfiltered");
        }
        effect.evidence = crate::action::text::beginning(&scene.command, 8 << 10).into();
    }
    scene.emit(effect.about(&text))
}

/// A program that is not known, and among its words one that is and gets options: a wrapper.
pub(super) fn wrapped(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Done {
    const RUN_BY_WRAPPERS: [&str; 24] = [
        "rm", "sh", "bash", "zsh", "dash", "ksh", "python", "python3", "perl", "ruby", "node",
        "nc", "ncat", "curl", "wget", "dd", "chmod", "chown", "find", "shred", "sudo", "mkfs",
        "tar", "env",
    ];
    let words = call.words;
    // A shell and an address: whatever the program is called, it joins them.
    let is_shell = |w: &Value| {
        matches!(
            w.text.as_str(),
            "/bin/sh"
                | "/bin/bash"
                | "/bin/zsh"
                | "/bin/dash"
                | "/usr/bin/bash"
                | "/usr/bin/sh"
                | "cmd.exe"
                | "powershell.exe"
        )
    };
    let is_address = |w: &&Value| {
        let known = scene.know.hosts.host(w);
        known.class == HostClass::External && known.name.parse::<std::net::IpAddr>().is_ok()
    };
    if words.iter().skip(1).any(is_shell)
        && let Some(address) = words.iter().skip(1).find(is_address)
    {
        let host = scene.know.hosts.host(address);
        scene.emit(actor.does(Kind::RemoteShell).with(host))?;
    }
    // A whole pipeline as one argument: what runs it does not matter if it opens the machine.
    for word in words.iter().skip(1).filter(|w| w.text.contains(['|', ';'])) {
        let before = scene.effects.len();
        shell::suspect(scene, actor, word)?;
        let opens = |e: &Effect| {
            matches!(
                e.kind,
                Kind::RemoteShell | Kind::ExecuteFetched | Kind::ExecuteDecoded
            )
        };
        let mut at = 0;
        scene.effects.retain(|e| {
            at += 1;
            at <= before || opens(e)
        });
    }
    for (at, word) in words.iter().enumerate().skip(1) {
        let name = word.text.rsplit('/').next().unwrap_or("");
        let next = words.get(at + 1).map_or("", |w| w.text.as_str());
        if RUN_BY_WRAPPERS.contains(&name) && next.starts_with('-') {
            scene.argv(words.get(at..).unwrap_or(&[]), call.stdin)?;
            break;
        }
    }
    Ok(())
}

/// `xargs` and its like add what they read to the arguments.
pub(super) fn with_input(
    words: &[Value],
    role: Role,
    stdin: Option<&Value>,
    mark: &str,
) -> Vec<Value> {
    let mut words = words.to_vec();
    let Some(stdin) = stdin.filter(|_| role == Role::ArgvAndInput) else {
        return words;
    };
    let added: Vec<Value> = stdin
        .text
        .split([' ', '\n', '\t', '\0'])
        .filter(|w| !w.is_empty())
        .take(64)
        .map(|w| stdin.map(w.to_owned()))
        .collect();
    let mut placed = false;
    for word in &mut words {
        if !mark.is_empty() && word.text.contains(mark) {
            placed = true;
            // With a mark the whole line goes there.
            let with = stdin.map(stdin.text.lines().next().unwrap_or("").to_owned());
            let text = word.text.replace(mark, &with.text);
            word.text = text;
            word.taint(&with);
        }
    }
    if !placed {
        if words.is_empty() {
            words.push(Value::known("echo"));
        }
        words.extend(added);
    }
    words
}

/// What a mode gives away: `u+s`, `777`, `o+w`.
pub(super) fn mode_tags(mode: &str) -> Vec<Tag> {
    let mut tags: Vec<Tag> = Vec::new();
    let octal = !mode.is_empty() && mode.bytes().all(|b| b.is_ascii_digit());
    if octal {
        let digits: Vec<u32> = mode.chars().filter_map(|c| c.to_digit(8)).collect();
        let special = if digits.len() > 3 {
            digits.get(digits.len() - 4).copied()
        } else {
            None
        };
        let digit = |from_end: usize| {
            digits
                .len()
                .checked_sub(from_end)
                .and_then(|at| digits.get(at))
                .copied()
                .unwrap_or(0)
        };
        if special.is_some_and(|d| d & 6 != 0) {
            tags.push("setuid".into());
        }
        if digit(1) & 2 != 0 {
            tags.push("world-writable".into());
        }
        if digit(3) & 1 != 0 {
            tags.push("executable".into());
        }
        if digits.iter().rev().take(3).all(|d| *d == 0) {
            tags.push("locked".into());
        }
        return tags;
    }
    for clause in mode.split(',') {
        let Some(at) = clause.find(['+', '=', '-']) else {
            continue;
        };
        let (who, what) = clause.split_at_checked(at).unwrap_or((clause, ""));
        if what.starts_with('-') {
            continue;
        }
        if what.contains('s') && who != "o" {
            tags.push("setuid".into());
        }
        if what.contains('w') && (who.contains('o') || who.contains('a')) {
            tags.push("world-writable".into());
        }
        if what.contains('x') {
            tags.push("executable".into());
        }
    }
    tags
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

/// `NAME=value` before a program, or in `export`.
pub(super) fn environment(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Done {
    let Some((name, content)) = value.text.split_once('=') else {
        return Ok(());
    };
    let content = value.map(content.to_owned());
    scene.set_environment(actor, name, &content)
}

/// `env [options] [NAME=value]… program …`
fn env(scene: &mut Scene<'_>, parsed: &Parsed, call: &Call<'_>, actor: &Actor) -> Done<Value> {
    let outer = scene.cwd.clone();
    for given in &parsed.options {
        if matches!(
            given.name.as_str(),
            "-u" | "--unset" | "-i" | "-" | "--ignore-environment"
        ) {
            let name = given.value.as_ref().map_or("*", |(_, v)| v.text.as_str());
            let effect = actor
                .does(Kind::Env)
                .tagged("unset")
                .about(&format!("{name}="));
            scene.emit(effect)?;
        }
        match &given.value {
            Some((Role::Cwd, value)) => scene.enter(value),
            Some((Role::Shell, code)) => {
                // `-S` splits a text into words; as a shell reads it, they are the same words.
                let mut code = code.clone();
                for operand in &parsed.operands {
                    code.push_text(" ");
                    code.push(operand);
                }
                let output = scene.shell(actor, &code)?;
                scene.cwd = outer;
                return Ok(output);
            }
            _ => {}
        }
    }
    let is_assignment = |w: &&Value| w.text.split_once('=').is_some_and(|(n, _)| is_name(n));
    let assigned = parsed.operands.iter().take_while(is_assignment).count();
    let output = scene.apart(|scene| {
        for operand in parsed.operands.iter().take(assigned) {
            environment(scene, actor, operand)?;
        }
        match parsed.operands.get(assigned..) {
            Some(words) if !words.is_empty() => scene.argv(words, call.stdin),
            _ => Ok(Value::unknown(Origins::ENVIRONMENT)),
        }
    })?;
    scene.cwd = outer;
    Ok(output)
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'%')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Two addresses, joined: a shell on one side and the network on the other is a remote shell.
fn socat(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Done<Value> {
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

/// Editors and pagers run commands that stand in their arguments: `-c '!command'`, `+'call system(…)'`.
fn vim(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Done {
    let mut words = call.words.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let option =
            word.text.starts_with('-') && (word.text.ends_with('c') || word.text == "--cmd");
        let command = match word.text.strip_prefix('+') {
            Some(command) => Some(word.map(command.to_owned())),
            None if option => words.next().cloned(),
            None => None,
        };
        if let Some(command) = command {
            shell::suspect(scene, actor, &command)?;
        }
    }
    Ok(())
}

/// `host:container[:options]`, `type=bind,source=…`.
pub(super) fn mount(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Done {
    let text = value.text.as_str();
    let source = if text.contains("source=") || text.contains("src=") {
        text.split(',')
            .find_map(|p| p.strip_prefix("source=").or_else(|| p.strip_prefix("src=")))
            .unwrap_or("")
    } else {
        text.split(':').next().unwrap_or("")
    };
    // A plain name is a volume of the container engine's own.
    if !(source.starts_with(['/', '.', '~']) || source.starts_with(HOLE)) {
        return Ok(());
    }
    let place = scene.place(&value.map(source.to_owned()));
    scene.emit(
        actor
            .does(Kind::Container)
            .tagged("mount")
            .at(place)
            .about(text),
    )
}

/// What a statement does to the data.
pub(crate) fn sql(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Done {
    // What stands in quotes is data.
    let text: String = value
        .text
        .split('\'')
        .step_by(2)
        .collect::<Vec<_>>()
        .join(" ")
        .to_ascii_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .collect();
    let follows = |first: &str, second: &[&str]| {
        words
            .windows(2)
            .any(|w| matches!(w, [a, b] if *a == first && second.contains(b)))
    };
    let mut effect = actor.does(Kind::Database).about(&value.text).of(value);
    let objects = [
        "table",
        "database",
        "schema",
        "view",
        "index",
        "role",
        "user",
        "column",
        "keyspace",
        "collection",
    ];
    if follows("drop", &objects)
        || text.contains("dropdatabase")
        || text.contains(".drop(")
        || text.contains("flushall")
        || text.contains("flushdb")
    {
        effect = effect.tagged("drop");
    }
    if words.first() == Some(&"truncate") || follows("truncate", &["table"]) {
        effect = effect.tagged("drop");
    }
    let deletes = follows("delete", &["from"]);
    if deletes && !words.contains(&"where") || text.contains("deletemany({})") {
        effect = effect.tagged("delete-all");
    }
    if follows("from", &["program"])
        || follows("to", &["program"])
        || text.contains("xp_cmdshell")
        || text.contains("sys_exec")
    {
        effect = effect.tagged("shell");
    }
    if text.contains("into outfile") || text.contains("load_file(") || text.contains("pg_read_file")
    {
        effect = effect.tagged("file");
    }
    scene.emit(effect)?;
    // Clients run lines that begin with `\!` or `.shell`.
    for line in value.text.lines() {
        let line = line.trim_start();
        let command = ["\\!", ".shell ", ".system ", "system "]
            .iter()
            .find_map(|p| line.strip_prefix(p));
        if let Some(command) = command {
            scene.shell(actor, &value.map(command.trim().to_owned()))?;
        }
    }
    Ok(())
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
fn remote(operand: &Value) -> Option<Value> {
    let text = operand.text.as_str();
    if text.contains("://") {
        return Some(operand.clone());
    }
    let (host, _) = text.split_once(':')?;
    let is_host = !host.is_empty() && !host.contains('/') && host.len() > 1;
    is_host.then(|| operand.map(host.to_owned()))
}
