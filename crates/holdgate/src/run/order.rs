//! Work orders: what an agent is there for, from a file with YAML front matter or in plain
//! Markdown.

use crate::args::WrongUse;
use crate::judge::WorkContext;
use serde::Deserialize;
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;

/// Bytes of a work order.
const MAX_BYTES: u64 = 1 << 20;
/// Characters of a goal that is a whole paragraph, and of a point of a list.
const MAX_TEXT: usize = 2000;
const MAX_POINTS: usize = 100;

/// The front matter of a work order, as far as it is of use here. People write a point with a colon
/// in it, or nothing at all, without thinking of YAML: values are taken as they come.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FrontMatter {
    title: Value,
    goal: Value,
    acceptance_criteria: Value,
    scope: Value,
    non_goals: Value,
}

/// The points of a list, or a single one.
fn points(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().flat_map(points).collect(),
        Value::Object(members) => {
            let said = |(key, value): (&String, &Value)| format!("{key}: {}", words(value));
            members.iter().map(said).collect()
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![words(value)],
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => points(value).join("; "),
    }
}

/// Reads a work order.
pub fn read(path: &Path) -> anyhow::Result<WorkContext> {
    let mut text = String::new();
    let named = |what: &dyn std::fmt::Display| WrongUse(format!("{}: {what}", path.display()));
    let unread = |e: std::io::Error| named(&format!("cannot read the work order: {e}"));
    let metadata = std::fs::metadata(path).map_err(unread)?;
    if !metadata.is_file() {
        return Err(named(&"not a regular file").into());
    }
    let file = std::fs::File::open(path).map_err(unread)?;
    let mut file = file.take(MAX_BYTES + 1);
    file.read_to_string(&mut text).map_err(unread)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(named(&"a work order can have at most 1 MiB").into());
    }
    Ok(parse(&text).map_err(|e| named(&e))?)
}

fn parse(text: &str) -> Result<WorkContext, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((yaml, body)) = front_matter(text) else {
        if is_unfinished(text) {
            return Err("the front matter is not closed: add a line `---`".to_owned());
        }
        return Ok(markdown(text));
    };
    let front: FrontMatter = serde_saphyr::from_str(yaml)
        .map_err(|e| format!("the front matter is not valid: {}", e.without_snippet()))?;
    let below = markdown(body);
    let goal = [&front.goal, &front.title].map(words);
    let mut context = WorkContext {
        goal: goal
            .into_iter()
            .find(|goal| !goal.is_empty())
            .unwrap_or_default(),
        acceptance: points(&front.acceptance_criteria),
        scope: points(&front.scope),
    };
    let outside = points(&front.non_goals);
    let outside = outside.iter().map(|point| format!("not in scope: {point}"));
    context.scope.extend(outside);
    // What the front matter does not say, the text below may.
    if context.goal.is_empty() {
        context.goal = below.goal;
    }
    if context.acceptance.is_empty() {
        context.acceptance = below.acceptance;
    }
    if context.scope.is_empty() {
        context.scope = below.scope;
    }
    Ok(bounded(context))
}

/// What stands between `---` and `---`, and the rest.
fn front_matter(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?;
    let rest = rest
        .strip_prefix("\r\n")
        .or_else(|| rest.strip_prefix('\n'))?;
    let end = rest.match_indices("\n---").find(|(at, mark)| {
        let after = rest.get(at + mark.len()..).unwrap_or_default();
        after.is_empty() || after.starts_with(['\n', '\r'])
    });
    let (yaml, body) = rest.split_at_checked(end?.0)?;
    Some((yaml, body.strip_prefix("\n---").unwrap_or(body)))
}

/// Whether front matter begins and does not end. Markdown, too, may begin with a line.
fn is_unfinished(text: &str) -> bool {
    let mut lines = text.lines();
    let key = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = |line: &str| {
        line.split_once(':')
            .is_some_and(|(k, _)| k.chars().all(key))
    };
    lines.next() == Some("---") && lines.next().is_some_and(named)
}

/// Where a line of Markdown belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Goal,
    Acceptance,
    Scope,
    Outside,
    Other,
}

impl Section {
    fn of(heading: &str) -> Section {
        let heading = heading.trim_matches(['#', ' ', ':', '*']).to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| heading.contains(word));
        if says(&["acceptance", "criteria", "done when", "definition of done"]) {
            Section::Acceptance
        } else if says(&["non-goal", "non goal", "out of scope", "not in scope"]) {
            Section::Outside
        } else if says(&["scope"]) {
            Section::Scope
        } else if says(&["goal", "objective", "task", "summary"]) {
            Section::Goal
        } else {
            Section::Other
        }
    }
}

/// Headings say what is below them; without a goal, the first heading or the first text is one.
fn markdown(text: &str) -> WorkContext {
    let mut context = WorkContext::default();
    let (mut title, mut first) = (None, None);
    let mut section = Section::Other;
    let mut goal = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(heading) = line.strip_prefix('#') {
            section = Section::of(heading);
            let name = heading.trim_start_matches('#').trim();
            if section == Section::Other && title.is_none() && !name.is_empty() {
                title = Some(name.to_owned());
            }
            continue;
        }
        if line.is_empty() {
            continue;
        }
        first = first.or(Some(line));
        let point = line.strip_prefix(['-', '*', '+']).unwrap_or(line).trim();
        let point = ["[ ]", "[x]", "[X]"]
            .iter()
            .find_map(|mark| point.strip_prefix(mark))
            .unwrap_or(point)
            .trim();
        match section {
            Section::Goal => goal.push(point),
            Section::Acceptance => context.acceptance.push(point.to_owned()),
            Section::Scope => context.scope.push(point.to_owned()),
            Section::Outside => context.scope.push(format!("not in scope: {point}")),
            Section::Other => {}
        }
    }
    context.goal = if goal.is_empty() {
        title.or(first.map(str::to_owned)).unwrap_or_default()
    } else {
        goal.join(" ")
    };
    bounded(context)
}

fn bounded(mut context: WorkContext) -> WorkContext {
    let cut = |text: &mut String| *text = text.chars().take(MAX_TEXT).collect();
    cut(&mut context.goal);
    for list in [&mut context.acceptance, &mut context.scope] {
        list.truncate(MAX_POINTS);
        list.iter_mut().for_each(cut);
    }
    context
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, goal: &str, acceptance: &[&str], scope: &[&str]) {
        let read = parse(text).unwrap();
        assert_eq!(read.goal, goal, "{text}");
        assert_eq!(read.acceptance, acceptance, "{text}");
        assert_eq!(read.scope, scope, "{text}");
    }

    #[test]
    fn front_matter_and_markdown_tell_the_same() {
        check(
            "---\nid: 7\ngoal: Make it fast.\nacceptance_criteria:\n  - It is fast\n  - 'Tests: pass'\nnon_goals:\n  - Colours\ntags: [a]\n---\n## Notes\nmore\n",
            "Make it fast.",
            &["It is fast", "Tests: pass"],
            &["not in scope: Colours"],
        );
        check(
            "# Speed\n\n## Goal\nMake it fast.\n\n## Acceptance criteria\n- [ ] It is fast\n* Tests pass\n\n## Scope\n- src/\n## Out of scope\n- Colours\n## Else\n- no\n",
            "Make it fast.",
            &["It is fast", "Tests pass"],
            &["src/", "not in scope: Colours"],
        );
    }

    #[test]
    fn what_is_not_said_is_taken_from_what_is() {
        check("# Speed\n\nDo it.\n", "Speed", &[], &[]);
        check("Make it fast.\n\nPlease.\n", "Make it fast.", &[], &[]);
        check(
            "---\ntitle: Speed\nscope: src\n---\n",
            "Speed",
            &[],
            &["src"],
        );
        check(
            "---\nid: 1\n---\n# Speed\n## Done when\n- x\n",
            "Speed",
            &["x"],
            &[],
        );
        check("---\r\ngoal: G\r\n---\r\nrest", "G", &[], &[]);
        check("--- no front matter\n", "--- no front matter", &[], &[]);
        check("", "", &[], &[]);
    }

    #[test]
    fn values_are_taken_as_they_come() {
        check(
            "---\ngoal: 7\nacceptance_criteria:\n  - Exit code: 0 on success\n  - fast\n  -\nscope: { in: src, out: [docs, web] }\nnon_goals: ~\n---\n",
            "7",
            &["Exit code: 0 on success", "fast"],
            &["in: src", "out: docs; web"],
        );
        check("---\ngoal: G\nacceptance_criteria:\n---\n", "G", &[], &[]);
        check("---\n# A title\n", "A title", &[], &[]);
    }

    #[test]
    fn an_error_is_reported() {
        assert!(parse("---\ngoal: [1\n---\n").is_err());
        assert!(parse("---\ngoal: G\n# Notes\n").is_err());
    }
}
