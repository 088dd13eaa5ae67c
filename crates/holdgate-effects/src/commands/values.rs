//! Arguments that need more than a role: modes, mounts, SQL, lines that others add.

use super::args::Parsed;
use super::argument::role_of;
use super::role::Role;
use crate::effect::{Actor, Kind};
use crate::language::{Language, programs};
use crate::path;
use crate::scene::{Fueled, Scene};
use crate::tag::{self, Tag};
use crate::value::Value;

/// The lines of a table of times, without the times.
pub(super) fn schedule_lines(stdin: &Value) -> Value {
    let command = |line| programs::schedule(line).map_or("", |(_, command)| command);
    let lines: Vec<&str> = stdin.text.lines().map(command).collect();
    stdin.map(lines.join("\n"))
}

/// `xargs` and its like add what they read to the arguments.
pub(super) fn with_input(
    words: &[Value],
    role: Role,
    stdin: Option<&Value>,
    mark: &str,
    whole_lines: bool,
) -> Vec<Value> {
    let mut words = words.to_vec();
    let Some(stdin) = stdin.filter(|_| role == Role::ArgvAndInput) else {
        return words;
    };
    let added: Vec<Value> = stdin
        .text
        .split(|c| matches!(c, '\n' | '\0') || !whole_lines && matches!(c, ' ' | '\t'))
        .filter(|w| !w.is_empty())
        .take(64)
        .map(|w| stdin.map(w.trim_end_matches('\n')))
        .collect();
    let mut placed = false;
    for word in &mut words {
        if !mark.is_empty() && word.text.contains(mark) {
            placed = true;
            // With a mark the whole line goes there.
            let with = stdin.map(stdin.text.lines().next().unwrap_or(""));
            let text = word.text.replace(mark, &with.text);
            word.text = text;
            word.taint(&with);
        }
    }
    if !placed {
        if words.is_empty() {
            words.push(Value::known("echo"));
        }
        words.extend(added);
    }
    words
}

/// What the modes among the arguments give away.
pub(super) fn mode_tags_of(parsed: &Parsed) -> Vec<Tag> {
    let options = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let options = options.filter(|(role, _)| *role == Role::ModeBits);
    let count = parsed.operands.len();
    let role = |at| role_of(&parsed.spec.operands, at, count);
    let operands = parsed.operands.iter().enumerate();
    let operands = operands.filter(|(at, _)| role(*at) == Role::ModeBits);
    let modes = options
        .map(|(_, mode)| mode)
        .chain(operands.map(|(_, o)| o));
    modes.flat_map(|mode| tag::of_mode(&mode.text)).collect()
}

/// `host:container[:options]`, `type=bind,source=…`.
pub(super) fn mount(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let text = value.text.as_str();
    let Some((source, _, read_only)) = path::container_mount(text) else {
        return Ok(());
    };
    // Where it comes from is a path of this machine.
    let mounts = std::mem::take(&mut scene.mounts);
    let place = scene.place(&value.map(source));
    scene.mounts = mounts;
    let mut effect = actor.does(Kind::Container).tagged(Tag::Mount);
    if read_only {
        effect = effect.tagged(Tag::ReadOnly);
    }
    if text.split([':', ',', '=']).any(path::is_engine_socket) {
        effect = effect.tagged(Tag::DockerSocket);
    }
    scene.emit(effect.at(place).about(text))
}

/// What the mounts among the options show, by the names that they have inside; and where it starts.
pub(super) fn enter_container(scene: &mut Scene<'_>, parsed: &Parsed) {
    let options = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let mut mounts = Vec::new();
    for (_, value) in options.filter(|(role, _)| *role == Role::Mount).take(32) {
        if let Some((outside, inside, _)) = path::container_mount(&value.text) {
            let outside = scene.place(&value.map(outside)).text;
            mounts.push((inside.trim_end_matches('/').to_owned(), outside));
        }
    }
    if mounts.is_empty() {
        return;
    }
    scene.mounts = mounts;
    if let Some(folder) = parsed.value_of(&["-w", "--workdir"]).cloned() {
        scene.enter(&folder);
    }
}

/// What a statement does to the data.
pub(crate) fn sql(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    // Some shells of databases run programs, and some functions read and write files.
    scene.code(Language::Other, value)?;
    // What stands in quotes is data.
    let text: String = value
        .text
        .split('\'')
        .step_by(2)
        .collect::<Vec<_>>()
        .join(" ")
        .to_ascii_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .collect();
    let follows = |first: &str, second: &[&str]| {
        words
            .windows(2)
            .any(|w| matches!(w, [a, b] if *a == first && second.contains(b)))
    };
    let mut effect = actor.does(Kind::Database).about(&value.text).of(value);
    if words.first() == Some(&"select") || text.trim_start().starts_with('.') {
        effect = effect.tagged(Tag::Query);
    }
    let objects = [
        "table",
        "database",
        "schema",
        "view",
        "index",
        "role",
        "user",
        "column",
        "keyspace",
        "collection",
    ];
    if follows("drop", &objects)
        || text.contains("dropdatabase")
        || text.contains(".drop(")
        || text.contains("flushall")
        || text.contains("flushdb")
    {
        effect = effect.tagged(Tag::Drop);
    }
    if words.first() == Some(&"truncate") || follows("truncate", &["table"]) {
        effect = effect.tagged(Tag::Drop);
    }
    let deletes = follows("delete", &["from"]);
    if deletes && !words.contains(&"where") || text.contains("deletemany({})") {
        effect = effect.tagged(Tag::DeleteAll);
    }
    if follows("from", &["program"])
        || follows("to", &["program"])
        || text.contains("xp_cmdshell")
        || text.contains("sys_exec")
    {
        effect = effect.tagged(Tag::Shell);
    }
    if text.contains("into outfile") || text.contains("load_file(") || text.contains("pg_read_file")
    {
        effect = effect.tagged(Tag::File);
    }
    scene.emit(effect)?;
    for path in files_read(&value.text) {
        scene.read(actor, &value.map(path))?;
    }
    // Clients run lines that begin with `\!` or `.shell`.
    for line in value.text.lines() {
        let line = line.trim_start();
        let command = ["\\!", ".shell ", ".system ", "system "]
            .iter()
            .find_map(|p| line.strip_prefix(p));
        if let Some(command) = command {
            scene.shell(actor, &value.map(command.trim()))?;
        }
    }
    Ok(())
}

/// The files that a statement reads: `readfile('x')`, `load_file('x')`, `.read x`.
fn files_read(statement: &str) -> Vec<&str> {
    const READERS: [&str; 8] = [
        "readfile",
        "load_file",
        "pg_read_file",
        "pg_read_binary_file",
        "read_text",
        "read_blob",
        "read_csv",
        "read_csv_auto",
    ];
    let mut found = Vec::new();
    let quoted = statement.split('\'').collect::<Vec<_>>();
    for pair in quoted.chunks_exact(2).take(64) {
        let [before, path] = pair else { continue };
        let before = before.trim_end().trim_end_matches('(').trim_end();
        let name_at = before
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .map_or(0, |at| at + 1);
        let name = before.get(name_at..).unwrap_or("");
        if READERS.iter().any(|r| name.eq_ignore_ascii_case(r)) {
            found.push(*path);
        }
    }
    let lines = statement.lines().map(str::trim_start);
    let by_line = lines.filter_map(|line| {
        let rest = [".read ", ".import ", "\\i ", "\\ir ", "source "]
            .iter()
            .find_map(|p| line.strip_prefix(p))?;
        rest.split_whitespace().next()
    });
    found.extend(by_line.take(64));
    found
}
