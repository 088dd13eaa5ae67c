//! Texts with places that are filled: `%s`, `{}`.

use super::plain;
use crate::code::thing::AbstractValue;
use crate::value::{HOLE, Value};

/// `"%s …" % (…)` and `sprintf`.
pub(in crate::code) fn format_percent(format: &Value, arguments: &[AbstractValue]) -> Value {
    let mut out = format.map(String::new());
    let members = arguments.first();
    let mut arguments = arguments.iter();
    let mut chars = format.text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.text.push(c);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            out.text.push('%');
            continue;
        }
        // Python's `%(name)s`
        if chars.peek() == Some(&'(') {
            let name: String = chars.by_ref().skip(1).take_while(|c| *c != ')').collect();
            chars.next_if(char::is_ascii_alphabetic);
            match members.and_then(|members| members.get(&name)) {
                Some(member) => out.push(&plain(member)),
                None => out.push_text(&HOLE.to_string()),
            }
            continue;
        }
        // Flags, width, precision.
        while chars
            .next_if(|c| !c.is_ascii_alphabetic() && *c != ' ' && *c != '\n' && *c != '/')
            .is_some()
        {}
        let Some(kind) = chars.next_if(char::is_ascii_alphabetic) else {
            out.text.push('%');
            continue;
        };
        match arguments.next() {
            Some(AbstractValue::Number(number)) => out.text.push_str(&converted(kind, *number)),
            Some(argument) => out.push(&plain(argument)),
            None => out.push_text(&HOLE.to_string()),
        }
    }
    out
}

/// A number in a place of this kind: the letter with this code, or digits.
fn converted(kind: char, number: i64) -> String {
    match kind {
        'c' => {
            let letter = u32::try_from(number).ok().and_then(char::from_u32);
            letter.unwrap_or(HOLE).to_string()
        }
        'x' => format!("{number:x}"),
        'X' => format!("{number:X}"),
        'o' => format!("{number:o}"),
        'b' => format!("{number:b}"),
        _ => number.to_string(),
    }
}

/// `"{} {0} {name}".format(…)`.
pub(in crate::code) fn format_braces(
    format: &Value,
    arguments: &[AbstractValue],
    named: &[(String, AbstractValue)],
) -> Value {
    let mut out = format.map(String::new());
    let mut next = 0;
    let mut rest = format.text.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        out.push_text(&before.replace("}}", "}"));
        if let Some(literal) = after.strip_prefix('{') {
            out.push_text("{");
            rest = literal;
            continue;
        }
        let Some((field, after)) = after.split_once('}') else {
            out.push_text("{");
            rest = after;
            break;
        };
        let name = field.split([':', '!', '.', '[']).next().unwrap_or("");
        let index = match name.parse::<usize>() {
            Ok(index) => Some(index),
            Err(_) if name.is_empty() => {
                next += 1;
                Some(next - 1)
            }
            Err(_) => None,
        };
        let by_name = || {
            named
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, value)| value)
        };
        match index.and_then(|i| arguments.get(i)).or_else(by_name) {
            Some(argument) => out.push(&plain(argument)),
            None => out.push_text(&HOLE.to_string()),
        }
        rest = after;
    }
    out.push_text(&rest.replace("}}", "}"));
    out
}

/// `Template('$a/${b}').substitute(a=…, b=…)`.
pub(in crate::code) fn format_dollars(format: &Value, named: &[(String, AbstractValue)]) -> Value {
    let mut out = format.map(String::new());
    let mut rest = format.text.as_str();
    while let Some((before, after)) = rest.split_once('$') {
        out.push_text(before);
        let braced = after.strip_prefix('{');
        let inner = braced.unwrap_or(after);
        let part = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let end = inner.find(part).unwrap_or(inner.len());
        let (name, behind) = inner.split_at_checked(end).unwrap_or((inner, ""));
        match named.iter().find(|(known, _)| known == name) {
            Some((_, value)) => out.push(&plain(value)),
            None => out.push_text(&HOLE.to_string()),
        }
        rest = match braced {
            Some(_) => behind.strip_prefix('}').unwrap_or(behind),
            None => behind,
        };
    }
    out.push_text(rest);
    out
}
