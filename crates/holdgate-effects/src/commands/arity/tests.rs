use super::*;
use crate::fuel::Fuel;
use crate::json::Json;
use crate::knowledge::commands::CommandTable;
use crate::path::World;
use crate::{Invocation, Knowledge, understand};
use std::collections::BTreeSet;

#[test]
fn a_value_is_attached_where_a_sub_command_follows() {
    let table = "g:\n  options: {data: -o}\n  flags: {force: -f}\n  sub:\n    get: {operands: text}\n    delete: {operands: text, sub: {all: {}}}\n";
    let table = CommandTable::read(crate::table::compiled(table)).unwrap();
    let spec = table.get("g").unwrap().unwrap();
    let read = |line: &str| {
        let words: Vec<Value> = line.split(' ').map(Value::known).collect();
        let words = attached(spec, &words)?;
        Some(Value::join(&words, " ").text)
    };
    for (line, other) in [
        ("g --zz val delete x", Some("g --zz=val delete x")),
        ("g --zz get delete x", Some("g --zz=get delete x")),
        (
            "g --a get --b get delete x",
            Some("g --a=get --b=get delete x"),
        ),
        ("g -z val delete x", Some("g -z=val delete x")),
        ("g delete --zz val all", Some("g delete --zz=val all")),
        ("g --zz delete x", None),
        ("g --zz val other delete", None),
        ("g -o val delete x", None),
        ("g -f delete get", None),
        ("g --no-zz get delete", None),
        ("g delete x --zz val get", None),
        ("g --zz=val delete x", None),
        ("g -- --zz val delete", None),
    ] {
        assert_eq!(read(line).as_deref(), other, "{line}");
    }
}

/// What a command line does: kinds and tags.
fn done(know: &Knowledge, command: &str) -> BTreeSet<(String, Vec<String>)> {
    let input = Json::object([("command", command.to_owned().into())]);
    let text = input.text();
    let call = Invocation {
        tool: "Bash",
        input: &input,
        text: &text,
    };
    let world = World::lexical("/home/dev/app");
    let effects = understand(call, &world, know, &Fuel::new(10_000_000)).unwrap();
    let done = effects.iter().map(|effect| {
        let mut tags: Vec<String> = effect.tags.iter().map(ToString::to_string).collect();
        tags.sort();
        (effect.kind.word().to_owned(), tags)
    });
    done.collect()
}

/// The sub-commands of an entry, each with those that lead to it.
fn paths(spec: &Spec, before: &str, depth: u32, into: &mut BTreeSet<String>) {
    if depth == 0 {
        return;
    }
    for (name, sub) in &spec.sub {
        // A name with other marks may mean something to a shell.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
        if name.chars().all(plain) && !name.starts_with('-') {
            let path = format!("{before} {name}");
            into.insert(path.clone());
            paths(sub, &path, depth - 1, into);
        }
    }
}

#[test]
fn an_unlisted_option_hides_no_sub_command() {
    let know = Knowledge::built_in().unwrap();
    let mut hidden = Vec::new();
    let mut count = 0;
    let mut names: Vec<&str> = know.commands.names().collect();
    names.sort_unstable();
    let mut seen: BTreeSet<*const Spec> = BTreeSet::new();
    for program in names {
        let Some(Ok(spec)) = know.commands.get(program) else {
            continue;
        };
        if !seen.insert(Arc::as_ptr(spec)) || matches!(spec.style, Style::Raw | Style::Keys) {
            continue;
        }
        let mut all = BTreeSet::new();
        paths(spec, "", 2, &mut all);
        for path in all {
            let plain = done(&know, &format!("{program}{path} x1"));
            for option in ["--zz-opt val", "--zz-opt"] {
                let other = done(&know, &format!("{program} {option}{path} x1"));
                count += 1;
                if !plain.is_subset(&other) {
                    let lost: Vec<_> = plain.difference(&other).collect();
                    hidden.push(format!("{program} {option}{path}: {lost:?}"));
                }
            }
        }
    }
    assert!(count > 2000, "{count} command lines");
    let shown = hidden.iter().take(40).cloned().collect::<Vec<_>>();
    assert!(
        hidden.is_empty(),
        "{} of {count}:\n{}",
        hidden.len(),
        shown.join("\n")
    );
}
