//! Tcl: commands that are words, in lines, brackets and braces.

use super::{Found, MAX_LINES};
use crate::code::functions::plain_name;
use crate::code::read::{Arguments, Reader};
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;
use crate::value::{HOLE_STR, Origins, Value};
use std::collections::HashMap;

/// Bytes of one word in braces.
const MAX_BRACED: usize = 4096;
/// The variable that stands for what a command in brackets makes, and its use.
const MADE: &str = "_made";
const MADE_WORD: &str = "$_made";
/// Words of one command.
const MAX_WORDS: usize = 64;

/// Performs the commands that the table knows.
pub(super) fn perform(reader: &mut Reader<'_, '_, '_>, code: &Value) -> Fueled {
    let mut variables: HashMap<&str, Value> = HashMap::new();
    for (piece, follows) in pieces(&code.text) {
        let mut words = words(piece);
        // What a command in brackets makes stands behind the words before it.
        if let Some(made) = makes_text(follows) {
            variables.insert(MADE, made);
            words.push(MADE_WORD);
        }
        let Some((first, rest)) = words.split_first() else {
            continue;
        };
        if let ("set", [name, text]) = (*first, rest) {
            let value = value(reader, code, &variables, text);
            variables.insert(name, value);
            continue;
        }
        if let ("gets", [_, name]) = (*first, rest) {
            variables.insert(name, Value::unknown(reader.received()));
            continue;
        }
        // `file delete` is one word of the table.
        let two = rest.first().map(|second| format!("[{first}-{second}"));
        let (name, rest) = match two.filter(|name| reader.knows(name)) {
            Some(name) => (name, rest.get(1..).unwrap_or(&[])),
            None => (format!("[{first}"), rest),
        };
        let name = plain_name(&name);
        if !reader.knows(&name) {
            continue;
        }
        let options = |word: &&&str| !word.starts_with('-') || name == "[exec" || name == "[spawn";
        let arguments = rest.iter().filter(options);
        let arguments = arguments.map(|w| AbstractValue::value(value(reader, code, &variables, w)));
        let found: Found = if name == "[exec" && rest.contains(&"|") {
            // A pipe as a shell has it.
            let command = value(reader, code, &variables, &rest.join(" "));
            let words = [Value::known("sh"), Value::known("-c"), command];
            (name.clone(), words.map(AbstractValue::value).into())
        } else {
            (name.clone(), arguments.collect())
        };
        reader.calls(&found.0, Arguments::of(found.1))?;
    }
    Ok(())
}

/// Where commands may start: behind line ends, semicolons and brackets outside of quotes.
fn pieces(code: &str) -> Vec<(&str, &str)> {
    let mut pieces = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in code.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '\n' | ';' | '[' | ']' | '{' | '}' if !quoted => {
                let piece = code.get(start..at).unwrap_or("");
                // `exec sh -c {…}`: the words in braces are the last of the command.
                let end = match piece.trim_start().split(' ').next() {
                    Some("exec" | "spawn" | "open") if c == '{' => braced(code, at),
                    _ => at,
                };
                let follows = if c == '[' { code.get(at + 1..) } else { None };
                pieces.push((code.get(start..end).unwrap_or(""), follows.unwrap_or("")));
                start = at + 1;
            }
            _ => {}
        }
        if pieces.len() >= MAX_LINES {
            break;
        }
    }
    pieces.push((code.get(start..).unwrap_or(""), ""));
    pieces
}

/// What the command makes that stands in brackets here, if it makes a text of texts.
fn makes_text(inner: &str) -> Option<Value> {
    let makes = [
        "string ",
        "format ",
        "join ",
        "subst ",
        "regsub ",
        "binary ",
        "lreverse ",
    ];
    let origins = Origins::COMPUTED;
    let makes = makes
        .iter()
        .any(|word| inner.trim_start().starts_with(word));
    makes.then(|| Value::unknown(origins))
}

/// Where the braces close that open at `at`.
fn braced(code: &str, at: usize) -> usize {
    let mut depth = 0u32;
    let bytes = code.bytes().enumerate().skip(at).take(MAX_BRACED);
    for (place, byte) in bytes {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return place + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    at
}

fn words(piece: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = piece.trim_start();
    while !rest.is_empty() && words.len() < MAX_WORDS {
        let (word, after) = match rest.strip_prefix('"') {
            Some(inner) => inner.split_once('"').unwrap_or((inner, "")),
            None if rest.starts_with('{') && rest.ends_with('}') => {
                (rest.get(1..rest.len() - 1).unwrap_or(""), "")
            }
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// A word with its variables filled in.
fn value(
    reader: &Reader<'_, '_, '_>,
    code: &Value,
    variables: &HashMap<&str, Value>,
    word: &str,
) -> Value {
    let mut value = code.map(String::new());
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        value.push_text(before);
        let after = after.trim_start_matches("::");
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (name, mut next) = after.split_at(end.unwrap_or(after.len()));
        if let Some((key, more)) = next.strip_prefix('(').and_then(|n| n.split_once(')')) {
            next = more;
            if name == "env" {
                value.push(&reader.variable_text(key));
            } else {
                value.push_text(HOLE_STR);
            }
        } else {
            match variables.get(name) {
                Some(known) => value.push(known),
                None => value.push_text(HOLE_STR),
            }
        }
        rest = next;
    }
    value.push_text(rest);
    value
}
