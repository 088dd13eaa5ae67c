//! What libraries offer that does nothing outside: formatting, joining, lookups by name.

use super::{Arguments, Reader, names, texts};
use crate::code::Language;
use crate::code::fold;
use crate::code::functions::{Act, plain_name};
use crate::code::thing::{AbstractValue, Object};
use crate::json::{Json, LoneSurrogates};
use crate::scene::Fueled;
use crate::value::{Origins, Value};
use std::rc::Rc;

impl<'w> Reader<'_, 'w, '_> {
    /// What the table says about a function, under all its names.
    pub(super) fn acts(&self, name: &str) -> Option<&'w [Act]> {
        let table = self.table;
        let last_dot = memchr::memrchr(b'.', name.as_bytes());
        let last = last_dot.and_then(|at| name.get(at + 1..)).unwrap_or(name);
        if !table.ends_with(last) {
            return None;
        }
        if let Some(acts) = table.named(name) {
            return Some(acts);
        }
        let Some(before) = last_dot.and_then(|at| name.get(..at)) else {
            let mut modules = self.stars.iter();
            return modules.find_map(|module| table.named(&format!("{module}.{name}")));
        };
        let mut rest = name;
        for _ in 0..4 {
            let Some(shorter) = names::without_prefix(self.language, rest) else {
                break;
            };
            if let Some(acts) = table.named(shorter) {
                return Some(acts);
            }
            rest = shorter;
        }
        if self.language == Language::Python
            && let Some(inner) = names::behind_dunders(name)
        {
            let of_os = || table.named(&format!("os.{inner}"));
            let module = name.split('.').next().unwrap_or("");
            let of_module = || table.named(&format!("{module}.{inner}"));
            return table.named(inner).or_else(of_module).or_else(of_os);
        }
        if self.language == Language::JavaScript {
            for middle in [".promises.", ".default.", ".strict."] {
                if let Some((module, function)) = name.split_once(middle) {
                    return table.named(&format!("{module}.{function}"));
                }
            }
        }
        let last_two = before.rfind('.').and_then(|at| name.get(at + 1..));
        table
            .method(last)
            .or_else(|| last_two.and_then(|name| table.method(name)))
    }

    /// What the table says about all functions of a library. Code that is only written is a program
    /// of its own: it may well use such a library.
    pub(super) fn family(&self, name: &str) -> Option<&'w [Act]> {
        let table = self.table;
        if self.scene.written {
            return None;
        }
        table.family(name)
    }

    /// A function that was found otherwise than by its brackets is called.
    pub(in crate::code) fn calls(
        &mut self,
        name: &str,
        arguments: Arguments,
    ) -> Fueled<AbstractValue> {
        let name = plain_name(name);
        self.call_name(&name, None, arguments, self.at)
    }

    /// Words of the table that may stand anywhere on a line.
    pub(in crate::code) fn phrases(&self) -> &'w [String] {
        self.table.phrases()
    }

    /// Where what comes in has its origin: from a connection, if there is one.
    pub(in crate::code) fn received(&self) -> Origins {
        if self.network.connected {
            Origins::FETCHED
        } else {
            Origins::OUTPUT
        }
    }

    /// A variable of the environment, as a text.
    pub(in crate::code) fn variable_text(&self, name: &str) -> Value {
        fold::plain(&self.variable_named(name))
    }

    /// Functions that only make something of their arguments.
    pub(super) fn built_in(
        &mut self,
        name: &str,
        arguments: &Arguments,
    ) -> Fueled<Option<AbstractValue>> {
        let last = name.rsplit('.').next().unwrap_or(name);
        let positional = &arguments.positional;
        if let Some(made) = map_of(name, arguments) {
            return Ok(Some(made));
        }
        let Some(first) = positional.first() else {
            return Ok(None);
        };
        let made = match last {
            // One word for a shell.
            "escapeshellarg" | "shellescape" => {
                Some(AbstractValue::value(shell_word(&fold::plain(first))))
            }
            "quote" if name.starts_with("shlex.") || name.starts_with("pipes.") => {
                Some(AbstractValue::value(shell_word(&fold::plain(first))))
            }
            "str" | "String" | "strval" | "quote" | "repr" | "bytes" | "bytearray" | "list"
            | "tuple" | "iter" | "array" | "Vec" | "vec" | "sorted" | "set" | "frozenset" => {
                match first {
                    AbstractValue::List(items) if matches!(last, "bytes" | "bytearray") => {
                        fold::characters(items)
                    }
                    AbstractValue::Text(_) if last == "list" => fold::method(first, "chars", &[]),
                    AbstractValue::Text(_) | AbstractValue::List(_) | AbstractValue::Number(_) => {
                        Some(first.clone())
                    }
                    // A path or address as a text: still the same place.
                    AbstractValue::Object(_) | AbstractValue::Any(_)
                        if matches!(last, "str" | "String" | "strval" | "quote" | "bytes") =>
                    {
                        Some(AbstractValue::value(fold::plain(first)))
                    }
                    _ => None,
                }
            }
            "sprintf" | "Sprintf" | "format" | "printf" | "vsprintf" | "println" => {
                self.formatted(first, positional.get(1..).unwrap_or(&[]))?
            }
            "reversed" | "reverse" | "strrev" | "array_reverse" => {
                fold::method(first, "reverse", &[])
            }
            "concat" if self.language == Language::Compiled => {
                let parts = AbstractValue::list(self.all_resolved(positional)?);
                fold::method(&parts, "join", &[AbstractValue::text("")])
            }
            "implode" | "join" | "Join" => {
                let resolved = self.all_resolved(positional)?;
                let resolved = self.items_resolved(&resolved)?;
                self.joined_list(&resolved)
            }
            "loads" | "parse" | "json_decode" if is_json(name) => first.known().and_then(parsed),
            "Template" if name.ends_with("string.Template") => Some(first.clone()),
            "split" if name == "shlex.split" => fold::method(first, "split", &[]),
            "explode" => match positional.get(1) {
                Some(subject) => fold::method(subject, "split", std::slice::from_ref(first)),
                None => None,
            },
            "ord" => match first {
                AbstractValue::Text(value) => {
                    let c = value.text.chars().next();
                    c.map(|c| AbstractValue::Number(i64::from(u32::from(c))))
                }
                _ => None,
            },
            "int" | "Number" | "parseInt" | "intval" => {
                let radix = positional.get(1).and_then(AbstractValue::number);
                let radix = radix
                    .and_then(|n| u32::try_from(n).ok())
                    .filter(|n| (2..=36).contains(n));
                match (radix, first.known()) {
                    (Some(radix), Some(text)) => {
                        let digits = text.trim().trim_start_matches("0x");
                        i64::from_str_radix(digits, radix)
                            .ok()
                            .map(AbstractValue::Number)
                    }
                    _ => first.number().map(AbstractValue::Number),
                }
            }
            "from" | "Array" if name.starts_with("Array") => Some(first.clone()),
            "next" | "min" | "max" | "choice" if first.items().is_some() => Some(first.item()),
            "deepcopy" | "enumerate" | "structuredClone" => Some(first.clone()),
            _ => {
                let resolved = self.all_resolved(positional)?;
                texts::made(self.language, name, &resolved)
            }
        };
        if let Some(AbstractValue::Text(value)) = &made {
            self.scene.fuel.spend_on(value.text.len())?;
        }
        Ok(made)
    }

    /// A text with its places filled: `%s` or `{}`.
    fn formatted(
        &mut self,
        format: &AbstractValue,
        arguments: &[AbstractValue],
    ) -> Fueled<Option<AbstractValue>> {
        let resolved = self.all_resolved(arguments)?;
        Ok(match format {
            AbstractValue::Text(format) if format.text.contains('%') => Some(AbstractValue::value(
                fold::format_percent(format, &resolved),
            )),
            AbstractValue::Text(format) if format.text.contains('{') => Some(AbstractValue::value(
                fold::format_braces(format, &resolved, &[]),
            )),
            _ => None,
        })
    }

    /// A list and its separator, in either order. In Perl the list stands as it is.
    fn joined_list(&self, arguments: &[AbstractValue]) -> Option<AbstractValue> {
        let by = std::slice::from_ref::<AbstractValue>;
        match arguments {
            [list @ AbstractValue::List(_), separator, ..]
            | [separator, list @ AbstractValue::List(_), ..] => {
                fold::method(list, "join", by(separator))
            }
            [separator, rest @ ..] if self.language == Language::Perl && !rest.is_empty() => {
                fold::method(&AbstractValue::list(rest.to_vec()), "join", by(separator))
            }
            _ => None,
        }
    }

    /// A builder of a command gets an argument.
    pub(super) fn built(
        &mut self,
        object: &Rc<Object>,
        member: &str,
        arguments: &Arguments,
        start: usize,
    ) -> Fueled<Option<AbstractValue>> {
        let mut data = object.data.clone();
        match member {
            "arg" | "args" => {
                for argument in &arguments.positional {
                    let words = match argument {
                        AbstractValue::List(items) => items.to_vec(),
                        other => vec![other.clone()],
                    };
                    for word in &words {
                        let word = self.value_of(word)?;
                        data.push_text("\0");
                        data.push(&word);
                    }
                }
            }
            "spawn" | "output" | "status" | "exec" => {
                let mut words: Vec<Value> = vec![object.text.clone()];
                let mut rest = data.text.split('\0');
                rest.next();
                words.extend(rest.map(|word| data.map(word)));
                let made = self.runs_words(&words, start)?;
                return Ok(Some(AbstractValue::value(made)));
            }
            _ => {}
        }
        let text = object.text.clone();
        Ok(Some(AbstractValue::holding(&object.kind, text, data)))
    }
}

/// `dict(a=1)`, `Object.assign({}, x)`, `Object.values(x)`: dictionaries made of others.
fn map_of(name: &str, arguments: &Arguments) -> Option<AbstractValue> {
    let first = arguments.positional.first();
    match name {
        "Object.values" | "Object.keys" | "Object.entries" => {
            fold::method(first?, name.rsplit('.').next()?, &[])
        }
        "dict"
        | "OrderedDict"
        | "collections.OrderedDict"
        | "types.SimpleNamespace"
        | "SimpleNamespace"
        | "argparse.Namespace"
        | "Object.assign"
        | "Object.fromEntries"
        | "Object.freeze"
        | "Map" => {
            let mut all: Vec<(String, AbstractValue)> = Vec::new();
            for thing in &arguments.positional {
                match thing {
                    AbstractValue::Map(members) => all.extend(members.iter().cloned()),
                    AbstractValue::List(pairs) => {
                        let pairs = pairs.iter().filter_map(AbstractValue::items);
                        all.extend(pairs.filter_map(|pair| match pair {
                            [key, value] => Some((key.known()?.to_owned(), value.clone())),
                            _ => None,
                        }));
                    }
                    _ => {}
                }
            }
            all.extend(arguments.named.iter().cloned());
            (!all.is_empty()).then(|| AbstractValue::Map(all.into()))
        }
        _ => None,
    }
}

/// A text as a shell reads it as one word.
fn shell_word(value: &Value) -> Value {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    if !value.text.is_empty() && value.text.chars().all(plain) {
        return value.clone();
    }
    value.map(format!("'{}'", value.text.replace('\'', r"'\''")))
}

fn is_json(name: &str) -> bool {
    matches!(
        name,
        "json.loads" | "JSON.parse" | "json_decode" | "ujson.loads" | "orjson.loads"
    )
}

/// A value that stands in the code as JSON.
fn parsed(text: &str) -> Option<AbstractValue> {
    const MAX_DEPTH: usize = 16;
    let json = Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Replace).ok()?;
    Some(of_json(&json))
}

fn of_json(json: &Json<'_>) -> AbstractValue {
    match json {
        Json::Null => AbstractValue::Nothing,
        Json::Bool(is) => AbstractValue::Number(i64::from(*is)),
        Json::Number(text) | Json::String(text) => AbstractValue::text(text.as_ref()),
        Json::Array(items) => AbstractValue::list(items.iter().map(of_json).collect()),
        Json::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| (key.to_string(), of_json(value)));
            AbstractValue::Map(members.collect())
        }
    }
}
