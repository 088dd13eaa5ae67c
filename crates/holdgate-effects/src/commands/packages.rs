//! Packages: what is installed, and from where.

mod publisher;

use super::args::Parsed;
use super::role::Role;
use super::units::Run;
use super::weights::{addresses, is_stranger, says};
use super::{Call, unsettled};
use crate::effect::{Actor, Kind};
use crate::host::HostClass;
use crate::knowledge::publishers::Registry;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Packages from a registry that everybody uses are from no other index.
pub(super) fn usual_index(scene: &Scene<'_>, parsed: &Parsed, actor: &mut Actor) {
    let values = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let by_address =
        |(role, value): &(Role, Value)| *role == Role::Index && value.text.contains("://");
    if values.clone().any(by_address) {
        actor.tag([Tag::OtherIndex]);
    }
    if !actor.is(Tag::OtherIndex) {
        return;
    }
    let mut urls = values
        .map(|(_, value)| value)
        .filter(|value| value.text.contains("://"))
        .peekable();
    let vouched = |url: &Value| {
        let class = scene.know.hosts.host(url).class;
        let usual = matches!(class, HostClass::Registry | HostClass::Loopback);
        usual && !url.text.contains("git")
    };
    if urls.peek().is_some() && urls.clone().all(vouched) {
        actor.tags.retain(|tag| *tag != Tag::OtherIndex);
        return;
    }
    let tags: Vec<Tag> = urls.filter_map(|url| scene.doubt(url)).collect();
    actor.tag(tags);
}

/// All that a project needs comes from another index: no package is named, the file of versions names them.
pub(super) fn whole_index(scene: &mut Scene<'_>, run: Run<'_>, before: usize) -> Fueled {
    const VERBS: [&str; 17] = [
        "install",
        "i",
        "ci",
        "clean-install",
        "it",
        "cit",
        "add",
        "update",
        "up",
        "upgrade",
        "restore",
        "sync",
        "lock",
        "dedupe",
        "rebuild",
        "fetch",
        "require",
    ];
    if !run.actor.is(Tag::OtherIndex) {
        return Ok(());
    }
    let told = scene.effects.iter().skip(before);
    if told.clone().any(|effect| effect.kind == Kind::Install) {
        return Ok(());
    }
    let parsed = run.parsed;
    let operands = parsed.operands.iter().map(|word| word.text.as_str());
    let mut words = parsed.subs.iter().map(String::as_str).chain(operands);
    // `yarn --registry=…` installs.
    let installs = words.next().is_none_or(|word| VERBS.contains(&word));
    let values = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let mut urls = values.map(|(_, v)| v).filter(|v| v.text.contains("://"));
    let Some(url) = urls.next().filter(|_| installs) else {
        return Ok(());
    };
    let effect = run.actor.does(Kind::Install).tagged(Tag::All);
    scene.emit(effect.with(scene.know.hosts.host(url)).about(&url.text))
}

/// Where packages come from, by the names of options and sub-commands alone: whatever an entry calls the
/// value, `--find-links URL`, `remote add x URL` and `-DremoteRepositories=URL` bring code from there.
pub(super) fn sources(
    scene: &mut Scene<'_>,
    call: &Call<'_>,
    actor: &Actor,
    before: usize,
) -> Fueled {
    const ASKS: [&str; 15] = [
        "view",
        "info",
        "search",
        "ping",
        "show",
        "list",
        "ls",
        "whoami",
        "login",
        "logout",
        "adduser",
        "publish",
        "outdated",
        "push",
        "deprecate",
    ];
    const SOURCES: [&str; 31] = [
        "catalog",
        "index",
        "indexes",
        "registry",
        "registries",
        "mirror",
        "mirrors",
        "find",
        "links",
        "channel",
        "channels",
        "repo",
        "repos",
        "repository",
        "repositories",
        "remoterepositories",
        "source",
        "sources",
        "substituter",
        "substituters",
        "remote",
        "hosted",
        "asset",
        "setup",
        "server",
        "from",
        "tap",
        "feed",
        "plugin",
        "pluginurl",
        "goproxy",
    ];
    if !scene.know.verbs.is_packager(call.program) || scene.written {
        return Ok(());
    }
    let words = call.words.get(1..).unwrap_or(&[]);
    let mut option = "";
    let said = unsettled::sub_commands(words);
    if said.first().is_some_and(|word| ASKS.contains(word)) {
        return Ok(());
    }
    let by_sub = said.iter().any(|word| says(word, &SOURCES)) || says(call.program, &SOURCES);
    let changes = |word: &&str| {
        let verbs = [
            "add", "set", "set-url", "update", "pull", "install", "config", "env", "c",
        ];
        verbs.contains(word) || word.starts_with("add-")
    };
    let changes = said.iter().any(changes)
        || words
            .iter()
            .any(|w| matches!(w.text.as_str(), "--add" | "-a"));
    for word in words.iter().take(64) {
        let text = word.text.as_str();
        let before_it = std::mem::take(&mut option);
        if text.starts_with('-') && !text.contains('=') {
            option = text;
            continue;
        }
        if !text.contains("://") || text.len() > 2048 {
            continue;
        }
        for (name, address) in addresses(text, before_it) {
            let named = name == "--url" && !by_sub && said.first() == Some(&"pull")
                || !name.is_empty() && says(name, &SOURCES)
                || (name.is_empty() || matches!(name, "--url" | "--add" | "-a"))
                    && by_sub
                    && changes
                || name.is_empty() && said.iter().any(|word| matches!(*word, "install" | "add"))
                || text.starts_with("-DremoteRepositories");
            let url = Value::known(address.trim_start_matches("git+"));
            let host = scene.know.hosts.host(&url);
            if !named || !is_stranger(scene, &host) {
                continue;
            }
            let told = |e: &crate::effect::Effect| {
                e.kind == Kind::Install && e.tags.contains(&Tag::OtherIndex)
            };
            if scene.effects.iter().skip(before).any(told) {
                return Ok(());
            }
            let mut effect = actor.does(Kind::Install).tagged(Tag::OtherIndex);
            if let Some(tag) = scene.doubt(&url) {
                effect = effect.tagged(tag);
            }
            return scene.emit(effect.with(host).about(address));
        }
    }
    Ok(())
}

/// A package by name, by URL, or from here.
pub(super) fn install(scene: &mut Scene<'_>, run: Run<'_>, value: &Value) -> Fueled {
    let value = &source_of(value);
    let tags = publisher::of(scene, run, value);
    installs(scene, run.actor, value, tags)
}

/// The same for the package of a program that runs at once.
pub(super) fn install_program(scene: &mut Scene<'_>, run: Run<'_>, value: &Value) -> Fueled {
    let tags = publisher::of_program(scene, run, value);
    installs(scene, run.actor, value, tags)
}

/// `lodash@github:owner/lodash`: the name is a label, the rest says where it comes from.
fn source_of(value: &Value) -> Value {
    const STARTS: [&str; 7] = [
        "github:",
        "gitlab:",
        "bitbucket:",
        "gist:",
        "git+",
        "https://",
        "http://",
    ];
    let behind = |(at, _): (usize, &str)| value.text.get(at + 1..);
    let parts = value.text.match_indices('@').filter(|(at, _)| *at > 0);
    let mut parts = parts.filter_map(behind);
    let source = parts.find(|part| STARTS.iter().any(|start| part.starts_with(start)));
    source.map_or_else(|| value.clone(), |source| value.map(source))
}

fn installs(scene: &mut Scene<'_>, actor: &Actor, value: &Value, tags: Vec<Tag>) -> Fueled {
    let mut effect = actor.does(Kind::Install).about(&value.text).of(value);
    for tag in tags {
        effect = effect.tagged(tag);
    }
    let text = value.text.as_str();
    if text.contains("://") || text.starts_with("git+") || text.starts_with("git@") {
        let url = text.strip_prefix("git+").unwrap_or(text);
        let url = url.rsplit_once(" @ ").map_or(url, |(_, url)| url);
        let url = value.map(url);
        effect = effect.tagged(Tag::FromUrl);
        if let Some(tag) = scene.doubt(&url) {
            effect = effect.tagged(tag);
        }
        effect = effect.with(scene.know.hosts.host(&url));
    } else if text.starts_with(['.', '/', '~'])
        || matches!(text.rsplit('.').next(), Some("whl" | "tgz" | "deb" | "rpm"))
    {
        effect = effect.tagged(Tag::FromFile).at(scene.place(value));
    } else if text.starts_with("github:")
        || text.matches('/').count() == 1 && !text.starts_with('@')
    {
        effect = effect.tagged(Tag::FromVcs);
    }
    if let Some((name, other)) = text.split_once("@npm:")
        && crate::scene::is_other_package(name, other)
    {
        effect = effect.tagged(Tag::OtherName);
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

/// `npm config set @scope:registry URL` writes a line of `.npmrc`.
fn sets_registry(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let line = match parsed.operands.as_slice() {
        [line] if line.text.contains('=') => line.clone(),
        [key, value, ..] => value.map(format!("{}={}", key.text, value.text)),
        _ => return Ok(()),
    };
    let key = line.text.split('=').next().unwrap_or("");
    if !key.ends_with(":registry") {
        return Ok(());
    }
    scene.write(actor, &Value::known(".npmrc"), &line, true)
}

/// `npx name@version words…`: the program of a package runs. If it is not known, it touches what its
/// words name.
pub(super) fn runs(scene: &mut Scene<'_>, run: Run<'_>, words: &[Value]) -> Fueled<Option<Value>> {
    let Some((package, arguments)) = words.split_first() else {
        return Ok(None);
    };
    if package.text.starts_with(['.', '/', '~']) {
        // A program of the project.
        return scene.argv(words, run.call.stdin).map(Some);
    }
    let name = package.text.strip_prefix('@').unwrap_or(&package.text);
    let name = name.split('@').next().unwrap_or("");
    let know = scene.know;
    let known = know.own.is_program(name) || know.commands.get(name).is_some();
    if known && !name.contains('/') {
        let mut words = vec![package.map(name)];
        words.extend_from_slice(arguments);
        return scene.argv(&words, run.call.stdin).map(Some);
    }
    let words: Vec<Value> = std::iter::once(package.map(name))
        .chain(arguments.iter().cloned())
        .collect();
    let call = Call {
        program: name,
        words: &words,
        stdin: run.call.stdin,
    };
    let printed = unsettled::unlisted(scene, &call, run.actor)?;
    for word in arguments {
        scene.touches(run.actor, word)?;
    }
    Ok(printed)
}

/// `go run host/module@version`, `go install …`, `go get …`: modules are fetched and built from the host
/// that their names begin with.
pub(super) fn modules(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    const MAX_MODULES: usize = 16;
    let runs = parsed.is_sub(&["run"]);
    let count = if runs { 1 } else { MAX_MODULES };
    for module in parsed.operands.iter().take(count) {
        let (path, version) = module.text.split_once('@').unwrap_or((&module.text, ""));
        let (host, _) = path.split_once('/').unwrap_or((path, ""));
        let named = host.contains('.') && !host.starts_with('.') && path.contains('/');
        if !named || runs && version.is_empty() {
            continue;
        }
        let host = scene.know.hosts.host(&module.map(path));
        let unheard_of = scene.know.hosts.is_strange_module(&host);
        if runs || unheard_of {
            let mut effect = actor.does(Kind::Install).about(&module.text);
            for tag in scene.publisher(Registry::Go, &module.text) {
                effect = effect.tagged(tag);
            }
            if unheard_of {
                effect = effect.tagged(Tag::FromUrl);
            }
            scene.emit(effect.with(host))?;
        }
    }
    Ok(())
}

/// `npm pkg set scripts.NAME=command`
pub(super) fn scripts(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    if parsed.subs.first().is_some_and(|sub| sub != "pkg") {
        return sets_registry(scene, parsed, actor);
    }
    for operand in &parsed.operands {
        let script = operand.text.strip_prefix("scripts.");
        if let Some((_, code)) = script.and_then(|script| script.split_once('=')) {
            let code = operand.map(code);
            scene.apart(|scene| scene.shell(actor, &code))?;
        }
    }
    Ok(())
}
