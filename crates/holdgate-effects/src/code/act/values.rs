//! What functions make of their arguments: values, paths, members, variables, and other calls.

use super::Call;
use crate::code::fold;
use crate::code::functions::Role;
use crate::code::read::{Arguments, Reader, constant};
use crate::code::thing::{Object, Thing, unknown, unknown_like};
use crate::effect::Actor;
use crate::language::Language;
use crate::scene::Done;
use crate::value::{Origins, Value};
use std::rc::Rc;

impl Reader<'_, '_, '_> {
    pub(super) fn sets_named_variable(&mut self, call: &Call<'_>) -> Done<Thing> {
        let name = self.value(call, 0)?;
        let value = self.value(call, 1)?;
        self.sets_variable(&name.text, &value)?;
        Ok(Thing::Nothing)
    }

    pub(super) fn reads_variable(&mut self, call: &Call<'_>) -> Done<Thing> {
        let name = self.value(call, 0)?;
        if name.text.is_empty() {
            return Ok(Thing::value(crate::code::whole_environment()));
        }
        Ok(self.variable_named(&name.text))
    }

    pub(super) fn prints(&mut self, call: &Call<'_>) -> Done<Thing> {
        for thing in call.all(0) {
            for one in thing.each() {
                let value = self.value_of(one)?;
                self.output.push(&value);
            }
        }
        self.output.push_text("\n");
        Ok(Thing::Nothing)
    }

    pub(super) fn takes_member(&mut self, call: &Call<'_>) -> Done<Thing> {
        let object = call.one(0).unwrap_or_default();
        let member = self.value(call, 1)?;
        match (object, member.as_known()) {
            (Thing::Name(object), Some(member)) => Ok(Thing::Name(format!("{object}.{member}"))),
            (_, Some(member)) => Ok(Thing::Name(format!("?.{member}"))),
            _ => Ok(Thing::Nothing),
        }
    }

    pub(super) fn joins_path(&mut self, call: &Call<'_>) -> Done<Thing> {
        let mut parts = call.all(0);
        parts.extend(call.all(1));
        let path = self.path_joined(&parts, call.act.role == Role::Resolve)?;
        Ok(match call.receiver {
            Thing::Object(object) if object.kind == "Path" => Thing::object("Path", path),
            _ => Thing::value(path),
        })
    }

    pub(super) fn module(&mut self, name: &Value) -> Thing {
        match name.as_known() {
            Some(name) => Thing::Name(crate::code::read::module(self.language, name)),
            None => Thing::Nothing,
        }
    }

    /// A function is called with the other arguments, or with the items of one of them.
    pub(super) fn hands_over(&mut self, call: &Call<'_>, with_items: bool) -> Done<Thing> {
        let Some(function) = call.one(0) else {
            return Ok(Thing::Nothing);
        };
        let rest: Vec<Thing> = if with_items {
            match call.one(1) {
                Some(Thing::List(items)) => items.to_vec(),
                Some(other) => vec![other],
                None => Vec::new(),
            }
        } else if let Some(Thing::List(items)) = call.named("args") {
            items.to_vec()
        } else {
            let named = call.arguments.named.iter().any(|(n, _)| n == "target");
            let skip = usize::from(!named);
            let rest: Vec<Thing> = call
                .arguments
                .positional
                .iter()
                .skip(skip)
                .cloned()
                .collect();
            match rest.as_slice() {
                [Thing::List(items)] => vec![Thing::Any(items.iter().take(256).cloned().collect())],
                _ => rest,
            }
        };
        let maps = matches!(&*call.actor.program, "map" | "array_map");
        if let (true, [Thing::Any(items)]) = (maps, rest.as_slice()) {
            let mut made = Vec::with_capacity(items.len());
            for item in items.iter() {
                let arguments = Arguments::of(vec![item.clone()]);
                let function = match &function {
                    Thing::Text(name) if name.is_known() => Thing::Name(name.text.clone()),
                    other => other.clone(),
                };
                made.push(self.call(function, arguments, call.start)?);
            }
            return Ok(Thing::list(made));
        }
        let arguments = Arguments::of(rest);
        match &function {
            Thing::Text(code) if self.language == Language::JavaScript => {
                let code = (**code).clone();
                self.runs_code(call, &code)?;
                Ok(Thing::Nothing)
            }
            Thing::Text(name) if name.is_known() => {
                let name = name.text.clone();
                self.call_name(&name, None, arguments, call.start)
            }
            Thing::Name(_) | Thing::Function(_) => self.call(function, arguments, call.start),
            _ => Ok(Thing::Nothing),
        }
    }

    pub(super) fn decodes(&mut self, call: &Call<'_>) -> Done<Thing> {
        let act = call.act;
        let things = call.all(0);
        let Some(first) = things.first() else {
            return Ok(Thing::Nothing);
        };
        if act.word == "character" {
            let numbers: Vec<Thing> = match first {
                Thing::List(items) => items.to_vec(),
                _ => things.clone(),
            };
            if let Some(text) = fold::characters(&numbers) {
                return Ok(text);
            }
            let value = self.value_of(first)?;
            return Ok(Thing::value(unknown_like(&value).marked(Origins::DECODED)));
        }
        if let Thing::List(items) = first
            && let Some(made) = fold::characters(items)
        {
            return Ok(made);
        }
        let second = self.value(call, 1)?;
        let (value, encoding) = match act.word.as_str() {
            "pack" => {
                let value = match first {
                    Thing::List(items) => match items.first() {
                        Some(item) => self.value_of(item)?,
                        None => Value::default(),
                    },
                    other => self.value_of(other)?,
                };
                (value, second.text.as_str())
            }
            "codec" => (self.value_of(first)?, second.text.as_str()),
            word => (self.value_of(first)?, word),
        };
        self.scene.fuel.spend_on(value.text.len() * 2)?;
        let made = fold::decoded(&value, encoding);
        if let Thing::Text(value) = &made {
            self.scene.fuel.spend_on(value.text.len())?;
        }
        Ok(made)
    }

    pub(super) fn makes(&mut self, call: &Call<'_>) -> Done<Thing> {
        let kind = call.act.word.clone();
        if kind == "Path" {
            let mut parts = call.all(0);
            parts.extend(call.all(1));
            let path = self.path_joined(&parts, true)?;
            return Ok(Thing::object("Path", path));
        }
        let first = call.one(0).unwrap_or_default();
        let text = match &first {
            // An address is a pair of host and port.
            Thing::List(items) => match items.first() {
                Some(host) => self.value_of(host)?,
                None => unknown(),
            },
            Thing::Nothing => Value::default(),
            other => self.value_of(other)?,
        };
        let data = match call.one(1) {
            Some(thing) => self.value_of(&thing)?,
            None => Value::default(),
        };
        Ok(Thing::Object(Rc::new(Object { kind, text, data })))
    }

    /// What a variable of the environment holds.
    pub(in crate::code) fn variable_named(&self, name: &str) -> Thing {
        if let Some(values) = self.scene.variable(name) {
            let all: Vec<Thing> = values.iter().cloned().map(Thing::value).collect();
            return match <[Thing; 1]>::try_from(all) {
                Ok([one]) => one,
                Err(all) => Thing::Any(all.into()),
            };
        }
        match name {
            "HOME" | "USERPROFILE" => return Thing::text(self.scene.world.home.clone()),
            "PWD" => return Thing::text(self.scene.cwd.clone()),
            "TMPDIR" | "TEMP" | "TMP" => return Thing::text("/tmp"),
            _ => {}
        }
        let upper = name.to_ascii_uppercase();
        let secret = [
            "TOKEN",
            "SECRET",
            "PASSWORD",
            "PASSWD",
            "API_KEY",
            "APIKEY",
            "_KEY",
            "CREDENTIAL",
        ]
        .iter()
        .any(|word| upper.contains(word));
        Thing::value(Value::unknown(if secret {
            Origins::ENVIRONMENT
        } else {
            Origins::UNKNOWN
        }))
    }

    pub(in crate::code) fn sets_variable(&mut self, name: &str, value: &Value) -> Done {
        let line = format!("{name}={}", value.text);
        let actor = Actor::new(self.language.word(), &crate::json::shorten(&line, 200));
        self.scene.set_environment(&actor, name, value)
    }

    /// What the code is fed with, if that is known.
    pub(in crate::code) fn standard_input(&self) -> Value {
        match self.scene.variable(crate::code::STANDARD_INPUT) {
            Some([value, ..]) => value.clone(),
            _ => Value::unknown(Origins::OUTPUT),
        }
    }
}

/// A constant that a library names.
pub(super) fn named_constant(call: &Call<'_>) -> Thing {
    let text = constant(&call.act.word);
    match call.receiver {
        Thing::Name(object) if object.ends_with("Path") => Thing::object("Path", text),
        _ => Thing::value(text),
    }
}
