//! What a call of a well-known function does, said in the scene.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a thing of any other kind is not understood, whichever kinds come later"
)]

mod files;
mod network;
mod programs;

pub(super) use network::Network;
#[cfg(test)]
pub(super) use programs::HEARD;
pub(super) use programs::{heard, is_shell};

use crate::code::Language;
use crate::code::fold;
use crate::code::functions::{Act, Role, Which};
use crate::code::read::{Arguments, Reader, constant, parent_of};
use crate::code::thing::{Object, Thing, unknown, unknown_like};
use crate::effect::Actor;
use crate::scene::Done;
use crate::value::{Origins, Value};
use std::rc::Rc;

/// A call under way: what the roles need of it.
pub(super) struct Call<'c> {
    pub(super) act: &'c Act,
    pub(super) receiver: &'c Thing,
    pub(super) arguments: &'c Arguments,
    pub(super) actor: Actor,
    pub(super) start: usize,
}

impl Call<'_> {
    /// All that the `index`-th argument of the role may be.
    pub(super) fn all(&self, index: usize) -> Vec<Thing> {
        let Some(places) = self.act.arguments.get(index) else {
            return Vec::new();
        };
        let positional = &self.arguments.positional;
        let has_names = places.iter().any(|p| matches!(p, Which::Named(_)));
        for place in places {
            let found: Vec<Thing> = match place {
                Which::At(at) => match positional.get(*at) {
                    // Options in an object literal stand under their names.
                    Some(Thing::Map(_) | Thing::Function(_)) if has_names => continue,
                    Some(thing) => vec![thing.clone()],
                    None => continue,
                },
                Which::From(at) => positional.get(*at..).unwrap_or(&[]).to_vec(),
                Which::Last => positional.last().cloned().into_iter().collect(),
                Which::Receiver => vec![self.receiver.clone()],
                Which::Named(name) => match self.named(name) {
                    Some(thing) => vec![thing],
                    None => continue,
                },
            };
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The first thing of [`Call::all`].
    pub(super) fn one(&self, index: usize) -> Option<Thing> {
        self.all(index).into_iter().next()
    }

    /// An argument by its name, also inside of options.
    pub(super) fn named(&self, name: &str) -> Option<Thing> {
        let named = self.arguments.named.iter().find(|(n, _)| n == name);
        if let Some((_, thing)) = named {
            return Some(thing.clone());
        }
        let mut options = self.arguments.positional.iter();
        options.find_map(|thing| thing.get(name)).cloned()
    }
}

impl Reader<'_, '_, '_> {
    /// Does one thing that a function does. Returns what the call yields.
    pub(super) fn perform(
        &mut self,
        act: &Act,
        name: &str,
        receiver: &Thing,
        arguments: &Arguments,
        start: usize,
    ) -> Done<Thing> {
        self.scene.fuel.spend(4)?;
        let pure = act.role.is_pure();
        self.deeds += u64::from(!pure);
        let call = Call {
            act,
            receiver,
            arguments,
            actor: if pure {
                Actor::default()
            } else {
                Actor::new(name, &self.evidence(start))
            },
            start,
        };
        match act.role {
            Role::Read => self.reads(&call),
            Role::Write | Role::Append => self.writes(&call),
            Role::Open => self.opens_file(&call),
            Role::PerlOpen => self.perl_open(&call),
            Role::WriteTo => self.writes_to(&call),
            Role::Delete => self.deletes(&call, false),
            Role::DeleteTree => self.deletes(&call, true),
            Role::DeleteMaybe => self.deletes_maybe(&call),
            Role::Move => self.moves(&call),
            Role::Copy => self.copies(&call),
            Role::Link => self.links(&call),
            Role::Mode => self.changes_mode(&call),
            Role::Folder => self.changes_folder(&call),
            Role::Patch => self.applies_patch(&call),
            Role::Fetch => self.fetches(&call),
            Role::Download => self.downloads(&call),
            Role::Send => self.sends(&call),
            Role::Request => self.requests(&call),
            Role::Connect => self.connects_to(&call),
            Role::ConnectPair => self.connects_to_pair(&call),
            Role::Host => self.names_host(&call),
            Role::Listen => self.listens(&call),
            Role::Receive => Ok(self.receives(&call)),
            Role::SendOver => self.sends_data_over(&call),
            Role::Redirect => {
                self.network.redirected = true;
                Ok(Thing::Nothing)
            }
            Role::System | Role::Shell => self.runs_command_line(&call),
            Role::Program => self.runs_program(&call),
            Role::ProgramWith => self.runs_program_with(&call),
            Role::Command => self.command(&call),
            Role::ShellOrProgram => self.runs_shell_or_program(&call),
            Role::Code => self.runs_text(&call),
            Role::RunFile => self.runs_file(&call),
            Role::Load => self.loads(&call),
            Role::Deserialise => self.deserialises(&call),
            Role::Kill => self.kills(&call),
            Role::Elevate => self.elevates(&call),
            Role::Fork => {
                self.network.forks = true;
                Ok(Thing::Nothing)
            }
            Role::Terminal => self.opens_terminal(&call),
            Role::Sql => self.runs_statement(&call),
            Role::SetVariable => {
                let name = self.value(&call, 0)?;
                let value = self.value(&call, 1)?;
                self.sets_variable(&name.text, &value)?;
                Ok(Thing::Nothing)
            }
            Role::Variable => {
                let name = self.value(&call, 0)?;
                if name.text.is_empty() {
                    return Ok(Thing::value(super::whole_environment()));
                }
                Ok(self.variable_named(&name.text))
            }
            Role::Environment => Ok(Thing::value(super::whole_environment())),
            Role::Print => {
                for thing in call.all(0) {
                    for one in thing.each() {
                        let value = self.value_of(one)?;
                        self.output.push(&value);
                    }
                }
                self.output.push_text("\n");
                Ok(Thing::Nothing)
            }
            Role::Input => Ok(Thing::value(self.standard_input())),
            Role::Module => {
                let name = self.value(&call, 0)?;
                Ok(self.module(&name))
            }
            Role::Member => {
                let object = call.one(0).unwrap_or_default();
                let member = self.value(&call, 1)?;
                match (object, member.as_known()) {
                    (Thing::Name(object), Some(member)) => {
                        Ok(Thing::Name(format!("{object}.{member}")))
                    }
                    (_, Some(member)) => Ok(Thing::Name(format!("?.{member}"))),
                    _ => Ok(Thing::Nothing),
                }
            }
            Role::Call => self.hands_over(&call, false),
            Role::CallWith => self.hands_over(&call, true),
            Role::Same => Ok(call.one(0).unwrap_or_default()),
            Role::Join | Role::Resolve => {
                let mut parts = call.all(0);
                parts.extend(call.all(1));
                let path = self.path_joined(&parts, act.role == Role::Resolve)?;
                Ok(match receiver {
                    Thing::Object(object) if object.kind == "Path" => Thing::object("Path", path),
                    _ => Thing::value(path),
                })
            }
            Role::Parent => {
                let path = self.value(&call, 0)?;
                let parent = path.map(parent_of(&path.text));
                Ok(Thing::value(parent))
            }
            Role::Constant => {
                let text = constant(&act.word);
                Ok(match receiver {
                    Thing::Name(object) if object.ends_with("Path") => Thing::object("Path", text),
                    _ => Thing::value(text),
                })
            }
            Role::Decode => self.decodes(&call),
            Role::Makes => self.makes(&call),
            Role::Nothing => {
                let mut all = Value::unknown(Origins::NONE);
                for thing in &arguments.positional {
                    let value = self.value_of(thing)?;
                    all.taint(&value);
                }
                Ok(Thing::value(all))
            }
        }
    }

    /// The text of the role's `index`-th argument.
    pub(super) fn value(&mut self, call: &Call<'_>, index: usize) -> Done<Value> {
        match call.one(index) {
            Some(thing) => self.value_of(&thing),
            None => Ok(Value::default()),
        }
    }

    /// All texts that the role's `index`-th argument may be: alternatives, and items of lists.
    pub(super) fn values(&mut self, call: &Call<'_>, index: usize) -> Done<Vec<Value>> {
        let mut values = Vec::new();
        for thing in call.all(index) {
            for one in thing.each() {
                match one {
                    Thing::List(items) => {
                        for item in items.iter().take(64) {
                            values.push(self.value_of(item)?);
                        }
                    }
                    other => values.push(self.value_of(other)?),
                }
            }
        }
        Ok(values)
    }

    fn module(&mut self, name: &Value) -> Thing {
        match name.as_known() {
            Some(name) => Thing::Name(crate::code::read::module(self.language, name)),
            None => Thing::Nothing,
        }
    }

    /// A function is called with the other arguments, or with the items of one of them.
    fn hands_over(&mut self, call: &Call<'_>, with_items: bool) -> Done<Thing> {
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

    fn decodes(&mut self, call: &Call<'_>) -> Done<Thing> {
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

    fn makes(&mut self, call: &Call<'_>) -> Done<Thing> {
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
    pub(super) fn variable_named(&self, name: &str) -> Thing {
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

    pub(super) fn sets_variable(&mut self, name: &str, value: &Value) -> Done {
        let line = format!("{name}={}", value.text);
        let actor = Actor::new(self.language.word(), &crate::json::shorten(&line, 200));
        self.scene.set_environment(&actor, name, value)
    }

    /// What the code is fed with, if that is known.
    pub(super) fn standard_input(&self) -> Value {
        match self.scene.variable(super::STANDARD_INPUT) {
            Some([value, ..]) => value.clone(),
            _ => Value::unknown(Origins::OUTPUT),
        }
    }
}
