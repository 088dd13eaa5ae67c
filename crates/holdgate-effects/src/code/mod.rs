//! Inline code of other languages, read for what it does.

mod act;
pub(crate) mod awk;
mod cmake;
mod doors;
mod embedded;
mod embeds;
mod fold;
mod keyed;
mod lex;
mod lines;
mod make;
mod markup;
mod meson;
mod other;
pub(crate) mod powershell;
mod prose;
mod read;
pub(crate) mod sed;
mod serves;
mod shapes;
mod source;
mod thing;

use crate::effect::{Actor, Kind};
use crate::knowledge::functions;
use crate::language::Language;
use crate::scene::{Fueled, STANDARD_INPUT, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

pub(crate) use embedded::playbook::{filled, words_of};
pub(crate) use shapes::{run as shapes, run_inline as shapes_inline};

/// All variables of the environment at once.
fn whole_environment() -> Value {
    Value::unknown(Origins::ENVIRONMENT).with_source("environment")
}

/// Takes back effects of these kinds that were noted since there were `before`.
pub(crate) fn forget(scene: &mut Scene<'_>, before: usize, kinds: &[Kind]) {
    let later = scene.effects.split_off(before.min(scene.effects.len()));
    let kept = later.into_iter().filter(|e| !kinds.contains(&e.kind));
    scene.effects.extend(kept);
}

/// Says in `scene` what `code` does. Returns what it prints, if that is known.
pub(crate) fn run(scene: &mut Scene<'_>, language: Language, code: &Value) -> Fueled<Value> {
    match language {
        Language::Shell => scene.shell_text(code),
        Language::Python
        | Language::JavaScript
        | Language::Perl
        | Language::Ruby
        | Language::Php
        | Language::Lua
        | Language::Compiled => {
            if scene.know.own.is_in_code(&code.text) {
                let actor = Actor::new(language.word(), &scene.know.own.program);
                scene.emit(actor.does(Kind::Guard).tagged(Tag::Hidden))?;
            }
            let output = read::run(scene, language, code)?;
            embeds::run(scene, code)?;
            doors::run_inline(scene, code)?;
            Ok(output)
        }
        Language::Other => {
            let output = other::run(scene, code)?;
            doors::run_inline(scene, code)?;
            Ok(output)
        }
        Language::Awk => awk::run(scene, code),
        Language::Sed => sed::run(scene, code),
        Language::PowerShell => powershell::run(scene, code),
        Language::Make => make::run(scene, code),
        Language::Embedded => embedded::run(scene, code),
        Language::Data => {
            let marks = scene.marks.len();
            scene.marks.push(Tag::Suspect);
            let done = embedded::run(scene, code);
            scene.marks.truncate(marks);
            done
        }
        Language::Source => {
            doors::run(scene, language, code)?;
            embeds::run(scene, code)?;
            source::run(scene, code)
        }
        Language::Markup => markup::run(scene, code),
        Language::Lines => lines::run(scene, code),
        Language::Prose => prose::run(scene, code),
        Language::Document => Ok(Value::default()),
    }
}

#[cfg(test)]
mod tests;

/// Whether inline code runs what somebody on the network tells it.
pub(crate) fn serves_shell(code: &str) -> bool {
    serves::runs_what_it_is_told(code)
}

/// The host of a snippet that both opens a connection and runs programs: a last look at inline code
/// whose reader found no remote shell. Honest one-liners do one or the other.
pub(crate) fn shell_for(code: &str) -> Option<&str> {
    const CONNECTS: [&str; 8] = [
        "socket",
        "Socket",
        "fsockopen",
        "/inet/tcp/",
        "net.Dial",
        "IO::Socket",
        "TCPServer",
        "connect(",
    ];
    const RUNS: [&str; 12] = [
        "/bin/sh",
        "/bin/bash",
        "exec(",
        "system(",
        "system$",
        "popen",
        "Popen",
        "subprocess",
        "spawn",
        "Process.new",
        "getline",
        "check_output",
    ];
    let has = |words: &[&str]| words.iter().any(|w| code.contains(w));
    if !has(&CONNECTS) || !has(&RUNS) {
        return None;
    }
    let mut words = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-'));
    let is_outside = |word: &&str| match word.parse::<std::net::Ipv4Addr>() {
        Ok(address) => !address.is_loopback(),
        Err(_) => false,
    };
    words.find(is_outside)
}
