//! Lisp: lists whose first item is the function.

use crate::code::lex::{Escapes, unescape};
use crate::code::read::{Arguments, Reader};
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;
use crate::value::Value;

/// Lists in lists.
const MAX_DEPTH: usize = 64;

/// Performs all lists, the inner ones first.
pub(super) fn perform(reader: &mut Reader<'_, '_, '_>, code: &Value) -> Fueled {
    let mut open: Vec<(String, Vec<AbstractValue>)> = Vec::new();
    let mut rest = code.text.as_str();
    while let Some(first) = rest.chars().next() {
        reader.scene.fuel.spend(1)?;
        let mut taken = first.len_utf8();
        match first {
            '(' | '[' if open.len() < MAX_DEPTH => open.push((String::new(), Vec::new())),
            ')' | ']' => {
                if let Some((name, arguments)) = open.pop() {
                    let made = made(reader, &name, arguments)?;
                    if let Some((_, outer)) = open.last_mut() {
                        outer.push(made);
                    }
                }
            }
            '"' => {
                let end = end_of_text(rest);
                let inner = rest.get(1..end).unwrap_or("");
                let value = code.map(unescape(inner, Escapes::All));
                if let Some((_, arguments)) = open.last_mut() {
                    arguments.push(AbstractValue::value(value));
                }
                taken = (end + 1).min(rest.len());
            }
            ';' => taken = rest.find('\n').unwrap_or(rest.len()),
            c if c.is_whitespace() || c == '\'' => {}
            _ => {
                let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | '"');
                taken = rest.find(ends).unwrap_or(rest.len()).max(taken);
                let atom = rest.get(..taken).unwrap_or("");
                match open.last_mut() {
                    Some((name, arguments)) if name.is_empty() && arguments.is_empty() => {
                        atom.clone_into(name);
                    }
                    Some((_, arguments)) => arguments.push(AbstractValue::Name(atom.to_owned())),
                    None => {}
                }
            }
        }
        rest = rest.get(taken..).unwrap_or("");
    }
    Ok(())
}

fn made(
    reader: &mut Reader<'_, '_, '_>,
    name: &str,
    arguments: Vec<AbstractValue>,
) -> Fueled<AbstractValue> {
    if matches!(name, "list" | "vector" | "quote" | "") {
        return Ok(AbstractValue::list(arguments));
    }
    if matches!(name, "string-append" | "concat" | "str" | "format") {
        let mut all = Value::default();
        for argument in &arguments {
            all.push(&reader.value_of(argument)?);
        }
        return Ok(AbstractValue::value(all));
    }
    reader.calls(name, Arguments::of(arguments))
}

fn end_of_text(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    text.len()
}
