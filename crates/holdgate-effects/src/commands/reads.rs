//! What of a file a program shows: its names only, an old version of it, or what a listing names.

use super::Call;
use super::args::Parsed;
use super::handler::Handler;
use super::units::Run;
use crate::code::awk;
use crate::code::sed::{self, Action};
use crate::effect::Actor;
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};

/// `cut -d= -f1` and its like show the names of variables and none of their values.
pub(super) fn tags(handler: Handler, parsed: &Parsed) -> Option<Tag> {
    let option = |names: &[&str]| {
        let mut given = parsed.options_named(names);
        let first = given.next().and_then(|o| o.value.as_ref());
        first.filter(|_| given.next().is_none())
    };
    let is = |names: &[&str], text: &str| option(names).is_some_and(|(_, v)| v.text == text);
    // `-d=` looks like an option with a value that is empty.
    let by_equals = |names: &[&str]| is(names, "=") || is(names, "");
    let code = parsed.operands.first().map_or("", |o| o.text.as_str());
    let has = |name: &str| parsed.given(&[name]);
    let names_only = if handler == Handler::Cut {
        by_equals(&["-d", "--delimiter"]) && is(&["-f", "--fields"], "1")
    } else if handler == Handler::Awk {
        by_equals(&["-F", "--field-separator"]) && awk::printed_field(code) == Some(1) && !has("-f")
    } else if handler == Handler::Sed {
        empties_values(code) && parsed.options.is_empty()
    } else {
        has("-o") && !has("-e") && !has("-f") && is_name_pattern(code)
    };
    names_only.then_some(Tag::List)
}

/// `s/=.*//`, `s/=.*/=/`: a sed script that drops what stands behind the first `=` of a line.
fn empties_values(script: &str) -> bool {
    let mut commands = sed::commands(script);
    let drops = commands.next().is_some_and(|command| {
        let drops = matches!(
            command.action,
            Action::Substitute {
                pattern: "=.*" | "=.*$",
                with: "" | "=",
                flags: "" | "g",
                file: None,
                ..
            }
        );
        drops && command.address.is_empty()
    });
    drops && commands.next().is_none()
}

/// `^[A-Z_]*`, `^[^=]+=`: what stands before the first `=` of a line.
fn is_name_pattern(pattern: &str) -> bool {
    let Some((class, rest)) = pattern
        .strip_prefix("^[")
        .and_then(|rest| rest.split_once(']'))
    else {
        return false;
    };
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (class == "^=" || class.chars().all(word))
        && matches!(rest, "*" | "+" | "\\+" | "*=" | "+=" | "\\+=")
}

/// jq's options that take a name and a file.
pub(super) fn named_files(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    for window in call.words.windows(3) {
        if let [option, _, file] = window
            && matches!(
                option.text.as_str(),
                "--rawfile" | "--slurpfile" | "--argfile"
            )
        {
            scene.read(actor, file)?;
        }
    }
    Ok(())
}

/// A search through all of the folder that it is started in.
pub(super) fn searches_here(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let everywhere = run.actor.is(Tag::Recursive) && run.parsed.operands.len() < 2;
    if everywhere && run.call.stdin.is_none() {
        scene.read(run.actor, &Value::known("."))?;
    }
    Ok(())
}

/// The names that a listing prints, as patterns: `cat` of them is `cat` of the patterns.
pub(super) fn listing(scene: &Scene<'_>, parsed: &Parsed) -> Option<Value> {
    // More than names.
    if parsed.given(&[
        "-l",
        "-g",
        "-o",
        "-n",
        "-s",
        "-i",
        "-Z",
        "-R",
        "-F",
        "--recursive",
        "--size",
        "--inode",
        "--classify",
        "--help",
    ]) {
        return None;
    }
    let hidden = parsed.given(&["-a", "-A", "--all", "--almost-all"]);
    let inside = if hidden { ".*\n*\n" } else { "*\n" };
    let mut names = Value::unknown(Origins::OUTPUT);
    names.text.clear();
    for operand in parsed.operands.iter().take(64) {
        let last = operand.text.rsplit('/').next().unwrap_or("");
        let is_file = last.trim_start_matches('.').contains('.');
        if operand.text.contains(['*', '?', '[']) || is_file || parsed.given(&["-d", "--directory"])
        {
            names.push(operand);
            names.push_text("\n");
        } else if operand.text.contains(HOLE) {
            return None;
        } else {
            names.push_text(inside);
        }
    }
    if parsed.operands.is_empty() {
        names.push_text(inside);
    }
    // What is listed is where secrets may be; in the project only hidden names may be such.
    let here = [Value::known(".")];
    let folders = match parsed.operands.as_slice() {
        [] => &here[..],
        folders => folders,
    };
    let harmless = |folder: &Value| {
        let place = scene.place(folder);
        let classes = [
            PathClass::Temp,
            PathClass::Cache,
            PathClass::Generated,
            PathClass::Unknown,
        ];
        classes.iter().any(|class| place.is(*class)) || place.is(PathClass::Project) && !hidden
    };
    (!folders.iter().all(harmless)).then_some(names)
}

/// What jq prints that reads nothing: the texts of its program, and the environment if it asks for it.
pub(super) fn printed_by_jq(parsed: &Parsed, output: Value) -> Value {
    let Some(program) = parsed.operands.first() else {
        return output;
    };
    let mut output = output;
    let mut words = program
        .text
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    if words.any(|word| matches!(word, "env" | "$ENV")) {
        output.taint(&Value::unknown(Origins::ENVIRONMENT).with_source("environment"));
    }
    let reads_nothing = parsed.given(&["-n", "--null-input"]);
    if !reads_nothing || !program.text.contains('"') {
        return output;
    }
    let texts = program.text.split('"').skip(1).step_by(2);
    let texts: Vec<&str> = texts.map(str::trim).filter(|t| !t.is_empty()).collect();
    let mut printed = program.map(texts.join(" "));
    printed.taint(&output);
    printed
}
