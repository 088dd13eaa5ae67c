//! What a call of a well-known function does, said in the scene.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a thing of any other kind is not understood, whichever kinds come later"
)]

mod families;
mod files;
mod listing;
mod modules;
mod network;
mod programs;
mod services;
mod twins;
mod values;

pub(super) use network::Network;
#[cfg(test)]
pub(super) use programs::HEARD;
pub(super) use programs::{heard, is_shell};
pub(super) use services::{gives_secret, may_change_rows};

use crate::code::functions::{Act, Role, Which};
use crate::code::read::{Arguments, Reader, parent_of};
use crate::code::thing::AbstractValue;
use crate::effect::Actor;
use crate::scene::Fueled;
use crate::value::{Origins, Value};
use values::named_constant;

/// A call under way: what the roles need of it.
pub(super) struct Call<'c> {
    pub(super) act: &'c Act,
    pub(super) receiver: &'c AbstractValue,
    pub(super) arguments: &'c Arguments,
    pub(super) actor: Actor,
    pub(super) start: usize,
}

impl Call<'_> {
    /// All that the `index`-th argument of the role may be.
    pub(super) fn all(&self, index: usize) -> Vec<AbstractValue> {
        let Some(places) = self.act.arguments.get(index) else {
            return Vec::new();
        };
        let positional = &self.arguments.positional;
        let has_names = places.iter().any(|p| matches!(p, Which::Named(_)));
        for place in places {
            let found: Vec<AbstractValue> = match place {
                Which::At(at) => match positional.get(*at) {
                    // Options in an object literal stand under their names.
                    Some(AbstractValue::Map(_) | AbstractValue::Function(_)) if has_names => {
                        continue;
                    }
                    Some(thing) => vec![thing.clone()],
                    None => continue,
                },
                Which::From(at) => positional.get(*at..).unwrap_or(&[]).to_vec(),
                Which::Last => positional.last().cloned().into_iter().collect(),
                Which::Receiver => vec![self.receiver.clone()],
                Which::Text(text) => vec![AbstractValue::text(text.as_str())],
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
    pub(super) fn one(&self, index: usize) -> Option<AbstractValue> {
        self.all(index).into_iter().next()
    }

    /// An argument by its name, also inside of options.
    pub(super) fn named(&self, name: &str) -> Option<AbstractValue> {
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
        receiver: &AbstractValue,
        arguments: &Arguments,
        start: usize,
    ) -> Fueled<AbstractValue> {
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
        self.plays(&call)
    }

    /// Plays the role of a function.
    fn plays(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        match call.act.role {
            Role::Read => self.reads(call),
            Role::Write | Role::Append => self.writes(call),
            Role::Open => self.opens_file(call),
            Role::PerlOpen => self.perl_open(call),
            Role::FileOrPipe => self.opens_file_or_pipe(call),
            Role::WriteTo => self.writes_to(call),
            Role::Delete => self.deletes(call, false),
            Role::DeleteTree => self.deletes(call, true),
            Role::DeleteMaybe => self.deletes_maybe(call),
            Role::Move => self.moves(call),
            Role::Copy => self.copies(call),
            Role::Link => self.links(call),
            Role::Mode => self.changes_mode(call),
            Role::Folder => self.changes_folder(call),
            Role::Patch => self.applies_patch(call),
            Role::Entries | Role::Names | Role::Below | Role::Walk | Role::Matches => {
                self.lists(call)
            }
            Role::Arguments => Ok(self.command_line()),
            Role::Fetch => self.fetches(call),
            Role::Download => self.downloads(call),
            Role::Send => self.sends(call),
            Role::Request => self.requests(call),
            Role::Connect => self.connects_to(call),
            Role::ConnectPair => self.connects_to_pair(call),
            Role::Host => self.names_host(call),
            Role::Listen => self.listens(call),
            Role::Receive => Ok(self.receives(call)),
            Role::SendOver => self.sends_data_over(call),
            Role::Redirect => {
                self.network.redirected = true;
                Ok(AbstractValue::Nothing)
            }
            Role::System | Role::Shell => self.runs_command_line(call),
            Role::Program => self.runs_program(call),
            Role::ProgramWith => self.runs_program_with(call),
            Role::Command => self.command(call),
            Role::ShellOrProgram => self.runs_shell_or_program(call),
            Role::Code => self.runs_text(call),
            Role::RunFile => self.runs_file(call),
            Role::Load => self.loads(call),
            Role::Deserialise => self.deserialises(call),
            Role::Reference => self.runs_repository(call),
            Role::Container => self.makes_container(call),
            Role::Keys => self.types(call),
            Role::Login => self.takes_token(call),
            Role::Service => self.serves(call),
            Role::Twin => self.is_like_command(call),
            Role::Kill => self.kills(call),
            Role::KillListed => self.kills_listed(call),
            Role::Observe => self.observes(call),
            Role::Elevate => self.elevates(call),
            Role::Fork => {
                self.network.forks = true;
                Ok(AbstractValue::Nothing)
            }
            Role::Terminal => self.opens_terminal(call),
            Role::Sql => self.runs_statement(call),
            Role::SetVariable => self.sets_named_variable(call),
            Role::Variable => self.reads_variable(call),
            Role::Environment => Ok(AbstractValue::value(super::whole_environment())),
            Role::Print => self.prints(call),
            Role::Input => Ok(AbstractValue::value(self.standard_input())),
            Role::Module => self.takes_module(call),
            Role::Member => self.takes_member(call),
            Role::Call => self.hands_over(call, false),
            Role::CallWith => self.hands_over(call, true),
            Role::Same => Ok(self.with_variables(call.one(0).unwrap_or_default())),
            Role::Join | Role::Resolve => self.joins_path(call),
            Role::Parent => {
                let path = self.value(call, 0)?;
                let parent = path.map(parent_of(&path.text));
                Ok(AbstractValue::value(parent))
            }
            Role::Constant => Ok(named_constant(call)),
            Role::OwnFile => Ok(AbstractValue::value(self.own_file())),
            Role::Decode => self.decodes(call),
            Role::Makes => self.makes(call),
            Role::Nothing | Role::Text => self.passes_on(call),
        }
    }

    /// Nothing is done, but what is given may be in what comes back.
    fn passes_on(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let mut all = Value::unknown(Origins::NONE);
        for thing in &call.arguments.positional {
            let value = self.value_of(thing)?;
            all.taint(&value);
        }
        Ok(AbstractValue::value(all))
    }

    /// The text of the role's `index`-th argument.
    pub(super) fn value(&mut self, call: &Call<'_>, index: usize) -> Fueled<Value> {
        match call.one(index) {
            Some(thing) => self.value_of(&thing),
            None => Ok(Value::default()),
        }
    }

    /// All texts that the role's `index`-th argument may be: alternatives, and items of lists.
    pub(super) fn values(&mut self, call: &Call<'_>, index: usize) -> Fueled<Vec<Value>> {
        let mut values = Vec::new();
        for thing in call.all(index) {
            for one in thing.each() {
                match one {
                    AbstractValue::List(items) => {
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
}
