//! Settings that are code, which a tool loads by itself, and which start a hidden file.

use super::scan::{Text, has_any, quoted};
use crate::code::embedded::is_stored_nowhere;
use crate::effect::{Actor, Effect, Kind};
use crate::tag::Tag;

/// Texts of one file that are looked at.
const MAX_TEXTS: usize = 256;
/// Words of functions that start programs or load code.
const STARTS: [&str; 11] = [
    "spawn",
    "exec",
    "fork",
    "jobstart",
    "termopen",
    "start-process",
    "call-process",
    "shell-command",
    "system",
    "popen",
    "dofile",
];

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    let name = text.path.rsplit('/').next().unwrap_or("");
    if !name.starts_with('.') || !text.is_code() {
        return;
    }
    for (at, path) in quoted(&text.clean).into_iter().take(MAX_TEXTS) {
        if !path.contains('/') || !path.split_whitespace().any(is_stored_nowhere) {
            continue;
        }
        let line = text.line(at);
        if has_any(&line.to_ascii_lowercase(), &STARTS) && text.is_new(line) {
            let line = crate::json::shorten(line.trim(), 200);
            let effect = Actor::new("settings", &line).does(Kind::Env);
            found.push(effect.tagged(Tag::Injects).about(&line));
            return;
        }
    }
}
