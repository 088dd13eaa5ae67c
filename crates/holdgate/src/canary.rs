//! `holdgate canary`: a value that looks like a key and opens nothing, and a file that holds it.

use anyhow::{Context as _, bail};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::path::Path;

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALL: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Draws a canary, plants it in `file` if there is one, and says which settings guard it.
pub fn run(file: Option<&Path>) -> anyhow::Result<String> {
    let (id, key) = (format!("AKIA{}", drawn(LETTERS, 16)), drawn(ALL, 40));
    let mut said = String::new();
    let mut paths = String::new();
    if let Some(file) = file {
        let file = std::path::absolute(file).context("the file's path cannot be completed")?;
        plant(&file, &id, &key)?;
        writeln!(said, "Planted in {}.", file.display())?;
        paths = format!("paths = [{}]\n", quoted(&file.display().to_string()));
    }
    writeln!(
        said,
        "Add this to the settings file. It takes effect at once:\n\n[canaries]\n{paths}values = [{}, {}]",
        quoted(&id),
        quoted(&key),
    )?;
    Ok(said)
}

/// Writes a file of credentials that open nothing. An existing file is left alone.
fn plant(file: &Path, id: &str, key: &str) -> anyhow::Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let text = if name.contains("env") {
        format!("AWS_ACCESS_KEY_ID={id}\nAWS_SECRET_ACCESS_KEY={key}\n")
    } else {
        format!("[default]\naws_access_key_id = {id}\naws_secret_access_key = {key}\n")
    };
    let shown = file.display();
    let mut new = match OpenOptions::new().write(true).create_new(true).open(file) {
        Ok(new) => new,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!("there is a file already, name a new one so that nothing is lost: {shown}")
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write {shown}")),
    };
    new.write_all(text.as_bytes())
        .with_context(|| format!("cannot write {shown}"))
}

/// So many of these characters, drawn by lot.
fn drawn(from: &[u8], count: u32) -> String {
    let random = RandomState::new();
    let letter = |number: u32| {
        let at = random.hash_one(number) % from.len() as u64;
        from.get(usize::try_from(at).ok()?).map(|b| char::from(*b))
    };
    (0..count).filter_map(letter).collect()
}

/// As TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
