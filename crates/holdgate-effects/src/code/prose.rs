//! Texts that agents take commands from (their commands, skills and instructions) and notebooks in
//! text form: the code in them is tried, unless the text warns of it.

pub(super) mod orders;

use crate::effect::Actor;
use crate::scene::{Fueled, Scene};
use crate::value::Value;

/// Lines before a piece of code that may warn of it.
const LINES_BEFORE: usize = 3;

/// Lines in which its heading is looked for.
const LINES_TO_HEADING: usize = 60;

/// Tries the code in fences and between backticks.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 4)?;
    let actor = Actor::new("document", "");
    orders::run(scene, code)?;
    let lines: Vec<&str> = code.text.lines().collect();
    let mut fenced = false;
    let mut warned = false;
    for (at, line) in lines.iter().enumerate() {
        scene.fuel.spend(1)?;
        let trimmed = line.trim();
        let begins = |mark: &str| {
            let start = trimmed.as_bytes().get(..mark.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()))
        };
        if trimmed.starts_with("```")
            || trimmed.starts_with("~~~")
            || begins("#+begin_src")
            || begins("#+end_src")
        {
            fenced = !fenced;
            warned = warns(scene, &lines, at);
            continue;
        }
        if fenced {
            if !warned && !trimmed.starts_with('#') && !scene.know.files.warns(trimmed) {
                scene.tries(&actor, &code.map(trimmed))?;
            }
            continue;
        }
        if !trimmed.contains('`') || warns(scene, &lines, at) {
            continue;
        }
        let mut before = String::new();
        for (index, part) in trimmed.split('`').enumerate() {
            if index % 2 == 0 {
                before.push_str(part);
            } else if !scene.know.files.warns(&before) {
                scene.tries(&actor, &code.map(part))?;
            }
        }
    }
    Ok(Value::default())
}

/// Whether the lines before `at`, or the heading above them, warn.
fn warns(scene: &Scene<'_>, lines: &[&str], at: usize) -> bool {
    let before = lines.get(..at).unwrap_or(&[]);
    let mut above = before.iter().rev().take(LINES_TO_HEADING);
    let heading = above.find(|line| line.starts_with('#'));
    let near = before.iter().rev().filter(|line| !line.trim().is_empty());
    near.take(LINES_BEFORE)
        .chain(heading)
        .any(|line| scene.know.files.warns(line))
}
