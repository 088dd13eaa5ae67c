//! The part of a build file that a command line names: it runs now, whatever else the file holds.

use super::units::Run;
use crate::json::{Json, LoneSurrogates};
use crate::language::Language;
use crate::scene::{Fueled, Scene};
use crate::value::{Origins, Value};
use std::collections::BTreeSet;

/// Runs the targets or scripts that the words of a command name, if the file is known.
pub(super) fn run(scene: &mut Scene<'_>, path: &str, run: Run<'_>) -> Fueled {
    let content = scene.files.get(path).filter(|content| !content.is_blank());
    let Some(content) = content.filter(|_| !scene.written).cloned() else {
        return Ok(());
    };
    let code = Value {
        origins: content.origins.without(Origins::FILE),
        ..content
    };
    scene.fuel.spend_on(code.text.len() * 2)?;
    let words: Vec<&str> = run
        .call
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .collect();
    let files = scene.files.clone();
    match path.rsplit('/').next() {
        Some("package.json") => {
            for script in scripts(&code.text, &words) {
                let script = code.map(script);
                scene.apart(|scene| scene.shell(run.actor, &script))?;
            }
        }
        Some("Makefile" | "makefile" | "GNUmakefile") => {
            let rules = code.map(rules(&code.text, &words));
            scene.apart(|scene| scene.code(Language::Make, &rules))?;
        }
        _ => {}
    }
    scene.files = files;
    Ok(())
}

/// The scripts of a `package.json` that run with these words: `npm run build`, `npm test`.
fn scripts(text: &str, words: &[&str]) -> Vec<String> {
    const MAX_DEPTH: usize = 16;
    let Ok(json) = Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Replace) else {
        return Vec::new();
    };
    let named = |name: String| {
        let script = json.get("scripts")?.get(&name)?;
        script.as_str().map(str::to_owned)
    };
    let names = words
        .iter()
        .flat_map(|word| ["pre", "", "post"].map(|when| format!("{when}{word}")));
    names.filter_map(named).collect()
}

/// A makefile with nothing but the named targets, what they need, and everything that is no rule.
/// Without a name, the first target runs.
fn rules(text: &str, words: &[&str]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_recipe = |line: &str| line.starts_with('\t');
    let heads: Vec<(&str, &str)> = lines.iter().filter_map(|line| head(line)).collect();
    let named = heads
        .iter()
        .flat_map(|(targets, _)| targets.split_whitespace());
    let named: Vec<&str> = named.filter(|target| words.contains(target)).collect();
    let first = heads
        .iter()
        .flat_map(|(targets, _)| targets.split_whitespace());
    let first = first.filter(|target| !target.starts_with('.')).take(1);
    let mut wanted: BTreeSet<&str> = if named.is_empty() {
        first.collect()
    } else {
        named.into_iter().collect()
    };
    // What is needed by what is needed; more than a few steps are rare.
    for _ in 0..8 {
        let before = wanted.len();
        for (targets, needs) in &heads {
            if targets
                .split_whitespace()
                .any(|target| wanted.contains(target))
            {
                wanted.extend(needs.split_whitespace());
            }
        }
        if wanted.len() == before {
            break;
        }
    }
    let mut keep = true;
    let mut kept = String::new();
    for line in lines {
        if !is_recipe(line) {
            keep = head(line).is_none_or(|(targets, _)| {
                targets
                    .split_whitespace()
                    .any(|target| wanted.contains(target))
            });
        }
        if keep {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The targets of a rule, and what they need.
fn head(line: &str) -> Option<(&str, &str)> {
    let (targets, rest) = line.split_once(':')?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let is_rule =
        !line.starts_with(['\t', '#', ' ']) && !rest.starts_with('=') && !targets.contains('=');
    let needs = rest.split(['#', ';']).next().unwrap_or(rest);
    is_rule.then_some((targets, needs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_and_needed_runs() {
        let text =
            "X := 1\nall: build\n\tone\nbuild: dir # why\n\ttwo\ndir:\n\tthree\ndeploy:\n\tfour\n";
        assert_eq!(
            rules(text, &["build"]),
            "X := 1\nbuild: dir # why\n\ttwo\ndir:\n\tthree\n"
        );
        assert_eq!(
            rules(text, &["-j4"]),
            "X := 1\nall: build\n\tone\nbuild: dir # why\n\ttwo\ndir:\n\tthree\n"
        );
        let text = r#"{"scripts":{"test":"a","pretest":"b","deploy":"c"}}"#;
        assert_eq!(scripts(text, &["run", "test"]), ["b", "a"]);
        assert!(scripts("{", &["test"]).is_empty());
    }
}
