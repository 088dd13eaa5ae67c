//! `find`: where it looks, and what it does with what it finds.

use super::Call;
use crate::effect::{Actor, Effect, Kind};
use crate::path::{PathClass, Place};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE_STR, Origins, Value};
use std::iter::Peekable;

/// Tests of names.
const NAMES: [&str; 6] = ["-name", "-iname", "-path", "-wholename", "-ipath", "-regex"];
/// Tests that leave out some of what is there.
const FILTERS: [&str; 19] = [
    "-name",
    "-iname",
    "-path",
    "-wholename",
    "-ipath",
    "-regex",
    "-iregex",
    "-mtime",
    "-mmin",
    "-atime",
    "-ctime",
    "-newer",
    "-size",
    "-empty",
    "-user",
    "-group",
    "-perm",
    "-inum",
    "-samefile",
];

pub(super) fn run(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled<Value> {
    let mut words = call.words.iter().skip(1).peekable();
    let mut roots = roots(&mut words);
    if roots.is_empty() {
        roots.push(Value::known("."));
    }
    let rest: Vec<Value> = words.cloned().collect();
    let is_one_of = |at: usize, names: &[&str]| {
        let word = rest.get(at).map(|w| w.text.as_str());
        word.is_some_and(|word| names.contains(&word))
    };
    // `! -path './.git/*'` and `-path ./x -prune` leave something out, and all else is found.
    let leaves_out = |at: usize| {
        let not = ["!", "-not"];
        let behind = |n: usize| at.checked_sub(n).is_some_and(|at| is_one_of(at, &not));
        let bracket = at
            .checked_sub(1)
            .is_some_and(|at| is_one_of(at, &["(", "\\("]));
        is_one_of(at, &NAMES) && (behind(1) || bracket && behind(2))
            || is_one_of(at + 2, &["-prune"]) && is_one_of(at + 3, &["-o", "-or"])
    };
    let at = (0..rest.len()).find(|at| is_one_of(*at, &NAMES) && !leaves_out(*at));
    let pattern = at.and_then(|at| rest.get(at + 1).cloned());
    let shallow = rest.iter().any(|w| w.text == "-maxdepth");
    let filters = |at: usize| is_one_of(at, &FILTERS) && (shallow || !leaves_out(at));
    let filtered = (0..rest.len()).any(filters);
    let found: Vec<Value> = roots
        .iter()
        .map(|root| inside(root, pattern.as_ref()))
        .collect();
    for path in &found {
        let listing = Actor {
            tags: vec![Tag::List],
            ..actor.clone()
        };
        scene.touch(&listing, Kind::Read, path)?;
    }
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        at += 1;
        match word.text.as_str() {
            "-delete" => {
                let mut deleter = actor.clone();
                deleter.tags.push(Tag::Recursive);
                if filtered {
                    deleter.tags.push(Tag::Filtered);
                }
                for (root, path) in roots.iter().zip(&found) {
                    // Of the whole machine, whatever the names are.
                    let all = scene.place(root).text == "/";
                    scene.delete(&deleter, if filtered && !all { path } else { root })?;
                }
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let tail = rest.get(at..).unwrap_or(&[]);
                let end = tail
                    .iter()
                    .position(|w| matches!(w.text.as_str(), ";" | "+" | "\\;"))
                    .unwrap_or(tail.len());
                let command = tail.get(..end).unwrap_or(&[]);
                at += end;
                for (root, path) in roots.iter().zip(&found) {
                    // Without a filter the roots themselves are found.
                    let path = if filtered { path } else { root };
                    let words: Vec<Value> = command.iter().map(|w| filled(w, path)).collect();
                    let before = scene.effects.len();
                    scene.argv(&words, None)?;
                    deletes_all(scene, before, filtered);
                    if !filtered {
                        empties_all(scene, before, root);
                    }
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(path) = rest.get(at) {
                    scene.write(actor, path, &Value::unknown(Origins::OUTPUT), false)?;
                }
            }
            _ => {}
        }
    }
    let mut output = Value::default();
    for (root, path) in roots.iter().zip(&found) {
        output.push(if filtered { path } else { root });
        output.push_text("\n");
    }
    // Which folders are in between is not known.
    output.text = output.text.replace("**", HOLE_STR);
    Ok(output.marked(Origins::OUTPUT))
}

/// Options of `fd` with a value.
const FD_VALUES: [&str; 17] = [
    "-t",
    "--type",
    "-S",
    "--size",
    "-o",
    "--owner",
    "--changed-within",
    "--changed-before",
    "-d",
    "--max-depth",
    "-E",
    "--exclude",
    "-j",
    "--threads",
    "-c",
    "--color",
    "--ignore-file",
];

/// `fd PATTERN FOLDER… -x COMMAND`: the command runs with what is found, as that of `find` does.
pub(super) fn fd(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    let runs = |w: &Value| matches!(w.text.as_str(), "-x" | "--exec" | "-X" | "--exec-batch");
    let Some(at) = call.words.iter().position(runs) else {
        return Ok(());
    };
    let (search, command) = call.words.split_at(at);
    let command = command.get(1..).unwrap_or(&[]);
    let end = command.iter().position(|w| w.text == ";");
    let (command, after) = command.split_at(end.unwrap_or(command.len()));
    let mut operands = Vec::new();
    let mut roots = Vec::new();
    let mut name = None;
    let mut words = search.iter().skip(1).chain(after.iter().skip(1));
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-e" | "--extension" => {
                let ending = words.next().map(|w| w.map(format!("*.{}", w.text)));
                name = ending.or(name);
            }
            "--search-path" | "--base-directory" | "-C" => roots.extend(words.next().cloned()),
            option if FD_VALUES.contains(&option) => {
                words.next();
            }
            option if option.starts_with('-') && option.len() > 1 => {}
            _ => operands.push(word.clone()),
        }
    }
    let mut operands = operands.into_iter();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    match operands.next() {
        Some(p) if !matches!(p.text.as_str(), "" | "." | ".*" | "*") => {
            let known = p.text.chars().all(plain);
            let pattern = if known { &p.text } else { "" };
            name = name.or_else(|| Some(p.map(format!("*{pattern}*"))));
        }
        _ => {}
    }
    roots.extend(operands);
    if roots.is_empty() {
        roots.push(Value::known("."));
    }
    let mut find = vec![Value::known("find")];
    find.append(&mut roots);
    if let Some(name) = name {
        find.extend([Value::known("-name"), name]);
    }
    find.push(Value::known("-exec"));
    let mut placed = false;
    for word in command {
        let mut text = word.text.clone();
        for part in ["{/.}", "{//}", "{/}", "{.}"] {
            text = text.replace(part, "{}");
        }
        placed |= text.contains("{}");
        find.push(word.map(text));
    }
    if !placed {
        find.push(Value::known("{}"));
    }
    scene.fuel.spend(16 + find.len() as u64)?;
    let call = Call {
        program: "find",
        words: &find,
        stdin: None,
    };
    run(scene, &call, actor).map(|_| ())
}

/// Whatever deletes one file deletes all that are found, where files of people and of the system are.
fn deletes_all(scene: &mut Scene<'_>, before: usize, filtered: bool) {
    const KEPT: [PathClass; 4] = [
        PathClass::Home,
        PathClass::HomeRoot,
        PathClass::System,
        PathClass::Root,
    ];
    let kept = |place: &Place| KEPT.iter().any(|class| place.is(*class));
    let deletes = |e: &&mut Effect| e.kind == Kind::Delete && e.path.as_ref().is_some_and(kept);
    for effect in scene.effects.iter_mut().skip(before).filter(deletes) {
        let filter = filtered.then_some(Tag::Filtered);
        for tag in [Tag::Recursive].into_iter().chain(filter) {
            if !effect.is(tag) {
                effect.tags.push(tag);
            }
        }
    }
}

/// Whatever empties one file empties all that are found below `root`.
fn empties_all(scene: &mut Scene<'_>, before: usize, root: &Value) {
    let root = scene.place(root).text;
    let found = |e: &&mut Effect| {
        let here = |place: &Place| place.text == root;
        e.is(Tag::Empties) && !e.is(Tag::Recursive) && e.path.as_ref().is_some_and(here)
    };
    for effect in scene.effects.iter_mut().skip(before).filter(found) {
        effect.tags.push(Tag::Recursive);
    }
}

/// The folders that it starts from: all words before the first test or action.
fn roots<'v>(words: &mut Peekable<impl Iterator<Item = &'v Value>>) -> Vec<Value> {
    let mut roots = Vec::new();
    while let Some(word) = words.peek() {
        let text = word.text.as_str();
        if matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O") {
            words.next();
        } else if text.starts_with(['-', '(', '!', ')']) {
            break;
        } else {
            roots.extend(words.next().cloned());
        }
    }
    roots
}

fn filled(word: &Value, path: &Value) -> Value {
    let mut value = word.map(word.text.replace("{}", &path.text));
    value.taint(path);
    value
}

/// What is found below `root`.
fn inside(root: &Value, pattern: Option<&Value>) -> Value {
    let name = pattern.map_or(HOLE_STR, |p| p.text.trim_start_matches(['*', '/']));
    let name = match pattern {
        Some(p) if p.text.starts_with('*') && !name.is_empty() => format!("*{name}"),
        _ => name.to_owned(),
    };
    root.map(format!("{}/**/{name}", root.text.trim_end_matches('/')))
}
