//! Files of lines that other programs read: settings, scripts of editors and debuggers, tables of
//! processes. A line may hold a command, behind words of its own: `web: curl …`, `silent !curl …`.

use crate::effect::Actor;
use crate::language::programs;
use crate::scene::{Fueled, Scene};
use crate::value::Value;

/// Words of a line that may stand before its command.
const MAX_WORDS: usize = 8;
/// Quotes and brackets that may close around a command.
const MAX_ENDS: usize = 16;
/// Marks with which lines begin that say nothing to the program.
const COMMENTS: [&str; 7] = ["#", ";", "//", "\"", "--", "dnl ", "%"];

/// Tries the commands of each line.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 2)?;
    let actor = Actor::new("file", "");
    for line in super::make::joined_lines(&code.text) {
        let trimmed = line.trim();
        if trimmed.is_empty() || COMMENTS.iter().any(|mark| trimmed.starts_with(mark)) {
            continue;
        }
        if let Some(command) = command_in(trimmed) {
            let key = trimmed.get(..trimmed.len() - command.len()).unwrap_or("");
            // `description = curl …` names what is shown; `autocmd BufWrite * !curl …` does not.
            let named = key.split_whitespace().count() <= 2 && key.contains(['=', ':']);
            let shown = named && scene.know.files.is_shown(key);
            if !shown && !scene.know.files.warns(key) {
                scene.tries(&actor, &code.map(unquoted(command)))?;
            }
        }
    }
    super::source::run(scene, code)
}

/// From the first word that names a telling program to the end of the line.
fn command_in(line: &str) -> Option<&str> {
    let mut rest = line;
    for _ in 0..MAX_WORDS {
        rest =
            rest.trim_start_matches([' ', '\t', '!', '(', ':', ',', '"', '\'', '`', '=', '[', '{']);
        let (word, after) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        if after.is_empty() {
            return None;
        }
        // `key=curl …`
        let value = word
            .rsplit(['=', ':', '(', '"', '\'', '`', '!'])
            .next()
            .unwrap_or(word);
        if !value.is_empty() && programs::is_telling(value) {
            let skipped = word.len() - value.len();
            return rest.get(skipped..);
        }
        rest = after;
    }
    None
}

/// Without a quote or bracket at the end that has no partner.
fn unquoted(command: &str) -> &str {
    let mut text = command.trim_end();
    // What ends a value of a setting ends no command.
    for _ in 0..MAX_ENDS {
        let Some(last) = text.chars().next_back() else {
            break;
        };
        let rest = text.strip_suffix(last).unwrap_or(text);
        let alone = match last {
            '"' | '\'' | '`' => text.matches(last).count() % 2 == 1,
            ')' => rest.matches(')').count() >= rest.matches('(').count(),
            ']' => rest.matches(']').count() >= rest.matches('[').count(),
            '}' => rest.matches('}').count() >= rest.matches('{').count(),
            '.' | ',' => rest.ends_with(['"', '\'', ')', ']', '}']),
            _ => false,
        };
        if !alone {
            break;
        }
        text = rest;
    }
    text
}
