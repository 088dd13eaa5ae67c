//! Calls: of library functions, of methods, of the code's own functions.

use super::{Reader, parent_of};
use crate::code::fold;
use crate::code::functions::{Act, Role};
use crate::code::thing::{AbstractValue, unknown_like};
use crate::code::{Language, whole_environment};
use crate::scene::Fueled;
use crate::value::Origins;

/// What stands between the brackets of a call.
#[derive(Clone, Debug, Default)]
pub(in crate::code) struct Arguments {
    pub(in crate::code) positional: Vec<AbstractValue>,
    pub(in crate::code) named: Vec<(String, AbstractValue)>,
}

impl Arguments {
    pub(in crate::code) fn of(positional: Vec<AbstractValue>) -> Self {
        Arguments {
            positional,
            named: Vec::new(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &AbstractValue> {
        self.positional
            .iter()
            .chain(self.named.iter().map(|(_, t)| t))
    }
}

impl Reader<'_, '_, '_> {
    /// The arguments in the brackets that the reader stands at.
    pub(super) fn arguments(&mut self, end: usize) -> Fueled<Arguments> {
        let close = self.close_of(self.at, end);
        let (positional, named) = self.items_and_members(close)?;
        self.at = close + 1;
        Ok(Arguments { positional, named })
    }

    /// Calls whatever `thing` is.
    pub(in crate::code) fn call(
        &mut self,
        thing: &AbstractValue,
        arguments: Arguments,
        start: usize,
    ) -> Fueled<AbstractValue> {
        self.scene.fuel.spend(2)?;
        let by_text = matches!(self.language, Language::Php | Language::Ruby);
        match thing {
            AbstractValue::Name(name) => self.call_name(name, None, arguments, start),
            AbstractValue::Function(id) => self.call_own(*id, &arguments),
            // `$f = 'system'; $f('x')`
            AbstractValue::Text(value) if by_text && value.is_known() => {
                self.call_name(&value.text, None, arguments, start)
            }
            AbstractValue::Any(_) => {
                let mut result = AbstractValue::Nothing;
                for one in thing.alternatives() {
                    result = self.call(one, arguments.clone(), start)?;
                }
                Ok(result)
            }
            // `(0, eval)(…)`
            AbstractValue::List(items) if self.language == Language::JavaScript => {
                match items.last() {
                    Some(last @ (AbstractValue::Name(_) | AbstractValue::Function(_))) => {
                        self.call(last, arguments, start)
                    }
                    _ => self.made_by("", thing, &arguments),
                }
            }
            other => self.made_by("", other, &arguments),
        }
    }

    /// Calls a method of a thing that is more than a name.
    pub(super) fn method(
        &mut self,
        thing: &AbstractValue,
        member: &str,
        arguments: Arguments,
        start: usize,
    ) -> Fueled<AbstractValue> {
        self.scene.fuel.spend(2)?;
        if let AbstractValue::Any(_) = thing {
            let mut made = AbstractValue::Nothing;
            for one in thing.alternatives() {
                let one = self.method(one, member, arguments.clone(), start)?;
                made = made.or(&one);
            }
            return Ok(made);
        }
        if let (Language::Ruby, AbstractValue::Text(_), "call") = (self.language, thing, member) {
            return self.call(thing, arguments, start);
        }
        self.scene.fuel.spend_on(thing.length())?;
        let resolved = self.all_resolved(&arguments.positional)?;
        if let Some(made) = fold::method(thing, member, &resolved) {
            return Ok(made);
        }
        if let AbstractValue::Object(object) = thing {
            if object.kind == "Builder" {
                if let Some(made) = self.built(object, member, &arguments, start)? {
                    return Ok(made);
                }
            } else if object.kind == "Path" && matches!(member, "getParent" | "parent") {
                return self.attribute(thing, "parent", start);
            }
            let name = format!("{}.{member}", object.kind);
            return self.call_name(&name, Some(thing), arguments, start);
        }
        if let (AbstractValue::Function(id), "call" | "apply" | "bind" | "()") = (thing, member) {
            return self.call_own(*id, &arguments);
        }
        if let (AbstractValue::List(items), "map" | "forEach" | "each" | "flatMap" | "collect") =
            (thing, member)
            && let Some(AbstractValue::Function(id)) = arguments.positional.first()
        {
            let mut made = Vec::new();
            for item in items.iter().take(256) {
                made.push(self.call_own(*id, &Arguments::of(vec![item.clone()]))?);
            }
            return Ok(AbstractValue::list(made));
        }
        if matches!(member, "each" | "map" | "with" | "tap" | "items")
            && arguments.positional.is_empty()
        {
            return Ok(thing.clone());
        }
        self.call_name(&format!("?.{member}"), Some(thing), arguments, start)
    }

    /// A member that is not called.
    pub(super) fn attribute(
        &mut self,
        thing: &AbstractValue,
        member: &str,
        start: usize,
    ) -> Fueled<AbstractValue> {
        if self.language == Language::Ruby {
            return self.method(thing, member, Arguments::default(), start);
        }
        // `[].filter.constructor`, `''.__class__`: functions by way of their insides.
        if member == "constructor" || member.starts_with("__") {
            return Ok(AbstractValue::Name(format!("?.{member}")));
        }
        match thing {
            AbstractValue::Map(_) => Ok(thing.get(member).cloned().unwrap_or_default()),
            AbstractValue::Object(object) => {
                let text = &object.text;
                if object.kind == "Path" && member == "parent" {
                    let parent = parent_of(&text.text);
                    return Ok(AbstractValue::object("Path", text.map(parent)));
                }
                if matches!(member, "name" | "path" | "as_posix" | "hostname")
                    && object.kind != "Answer"
                {
                    return Ok(AbstractValue::value(text.clone()));
                }
                if object.kind == "Socket" || object.kind == "Builder" {
                    return Ok(thing.clone());
                }
                let data = unknown_like(&object.data);
                Ok(AbstractValue::holding("Answer", unknown_like(text), data))
            }
            AbstractValue::Text(value) if !value.is_known() => {
                Ok(AbstractValue::value(unknown_like(value)))
            }
            AbstractValue::List(_) if member == "items" => Ok(thing.clone()),
            AbstractValue::Any(_) => {
                let mut made = AbstractValue::Nothing;
                for one in thing.alternatives() {
                    let one = self.attribute(one, member, start)?;
                    made = made.or(&one);
                }
                Ok(made)
            }
            _ => Ok(AbstractValue::Nothing),
        }
    }

    /// Calls a function of a library.
    pub(in crate::code) fn call_name(
        &mut self,
        name: &str,
        receiver: Option<&AbstractValue>,
        arguments: Arguments,
        start: usize,
    ) -> Fueled<AbstractValue> {
        let (object, last) = name.rsplit_once('.').unwrap_or(("", name));
        let acts = self.acts(name);
        if !object.is_empty() {
            // A method that the code defines; the library's own functions come first.
            if acts.is_none()
                && let Some(AbstractValue::Function(id)) = self.variables.get(last)
            {
                let id = *id;
                return self.call_own(id, &arguments);
            }
            if matches!(last, "call" | "apply" | "bind" | "__call__")
                && (self.acts(object).is_some() || self.variables.contains_key(object))
            {
                let mut arguments = arguments;
                if last != "__call__" && self.language == Language::JavaScript {
                    arguments.positional = arguments.positional.into_iter().skip(1).collect();
                }
                if let ("apply", Some(items)) = (
                    last,
                    arguments.positional.first().and_then(AbstractValue::items),
                ) {
                    arguments.positional = items.to_vec();
                }
                if last == "bind" && arguments.positional.is_empty() {
                    return Ok(AbstractValue::Name(object.to_owned()));
                }
                return self.call_name(object, None, arguments, start);
            }
        }
        // `import('x').then(x => …)`
        if let ("then", None, Some(AbstractValue::Function(id))) =
            (last, receiver, arguments.positional.first())
        {
            let module = vec![AbstractValue::Name(object.to_owned())];
            return self.call_own(*id, &Arguments::of(module));
        }
        let owner = || AbstractValue::Name(object.to_owned());
        let receiver = receiver.cloned().unwrap_or_else(owner);
        if let Some(acts) = acts {
            let mut result = AbstractValue::Nothing;
            for act in acts {
                let made = self.perform(act, last, &receiver, &arguments, start)?;
                if !matches!(made, AbstractValue::Nothing) {
                    result = made;
                }
            }
            self.call_back(&result, &arguments, start)?;
            return Ok(result);
        }
        if let Some(made) = self.built_in(name, &arguments)? {
            return Ok(made);
        }
        self.pass_functions(&arguments, start)?;
        let made = self.made_by(name, &receiver, &arguments)?;
        self.call_back(&made, &arguments, start)?;
        Ok(made)
    }

    /// Functions that are handed over are called with what is handed over beside them.
    fn pass_functions(&mut self, arguments: &Arguments, start: usize) -> Fueled {
        for (index, argument) in arguments.positional.iter().enumerate() {
            if let AbstractValue::Name(name) = argument
                && self.runs(name)
            {
                let rest = arguments.positional.iter().skip(index + 1);
                let rest = Arguments::of(rest.cloned().collect());
                self.call_name(name, None, rest, start)?;
            }
        }
        Ok(())
    }

    /// `return (os.system, ('x',))`: what a pickled object does when it is read.
    pub(super) fn reduces(&mut self, thing: &AbstractValue, start: usize) -> Fueled {
        if let (Language::Python, Some([AbstractValue::Name(name), AbstractValue::List(items)])) =
            (self.language, thing.items())
            && self.runs(name)
        {
            let arguments = Arguments::of(items.to_vec());
            self.call_name(name, None, arguments, start)?;
        }
        Ok(())
    }

    /// The code's own functions that are handed over get what the call yields.
    fn call_back(&mut self, result: &AbstractValue, arguments: &Arguments, start: usize) -> Fueled {
        for argument in arguments.all() {
            // `.then(eval)`
            if let AbstractValue::Name(name) = argument
                && self.runs(name)
            {
                let value = self.value_of(result)?;
                if value.origins.any(Origins::FETCHED | Origins::DECODED) {
                    let yielded = Arguments::of(vec![AbstractValue::value(value)]);
                    self.call_name(name, None, yielded, start)?;
                }
            }
            if let AbstractValue::Function(id) = argument {
                let value = self.value_of(result)?;
                let interesting = Origins::FETCHED | Origins::SECRET | Origins::ENVIRONMENT;
                let typed =
                    matches!(result, AbstractValue::Object(object) if !object.kind.ends_with(')'));
                if value.origins.any(interesting) || typed {
                    let yielded = match result {
                        AbstractValue::Object(_) => result.clone(),
                        _ => AbstractValue::value(value),
                    };
                    // Node's callbacks have the error first, browsers' have none.
                    let both = vec![yielded.clone(), yielded];
                    self.call_own(*id, &Arguments::of(both))?;
                }
            }
        }
        Ok(())
    }

    /// What an unknown function makes: nothing is known but where its arguments came from.
    fn made_by(
        &mut self,
        name: &str,
        receiver: &AbstractValue,
        arguments: &Arguments,
    ) -> Fueled<AbstractValue> {
        let mut value = unknown_like(&self.value_of(receiver)?);
        if let AbstractValue::Name(_) = receiver
            && value.origins == Origins::UNKNOWN
        {
            value.origins = Origins::NONE;
        }
        for argument in arguments.all() {
            if matches!(
                argument,
                AbstractValue::Name(_)
                    | AbstractValue::Nothing
                    | AbstractValue::Number(_)
                    | AbstractValue::Function(_)
            ) {
                if let AbstractValue::Name(name) = argument
                    && self.is_environment(name)
                {
                    value.taint(&whole_environment());
                }
                continue;
            }
            let argument = self.value_of(argument)?;
            value.taint(&argument);
        }
        let kind = format!("{name}()");
        Ok(AbstractValue::holding(&kind, value.clone(), value))
    }

    /// Whether a function runs or deletes what it is given.
    fn runs(&self, name: &str) -> bool {
        self.acts(name).is_some_and(|acts| acts.iter().any(runs))
    }

    /// Whether the table has something to say about a name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.acts(name).is_some()
            || matches!(self.variables.get(name), Some(AbstractValue::Function(_)))
    }
}

fn runs(act: &Act) -> bool {
    matches!(
        act.role,
        Role::System
            | Role::Shell
            | Role::Program
            | Role::ProgramWith
            | Role::Command
            | Role::ShellOrProgram
            | Role::Code
            | Role::RunFile
            | Role::Delete
            | Role::DeleteTree
            | Role::DeleteMaybe
    )
}
