//! The other readings of a call: what some client makes of its arguments after they were judged,
//! and what they look like to a person. Each is judged beside the one that is written; the strictest
//! verdict counts, and what is sent is never changed.
//!
//! Claude Code (seen in 2.1.197) decodes a literal `\uXXXX` in every text once more, turns text into
//! numbers, booleans, lists and objects where the tool's schema wants them, in shell commands makes
//! `\;` of `\\;` and takes out the first `cd <working directory> && `, and takes white space off the
//! ends of the lines that it writes to a file, which ends here-documents and joins lines.

use crate::json::{Json, LoneSurrogates};
use crate::knowledge::tools::{ToolKind, ToolTable};
use crate::path::World;
use crate::tag::Tag;
use crate::text;
use std::borrow::Cow;

/// Decoding what decoding brought to light ends here.
const MAX_ROUNDS: usize = 4;
/// Nesting of JSON in texts.
const MAX_DEPTH: usize = 16;

/// A call of a tool, as far as matters for what it does.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments.
    pub input: &'a Json<'static>,
    /// The same in their compact form.
    pub text: &'a str,
}

/// A reading of the arguments, and the tag that its effects get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) input: Json<'static>,
    pub(crate) tag: Tag,
}

/// All readings of `call` other than the one written: at most seven, all different from it and from
/// each other.
pub(crate) fn others(call: Invocation<'_>, world: &World, tools: &ToolTable) -> Vec<View> {
    let written = call.input;
    let runs = tools.does(call.tool) == Some(ToolKind::Shell);
    let structure = |key: &str, text: &str| {
        let wanted = match text.trim().chars().next()? {
            '[' | '{' => tools.takes_structure(key),
            't' | 'f' => matches!(text.trim(), "true" | "false") && tools.is_switch(key),
            _ => false,
        };
        wanted.then(|| structure_in(text)).flatten()
    };
    let tidy = |key: &str, text: &str| {
        let command = runs && tools.is_command(key);
        command
            .then(|| tidied(text, world))
            .flatten()
            .map(Json::from)
    };
    let trim = |key: &str, text: &str| {
        let content = !runs && tools.is_content(key);
        content.then(|| trimmed(text)).flatten().map(Json::from)
    };
    let decode_once = |_: &str, text: &str| unescaped_by_client(text).map(Json::from);
    let decode = |_: &str, text: &str| unescaped(text).map(Json::from);
    let look = |key: &str, text: &str| {
        if text.is_ascii() || tools.is_content(key) {
            return None;
        }
        match text::as_it_looks(text) {
            Cow::Owned(looks) => Some(Json::from(looks)),
            Cow::Borrowed(_) => None,
        }
    };
    let edited = |input: Json<'static>| {
        let input = mapped(&input, &structure).unwrap_or(input);
        let input = mapped(&input, &tidy).unwrap_or(input);
        mapped(&input, &trim).unwrap_or(input)
    };

    let mut views: Vec<View> = Vec::new();
    let mut add = |input: &Json<'static>, tag| {
        if input != written && !views.iter().any(|view| view.input == *input) {
            let input = input.clone();
            views.push(View { input, tag });
        }
    };
    let structured = mapped(written, &structure);
    let tidied = mapped(written, &tidy);
    let trimmed = mapped(written, &trim);
    // The compact form has each backslash doubled.
    let escapes = call.text.contains("\\\\u");
    let decoded = escapes.then(|| mapped(written, &decode)).flatten();
    let mut last = None;
    if let Some(mut fully) = decoded {
        // What Claude Code makes of it, and what others might.
        if let Some(once) = mapped(written, &decode_once) {
            add(&edited(once), Tag::ClientView);
        }
        for _ in 1..MAX_ROUNDS {
            let Some(next) = mapped(&fully, &decode) else {
                break;
            };
            fully = next;
        }
        last = Some(edited(fully));
    } else if structured.is_some() || tidied.is_some() || trimmed.is_some() {
        last = Some(edited(written.clone()));
    }
    for view in [structured, tidied, trimmed, last.clone()].iter().flatten() {
        add(view, Tag::ClientView);
    }
    if !call.text.is_ascii() || last.is_some() {
        for view in [Some(written), last.as_ref()].into_iter().flatten() {
            if let Some(looks) = mapped(view, &look) {
                add(&looks, Tag::UnicodeView);
            }
        }
    }
    views
}

/// The arguments with nothing in them that would pass for unknown.
pub(crate) fn without_holes(input: Json<'static>) -> Json<'static> {
    let change = |_: &str, text: &str| match text::without_holes(text) {
        Cow::Owned(text) => Some(Json::from(text)),
        Cow::Borrowed(_) => None,
    };
    mapped(&input, &change).unwrap_or(input)
}

/// A copy with every text as `change` makes it, told under which name it stands; `None` if it
/// changes none.
fn mapped(
    json: &Json<'static>,
    change: &impl Fn(&str, &str) -> Option<Json<'static>>,
) -> Option<Json<'static>> {
    mapped_under("", json, change)
}

fn mapped_under(
    key: &str,
    json: &Json<'static>,
    change: &impl Fn(&str, &str) -> Option<Json<'static>>,
) -> Option<Json<'static>> {
    match json {
        Json::String(text) => change(key, text),
        Json::Array(items) => {
            let change = |item: &_| mapped_under(key, item, change);
            changed_list(items, change).map(Json::Array)
        }
        Json::Object(members) => {
            let change = |(key, value): &(Cow<'static, str>, _)| {
                let changed = mapped_under(key, value, change)?;
                Some((key.clone(), changed))
            };
            changed_list(members, change).map(Json::Object)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}

/// A copy of a list in which something changes.
fn changed_list<T: Clone>(items: &[T], change: impl Fn(&T) -> Option<T>) -> Option<Vec<T>> {
    let mut copy: Option<Vec<T>> = None;
    for (at, item) in items.iter().enumerate() {
        match (change(item), &mut copy) {
            (Some(changed), Some(copy)) => copy.push(changed),
            (Some(changed), None) => {
                let before = items.iter().take(at).cloned();
                copy = Some(before.chain([changed]).collect());
            }
            (None, Some(copy)) => copy.push(item.clone()),
            (None, None) => {}
        }
    }
    copy
}

/// Each literal `\uXXXX` as the character, pairs of surrogates as one. A half alone stays.
pub(crate) fn unescaped(text: &str) -> Option<String> {
    unescaped_unless(text, |_| false)
}

/// The same, but for those whose backslash is itself escaped by one before it.
fn unescaped_by_client(text: &str) -> Option<String> {
    unescaped_unless(text, |before| {
        let backslashes = before.bytes().rev().take_while(|b| *b == b'\\').count();
        backslashes % 2 == 1
    })
}

/// The same, but for those that `stays` says of what stands before them.
fn unescaped_unless(text: &str, stays: impl Fn(&str) -> bool) -> Option<String> {
    let mut parts = text.split("\\u");
    let mut out = String::with_capacity(text.len());
    let mut before = parts.next()?;
    out.push_str(before);
    // A first half that waits for its second, as written.
    let mut half: Option<(u32, &str)> = None;
    let mut any = false;
    for part in parts {
        let digits = part
            .split_at_checked(4)
            .filter(|(digits, _)| digits.bytes().all(|b| b.is_ascii_hexdigit()) && !stays(before));
        before = part;
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

/// A text that holds a list, an object or a boolean as that.
fn structure_in(text: &str) -> Option<Json<'static>> {
    let json = Json::read(text.trim().as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse).ok()?;
    Some(json.into_owned())
}

/// A text whose lines end without white space, if that makes another script of it: a line is joined
/// to the next one, or ends a here-document.
fn trimmed(text: &str) -> Option<String> {
    // As JavaScript sees it.
    let space = |c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}';
    let ends_line = |c: char| c == '\n' || c == '\r';
    let heredocs = text.contains("<<");
    if !heredocs && !text.contains('\\') || !has_line_with_space(text) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut joins = false;
    for line in text.split_inclusive(ends_line) {
        let (line, end) = match line.char_indices().next_back() {
            Some((at, c)) if ends_line(c) => line.split_at_checked(at).unwrap_or((line, "")),
            _ => (line, ""),
        };
        let trimmed = line.trim_end_matches(space);
        joins |= trimmed.len() < line.len() && trimmed.ends_with('\\');
        out.push_str(trimmed);
        out.push_str(end);
    }
    (out.len() < text.len() && (heredocs || joins)).then_some(out)
}

/// Whether a line may end with white space: what is not ASCII may be some.
fn has_line_with_space(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = memchr::memchr2_iter(b'\n', b'\r', bytes).chain([bytes.len()]);
    let mut before = ends.filter_map(|end| bytes.get(end.checked_sub(1)?));
    before.any(|byte| {
        !byte.is_ascii() || (char::from(*byte).is_whitespace() && !matches!(byte, b'\n' | b'\r'))
    })
}

/// A command line as the client tidies it, if it does.
fn tidied(command: &str, world: &World) -> Option<String> {
    let semicolons = command
        .contains("\\\\;")
        .then(|| command.replace("\\\\;", "\\;"));
    let tidy = without_cd(semicolons.as_deref().unwrap_or(command), world);
    tidy.or(semicolons)
}

/// Without the first `cd <working directory> && `.
///
/// The client's working directory may be another than ours. To go to where one is already changes
/// nothing, so that a guess matters only if it joins what stands around it to a new word.
fn without_cd(command: &str, world: &World) -> Option<String> {
    if !command.contains("cd ") {
        return None;
    }
    let folders = [Some(&world.cwd), world.project.as_ref()];
    for folder in folders.into_iter().flatten() {
        let cd = format!("cd {folder} && ");
        if command.contains(&cd) {
            return Some(command.replacen(&cd, "", 1));
        }
    }
    let ends_word =
        |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | '"' | '\'' | '`' | '{');
    let glued = command.match_indices("cd /").find(|(at, _)| {
        let before = command
            .get(..*at)
            .and_then(|before| before.chars().next_back());
        before.is_some_and(|c| !ends_word(c))
    });
    let (before, from_cd) = command.split_at_checked(glued?.0)?;
    let (_, after) = from_cd.split_once(" && ")?;
    Some(format!("{before}{after}"))
}

#[cfg(test)]
mod tests;
