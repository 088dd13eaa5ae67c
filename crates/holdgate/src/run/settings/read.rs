//! A settings file as a list of settings, whatever its format is.

use rustix::fs::OFlags;
use serde_json::Value as Json;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Bytes of a settings file.
const MAX_BYTES: u64 = 1 << 20;
/// Settings of one file, and bytes of the names on the way to one.
const MAX_PAIRS: usize = 20_000;
const MAX_PATH: usize = 512;

/// A plain file, as far as it may be read; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, String> {
    // Opening must not wait, as it would for a pipe.
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default();
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let Ok(file) = opened else {
        // The agent cannot read it either.
        return Ok(None);
    };
    if !file.metadata().is_ok_and(|data| data.is_file()) {
        return Ok(None);
    }
    let mut text = Vec::new();
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut text);
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_BYTES {
        return Err("it is larger than 1 MiB".to_owned());
    }
    let text = String::from_utf8_lossy(&text);
    Ok(Some(text.trim_start_matches('\u{feff}').to_owned()))
}

/// All settings of a file, each with its path of names between dots.
pub(super) fn pairs(path: &Path, text: &str) -> Result<Vec<(String, String)>, String> {
    let value: Json = match path.extension().and_then(OsStr::to_str) {
        Some("toml") => {
            let table: toml::Table = text.parse().map_err(|_| "it is not valid TOML")?;
            serde_json::to_value(table).map_err(|error| error.to_string())?
        }
        Some("yml") => serde_saphyr::from_str(text).map_err(|_| "it is not valid YAML")?,
        _ => json(text)?,
    };
    let mut pairs = Vec::new();
    flatten(&value, &mut String::new(), &mut pairs);
    Ok(pairs)
}

/// JSON, also with comments.
pub(in crate::run) fn json(text: &str) -> Result<Json, String> {
    if text.trim().is_empty() {
        return Ok(Json::Null);
    }
    let read = serde_json::from_str(text).or_else(|_| serde_json::from_str(&uncommented(text)));
    read.map_err(|_| "it is not valid JSON".to_owned())
}

fn flatten(value: &Json, path: &mut String, pairs: &mut Vec<(String, String)>) {
    if pairs.len() >= MAX_PAIRS || path.len() > MAX_PATH {
        return;
    }
    let text = match value {
        Json::Object(members) => {
            for (name, member) in members {
                let length = path.len();
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                flatten(member, path, pairs);
                path.truncate(length);
            }
            return;
        }
        Json::Null | Json::Array(_) => return,
        Json::String(text) => text.clone(),
        Json::Bool(_) | Json::Number(_) => value.to_string(),
    };
    pairs.push((path.clone(), text));
}

/// Without comments and without commas before a bracket, as many programs read JSON.
fn uncommented(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = chars.next() {
        match (in_string, c, chars.peek()) {
            (true, '\\', _) => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            (_, '"', _) => in_string = !in_string,
            (false, '/', Some('/')) => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
                continue;
            }
            (false, '/', Some('*')) => {
                let mut last = ' ';
                chars.next();
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                continue;
            }
            (false, ']' | '}', _) => {
                let length = out.trim_end().trim_end_matches(',').len();
                out.truncate(length);
            }
            _ => {}
        }
        out.push(c);
    }
    out
}
