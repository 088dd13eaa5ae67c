//! Pure functions on constants, worked out: joining, replacing, decoding.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a thing of any other kind is not understood, whichever kinds come later"
)]

mod format;
mod map;

pub(super) use format::{format_braces, format_dollars, format_percent};

use crate::code::thing::{AbstractValue, MAX_ALTERNATIVES, unknown_like};
use crate::decode;
use crate::value::{MAX_VALUE, Origins, Value};
use std::rc::Rc;

/// Items that a text is split into at most.
const MAX_ITEMS: usize = 4096;

/// What a method of a known text or list makes. `None`: not known here.
pub(super) fn method(
    receiver: &AbstractValue,
    name: &str,
    arguments: &[AbstractValue],
) -> Option<AbstractValue> {
    match receiver {
        AbstractValue::Text(value) => text_method(value, name, arguments),
        AbstractValue::Number(number) => match name {
            "chr" => character(*number),
            "to_s" | "toString" => Some(AbstractValue::text(number.to_string())),
            _ => None,
        },
        AbstractValue::List(items) => list_method(items, name, arguments),
        AbstractValue::Map(members) => map::method(receiver, members, name, arguments),
        _ => None,
    }
}

fn text_method(
    value: &Rc<Value>,
    name: &str,
    arguments: &[AbstractValue],
) -> Option<AbstractValue> {
    let first = arguments.first();
    let known = |index: usize| arguments.get(index).and_then(AbstractValue::known);
    let text = value.text.as_str();
    let make = |text: String| Some(AbstractValue::value(value.map(text)));
    match name {
        "join" => join(value, first?.items()?),
        "decode" | "encode" if matches!(known(0), Some("hex" | "base64" | "rot13" | "rot_13")) => {
            Some(decoded(value, known(0)?))
        }
        "decode" | "encode" | "toString" | "to_s" | "to_str" | "valueOf" | "strip" | "as_bytes"
        | "to_string" | "to_owned" | "into" | "getBytes" | "freeze" | "String" | "unwrap"
        | "clone" | "expanduser" | "dup" | "force_encoding" | "as_str" => {
            Some(AbstractValue::Text(value.clone()))
        }
        "trim" | "chomp" | "rstrip" | "lstrip" | "chop" => make(text.trim().to_owned()),
        "lower" | "toLowerCase" | "downcase" | "to_lowercase" => make(text.to_lowercase()),
        "upper" | "toUpperCase" | "upcase" | "to_uppercase" => make(text.to_uppercase()),
        "reverse" => make(text.chars().rev().collect()),
        "replace" | "replaceAll" | "gsub" | "sub" | "tr" => {
            let (from, to) = (known(0)?, known(1)?);
            if from.is_empty() || text.len().saturating_mul(to.len().max(1)) > MAX_VALUE {
                return None;
            }
            make(text.replace(from, to))
        }
        "split" | "chars" => {
            let piece = |piece: &str| AbstractValue::value(value.map(piece));
            let pieces = match known(0) {
                Some("") => each_char(value),
                Some(separator) => text.split(separator).take(MAX_ITEMS).map(piece).collect(),
                None if name == "chars" => each_char(value),
                None => text.split_whitespace().take(MAX_ITEMS).map(piece).collect(),
            };
            Some(AbstractValue::list(pieces))
        }
        "concat" => {
            let mut all = (**value).clone();
            for argument in arguments {
                all.push(&plain(argument));
            }
            Some(AbstractValue::value(all))
        }
        "repeat" => Some(repeat(value, first?.number()?)),
        "format" => Some(AbstractValue::value(format_braces(value, arguments, &[]))),
        "unpack" | "unpack1" => Some(decoded(value, known(0)?)),
        "charCodeAt" | "ord" => Some(AbstractValue::Number(i64::from(u32::from(
            text.chars()
                .nth(usize::try_from(first.and_then(AbstractValue::number).unwrap_or(0)).ok()?)?,
        )))),
        "charAt" => make(nth(text, first?.number()?)?.to_string()),
        "slice" | "substring" | "substr" => {
            let from = first?.number()?;
            let second = arguments.get(1).and_then(AbstractValue::number);
            let to = if name == "substr" {
                second.map(|n| from + n)
            } else {
                second
            };
            Some(slice(value, Some(from), to, 1))
        }
        "hex" => Some(decoded(value, "hex")),
        _ => None,
    }
}

fn each_char(value: &Value) -> Vec<AbstractValue> {
    let chars = value.text.chars().take(MAX_ITEMS);
    chars
        .map(|c| AbstractValue::value(value.map(c.to_string())))
        .collect()
}

fn nth(text: &str, index: i64) -> Option<char> {
    match usize::try_from(index) {
        Ok(index) => text.chars().nth(index),
        Err(_) => text.chars().rev().nth(usize::try_from(-index - 1).ok()?),
    }
}

fn list_method(
    items: &Rc<[AbstractValue]>,
    name: &str,
    arguments: &[AbstractValue],
) -> Option<AbstractValue> {
    let first = arguments.first();
    match name {
        "join" => {
            let separator = match first {
                Some(argument) => plain(argument),
                None => Value::default(),
            };
            join(&separator, items)
        }
        "reverse" | "reversed" => Some(AbstractValue::List(items.iter().rev().cloned().collect())),
        "concat" | "push" | "append" | "extend" => {
            let mut all = items.to_vec();
            for argument in arguments {
                match argument.items() {
                    Some(more) if name != "append" => all.extend(more.iter().cloned()),
                    _ => all.push(argument.clone()),
                }
            }
            Some(AbstractValue::list(all))
        }
        "pack" => {
            let format = first?.known()?;
            if format.starts_with(['c', 'C', 'U', 'W']) {
                return characters(items);
            }
            let AbstractValue::Text(value) = items.first()? else {
                return None;
            };
            Some(decoded(value, format))
        }
        "decode" | "toString" | "to_s" => characters(items),
        "flatten" | "to_a" | "copy" | "slice" | "filter" | "compact" | "iter" | "values" => {
            Some(AbstractValue::List(items.clone()))
        }
        _ => None,
    }
}

/// The text of a thing, a hole where it is not known.
pub(super) fn plain(thing: &AbstractValue) -> Value {
    match thing {
        AbstractValue::Text(value) => (**value).clone(),
        AbstractValue::Number(number) => Value::known(number.to_string()),
        AbstractValue::Object(object) => {
            let mut value = object.text.clone();
            value.taint(&object.data);
            value
        }
        AbstractValue::List(items) => {
            let mut all = Value::unknown(Origins::NONE);
            items.iter().for_each(|item| all.taint(&plain(item)));
            all
        }
        AbstractValue::Map(members) => {
            let mut all = Value::unknown(Origins::NONE);
            members.iter().for_each(|(_, item)| all.taint(&plain(item)));
            all
        }
        AbstractValue::Any(all) => all.last().map(plain).unwrap_or_default(),
        AbstractValue::Nothing
        | AbstractValue::Name(_)
        | AbstractValue::Function(_)
        | AbstractValue::Bound(_) => Value::unknown(Origins::UNKNOWN),
    }
}

fn join(separator: &Value, items: &[AbstractValue]) -> Option<AbstractValue> {
    let mut all = Value::default();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            all.push(separator);
        }
        all.push(&plain(item));
        if all.text.len() >= MAX_VALUE {
            return None;
        }
    }
    Some(AbstractValue::value(all))
}

/// Two texts or lists, one after the other.
pub(super) fn concat(left: &AbstractValue, right: &AbstractValue) -> AbstractValue {
    if let (AbstractValue::Any(_), _) | (_, AbstractValue::Any(_)) = (left, right) {
        let pairs = left
            .each()
            .iter()
            .flat_map(|a| right.each().iter().map(move |b| concat(a, b)));
        return AbstractValue::Any(pairs.take(MAX_ALTERNATIVES).collect());
    }
    if let (Some(a), Some(b)) = (left.items(), right.items()) {
        return AbstractValue::List(a.iter().chain(b).cloned().collect());
    }
    if let (Some(a), AbstractValue::Name(_) | AbstractValue::Nothing | AbstractValue::Object(_)) =
        (left.items(), right)
    {
        let mut all = a.to_vec();
        all.push(AbstractValue::value(plain(right)));
        return AbstractValue::list(all);
    }
    if let (AbstractValue::Number(a), AbstractValue::Number(b)) = (left, right) {
        return AbstractValue::Number(a.wrapping_add(*b));
    }
    let mut value = plain(left);
    value.push(&plain(right));
    AbstractValue::value(value)
}

/// A text or list several times.
pub(super) fn repeat(value: &Value, times: i64) -> AbstractValue {
    let times = usize::try_from(times).unwrap_or(0);
    if value.text.len().saturating_mul(times) > 1 << 16 {
        return AbstractValue::value(unknown_like(value));
    }
    AbstractValue::value(value.map(value.text.repeat(times)))
}

/// `x[from:to:step]` of a text or list.
pub(super) fn slice_of(
    thing: &AbstractValue,
    from: Option<i64>,
    to: Option<i64>,
    step: i64,
) -> AbstractValue {
    match thing {
        AbstractValue::Text(value) => slice(value, from, to, step),
        AbstractValue::List(items) => {
            let picked = picked(items.len(), from, to, step);
            let items = picked.filter_map(|i| items.get(i).cloned()).collect();
            AbstractValue::List(items)
        }
        AbstractValue::Any(_) => thing.map(|one| slice_of(one, from, to, step)),
        AbstractValue::Object(object) => {
            let mut value = unknown_like(&object.data);
            value.taint(&object.text);
            AbstractValue::value(value)
        }
        _ => AbstractValue::Nothing,
    }
}

fn slice(value: &Value, from: Option<i64>, to: Option<i64>, step: i64) -> AbstractValue {
    if !value.is_known() {
        return AbstractValue::value(unknown_like(value));
    }
    let chars: Vec<char> = value.text.chars().collect();
    let text: String = picked(chars.len(), from, to, step)
        .filter_map(|i| chars.get(i))
        .collect();
    let mut made = value.map(text);
    if !(0..=1).contains(&step) {
        // A text that is only read in another order hides what it says.
        made.origins |= Origins::DECODED;
    }
    AbstractValue::value(made)
}

/// The positions that a slice takes.
fn picked(
    length: usize,
    from: Option<i64>,
    to: Option<i64>,
    step: i64,
) -> impl Iterator<Item = usize> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let step = if step == 0 { 1 } else { step };
    let place = |at: i64| if at < 0 { at + length } else { at };
    let (first, last) = if step > 0 {
        let first = from.map_or(0, place).clamp(0, length);
        let last = to.map_or(length, place).clamp(0, length);
        (first, last)
    } else {
        let first = from.map_or(length - 1, place).clamp(-1, length - 1);
        let last = to.map_or(-1, place).clamp(-1, length - 1);
        (first, last)
    };
    let mut at = first;
    std::iter::from_fn(move || {
        let inside = if step > 0 { at < last } else { at > last };
        let index = usize::try_from(at).ok()?;
        at += step;
        inside.then_some(index)
    })
}

/// A character by its number.
pub(super) fn character(number: i64) -> Option<AbstractValue> {
    let c = char::from_u32(u32::try_from(number).ok()?)?;
    Some(AbstractValue::value(
        Value::known(c).marked(Origins::DECODED),
    ))
}

/// A text from the numbers of its characters.
pub(super) fn characters(numbers: &[AbstractValue]) -> Option<AbstractValue> {
    let text: Option<String> = numbers
        .iter()
        .map(|n| char::from_u32(u32::try_from(n.number()?).ok()?))
        .collect();
    Some(AbstractValue::value(
        Value::known(text?).marked(Origins::DECODED),
    ))
}

/// `value` decoded from what `encoding` names. As it is where no such encoding is known.
pub(super) fn decoded(value: &Value, encoding: &str) -> AbstractValue {
    let encoding = encoding.to_ascii_lowercase();
    let Some(text) = value.as_known() else {
        return AbstractValue::value(unknown_like(value).marked(Origins::DECODED));
    };
    let made = match encoding.as_str() {
        "base64" | "base64url" | "m" | "m0" | "base_64" => {
            decode::base64(text).map(decode::text_of)
        }
        "base32" => decode::base32(text).map(decode::text_of),
        _ if encoding.starts_with('h') => decode::hex(text).map(decode::text_of),
        "deflate" | "zlib" | "gzip" => {
            decode::inflate(&decode::bytes_of(text)).map(decode::text_of)
        }
        "rot13" | "rot_13" => Some(decode::rot13(text)),
        "percent" => Some(decode::percent(text)),
        "reverse" => Some(text.chars().rev().collect()),
        "u" | "other" => None,
        _ => return AbstractValue::value(value.clone()),
    };
    let made = made.map_or_else(|| unknown_like(value), |text| value.map(text));
    let marked = if encoding == "percent" {
        made
    } else {
        made.marked(Origins::DECODED)
    };
    AbstractValue::value(marked)
}
