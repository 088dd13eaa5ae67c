//! A command line among the arguments of a program whose entry does not say that it is run: version
//! managers, keepers of secrets and launchers take one behind words of their own.

use super::argument::role_of;
use super::role::Role;
use super::units::Run;
use super::{Call, args};
use crate::language::programs::{self, base_name};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Words behind which a command line stands.
const MARKS: [&str; 7] = ["--", "exec", "x", "run", "do", "execute", "e"];
/// Programs that run, delete, send or give power: a word that nothing marks must be one of them. Names of
/// others are ordinary words as well.
#[rustfmt::skip]
const ACTS: [&str; 38] = [
    "docker", "podman", "nerdctl", "doas", "pkexec", "crontab", "systemctl", "launchctl", "psql",
    "mysql", "mongosh", "redis-cli", "kubectl", "helm", "terraform", "aws", "gcloud", "az", "git",
    "rsync", "rclone", "ssh-import-id", "ssh-copy-id", "truncate", "insmod", "modprobe", "claude",
    "codex", "gemini", "aider", "opencode", "dropdb", "mkfs.ext4", "wipefs", "unlink", "chroot",
    "nsenter", "gh",
];
/// Command lines of one call that nothing marks.
const MAX_TRIED: usize = 3;
/// Words between a program's name and the `--` before its arguments: `proto run node 20 -- x.js`.
const MAX_BEFORE_DASHES: usize = 3;

/// What runs, or may run, of the operands that the entry calls data.
pub(super) fn runs(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let parsed: &args::Parsed = run.parsed;
    let roles = match run.chosen {
        Some(spec) if !spec.operands.is_empty() => &spec.operands,
        _ => &parsed.spec.operands,
    };
    let count = parsed.operands.len();
    // What follows a program's name belongs to it.
    let runs = |at: &usize| {
        matches!(
            role_of(roles, *at, count),
            Role::Argv | Role::ArgvAndInput | Role::Module | Role::InstallArgv | Role::Shell
        )
    };
    let end = (0..count).find(runs).unwrap_or(count);
    let is_open = |at: usize| at < end && role_of(roles, at, count) == Role::Data;
    let is_first = |at: usize| parsed.paths_from == Some(at);
    let named = |(at, word): (usize, &Value)| {
        is_open(at) && (is_first(at) || scene.names_program(&word.text))
    };
    if !parsed.operands.iter().enumerate().any(named) {
        return Ok(());
    }
    let open: Vec<&str> = (parsed.operands.iter().enumerate())
        .filter(|(at, _)| is_open(*at))
        .map(|(_, word)| word.text.as_str())
        .collect();
    within(scene, run.call, |word| open.contains(&word))
}

/// The same for the words that `is_open` accepts.
pub(super) fn within(
    scene: &mut Scene<'_>,
    call: &Call<'_>,
    is_open: impl Fn(&str) -> bool,
) -> Fueled {
    let mut tried = 0;
    let mut before = "";
    for (at, word) in call.words.iter().enumerate().skip(1) {
        let last = std::mem::replace(&mut before, &word.text);
        if !is_open(&word.text) || !scene.names_program(&word.text) {
            continue;
        }
        scene.fuel.spend(2)?;
        let rest = call.words.get(at..).unwrap_or(&[]);
        if MARKS.contains(&last) {
            let words = without_dashes(rest);
            scene.apart(|scene| scene.argv(&words, call.stdin))?;
            return Ok(());
        }
        // The first word is a sub-command.
        let acts = programs::is_telling(&word.text) || ACTS.contains(&base_name(&word.text));
        let is_sub = at == 1 && !ACTS.contains(&base_name(&word.text));
        if !is_sub && acts && rest.len() > 1 && tried < MAX_TRIED {
            tried += 1;
            maybe(scene, rest)?;
        }
    }
    Ok(())
}

/// Nothing says that it runs; nothing of it is left behind.
fn maybe(scene: &mut Scene<'_>, words: &[Value]) -> Fueled {
    scene.marks.push(Tag::Suspect);
    let (files, links) = (scene.files.clone(), scene.links.len());
    let done = scene.apart(|scene| scene.argv(words, None));
    scene.files = files;
    scene.links.truncate(links);
    scene.marks.pop();
    done.map(drop)
}

/// `npx -- -y x`: the dashes belong to the program outside.
fn without_dashes(words: &[Value]) -> Vec<Value> {
    let dashes = |word: &Value| word.text == "--";
    let at = words.iter().take(MAX_BEFORE_DASHES).position(dashes);
    match at {
        Some(at) if at > 0 => {
            let first = words.iter().take(1);
            first.chain(words.iter().skip(at + 1)).cloned().collect()
        }
        _ => words.to_vec(),
    }
}

impl Scene<'_> {
    /// Whether a word is the name of a program that a table knows, or of Holdgate.
    fn names_program(&self, word: &str) -> bool {
        let plain = word.starts_with(|c: char| c.is_ascii_alphanumeric() && c != '0')
            || word.starts_with('/');
        let name = base_name(word);
        let inner = word.contains('/') && !word.starts_with('/');
        plain
            && !inner
            && !name.is_empty()
            && (self.know.commands.get(name).is_some() || self.know.own.is_program(name))
    }
}
