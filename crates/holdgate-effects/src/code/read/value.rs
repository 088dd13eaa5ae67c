//! The values that things come to.

use super::Reader;
use crate::code::fold;
use crate::code::functions::{Act, Role};
use crate::code::thing::{AbstractValue, unknown};
use crate::code::whole_environment;
use crate::scene::Fueled;
use crate::value::{HOLE, HOLE_STR, Origins, Value};

impl Reader<'_, '_, '_> {
    /// The same with names looked up.
    pub(in crate::code) fn resolved(&mut self, thing: &AbstractValue) -> Fueled<AbstractValue> {
        match thing {
            AbstractValue::Name(_) => Ok(AbstractValue::value(self.value_of(thing)?)),
            other => Ok(other.clone()),
        }
    }

    pub(super) fn all_resolved(&mut self, things: &[AbstractValue]) -> Fueled<Vec<AbstractValue>> {
        things.iter().map(|thing| self.resolved(thing)).collect()
    }

    /// The same for the items of lists among them.
    pub(super) fn items_resolved(
        &mut self,
        things: &[AbstractValue],
    ) -> Fueled<Vec<AbstractValue>> {
        let mut all = Vec::with_capacity(things.len());
        for thing in things {
            all.push(match thing {
                AbstractValue::List(items) => {
                    self.scene.fuel.spend(items.len() as u64)?;
                    AbstractValue::list(self.all_resolved(items)?)
                }
                other => other.clone(),
            });
        }
        Ok(all)
    }

    /// The text of a thing, a hole where it is not known.
    pub(in crate::code) fn value_of(&mut self, thing: &AbstractValue) -> Fueled<Value> {
        let value = match thing {
            AbstractValue::Name(name) => self.value_of_name(name),
            AbstractValue::Object(object) => {
                let stands_for_text = matches!(
                    object.kind.as_str(),
                    "Path"
                        | "Request"
                        | "Url"
                        | "Socket"
                        | "Http"
                        | "Connection"
                        | "Ftp"
                        | "Mail"
                        | "Database"
                        | "Outgoing"
                        | "Curl"
                        | "Builder"
                );
                let (text, other) = if stands_for_text || object.data == Value::default() {
                    (&object.text, &object.data)
                } else {
                    (&object.data, &object.text)
                };
                let mut value = text.clone();
                value.taint(other);
                value
            }
            AbstractValue::List(items) => self.made_of(items.iter())?,
            AbstractValue::Map(members) => self.made_of(members.iter().map(|(_, item)| item))?,
            AbstractValue::Text(_)
            | AbstractValue::Number(_)
            | AbstractValue::Any(_)
            | AbstractValue::Nothing
            | AbstractValue::Bound(_)
            | AbstractValue::Function(_) => fold::plain(thing),
        };
        self.scene.fuel.spend_on(value.text.len())?;
        Ok(value)
    }

    /// Nothing known but what it is made of.
    fn made_of<'t>(&mut self, items: impl Iterator<Item = &'t AbstractValue>) -> Fueled<Value> {
        let mut all = Value::unknown(Origins::NONE);
        for item in items.take(256) {
            self.scene.fuel.spend(1)?;
            all.taint(&self.value_of(item)?);
        }
        Ok(all)
    }

    /// The path of the file in which the code stands; without one, a file of the working folder.
    pub(in crate::code) fn own_file(&self) -> Value {
        Value::known(self.scene.script.as_deref().unwrap_or("./file"))
    }

    fn value_of_name(&mut self, name: &str) -> Value {
        if let Some(act) = self.acts(name).and_then(<[Act]>::first) {
            match act.role {
                Role::Constant => return constant(&act.word),
                Role::OwnFile => return self.own_file(),
                Role::Environment => return whole_environment(),
                Role::Input => return self.standard_input(),
                _ => {}
            }
        }
        if let Some((object, key)) = name.rsplit_once('.')
            && let Some(variable) = self.environment_variable(object, key)
        {
            return fold::plain(&variable);
        }
        unknown()
    }

    /// The words of the command line, if that is what `name` stands for.
    pub(super) fn command_line_as(&self, name: &str) -> Option<AbstractValue> {
        let acts = self.acts(name)?;
        let words = acts.iter().any(|act| act.role == Role::Arguments);
        words.then(|| self.command_line())
    }

    pub(super) fn is_environment(&self, name: &str) -> bool {
        self.acts(name)
            .is_some_and(|acts| acts.iter().any(|act| act.role == Role::Environment))
    }

    /// `environ['HOME']`, if `name` is the environment.
    pub(super) fn environment_variable(&self, name: &str, key: &str) -> Option<AbstractValue> {
        self.is_environment(name).then(|| self.variable_named(key))
    }

    /// Texts and paths, joined with slashes. Where it resolves, an absolute part starts anew.
    pub(in crate::code) fn path_joined(
        &mut self,
        parts: &[AbstractValue],
        resolves: bool,
    ) -> Fueled<Value> {
        let mut path = Value::default();
        for part in parts {
            let part = self.value_of(part)?;
            if resolves && part.text.starts_with('/') {
                path.text.clear();
            } else if !path.text.is_empty() && !path.text.ends_with('/') {
                path.push_text("/");
            }
            path.push(&part);
        }
        Ok(path)
    }
}

pub(in crate::code) fn constant(word: &str) -> Value {
    Value::known(word.replace('?', HOLE_STR))
}

/// The folder that a path is in.
pub(in crate::code) fn parent_of(path: &str) -> String {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((parent, last)) if last != ".." => parent.to_owned(),
        Some(_) => format!("{path}/.."),
        None if path == "." || path == ".." => format!("{path}/.."),
        // What is not known may be a whole path.
        None if path.contains(HOLE) => HOLE_STR.to_owned(),
        None => ".".to_owned(),
    }
}
