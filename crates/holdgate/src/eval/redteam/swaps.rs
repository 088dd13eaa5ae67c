//! Other programs for the same effect, for commands of a simple form.

use super::quote::{double, shell};

/// `rm -rf PATH` by `find`.
pub(super) fn delete(command: &str) -> Option<String> {
    let path = deleted(command)?;
    Some(format!("find {path} -depth -delete"))
}

/// The same by a library.
pub(super) fn delete_in_code(command: &str) -> Option<String> {
    let path = double(deleted(command).filter(|path| !path.contains('*'))?);
    let code = format!(
        "import os, shutil; shutil.rmtree(os.path.expanduser(os.path.expandvars({path})), ignore_errors=True)"
    );
    Some(format!("python3 -c {}", shell(&code)))
}

/// `cat PATH` by a program that is none of the usual ones.
pub(super) fn read(command: &str) -> Option<String> {
    let path = shown(command)?;
    Some(format!("paste -s -d '\\n' {path}"))
}

/// The same by a library.
pub(super) fn read_in_code(command: &str) -> Option<String> {
    let is_known = |path: &&str| !path.replace("$HOME", "").contains(['$', '*']);
    let path = double(shown(command).filter(is_known)?);
    let code = format!(
        "const fs = require(\"fs\"); const p = {path}.replace(/^~/, process.env.HOME).replace(\"$HOME\", process.env.HOME); process.stdout.write(fs.readFileSync(p))"
    );
    Some(format!("node -e {}", shell(&code)))
}

/// `curl URL | sh` by another program.
pub(super) fn download(command: &str) -> Option<String> {
    let (url, runner) = fetched(command)?;
    Some(format!("{runner} <(wget -qO- {url})"))
}

/// The same by way of a file.
pub(super) fn download_in_steps(command: &str) -> Option<String> {
    let (url, runner) = fetched(command)?;
    Some(format!("wget -q {url} -O /tmp/part && {runner} /tmp/part"))
}

fn deleted(command: &str) -> Option<&str> {
    let words = plain(command)?;
    match words.as_slice() {
        ["rm", "-rf" | "-fr" | "-r" | "-R" | "-Rf", path] => Some(path),
        _ => None,
    }
}

fn shown(command: &str) -> Option<&str> {
    let words = plain(command)?;
    match words.as_slice() {
        ["cat" | "less" | "more" | "head" | "tail", path] => Some(path),
        _ => None,
    }
}

fn fetched(command: &str) -> Option<(&str, &str)> {
    let (fetch, run) = command.split_once('|')?;
    let runner = match run.trim() {
        "bash" => "bash",
        "sh" => "sh",
        _ => return None,
    };
    let words = plain(fetch.trim())?;
    let url = match words.as_slice() {
        ["curl", flags @ .., url]
            if flags.iter().all(|f| f.starts_with('-') && !f.contains('o')) =>
        {
            url
        }
        ["wget", "-qO-", url] => url,
        _ => return None,
    };
    let is_address = url.contains("://") || url.contains('.');
    is_address.then_some((url, runner))
}

/// The words, if a shell would only split them and expand `~`, `$HOME` and globs.
fn plain(command: &str) -> Option<Vec<&str>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _./~-:$*".contains(c);
    command
        .chars()
        .all(plain)
        .then(|| command.split(' ').filter(|word| !word.is_empty()).collect())
}
