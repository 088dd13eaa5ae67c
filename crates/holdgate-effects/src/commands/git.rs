//! git's settings, of which some run programs.

use super::args::Parsed;
use super::branches;
use super::network::last_part;
use super::setters::is_usual;
use crate::effect::{Actor, Kind};
use crate::host::HostClass;
use crate::language::programs;
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};

/// What git's own way with operands means: `checkout -- file`, `push origin +main`.
pub(super) fn tags(parsed: &Parsed) -> Vec<Tag> {
    let is = |tag: Tag| parsed.tags.contains(&tag);
    let mut tags: Vec<Tag> = Vec::new();
    // One file that is named is asked for by name.
    let one_file = !is(Tag::Checkout) || parsed.operands.len() < 3;
    let one_file = one_file
        && match parsed.operands.as_slice() {
            [path] => is_file_name(&path.text),
            [_, path] if is(Tag::Checkout) && parsed.paths_from.is_some() => {
                is_file_name(&path.text)
            }
            _ => false,
        };
    if is(Tag::Checkout)
        && !one_file
        && (parsed.paths_from.is_some() || parsed.operands.iter().any(|o| o.text == "."))
        && !takes_from_commit(parsed)
        && !parsed.given(&["-b", "-B", "--orphan"])
    {
        tags.push(Tag::Discards);
    }
    if is(Tag::Restore)
        && !one_file
        && (!parsed.given(&["--staged", "-S"]) || parsed.given(&["--worktree", "-W"]))
    {
        tags.push(Tag::Worktree);
    }
    // `git diff | git apply -R`, `git apply -R <(git diff)`
    if reverses(parsed) && parsed.operands.iter().all(|o| o.text.starts_with("/dev/")) {
        tags.push(Tag::Discards);
    }
    // `git clean -fd src/generated`: only what is named.
    if is(Tag::Clean) && !parsed.operands.is_empty() && parsed.operands.iter().all(is_below) {
        tags.push(Tag::Filtered);
    }
    let forces = parsed.operands.iter().any(|o| o.text.starts_with('+'))
        || parsed.options.iter().any(|o| o.name.starts_with("--force"));
    if is(Tag::Push) && forces {
        tags.push(Tag::Force);
    }
    let regardless =
        parsed.given(&["-f", "--force"]) || parsed.operands.iter().any(|o| o.text.starts_with('+'));
    if is(Tag::Push) && parsed.given(&["--force-with-lease"]) && !regardless {
        tags.push(Tag::Lease);
    }
    let forced = |o: &&Value| {
        o.text.starts_with('+') || is(Tag::Force) || is(Tag::Prune) && o.text.contains('*')
    };
    let onto_branch = |o: &&Value| {
        let target = o.text.split_once(':').map_or("", |(_, target)| target);
        !o.text.contains('@') && branches::is_own(target)
    };
    if parsed.is_sub(&["fetch", "pull"]) {
        let mut refs = parsed.operands.iter().skip(1).filter(forced);
        tags.extend(refs.any(|o| onto_branch(&o)).then_some(Tag::DropsHistory));
    }
    tags.extend(branches::moves(parsed).then_some(Tag::DropsHistory));
    let mut refs = parsed.operands.iter().skip(1);
    if is(Tag::Push) && refs.any(|o| o.text.starts_with(':')) {
        tags.push(Tag::Delete);
    }
    tags
}

/// Whether it takes back what a patch has done.
fn reverses(parsed: &Parsed) -> bool {
    let looks = ["--check", "--stat", "--numstat", "--summary", "--cached"];
    parsed.is_sub(&["apply"]) && parsed.given(&["-R", "--reverse"]) && !parsed.given(&looks)
}

/// `git checkout COMMIT -- path`: the path as it was then, which is asked for by name.
fn takes_from_commit(parsed: &Parsed) -> bool {
    let [commit, paths @ ..] = parsed.operands.as_slice() else {
        return false;
    };
    parsed.paths_from == Some(1)
        && !matches!(commit.text.as_str(), "HEAD" | "@")
        && !paths.is_empty()
        && paths.iter().all(is_below)
}

/// A path below the folder that git works in.
fn is_below(path: &Value) -> bool {
    path.is_known() && !path.text.starts_with(['/', '.', '~', ':', '*']) || is_hidden(&path.text)
}

/// `.github/x`, which is neither `.` nor `..`.
fn is_hidden(path: &str) -> bool {
    let name = path.strip_prefix('.').unwrap_or("");
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && !name.contains(['*', '?', HOLE])
}

/// A file by its name: `src/main.rs`, `Makefile`, and no folder or pattern.
pub(super) fn is_file_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or("");
    let extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && !extension.is_empty()
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    let plain = !path.starts_with(':') && !path.contains(['*', '?', '[', HOLE]);
    let usual = [
        "Makefile",
        "Dockerfile",
        "LICENSE",
        "README",
        "Justfile",
        "justfile",
    ];
    plain && (extension || usual.contains(&name))
}

/// `owner/name`, as the programs of hosts of code take it, is an address.
pub(super) fn at_forge(repository: &Value) -> Value {
    let text = repository.text.as_str();
    if text.contains("://") || text.contains(['@', ':']) || !text.contains('/') {
        return repository.clone();
    }
    repository.map(format!("https://github.com/{text}"))
}

/// What is cloned from a host that nobody vouches for may hold anything.
pub(super) fn clones(scene: &mut Scene<'_>, parsed: &Parsed, urls: &[Value]) {
    let clones = parsed.is_sub(&["clone"]);
    for url in urls.iter().take(8).filter(|_| clones) {
        let host = scene.know.hosts.host(url);
        let stranger = !scene.publisher_at(&url.text).is_empty();
        if host.class == HostClass::External || stranger {
            let end = last_part(&url.text);
            let end = end.rsplit(':').next().unwrap_or("");
            let folder = parsed.operands.get(1).map(|o| o.text.as_str());
            let folder = Value::known(folder.unwrap_or(end.trim_end_matches(".git")));
            let folder = scene.place(&folder).text;
            // At a forge the owner counts, not the host.
            let from = if stranger { &url.text } else { &host.name };
            scene.fetched_folders.push((folder, from.as_str().into()));
        }
    }
}

/// A repository that the project takes in, with every later state of it.
pub(super) fn submodules(
    scene: &mut Scene<'_>,
    run: &Actor,
    parsed: &Parsed,
    urls: &[Value],
) -> Fueled {
    if !run.is(Tag::Submodule) || !parsed.is_sub(&["add", "set-url"]) {
        return Ok(());
    }
    for url in urls.iter().take(2).filter(|url| url.is_known()) {
        let tags = scene.doubts_at(&url.text);
        if !tags.is_empty() {
            let mut actor = run.clone();
            actor.tag(tags);
            let effect = actor.does(Kind::Install).tagged(Tag::FromVcs);
            scene.emit(effect.about(&url.text))?;
        }
    }
    Ok(())
}

/// git shows what is, or once was, in a file.
pub(super) fn revisions(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let patch = parsed.given(&["-p", "-u", "--patch", "-c", "--cc", "-U", "--unified", "-L"]);
    let shows = parsed.is_sub(&["show", "diff", "cat-file", "blame", "annotate", "difftool"])
        || parsed.is_sub(&["log", "reflog", "stash", "whatchanged"]) && patch;
    let names = [
        "--stat",
        "--name-only",
        "--name-status",
        "--numstat",
        "--shortstat",
        "--summary",
        "--quiet",
        "-q",
        "-s",
        "--no-patch",
        "--exit-code",
        "-e",
        "-t",
        "--check",
    ];
    if !shows || parsed.given(&names) {
        return Ok(());
    }
    let lines = parsed.options.iter().filter(|o| o.name == "-L");
    let lines = lines.filter_map(|o| o.value.as_ref()).map(|(_, v)| v);
    for operand in parsed.operands.iter().chain(lines) {
        // `revision:path`
        let path = operand.text.rsplit(':').next().unwrap_or("");
        let path = operand.map(path);
        if !path.text.is_empty() && scene.place(&path).is(PathClass::Secret) {
            scene.read(actor, &path)?;
        }
    }
    Ok(())
}

/// Where a push goes if it says so itself, and which files a checkout writes.
pub(super) fn destinations(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    if actor.is(Tag::Remote) && (actor.is(Tag::Add) || actor.is(Tag::SetUrl)) {
        if let [name, url, ..] = parsed.operands.as_slice() {
            scene.remotes.insert(name.text.clone(), url.clone());
            let host = scene.know.hosts.host(url);
            if actor.is(Tag::SetUrl)
                && !actor.is(Tag::Delete)
                && scene.know.hosts.is_unheard_of(&host)
            {
                let effect = actor.does(Kind::Vcs).tagged(Tag::Redirects);
                scene.emit(effect.with(host).about(&url.text))?;
            }
        }
        return Ok(());
    }
    if actor.is(Tag::Push) && !actor.is(Tag::Stash) {
        let named = parsed.operands.first();
        let is_url = |o: &&Value| o.text.contains("://") || o.text.contains('@');
        let name = named.map_or("origin", |o| o.text.as_str());
        let known = scene.remotes.get(name).cloned();
        // A remote of an earlier call was known when that was judged.
        let earlier = known.is_some() && scene.world.pending.remotes.get(name) == known.as_ref();
        if let Some(url) = known.or_else(|| named.filter(is_url).cloned()) {
            let files = Value::unknown(Origins::FILE);
            let mut actor = actor.and(Tag::Transfer);
            actor.tag((!earlier).then_some(Tag::GivenUrl));
            scene.send(&actor, &url, &files)?;
        }
    }
    if (actor.is(Tag::Checkout) && (actor.is(Tag::Discards) || parsed.paths_from.is_some()))
        || actor.is(Tag::Restore)
    {
        for path in parsed.operands.iter().skip(usize::from(
            actor.is(Tag::Checkout) && parsed.operands.len() > 1,
        )) {
            scene.touch(actor, Kind::Write, path)?;
        }
    }
    // `git diff > x.patch; git apply -R x.patch`: the patch is what is not committed.
    let made = |o: &&Value| {
        let content = scene.files.get(&scene.place(o).text);
        content.is_some_and(|c| c.is_blank() && c.origins.any(Origins::OUTPUT))
    };
    if reverses(parsed) && parsed.operands.iter().any(|o| made(&o)) {
        scene.emit(actor.does(Kind::Vcs).tagged(Tag::Discards))?;
    }
    // Without `--` a word may be a branch as well, but no branch is called like these files.
    if actor.is(Tag::Checkout) || parsed.is_sub(&["update-index"]) {
        for path in &parsed.operands {
            let place = scene.place(path);
            if place.is(PathClass::Holdgate) || place.is(PathClass::AgentSettings) {
                scene.touch(actor, Kind::Write, path)?;
            }
        }
    }
    Ok(())
}

/// `-c key=value`
pub(super) fn config(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let Some((key, content)) = value.text.split_once(['=', ' ']) else {
        return Ok(());
    };
    let content = value.map(content);
    set(scene, actor, key, &content)?;
    if scene.place(&content).is_harmless() {
        includes(scene, actor, key, &content)?;
    }
    Ok(())
}

/// `git config key value`
pub(super) fn config_command(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let mut operands = parsed
        .operands
        .iter()
        .skip_while(|o| matches!(o.text.as_str(), "set" | "get" | "unset" | "list"));
    if let (Some(key), Some(content)) = (operands.next(), operands.next()) {
        let key = key.text.clone();
        set(scene, actor, &key, content)?;
        let everywhere = parsed.given(&["--global", "--system"]);
        if everywhere && scene.place(content).is_harmless() {
            includes(scene, actor, &key, content)?;
        }
    }
    Ok(())
}

/// Settings of git that stand in a file which anybody who works in the project may write.
fn includes(scene: &mut Scene<'_>, actor: &Actor, key: &str, content: &Value) -> Fueled {
    let lower = key.to_ascii_lowercase();
    if !lower.starts_with("include") || !lower.ends_with("path") {
        return Ok(());
    }
    let effect = actor.does(Kind::Vcs).tagged(Tag::Redirects);
    scene.emit(effect.about(&format!("{key}={}", content.text)))
}

fn set(scene: &mut Scene<'_>, actor: &Actor, key: &str, content: &Value) -> Fueled {
    let lower = key.to_ascii_lowercase();
    let last = lower.rsplit('.').next().unwrap_or("");
    let alias = lower.starts_with("alias.");
    // `!command`: whatever the setting is, git gives it to a shell.
    let shell = content.text.starts_with('!') && last != "insteadof";
    let command = match content.text.strip_prefix('!') {
        Some(command) => content.map(command),
        None if alias => return Ok(()),
        None => content.clone(),
    };
    let note = |tag: Tag, scene: &mut Scene<'_>| {
        let text = format!("{key}={}", content.text);
        scene.emit(actor.does(Kind::Vcs).tagged(tag).about(&text))
    };
    if alias || shell || programs::git_setting_runs(&lower) {
        let program = command.text.split_whitespace().next().unwrap_or("");
        let own_hooks = last == "hookspath" && !program.is_empty() && !program.starts_with('/');
        if alias || !(is_usual(&command.text) || own_hooks) {
            note(Tag::RunsProgram, scene)?;
        }
        scene.shell(actor, &command)?;
    }
    if lower.starts_with("protocol.ext")
        || lower == "core.hookspath" && !is_hooks_folder(&content.text)
        || lower == "http.sslverify" && content.text == "false"
    {
        note(Tag::Weakens, scene)?;
    }
    if lower.starts_with("remote.") && last == "fetch" && branches::fetches_over(&content.text) {
        note(Tag::DropsHistory, scene)?;
    }
    // New repositories get the hooks of this folder.
    if lower == "init.templatedir" {
        let place = scene.place(content);
        if place.is(PathClass::Project) || place.is(PathClass::Temp) {
            note(Tag::RunsProgram, scene)?;
        }
    }
    if lower.starts_with("gc.") {
        match last {
            "pruneexpire" => note(Tag::PruneNow, scene)?,
            "reflogexpire" | "reflogexpireunreachable" => {
                let text = format!("{key}={}", content.text);
                let effect = actor.does(Kind::Vcs).tagged(Tag::ReflogExpire);
                scene.emit(effect.tagged(Tag::All).about(&text))?;
            }
            _ => {}
        }
    }
    if lower.starts_with("url.") && matches!(last, "insteadof" | "pushinsteadof") {
        let base = key.get(4..key.len().saturating_sub(last.len() + 1));
        let host = scene
            .know
            .hosts
            .host(&content.map(base.unwrap_or_default()));
        let text = format!("{key}={}", content.text);
        let mut effect = actor.does(Kind::Vcs).tagged(Tag::Redirects).about(&text);
        if scene.know.hosts.is_unheard_of(&host) {
            effect = effect.with(host);
        }
        scene.emit(effect)?;
    }
    if lower.starts_with("include") && last == "path" && !scene.place(content).is_harmless() {
        note(Tag::Redirects, scene)?;
    }
    leads(scene, actor, key, content)
}

/// Whether a folder is one in which projects keep their hooks, by the names that people and tools use.
fn is_hooks_folder(path: &str) -> bool {
    const NAMES: [&str; 9] = [
        "hooks",
        ".hooks",
        "git-hooks",
        ".git-hooks",
        "githooks",
        ".githooks",
        "git_hooks",
        ".husky",
        ".lefthook",
    ];
    const ABOVE: [&str; 12] = [
        "", ".git", "scripts", "script", "tools", "dev", "contrib", "etc", "build", "config",
        ".config", "git",
    ];
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let path = path.strip_suffix("/_").unwrap_or(path);
    // What is not known, or lies elsewhere, is judged by what runs.
    if path.is_empty() || path.contains(HOLE) || path.starts_with(['/', '~', '$']) {
        return path != "/dev/null";
    }
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    NAMES.contains(&name) && ABOVE.contains(&above)
}

/// Settings that say where git finds remotes and hooks, and one of ssh.
fn leads(scene: &mut Scene<'_>, actor: &Actor, key: &str, content: &Value) -> Fueled {
    let lower = key.to_ascii_lowercase();
    if let Some(remote) = key.strip_prefix("remote.")
        && let Some((remote, "url" | "pushurl")) = remote.rsplit_once('.')
    {
        let host = scene.know.hosts.host(content);
        if remote == "origin" && scene.know.hosts.is_unheard_of(&host) {
            let effect = actor.does(Kind::Vcs).tagged(Tag::Redirects);
            scene.emit(effect.with(host).about(&content.text))?;
        }
        scene.remotes.insert(remote.to_owned(), content.clone());
    }
    let pushes = [".pushurl", ".pushremote", "remote.pushdefault"];
    if pushes.iter().any(|end| lower.ends_with(end)) && content.text.contains(['/', ':']) {
        let repository = scene.repository(None);
        let origin = repository.setting("remote.origin.url").and_then(owner_at);
        let other = origin.is_some() && origin != owner_at(&content.text);
        let tag = if other { Tag::Redirects } else { Tag::SetUrl };
        let effect = actor.does(Kind::Vcs).tagged(Tag::Remote).tagged(tag);
        scene.emit(effect.about(&format!("{key}={}", content.text)))?;
    }
    if lower.starts_with("remote.") {
        let setting = lower.rsplit('.').next().unwrap_or("");
        let forces = setting == "push" && content.text.starts_with('+');
        let mirrors = setting == "mirror" && content.text == "true";
        if forces || mirrors {
            let effect = actor.does(Kind::Vcs).tagged(Tag::Push).tagged(Tag::Force);
            scene.emit(effect.about(&format!("{key}={}", content.text)))?;
        }
    }
    if lower == "core.hookspath" || lower == "init.templatedir" {
        hooks_from(scene, actor, content)?;
    }
    // `Match exec "command"` of ssh.
    if lower == "match"
        && let Some(command) = content.text.strip_prefix("exec ")
    {
        let command = content.map(command.trim_matches('"'));
        scene.shell(actor, &command)?;
    }
    Ok(())
}

/// The owner of a repository at a forge: `git@github.com:acme/app.git`.
fn owner_at(url: &str) -> Option<&str> {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (_, path) = path.split_once(['/', ':'])?;
    path.split('/').next().filter(|owner| !owner.is_empty())
}

/// git runs the files of a folder as hooks from here on, and those that the call wrote there before.
fn hooks_from(scene: &mut Scene<'_>, actor: &Actor, folder: &Value) -> Fueled {
    const MAX_FOLDERS: usize = 16;
    let folder = scene.place(folder).text;
    if folder.starts_with("/dev/") || scene.hook_folders.len() >= MAX_FOLDERS {
        return Ok(());
    }
    let inside = |path: &&str| crate::path::is_under(path, &folder);
    let written = scene.files.paths().filter(inside).map(str::to_owned);
    let written: Vec<String> = written.collect();
    scene.hook_folders.push(folder);
    for path in written {
        scene.touch(actor, Kind::Write, &Value::known(path))?;
    }
    Ok(())
}
