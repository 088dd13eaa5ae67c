//! Source that encrypts every file below a folder in its place.

use super::scan::has_any;
use crate::effect::{Actor, Effect, Kind};
use crate::tag::Tag;

const ENCRYPTS: [&str; 10] = [
    "encrypt(",
    "createcipheriv",
    "aesgcm",
    "aes.new",
    "fernet(",
    "secretbox",
    "chacha20",
    ".update_into",
    "cipher.update",
    "seal(",
];
const WALKS: [&str; 17] = [
    "rglob(",
    "glob(",
    "os.walk",
    "readdir",
    "walkdir",
    "filepath.walk",
    "ls-files",
    "iterdir",
    "globsync",
    "fast-glob",
    "dir.glob",
    "file.walk",
    "files.walk",
    "listfiles",
    "scandir",
    "recursive: true",
    "recursivedirectoryiterator",
];
const WRITES: [&str; 11] = [
    "write_bytes",
    "write_text",
    "writefile",
    "'wb'",
    "\"wb\"",
    "os.writefile",
    "file.write",
    "files.write",
    "fs::write",
    "binwrite",
    "file_put_contents",
];
const FITS: [&str; 6] = [
    "decrypt",
    "backup",
    "vault",
    "secrets",
    ".enc",
    "def encrypt(",
];

/// Looks at code in lower case, written or run.
pub(super) fn run(low: &str, found: &mut Vec<Effect>) {
    if !has_any(low, &ENCRYPTS)
        || !has_any(low, &WALKS)
        || !has_any(low, &WRITES)
        || has_any(low, &FITS)
    {
        return;
    }
    let line = low
        .lines()
        .find(|line| has_any(line, &ENCRYPTS))
        .unwrap_or("");
    let shown = crate::json::shorten(line.trim(), 200);
    let actor = Actor::new("locks", &shown);
    let effect = actor.does(Kind::System).tagged(Tag::Encrypt);
    found.push(effect.tagged(Tag::ProgramSetting).about(&shown));
}
