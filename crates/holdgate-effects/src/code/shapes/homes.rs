//! A whole home that is deleted, by the words of names, in languages that no table has functions of.

use super::scan::{Text, has_any, has_word, quoted};
use crate::effect::{Actor, Effect, Kind};
use crate::scene::Scene;
use crate::tag::Tag;
use crate::value::Value;

/// Names that hold a home.
const MAX_NAMES: usize = 16;

#[rustfmt::skip]
const HOMES: [&str; 20] = [
    "gethomedir", "homedir", "home_dir", "home-dir", "gethomedirectory", "user.home", "\"home\"", "'home'", "$*home",
    "fs/home", "user_home", "path.home", "userprofile", "homedirectory", "env.home", "get_home_dir", "dir.home",
    "\"~\"", "'~'", "home()",
];
const DELETES: [&str; 9] = [
    "delete", "remove", "rmtree", "rmdir", "rm_rf", "erase", "wipe", "unlink", "rm ",
];
const WHOLE: [&str; 12] = [
    "recurs", "tree", "dir", "all", "_rf", "folder", "/files", "rmtree", "force", "rm_r", "deep",
    "contents",
];

pub(super) fn run(scene: &Scene<'_>, text: &Text<'_>, found: &mut Vec<Effect>) {
    if !text.is_code() || !has_any(&text.low, &HOMES) {
        return;
    }
    let mut names: Vec<&str> = Vec::new();
    for (line, shown) in text.low.lines().zip(text.clean.lines()) {
        let of_home = has_any(line, &HOMES);
        if of_home
            && let Some((name, _)) = line
                .split_once("<-")
                .or_else(|| line.split_once(":="))
                .or_else(|| line.split_once('='))
        {
            let name = name
                .trim_end()
                .rsplit([' ', '\t', ':'])
                .next()
                .unwrap_or("");
            if !name.is_empty()
                && names.len() < MAX_NAMES
                && is_alone(line)
                && !has_any(line, &DELETES)
            {
                names.push(name);
                continue;
            }
        }
        let deletes = has_any(line, &DELETES) && has_any(line, &WHOLE);
        let meant = of_home || names.iter().any(|name| has_word(line, name));
        if deletes && meant && is_alone(line) && text.is_new(shown) {
            let shown = crate::json::shorten(shown.trim(), 200);
            let actor = Actor::new("file", &shown).and(Tag::Recursive);
            found.push(actor.does(Kind::Delete).at(scene.place(&Value::known("~"))));
            return;
        }
    }
}

/// Whether nothing is put behind the home: no other text, no other part.
fn is_alone(line: &str) -> bool {
    let own = [
        "home",
        "~",
        "user.home",
        "userprofile",
        "home-dir",
        "utf8",
        "dart:io",
    ];
    let texts = quoted(line)
        .iter()
        .all(|(_, text)| own.contains(text) || text.is_empty());
    let joins = [
        "join",
        "</>",
        "concat",
        "resolve",
        "build-path",
        "combine",
        "cache",
        "tmp",
        "temp",
        ".config",
        " / ",
        "append",
    ];
    texts && !has_any(line, &joins)
}
