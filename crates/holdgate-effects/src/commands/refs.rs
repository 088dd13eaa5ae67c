//! Which branches and which remote a git command acts on: as it says itself, or as its repository does.

use super::args::Parsed;
use super::role::Role;
use crate::effect::{Kind, Refs};
use crate::scene::{Repository, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, HOLE_STR, Value};
use std::sync::Arc;

/// Branches of one command.
const MAX_BRANCHES: usize = 16;
/// Commands that reach a remote.
const REACH: [&str; 4] = ["push", "pull", "fetch", "ls-remote"];
/// Commands that change a branch, besides those whose entry says so.
const CHANGE: [&str; 12] = [
    "am",
    "branch",
    "checkout",
    "cherry-pick",
    "commit",
    "merge",
    "pull",
    "push",
    "rebase",
    "reset",
    "revert",
    "switch",
];

/// What it acts on; `None` if it neither changes anything nor reaches a remote.
pub(super) fn of(scene: &mut Scene<'_>, parsed: &Parsed) -> Option<Arc<Refs>> {
    let is_vcs = |(kind, _): &(Kind, Vec<Tag>)| *kind == Kind::Vcs;
    let changes = parsed.is_sub(&CHANGE)
        || parsed.spec.does.iter().any(is_vcs)
        || parsed.chosen().is_some_and(|s| s.does.iter().any(is_vcs));
    let reaches = parsed.is_sub(&REACH);
    if !changes && !reaches {
        return None;
    }
    if parsed.is_sub(&["stash"]) {
        // Neither pushes nor moves a branch.
        return Some(Arc::default());
    }
    let repository = entered(scene, parsed);
    let current = scene.branches(&repository);
    let (remote, url) = if reaches {
        remote(scene, parsed, &repository, &current)
    } else {
        (None, None)
    };
    let branches = if parsed.is_sub(&["push"]) {
        pushed(parsed, &repository, &current, remote.as_deref())
    } else {
        current
    };
    Some(Arc::new(Refs {
        branches,
        remote,
        url,
    }))
}

/// The repository in which the command works.
fn entered(scene: &mut Scene<'_>, parsed: &Parsed) -> Repository {
    let outer = scene.cwd.clone();
    for given in &parsed.options {
        if let Some((Role::Cwd, value)) = &given.value {
            scene.enter(value);
        }
    }
    let told = parsed.value_of(&["--git-dir"]).map(|v| v.text.clone());
    let variable = scene.variables.get("GIT_DIR").and_then(|v| v.first());
    let told = told.or_else(|| variable.map(|value| value.text.clone()));
    let repository = scene.repository(told.as_deref());
    scene.cwd = outer;
    repository
}

/// The remote's name, unless its address is given, and its address. What is not known is a hole.
fn remote(
    scene: &Scene<'_>,
    parsed: &Parsed,
    repository: &Repository,
    current: &[String],
) -> (Option<String>, Option<String>) {
    let named = parsed.value_of(&["--repo"]).or(parsed.operands.first());
    let name = match named {
        Some(value) if is_address(&value.text) => {
            return (None, Some(without_user(&value.text)));
        }
        Some(value) => value.text.clone(),
        None if !repository.has_settings() => HOLE_STR.to_owned(),
        None => usual_remote(parsed, repository, current),
    };
    let set = scene.remotes.get(&name).map(|url| url.text.clone());
    let push = parsed.is_sub(&["push"]);
    let own = |key: &str| repository.setting(&format!("remote.{name}.{key}"));
    let written = own("pushurl").filter(|_| push).or_else(|| own("url"));
    let url = set.or_else(|| written.map(str::to_owned));
    let url = url.unwrap_or_else(|| HOLE_STR.to_owned());
    (Some(name), Some(without_user(&url)))
}

/// The remote that git takes if none is named.
fn usual_remote(parsed: &Parsed, repository: &Repository, current: &[String]) -> String {
    let branch = match current {
        [one] => one.as_str(),
        _ => HOLE_STR,
    };
    let of_branch = |key: &str| repository.setting(&format!("branch.{branch}.{key}"));
    let push = parsed.is_sub(&["push"]);
    let default = || repository.setting("remote.pushdefault");
    let pushed = of_branch("pushremote").or_else(default).filter(|_| push);
    let found = pushed.or_else(|| of_branch("remote"));
    match found {
        Some(name) => name.to_owned(),
        None if branch.contains(HOLE) => HOLE_STR.to_owned(),
        None => "origin".to_owned(),
    }
}

fn is_address(text: &str) -> bool {
    text.contains("://") || text.contains('@') || text.contains(':') || text.starts_with(['/', '.'])
}

/// An address without the name and the password in it.
fn without_user(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.split('/').next().unwrap_or_default();
            match host.rsplit_once('@') {
                Some((user, _)) => {
                    format!("{scheme}://{}", rest.get(user.len() + 1..).unwrap_or(rest))
                }
                None => url.to_owned(),
            }
        }
        None => url.to_owned(),
    }
}

/// The branches of the remote that a push changes.
fn pushed(
    parsed: &Parsed,
    repository: &Repository,
    current: &[String],
    remote: Option<&str>,
) -> Vec<String> {
    if parsed.given(&["--all", "--branches", "--mirror", "--prune"]) {
        return vec![HOLE_STR.to_owned()];
    }
    let named = usize::from(parsed.value_of(&["--repo"]).is_none());
    let refs = parsed.operands.get(named..).unwrap_or_default();
    if refs.is_empty() {
        if parsed.given(&["--tags"]) {
            return Vec::new();
        }
        return usual(repository, current, remote);
    }
    let mut branches: Vec<String> = Vec::new();
    let mut refs = refs.iter();
    while let Some(written) = refs.next() {
        if written.text == "tag" {
            refs.next();
            continue;
        }
        let names = match target(&written.text) {
            Some("HEAD" | "@") => current.to_vec(),
            Some(name) => vec![name.to_owned()],
            None => continue,
        };
        for name in names {
            if branches.len() < MAX_BRANCHES && !branches.contains(&name) {
                branches.push(name);
            }
        }
    }
    if refs.len() > 0 || branches.len() >= MAX_BRANCHES {
        branches.push(HOLE_STR.to_owned());
    }
    branches
}

/// The branch that `+from:to` changes; `None` if that is a tag.
fn target(written: &str) -> Option<&str> {
    let written = written.trim_start_matches('+');
    // All branches that both sides have.
    if written == ":" {
        return Some(HOLE_STR);
    }
    let name = written.rsplit_once(':').map_or(written, |(_, to)| to);
    match name
        .strip_prefix("refs/heads/")
        .or(name.strip_prefix("heads/"))
    {
        Some(name) => Some(name),
        None if name.starts_with("refs/tags/") => None,
        // `refs/heads/*`
        None if name.contains('*') => Some(HOLE_STR),
        // git takes no such name, so it is something else.
        None if name.contains([' ', '\t', '\n', '~', '^', '?', '[', '\\', '"', '\'']) => {
            Some(HOLE_STR)
        }
        None => Some(name),
    }
}

/// Where git pushes what is checked out, if the command does not say so.
fn usual(repository: &Repository, current: &[String], remote: Option<&str>) -> Vec<String> {
    let remote = remote.unwrap_or_default();
    let own = repository.setting(&format!("remote.{remote}.push"));
    let default = repository.setting("push.default");
    if own.is_some() || default == Some("matching") {
        return vec![HOLE_STR.to_owned()];
    }
    let follows = matches!(default, Some("upstream" | "tracking"));
    let upstream = |branch: &String| {
        let merge = repository.setting(&format!("branch.{branch}.merge"));
        let merge = merge.filter(|_| follows);
        merge.map_or_else(
            || branch.clone(),
            |name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned(),
        )
    };
    current.iter().map(upstream).collect()
}

/// Follows which branch is checked out after the command.
pub(super) fn follow(scene: &mut Scene<'_>, parsed: &Parsed) {
    let operand = |at: usize| parsed.operands.get(at).map(|o| o.text.clone());
    let count = parsed.operands.len();
    let made = parsed.value_of(&[
        "-b",
        "-B",
        "-c",
        "-C",
        "--create",
        "--force-create",
        "--orphan",
    ]);
    let made = made.map(|name| name.text.clone());
    // `-t origin/main` makes `main`.
    let tracks = parsed.given(&["-t", "--track"]);
    let tracked = |name: Option<String>| match name?.split_once('/') {
        Some((_, branch)) if tracks => Some(branch.to_owned()),
        _ => operand(0),
    };
    let branch = if parsed.is_sub(&["checkout"]) {
        let is_switch = parsed.paths_from.is_none() && count == 1;
        made.or_else(|| tracked(operand(0)).filter(|name| is_switch && !is_path(name)))
    } else if parsed.is_sub(&["switch"]) {
        made.or_else(|| tracked(operand(0)))
    } else if parsed.is_sub(&["symbolic-ref"]) {
        operand(1).filter(|_| operand(0).as_deref() == Some("HEAD"))
    } else if parsed.is_sub(&["branch"]) && parsed.given(&["-m", "-M", "--move"]) {
        // With two names, the first may be another branch than this one.
        match count {
            1 => operand(0),
            2 => Some(HOLE_STR.to_owned()),
            _ => None,
        }
    } else if parsed.is_sub(&["rebase"]) {
        operand(1)
    } else if parsed.is_sub(&["stash"]) && parsed.is_sub(&["branch"]) {
        operand(0)
    } else {
        None
    };
    let Some(branch) = branch else {
        return;
    };
    let repository = entered(scene, parsed);
    let name = branch.strip_prefix("refs/heads/").unwrap_or(&branch);
    // `-`, `@{-1}`, a commit: any branch, or none.
    let is_name = !name.starts_with('-') && !name.contains(['@', '~', '^']);
    scene.checked_out(&repository, if is_name { name } else { HOLE_STR });
}

/// Whether a word is rather a file than a branch.
fn is_path(word: &str) -> bool {
    word.starts_with(['.', '/', ':', '*']) || super::git::is_file_name(word)
}

/// What `git branch --show-current` and the like print.
pub(super) fn shows(scene: &mut Scene<'_>, parsed: &Parsed) -> Option<Value> {
    let asks = parsed.is_sub(&["branch"]) && parsed.given(&["--show-current"])
        || parsed.is_sub(&["rev-parse"]) && parsed.given(&["--abbrev-ref"])
        || parsed.is_sub(&["symbolic-ref"]) && parsed.operands.len() == 1;
    if !asks {
        return None;
    }
    let of_head = |value: &Value| value.text == "HEAD" || value.text == "@";
    let abbreviated = parsed.value_of(&["--abbrev-ref"]).is_some_and(of_head);
    if !parsed.operands.iter().all(of_head)
        || parsed.is_sub(&["rev-parse"]) && !abbreviated && parsed.operands.is_empty()
    {
        return None;
    }
    let repository = entered(scene, parsed);
    match scene.branches(&repository).as_slice() {
        [one] if !one.contains(HOLE) => Some(Value::known(one.as_str())),
        _ => None,
    }
}
