//! The modules of each crate use each other only in the order that ARCHITECTURE.md states.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// For each crate with a stated order: the modules, with the number of `<` before them.
type Order = BTreeMap<String, BTreeMap<String, usize>>;

fn order(text: &str) -> Order {
    let mut order = Order::new();
    for block in text.split("```modules ").skip(1) {
        let block = block.split("```").next().unwrap();
        let (name, lines) = block.split_once('\n').unwrap();
        let levels = order.entry(name.trim().to_owned()).or_default();
        for (level, group) in lines.split('<').enumerate() {
            for module in group.split_whitespace() {
                let twice = levels.insert(module.to_owned(), level);
                assert_eq!(twice, None, "{name}: `{module}` is listed twice");
            }
        }
    }
    order
}

/// The sources below `folder` without tests, by their paths.
fn sources(folder: &Path, found: &mut Vec<(String, String)>, root: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name.ends_with("tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found, root);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = code.lines().map(|line| line.split("//").next().unwrap());
            let place = path.strip_prefix(root).unwrap().to_str().unwrap();
            found.push((place.to_owned(), lines.collect::<Vec<_>>().join("\n")));
        }
    }
}

/// `a/b.rs` and `a/b/mod.rs` are `[a, b]`.
fn module_path(place: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = place.trim_end_matches(".rs").split('/').collect();
    if parts.last() == Some(&"mod") {
        parts.pop();
    }
    parts
}

/// The first names of `a::b` or `{a::b, c, d::{e, f}}`.
fn first_names(text: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        let text = text.trim_start().chars();
        text.take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let Some(list) = text.strip_prefix('{') else {
        return vec![name(text)];
    };
    let mut names = vec![name(list)];
    let mut depth = 1;
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(list.get(at + 1..).unwrap())),
            _ => {}
        }
    }
    names
}

/// The names right below the root of the crate that a module of this depth mentions.
fn mentioned(code: &str, depth: usize) -> Vec<String> {
    let above = "super::".repeat(depth);
    let mut names = Vec::new();
    for mark in ["crate::", &above] {
        for (at, _) in code.match_indices(mark) {
            let before = code.get(..at).unwrap();
            let rest = code.get(at + mark.len()..).unwrap();
            let is_part = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            if !is_part && !rest.starts_with("super::") {
                names.extend(first_names(rest));
            }
        }
    }
    names
}

/// What each module of a crate uses, with a file that does so.
fn uses(root: &Path) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut files = Vec::new();
    sources(root, &mut files, root);
    let is_root = |place: &str| place == "lib.rs" || place == "main.rs";
    let mut modules: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (place, _) in files.iter().filter(|(place, _)| !is_root(place)) {
        modules.entry(module_path(place)[0].to_owned()).or_default();
    }
    // What the root of the crate exports under its own name: `crate::Knowledge`.
    let mut exported = BTreeMap::new();
    for (_, code) in files.iter().filter(|(place, _)| is_root(place)) {
        for line in code.split(';') {
            if let Some((module, names)) = line
                .split_once("use ")
                .and_then(|(_, path)| path.split_once("::"))
            {
                for name in first_names(names.trim()) {
                    exported.insert(name, module.trim().to_owned());
                }
            }
        }
    }
    for (place, code) in files.iter().filter(|(place, _)| !is_root(place)) {
        let path = module_path(place);
        for name in mentioned(code, path.len()) {
            let used = if modules.contains_key(&name) {
                &name
            } else {
                exported.get(&name).unwrap_or(&name)
            };
            if used != path[0] && modules.contains_key(used) {
                let edges = modules.get_mut(path[0]).unwrap();
                edges.insert(used.clone(), place.clone());
            }
        }
    }
    modules
}

/// What is wrong with the modules of a crate.
fn errors(
    stated: &BTreeMap<String, usize>,
    uses: &BTreeMap<String, BTreeMap<String, String>>,
) -> Vec<String> {
    let mut errors = Vec::new();
    let listed: BTreeSet<&String> = stated.keys().collect();
    let there: BTreeSet<&String> = uses.keys().collect();
    errors.extend(
        there
            .difference(&listed)
            .map(|m| format!("`{m}` is not listed")),
    );
    errors.extend(
        listed
            .difference(&there)
            .map(|m| format!("`{m}` does not exist")),
    );
    for (module, used) in uses {
        for (other, place) in used {
            if stated.get(other) >= stated.get(module) {
                errors.push(format!("{place}: `{module}` must not use `{other}`"));
            }
        }
    }
    errors
}

#[test]
fn modules_use_each_other_in_the_order_that_is_stated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let order = order(&text);
    let crates: Vec<&str> = order.keys().map(String::as_str).collect();
    assert_eq!(crates, ["holdgate", "holdgate-core", "holdgate-effects"]);
    for (name, stated) in order {
        let errors = errors(&stated, &uses(&root.join("crates").join(&name).join("src")));
        assert!(errors.is_empty(), "{name}:\n{}", errors.join("\n"));
    }
}

#[test]
fn an_edge_against_the_order_is_found() {
    let stated = &order("```modules x\nlow < middle\nother < high\n```")["x"];
    let edges = |list: &[(&str, &str)]| {
        let mut uses: BTreeMap<String, BTreeMap<String, String>> =
            ["low", "middle", "other", "high"]
                .map(|module| (module.to_owned(), BTreeMap::new()))
                .into();
        for (from, to) in list {
            uses.get_mut(*from)
                .unwrap()
                .insert((*to).to_owned(), "x.rs".to_owned());
        }
        errors(stated, &uses).len()
    };
    assert_eq!(edges(&[("middle", "low"), ("high", "other")]), 0);
    assert_eq!(edges(&[("low", "high")]), 1);
    assert_eq!(edges(&[("middle", "other")]), 1);
    assert_eq!(edges(&[("middle", "low"), ("low", "middle")]), 1);
}

#[test]
fn every_way_to_name_a_module_is_read() {
    let code = "use crate::{a::B, c, d::{e, f}};\nuse crate::g;\nlet x = crate::h::i();\nuse super::super::j::K;\nuse super::l;";
    let found = mentioned(code, 2);
    assert_eq!(found, ["a", "c", "d", "g", "h", "j"]);
    assert_eq!(mentioned("use super::m::N;", 1), ["m"]);
}
