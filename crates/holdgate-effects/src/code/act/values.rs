//! What functions make of their arguments: values, paths, members, variables, and other calls.

use super::Call;
use crate::code::fold;
use crate::code::functions::Role;
use crate::code::read::{Arguments, Reader, constant};
use crate::code::thing::{AbstractValue, unknown, unknown_like};
use crate::effect::Actor;
use crate::language::Language;
use crate::scene::Fueled;
use crate::value::{Origins, Value};

impl Reader<'_, '_, '_> {
    pub(super) fn sets_named_variable(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let name = self.value(call, 0)?;
        let value = self.value(call, 1)?;
        self.sets_variable(&name.text, &value)?;
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn reads_variable(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let name = self.value(call, 0)?;
        if name.text.is_empty() {
            return Ok(AbstractValue::value(crate::code::whole_environment()));
        }
        Ok(self.variable_named(&name.text))
    }

    pub(super) fn prints(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        for thing in call.all(0) {
            for one in thing.each() {
                let value = self.value_of(one)?;
                self.output.push(&value);
            }
        }
        self.output.push_text("\n");
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn takes_member(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let object = call.one(0).unwrap_or_default();
        let member = self.value(call, 1)?;
        match (object, member.as_known()) {
            (AbstractValue::Name(object), Some(member)) => {
                Ok(AbstractValue::Name(format!("{object}.{member}")))
            }
            (_, Some(member)) => Ok(AbstractValue::Name(format!("?.{member}"))),
            _ => Ok(AbstractValue::Nothing),
        }
    }

    pub(super) fn joins_path(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let mut parts = call.all(0);
        parts.extend(call.all(1));
        let path = self.path_joined(&parts, call.act.role == Role::Resolve)?;
        Ok(match call.receiver {
            AbstractValue::Object(object) if object.kind == "Path" => {
                AbstractValue::object("Path", path)
            }
            _ => AbstractValue::value(path),
        })
    }

    pub(super) fn module(&mut self, name: &Value) -> AbstractValue {
        match name.as_known() {
            Some(name) => AbstractValue::Name(crate::code::read::module(self.language, name)),
            None => AbstractValue::Nothing,
        }
    }

    /// A function is called with the other arguments, or with the items of one of them.
    pub(super) fn hands_over(
        &mut self,
        call: &Call<'_>,
        with_items: bool,
    ) -> Fueled<AbstractValue> {
        let Some(function) = call.one(0) else {
            return Ok(AbstractValue::Nothing);
        };
        let rest: Vec<AbstractValue> = if with_items {
            match call.one(1) {
                Some(AbstractValue::List(items)) => items.to_vec(),
                Some(other) => vec![other],
                None => Vec::new(),
            }
        } else if let Some(AbstractValue::List(items)) = call.named("args") {
            items.to_vec()
        } else {
            // Beside the function and its arguments stand times: `setTimeout(f, 0, x)`.
            let same = |t: &AbstractValue| same_function(t, &function);
            let is_number = |t: &AbstractValue| matches!(t, AbstractValue::Number(_));
            let positional = call.arguments.positional.iter();
            let rest = positional.filter(|t| !same(t) && !is_number(t));
            let rest: Vec<AbstractValue> = rest.cloned().collect();
            match rest.as_slice() {
                [AbstractValue::List(items)] => {
                    let items = items.iter().take(256);
                    vec![AbstractValue::Any(items.cloned().collect())]
                }
                rest => rest.to_vec(),
            }
        };
        let maps = matches!(&*call.actor.program, "map" | "array_map");
        if let (true, [AbstractValue::Any(items)]) = (maps, rest.as_slice()) {
            let mut made = Vec::with_capacity(items.len());
            for item in items.iter() {
                let arguments = Arguments::of(vec![item.clone()]);
                let function = match &function {
                    AbstractValue::Text(name) if name.is_known() => {
                        AbstractValue::Name(name.text.clone())
                    }
                    other => other.clone(),
                };
                made.push(self.call(&function, arguments, call.start)?);
            }
            return Ok(AbstractValue::list(made));
        }
        let arguments = Arguments::of(rest);
        match &function {
            AbstractValue::Text(code) if self.language == Language::JavaScript => {
                let code = (**code).clone();
                self.runs_code(call, &code)?;
                Ok(AbstractValue::Nothing)
            }
            AbstractValue::Text(name) if name.is_known() => {
                let name = name.text.clone();
                self.call_name(&name, None, arguments, call.start)
            }
            AbstractValue::Name(_) | AbstractValue::Function(_) | AbstractValue::Bound(_) => {
                self.call(&function, arguments, call.start)
            }
            _ => Ok(AbstractValue::Nothing),
        }
    }

    pub(super) fn decodes(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let act = call.act;
        let things = call.all(0);
        let Some(first) = things.first() else {
            return Ok(AbstractValue::Nothing);
        };
        if act.word == "character" {
            let numbers: Vec<AbstractValue> = match first {
                AbstractValue::List(items) => items.to_vec(),
                _ => things.clone(),
            };
            if let Some(text) = fold::characters(&numbers) {
                return Ok(text);
            }
            let value = self.value_of(first)?;
            return Ok(AbstractValue::value(
                unknown_like(&value).marked(Origins::DECODED),
            ));
        }
        if let AbstractValue::List(items) = first
            && let Some(made) = fold::characters(items)
        {
            return Ok(made);
        }
        let second = self.value(call, 1)?;
        let (value, encoding) = match act.word.as_str() {
            "pack" => {
                let value = match first {
                    AbstractValue::List(items) => match items.first() {
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
        if let AbstractValue::Text(value) = &made {
            self.scene.fuel.spend_on(value.text.len())?;
        }
        Ok(made)
    }

    pub(super) fn makes(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let kind = call.act.word.as_str();
        if kind == "Path" {
            let mut parts = call.all(0);
            parts.extend(call.all(1));
            let path = self.path_joined(&parts, true)?;
            return Ok(AbstractValue::object("Path", path));
        }
        let first = call.one(0).unwrap_or_default();
        let text = match &first {
            // An address is a pair of host and port.
            AbstractValue::List(items) => match items.first() {
                Some(host) => self.value_of(host)?,
                None => unknown(),
            },
            AbstractValue::Nothing => Value::default(),
            other => self.value_of(other)?,
        };
        let data = self.value(call, 1)?;
        Ok(AbstractValue::holding(kind, text, data))
    }

    /// A text as `expandvars` gives it: `$HOME/x` lies in the home. What only stays the same names no place
    /// that begins so.
    pub(super) fn with_variables(&self, thing: AbstractValue) -> AbstractValue {
        let Some(text) = thing.known().filter(|text| text.starts_with('$')) else {
            return thing;
        };
        let rest = text
            .strip_prefix("$HOME")
            .filter(|r| r.is_empty() || r.starts_with('/'));
        let Some(rest) = rest.or_else(|| text.strip_prefix("${HOME}")) else {
            return thing;
        };
        AbstractValue::text(format!("{}{rest}", self.scene.world.home))
    }

    /// What a variable of the environment holds.
    pub(in crate::code) fn variable_named(&self, name: &str) -> AbstractValue {
        if let Some(values) = self.scene.variable(name) {
            let all = values.iter().cloned().map(AbstractValue::value);
            return AbstractValue::any(all.collect());
        }
        match name {
            "HOME" | "USERPROFILE" | "user.home" => {
                return AbstractValue::text(self.scene.world.home.clone());
            }
            "PWD" => return AbstractValue::text(self.scene.folder()),
            "TMPDIR" | "TEMP" | "TMP" => return AbstractValue::text("/tmp"),
            _ => {}
        }
        if let Some(value) = self.scene.loaded_variable(name) {
            return AbstractValue::value(value);
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
        AbstractValue::value(Value::unknown(if secret {
            Origins::ENVIRONMENT
        } else {
            Origins::UNKNOWN
        }))
    }

    pub(in crate::code) fn sets_variable(&mut self, name: &str, value: &Value) -> Fueled {
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

fn same_function(thing: &AbstractValue, function: &AbstractValue) -> bool {
    match (thing, function) {
        (AbstractValue::Name(a), AbstractValue::Name(b)) => a == b,
        (AbstractValue::Function(a), AbstractValue::Function(b)) => a == b,
        (AbstractValue::Text(a), AbstractValue::Text(b)) => a.text == b.text,
        (AbstractValue::Bound(a), AbstractValue::Bound(b)) => std::rc::Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// A constant that a library names.
pub(super) fn named_constant(call: &Call<'_>) -> AbstractValue {
    let text = constant(&call.act.word);
    match call.receiver {
        AbstractValue::Name(object) if object.ends_with("Path") => {
            AbstractValue::object("Path", text)
        }
        _ => AbstractValue::value(text),
    }
}
