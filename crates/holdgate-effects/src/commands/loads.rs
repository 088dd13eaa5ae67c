//! Options that mean the same for every program, by their names and values: a folder that a container gets,
//! options for a program that runs containers, code that is loaded.

use super::Call;
use crate::effect::Actor;
use crate::path;
use crate::scene::{Fueled, Scene};
use crate::value::{Origins, Value};

/// Words of one call that are looked at.
const MAX_WORDS: usize = 64;
/// Words in the name of an option that loads code.
#[rustfmt::skip]
const LOADS: [&str; 17] = [
    "plugin", "plugins", "fplugin", "load", "loadmodule", "module", "preload", "engine", "provider",
    "extension", "extensions", "require", "javaagent", "agentpath", "agentlib", "import", "library",
];
/// Options of programs that run containers.
#[rustfmt::skip]
const CONTAINER: [&str; 9] = [
    "--privileged", "-v ", "--volume", "--mount", "--cap-add", "--pid", "--device",
    "--security-opt", "--userns",
];
/// What follows the name of a library or module where it is left out.
#[rustfmt::skip]
const ENDINGS: [&str; 14] = [
    "", ".so", ".dylib", ".dll", ".js", ".cjs", ".mjs", ".py", ".rb", ".lua", ".pl", ".pm", ".jar",
    ".el",
];
/// Files of code that machines read.
const BINARY: [&str; 8] = ["so", "dylib", "dll", "jar", "node", "wasm", "pyd", "vsix"];
/// Programs that look at files, move them or send them.
#[rustfmt::skip]
const HANDLES: [&str; 40] = [
    "cat", "ls", "file", "stat", "cp", "mv", "ln", "rm", "chmod", "chown", "sha256sum", "sha1sum",
    "md5sum", "shasum", "cmp", "diff", "nm", "objdump", "readelf", "strings", "hexdump", "xxd",
    "unzip", "zip", "tar", "gzip", "du", "wc", "head", "tail", "echo", "test", "curl", "wget",
    "grep", "rg", "git", "install", "gpg", "cosign",
];

/// What options of any program load or give to a container.
pub(super) fn by_names(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    let may_load = !scene.files.is_empty() && !HANDLES.contains(&call.program);
    let mut option = "";
    for word in call.words.iter().skip(1).take(MAX_WORDS) {
        let text = word.text.as_str();
        let before = std::mem::take(&mut option);
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if text.starts_with('-') => (name, value),
            _ if text.starts_with('-') && !text.contains(' ') => {
                option = text;
                match text.split_once(':').or_else(|| attached(text)) {
                    Some((name, value)) => (name, value),
                    None => continue,
                }
            }
            _ => (before, text),
        };
        let value = &word.map(value);
        if !name.is_empty() {
            mounts(scene, actor, name, value)?;
        }
        options_of_containers(scene, name, value)?;
        if may_load {
            loads(scene, actor, name, value)?;
        }
    }
    Ok(())
}

/// `-r./x`, `-Mx`, `-I.`: a letter, and its value.
fn attached(text: &str) -> Option<(&str, &str)> {
    let rest = text
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'))?;
    let (_, value) = rest.split_at_checked(1)?;
    text.get(..2)
        .filter(|_| !value.is_empty())
        .map(|name| (name, value))
}

/// `--docker-volumes /:/h`, `--mount type=bind,source=/,target=/h` of a program that is none for containers.
fn mounts(scene: &mut Scene<'_>, actor: &Actor, name: &str, value: &Value) -> Fueled {
    let text = value.text.as_str();
    let named = name == "-v"
        || ["volume", "mount", "bind"]
            .iter()
            .any(|word| name.starts_with("--") && name.contains(word));
    let is_mount =
        text.starts_with(['/', '~']) && text.contains(':') || text.starts_with("type=bind");
    if !named || !is_mount || text.contains("://") || path::container_mount(text).is_none() {
        return Ok(());
    }
    scene.mounts_folder(actor, value)
}

/// `--container-options '--privileged -v /:/h'`
fn options_of_containers(scene: &mut Scene<'_>, name: &str, value: &Value) -> Fueled {
    let text = value.text.trim();
    let given = text.starts_with('-') && CONTAINER.iter().any(|option| text.contains(option));
    // `-c '--x'` is code.
    if !given || name.len() < 4 || !name.starts_with('-') && !text.contains(' ') {
        return Ok(());
    }
    let mut words = vec![Value::known("docker"), Value::known("run")];
    words.extend(
        text.split_whitespace()
            .take(MAX_WORDS)
            .map(|word| value.map(word)),
    );
    words.push(Value::known("alpine"));
    scene.argv(&words, None).map(drop)
}

/// A file that came from the network is loaded: under its name, without its ending, inside of a setting.
fn loads(scene: &mut Scene<'_>, actor: &Actor, name: &str, value: &Value) -> Fueled {
    let lower = name.to_ascii_lowercase();
    let named = matches!(name, "-r" | "-M" | "-u" | "-s" | "-S" | "-l")
        || lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|part| LOADS.contains(&part));
    let ends = |c: char| c.is_whitespace() || "=:,;'\"()".contains(c);
    for part in value
        .text
        .split(ends)
        .filter(|part| !part.is_empty())
        .take(32)
    {
        let by_ending = part
            .rsplit_once('.')
            .is_some_and(|(_, end)| BINARY.contains(&end));
        // `load_module x.so;` is one text.
        if !named && !by_ending {
            continue;
        }
        if let Some(code) = fetched(scene, &value.map(part)) {
            return scene.executes(actor, &code);
        }
    }
    Ok(())
}

/// What a file of this name holds, if it came from the network.
pub(super) fn fetched(scene: &Scene<'_>, path: &Value) -> Option<Value> {
    ENDINGS.iter().find_map(|ending| {
        let path = path.map(format!("{}{ending}", path.text));
        let content = scene.files.get(&scene.place(&path).text)?;
        content
            .origins
            .any(Origins::FETCHED)
            .then(|| content.clone())
    })
}
