//! Languages of single programs: Tcl, Lisp, R, Julia, `AppleScript`, and what gdb, ed or sqlite take.
//!
//! There is no grammar for any of them. Three shapes cover them: a line that starts with a word
//! (`^word` in the table), a command with words as Tcl has it (`[word`), a list in brackets as Lisp
//! has it. Calls with brackets are read as in compiled languages.

mod lisp;
mod tcl;

use crate::code::functions::plain_name;
use crate::code::lex::{Escapes, unescape};
use crate::code::read::{self, Arguments, Reader};
use crate::code::thing::AbstractValue;
use crate::language::{Language, programs};
use crate::scene::{Fueled, Scene};
use crate::value::Value;

/// Lines and commands of one text that are looked at.
const MAX_LINES: usize = 4096;

/// A call: the name in the table, and its arguments.
type Found = (String, Vec<AbstractValue>);

/// Says what `code` does.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 32)?;
    let plain = code.text.trim_start();
    if plain.starts_with('(') || plain.starts_with("#lang") {
        return read::perform(scene, Language::Other, code, |reader| {
            lisp::perform(reader, code)
        });
    }
    // The quotes of m4.
    let quoted = code.text.contains("syscmd(`") || code.text.contains("include(`");
    let code = if quoted {
        &code.map(code.text.replace(['`', '\''], "\""))
    } else {
        code
    };
    let output = read::perform(scene, Language::Other, code, |reader| {
        lines(reader, code)?;
        without_brackets(reader, code)?;
        tcl::perform(reader, code)
    })?;
    let mut all = read::run(scene, Language::Other, code)?;
    all.push(&output);
    Ok(all)
}

/// Functions that have their texts behind them without brackets: `readFile "x"`, `System.cmd "x", …`.
fn without_brackets(reader: &mut Reader<'_, '_, '_>, code: &Value) -> Fueled {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '!' | '?');
    let mut from = 0;
    for _ in 0..MAX_LINES {
        let rest = code.text.get(from..).unwrap_or("");
        let Some(at) = rest.find('"') else {
            break;
        };
        let before = rest.get(..at).unwrap_or("");
        let name = before.trim_end_matches(' ');
        let start = name.rfind(|c| !is_name(c)).map_or(0, |i| i + 1);
        let name = name.get(start..).unwrap_or("").trim_end_matches(['!', '?']);
        let text = rest.get(at..).unwrap_or("");
        let inner = unquoted(text);
        if before.ends_with(' ') && !name.is_empty() && reader.knows(name) {
            let line = text.lines().next().unwrap_or("");
            let texts = line.split('"').skip(1).step_by(2).take(64);
            let texts = texts.map(|t| AbstractValue::value(code.map(t)));
            reader.calls(name, Arguments::of(texts.collect()))?;
        }
        from += at + 1 + inner.len().max(1);
        while !code.text.is_char_boundary(from) && from < code.text.len() {
            from += 1;
        }
        // Behind the closing quote.
        from += usize::from(code.text.get(from..).is_some_and(|t| t.starts_with('"')));
    }
    Ok(())
}

/// What stands on lines of its own.
fn lines(reader: &mut Reader<'_, '_, '_>, code: &Value) -> Fueled {
    for line in code.text.lines().take(MAX_LINES) {
        for (name, rest) in commands_in(reader, line) {
            if let Some(language) = programs::interpreter(name.trim_start_matches('^')) {
                // gdb's `python …`
                reader.scene.code(language, &code.map(rest))?;
                continue;
            }
            let rest = AbstractValue::value(code.map(unquoted(rest)));
            reader.calls(&name, Arguments::of(vec![rest]))?;
        }
    }
    Ok(())
}

/// The words of the table on a line, each with what follows it.
fn commands_in<'l>(reader: &Reader<'_, '_, '_>, line: &'l str) -> Vec<(String, &'l str)> {
    let mut found = Vec::new();
    let start = line.trim_start_matches([' ', '\t', ':', '%', '\u{feff}']);
    // `1,$w file`, `r !command`
    let start = start.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$'));
    if let Some((before, command)) = start.split_once('!')
        && before.trim().len() <= "silent".len()
        && before.trim().bytes().all(|b| b.is_ascii_alphabetic())
    {
        return vec![("^!".to_owned(), command)];
    }
    let (word, rest) = start.split_once([' ', '\t']).unwrap_or((start, ""));
    let name = plain_name(&format!("^{word}"));
    let rest = rest.trim();
    if reader.knows(&name) && !rest.is_empty() && !rest.starts_with(['=', '(', '<', ',', '.']) {
        found.push((name, rest));
    }
    let lower = line.to_ascii_lowercase();
    for phrase in reader.phrases() {
        let words = phrase.trim_start_matches('^').replace('_', " ");
        if lower.len() == line.len()
            && let Some(at) = lower.find(&words)
            && let Some(rest) = line.get(at + words.len()..)
        {
            // `syscmd(command)`
            let inner = rest
                .trim()
                .strip_suffix(')')
                .filter(|_| words.ends_with('('));
            found.push((phrase.clone(), inner.unwrap_or(rest.trim())));
        }
    }
    found
}

/// The text in the quotes that `text` starts with, or all of it.
fn unquoted(text: &str) -> String {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return text.trim_end_matches(';').to_owned();
    };
    let inner = text.get(1..).unwrap_or("");
    let mut escaped = false;
    let end = inner.find(|c: char| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    unescape(
        inner.get(..end.unwrap_or(inner.len())).unwrap_or(""),
        Escapes::All,
    )
}
