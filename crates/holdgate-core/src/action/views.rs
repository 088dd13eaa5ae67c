//! The other readings of a call: what some client makes of its arguments after they were judged,
//! and what they look like to a person. Each is judged beside the one that is written; the strictest
//! verdict counts, and what is sent is never changed.
//!
//! Claude Code (seen in 2.1.197) decodes a literal `\uXXXX` in every text once more, turns text into
//! numbers, booleans, lists and objects where the tool's schema wants them, and in shell commands
//! makes `\;` of `\\;` and takes out the first `cd <working directory> && `.

use crate::action::path::World;
use crate::action::text;
use crate::action::tools::{Does, ToolTable};
use crate::hold::ToolCall;
use crate::json::{Json, LoneSurrogates};
use std::borrow::Cow;

/// Decoding what decoding brought to light ends here.
const MAX_ROUNDS: usize = 4;
/// Nesting of JSON in texts.
const MAX_DEPTH: usize = 16;

/// A reading of the arguments, and the tag that its effects get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) input: Json<'static>,
    pub(crate) tag: &'static str,
}

/// What a client makes of it.
pub(crate) const CLIENT: &str = "client-view";
/// What it looks like.
pub(crate) const UNICODE: &str = "unicode-view";

/// All readings of `call` other than the one written: at most six, all different from it and from
/// each other.
pub(crate) fn others(call: &ToolCall, world: &World, tools: &ToolTable) -> Vec<View> {
    let written = &call.input;
    let ascii = call.text.is_ascii();
    // The compact form has each backslash doubled.
    let escaped = call.text.contains("\\\\u");
    let runs = tools.does(&call.name) == Some(Does::Shell);
    let edited = |input: Json<'static>| {
        let input = structured(input, tools);
        if runs {
            tidied(input, world, tools)
        } else {
            input
        }
    };

    let mut views: Vec<View> = Vec::new();
    let mut add = |input: Json<'static>, tag| {
        if input != *written && !views.iter().any(|view| view.input == input) {
            views.push(View { input, tag });
        }
    };
    add(structured(written.clone(), tools), CLIENT);
    if runs {
        add(tidied(written.clone(), world, tools), CLIENT);
    }
    let mut last = edited(written.clone());
    if escaped {
        let once = map_texts(written, &|_, text| unescaped(text));
        add(edited(once.clone()), CLIENT);
        let mut fully = once;
        for _ in 1..MAX_ROUNDS {
            let next = map_texts(&fully, &|_, text| unescaped(text));
            if next == fully {
                break;
            }
            fully = next;
        }
        last = edited(fully);
    }
    add(last.clone(), CLIENT);
    if !ascii || escaped {
        let look = |key: &str, text: &str| {
            if tools.is_content(key) {
                None
            } else {
                changed(text::as_it_looks(text))
            }
        };
        add(map_texts(written, &look), UNICODE);
        add(map_texts(&last, &look), UNICODE);
    }
    views
}

/// The arguments as written, but for what would pass for unknown.
pub(crate) fn written(input: &Json<'static>) -> Json<'static> {
    map_texts(input, &|_, text| changed(text::without_holes(text)))
}

fn changed(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// A copy with every text as `change` makes it, told under which name it stands.
fn map_texts(
    json: &Json<'static>,
    change: &impl Fn(&str, &str) -> Option<String>,
) -> Json<'static> {
    map_texts_of("", json, change)
}

fn map_texts_of(
    key: &str,
    json: &Json<'static>,
    change: &impl Fn(&str, &str) -> Option<String>,
) -> Json<'static> {
    match json {
        Json::String(text) => match change(key, text) {
            Some(changed) => Json::String(Cow::Owned(changed)),
            None => json.clone(),
        },
        Json::Array(items) => {
            let items = items.iter().map(|item| map_texts_of(key, item, change));
            Json::Array(items.collect())
        }
        Json::Object(members) => {
            let member = |(key, value): &(Cow<'static, str>, Json<'static>)| {
                (key.clone(), map_texts_of(key, value, change))
            };
            Json::Object(members.iter().map(member).collect())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => json.clone(),
    }
}

/// Each literal `\uXXXX` as the character, pairs of surrogates as one. A half alone stays.
pub(crate) fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split("\\u");
    let mut out = String::with_capacity(text.len());
    out.push_str(parts.next()?);
    // A first half that waits for its second, as written.
    let mut half: Option<(u32, &str)> = None;
    let mut any = false;
    for part in parts {
        let digits = part
            .split_at_checked(4)
            .filter(|(digits, _)| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|(d, rest)| Some((d, u32::from_str_radix(d, 16).ok()?, rest)));
        let Some((digits, unit, rest)) = unit else {
            flush(&mut out, half.take());
            out.push_str("\\u");
            out.push_str(part);
            continue;
        };
        if let Some((high, high_digits)) = half.take() {
            if (0xDC00..0xE000).contains(&unit) {
                let code = 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
                out.extend(char::from_u32(code));
                out.push_str(rest);
                any = true;
                continue;
            }
            flush(&mut out, Some((high, high_digits)));
        }
        match char::from_u32(unit) {
            Some(c) => {
                out.push(c);
                any = true;
            }
            None if unit < 0xDC00 && rest.is_empty() => {
                half = Some((unit, digits));
                continue;
            }
            None => {
                out.push_str("\\u");
                out.push_str(digits);
            }
        }
        out.push_str(rest);
    }
    flush(&mut out, half);
    any.then_some(out)
}

fn flush(out: &mut String, half: Option<(u32, &str)>) {
    if let Some((_, digits)) = half {
        out.push_str("\\u");
        out.push_str(digits);
    }
}

/// Texts that hold a list, an object or a boolean as that, where a tool wants one.
fn structured(input: Json<'static>, tools: &ToolTable) -> Json<'static> {
    let Json::Object(members) = input else {
        return input;
    };
    let read = |(key, value): (Cow<'static, str>, Json<'static>)| {
        let text = value.as_str().filter(|_| tools.takes_structure(&key));
        let parsed = text.and_then(structure_in);
        (key, parsed.unwrap_or(value))
    };
    Json::Object(members.into_iter().map(read).collect())
}

fn structure_in(text: &str) -> Option<Json<'static>> {
    let text = text.trim();
    let may_be = text.starts_with(['[', '{']) || matches!(text, "true" | "false");
    if !may_be {
        return None;
    }
    let json = Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse).ok()?;
    Some(json.into_owned())
}

/// A shell's command lines as the client tidies them.
fn tidied(input: Json<'static>, world: &World, tools: &ToolTable) -> Json<'static> {
    let Json::Object(members) = input else {
        return input;
    };
    let tidy = |(key, value): (Cow<'static, str>, Json<'static>)| {
        let command = value.as_str().filter(|_| tools.is_command(&key));
        let tidied = command.map(|c| without_cd(c.replace("\\\\;", "\\;"), world).into());
        (key, tidied.unwrap_or(value))
    };
    Json::Object(members.into_iter().map(tidy).collect())
}

/// Without the first `cd <working directory> && `.
///
/// The client's working directory may be another than ours. To go to where one is already changes
/// nothing, so that a guess matters only if it joins what stands around it to a new word.
fn without_cd(command: String, world: &World) -> String {
    let folders = [Some(&world.cwd), world.project.as_ref()];
    for folder in folders.into_iter().flatten() {
        let cd = format!("cd {folder} && ");
        if command.contains(&cd) {
            return command.replacen(&cd, "", 1);
        }
    }
    let mut from = 0;
    while let Some(at) = command.get(from..).and_then(|rest| rest.find("cd /")) {
        let start = from + at;
        from = start + "cd /".len();
        let glued = command
            .get(..start)
            .and_then(|before| before.chars().next_back())
            .is_some_and(|c| {
                !c.is_whitespace() && !matches!(c, ';' | '&' | '|' | '(' | '"' | '\'')
            });
        let end = command.get(from..).and_then(|rest| rest.find(" && "));
        if let (true, Some(length)) = (glued, end) {
            let (before, rest) = command.split_at_checked(start).unwrap_or_default();
            let skipped = "cd /".len() + length + " && ".len();
            let after = rest
                .split_at_checked(skipped)
                .map_or("", |(_, after)| after);
            return format!("{before}{after}");
        }
    }
    command
}

#[cfg(test)]
mod tests;
