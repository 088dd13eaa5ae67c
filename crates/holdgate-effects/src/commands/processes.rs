//! Processes: which of them a list names, and how a number stays tied to the names it was picked by.

use super::handler::Handler;
use super::{Call, evidence};
use crate::effect::{Actor, Effect, Kind};
use crate::pattern::Pattern;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Numbers that come from a list of processes keep the names by which they were picked.
pub(super) fn about(handler: Handler, call: &Call<'_>, mut output: Value) -> Value {
    let shown = evidence(call.words.get(1..).unwrap_or(&[]));
    let from_list = |stdin: &Value| stdin.sources.iter().any(|s| s.starts_with("processes"));
    if handler == Handler::Processes {
        output.add_source(&format!("processes: {shown}"));
    } else if handler == Handler::ProcessesByName {
        output.add_source(&format!("processes {shown}"));
    } else if handler == Handler::Ports {
        output.add_source(&format!("ports {shown}"));
    } else if call.stdin.is_some_and(from_list) {
        output.add_source(&shown);
    }
    output
}

/// `kill -9 -1`: the first of them is a signal, the second a process group.
pub(super) fn without_signal(words: &[Value]) -> Option<Vec<Value>> {
    let is_number = |w: &Value| {
        w.text
            .strip_prefix('-')
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    if !words.iter().any(is_number) {
        return None;
    }
    let signal = words
        .get(1)
        .is_some_and(|w| w.text.starts_with('-') && w.text != "--");
    let mut kept: Vec<Value> = words.iter().take(1).cloned().collect();
    kept.push(Value::known("--"));
    kept.extend(
        words
            .iter()
            .skip(if signal { 2 } else { 1 })
            .filter(|w| w.text != "--")
            .cloned(),
    );
    Some(kept)
}

/// A process by number or by name. Where the number came from tells which process it is.
pub(super) fn kill(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let mut text = value.text.clone();
    let mut effect = actor.does(Kind::Kill).of(value);
    if !value.sources.is_empty() {
        text.push(' ');
        text.push_str(&value.sources.join(" "));
    }
    if value.sources.iter().any(|s| s.starts_with("processes")) {
        effect = effect.tagged(Tag::ByName);
        // A script that goes through all processes names the one it is after somewhere.
        effect = effect.tagged(Tag::FromList);
        if value.sources.len() == 1 && value.sources.iter().all(|s| s.starts_with("processes:")) {
            effect = effect.tagged(Tag::Unfiltered);
        }
        effect.evidence = crate::text::beginning(&scene.command, 8 << 10).into();
    }
    if picks(&text, &scene.know.own.program) || is_guard(scene, &value.text) {
        text.push(' ');
        text.push_str(&scene.know.own.program);
    }
    if effect.is(Tag::ByName) && is_started_here(scene, &value.text) {
        effect = effect.tagged(Tag::Own);
    }
    scene.emit(effect.about(&text))
}

/// Whether the process, or the group, of this number is Holdgate's.
fn is_guard(scene: &Scene<'_>, number: &str) -> bool {
    let number = number.trim_start_matches('-');
    let is_number = (1..=10).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    let facts = scene.world.facts.as_ref().filter(|_| is_number);
    let line = facts.and_then(|facts| facts.content(&format!("/proc/{number}/cmdline"), 256 << 10));
    line.is_some_and(|line| {
        let program = line.split('\0').next().unwrap_or_default();
        program.rsplit('/').next() == Some(&scene.know.own.program)
    })
}

/// Whether a pattern in `text` is about the process `name` and not about all: `[h]oldgate`, `h.ldg`.
fn picks(text: &str, name: &str) -> bool {
    const MAX_PATTERNS: usize = 32;
    const MIN_LETTERS: usize = 3;
    /// No process has such a name: a pattern that fits is about all.
    const NO_NAME: &str = "xqzxqzxqzxqz";
    let splits = |c: char| c.is_whitespace() || "/'\"|(){}!~;,=".contains(c);
    let letters = |word: &str| word.chars().filter(char::is_ascii_alphabetic).count();
    let words = text
        .split(splits)
        .filter(|word| letters(word) >= MIN_LETTERS);
    !name.is_empty()
        && words.take(MAX_PATTERNS).any(|word| {
            let word = word.trim_start_matches('^').trim_end_matches('$');
            let pattern = Pattern::read(&as_shell_pattern(word));
            pattern.is_some_and(|p| p.matches(name) && !p.matches(NO_NAME))
        })
}

/// A regular expression as a pattern of the shell that matches at least as much.
fn as_shell_pattern(expression: &str) -> String {
    let mut pattern = "*".to_owned();
    let mut inside = false;
    for char in expression.to_ascii_lowercase().chars() {
        match char {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        match char {
            '.' if !inside => pattern.push('?'),
            // What stands before may come again, or not at all.
            '*' | '+' | '?' if !inside => {
                if char != '+' && !pattern.ends_with(']') {
                    pattern.pop();
                }
                pattern.push('*');
            }
            char => pattern.push(char),
        }
    }
    pattern.push('*');
    pattern
}

/// Whether the call itself has started a program that a pattern of processes names.
fn is_started_here(scene: &Scene<'_>, pattern: &str) -> bool {
    let named = |program: &str| program.len() > 3 && pattern.contains(program);
    let runs = |effect: &Effect| effect.kind == Kind::Run && !effect.is(Tag::Suspect);
    let mut started = scene.effects.iter().filter(|effect| runs(effect));
    started.any(|effect| named(&effect.program) && !matches!(&*effect.program, "pkill" | "killall"))
}

#[cfg(test)]
mod tests {
    use super::picks;

    #[test]
    fn patterns_are_tried_on_the_name_of_the_guard() {
        for text in [
            "-f h.ldgate",
            "processes: aux /[h]oldgate/{print $2}",
            "aux oldgat[e]",
            "^hold.*te$",
            "gate",
        ] {
            assert!(picks(text, "holdgate"), "{text}");
        }
        for text in [
            "aux {print $2}",
            "[n]ode server.js",
            "-f .*",
            "-eo pid,args",
            "[a-z]*",
            "",
        ] {
            assert!(!picks(text, "holdgate"), "{text}");
        }
    }
}
