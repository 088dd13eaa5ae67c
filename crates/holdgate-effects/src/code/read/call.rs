//! Calls: of library functions, of methods, of the code's own functions.

use super::{Reader, pass, peer, texts};
use crate::code::act::may_change_rows;
use crate::code::fold;
use crate::code::functions::{Act, Role};
use crate::code::thing::{AbstractValue, Peer, unknown_like};
use crate::code::{Language, whole_environment};
use crate::effect::{Actor, Kind as EffectKind};
use crate::scene::Fueled;
use crate::tag::Tag;
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

    pub(in crate::code) fn all(&self) -> impl Iterator<Item = &AbstractValue> {
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
            AbstractValue::Bound(bound) => self.call_bound(bound, arguments, start),
            // `createRequire(folder)('./file')`
            AbstractValue::Object(object) if object.kind == "Require" => {
                let mut arguments = arguments;
                let of = object.text.text.as_str();
                let parent = of.strip_suffix('/').map(str::to_owned);
                let folder = object
                    .text
                    .map(parent.unwrap_or_else(|| super::parent_of(of)));
                if let Some(first) = arguments.positional.first_mut()
                    && first.known().is_some_and(|name| name.starts_with('.'))
                {
                    let parts = [AbstractValue::value(folder), first.clone()];
                    *first = AbstractValue::value(self.path_joined(&parts, true)?);
                }
                self.call_name("require", None, arguments, start)
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
            other => {
                self.touched("", &arguments, start)?;
                self.made_by("", other, &arguments)
            }
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
        if let (AbstractValue::List(items), Some(function)) = (thing, arguments.positional.first())
            && pass::takes_function(member)
            && matches!(
                function,
                AbstractValue::Function(_)
                    | AbstractValue::Name(_)
                    | AbstractValue::Bound(_)
                    | AbstractValue::Text(_)
            )
        {
            if matches!(member, "reduce" | "inject" | "fold" | "reduceRight") {
                return self.reduced(function, items, arguments.positional.get(1), start);
            }
            let mut made = Vec::new();
            for item in items.iter().take(256) {
                // Ruby's `&:rmtree` names a method of the item.
                if let (AbstractValue::Object(_), AbstractValue::Text(method)) = (item, function) {
                    let method = method.text.clone();
                    made.push(self.method(item, &method, Arguments::default(), start)?);
                    continue;
                }
                let one = Arguments::of(vec![item.clone()]);
                made.push(self.call(function, one, start)?);
            }
            // Which of them remain is not known.
            if matches!(member, "filter" | "select" | "sort" | "sort_by") {
                return Ok(thing.clone());
            }
            return Ok(AbstractValue::list(made));
        }
        self.scene.fuel.spend_on(thing.length())?;
        let resolved = self.all_resolved(&arguments.positional)?;
        if member == "join" {
            let receiver = self.items_resolved(std::slice::from_ref(thing))?;
            let given = self.items_resolved(&resolved)?;
            let made = receiver
                .first()
                .and_then(|list| fold::method(list, member, &given));
            if let Some(made) = made {
                return Ok(made);
            }
        }
        if let (AbstractValue::Text(format), "substitute" | "safe_substitute") = (thing, member) {
            let made = fold::format_dollars(format, &arguments.named);
            return Ok(AbstractValue::value(made));
        }
        if let (AbstractValue::Text(format), "format" | "format_map") = (thing, member) {
            let mut named = arguments.named.clone();
            if let Some(AbstractValue::Map(members)) = resolved.first() {
                named.extend(members.iter().cloned());
            }
            let made = fold::format_braces(format, &resolved, &named);
            return Ok(AbstractValue::value(made));
        }
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
        if matches!(member, "each" | "map" | "with" | "tap" | "items" | "then")
            && arguments.positional.is_empty()
        {
            return Ok(thing.clone());
        }
        // `files.sort`, `files.reverse_each`: the same items in another order, or some of them.
        if matches!(thing, AbstractValue::List(_))
            && arguments.positional.is_empty()
            && pass::keeps_items(member)
        {
            return Ok(thing.clone());
        }
        self.call_name(&format!("?.{member}"), Some(thing), arguments, start)
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
        if self.language == Language::Python
            && let Some(bound) = Self::bound(name, &arguments)
        {
            // What is given already may be all that it needs.
            if matches!(&bound, AbstractValue::Bound(b) if !b.positional.is_empty() && last == "partial")
            {
                self.call(&bound, Arguments::default(), start)?;
            }
            return Ok(bound);
        }
        if self.classes.contains(&name) {
            self.constructed(&arguments)?;
        }
        let listed = self.acts(name);
        let acts = listed.or_else(|| self.family(name));
        if !object.is_empty() {
            // A method that the code defines; the library's own functions come first.
            if acts.is_none_or(is_text)
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
        // Ruby's `File.method(:delete)` is that function.
        if let (Language::Ruby, "method", None, Some(named)) =
            (self.language, last, receiver, arguments.positional.first())
            && let Some(function) = named.known().filter(|_| !object.is_empty())
        {
            return Ok(AbstractValue::Name(format!("{object}.{function}")));
        }
        let owner = || AbstractValue::Name(object.to_owned());
        let receiver = receiver.cloned().unwrap_or_else(owner);
        if let Some(acts) = acts.filter(|acts| !is_text(acts)) {
            let mut result = AbstractValue::Nothing;
            for act in acts {
                let made = self.perform(act, last, &receiver, &arguments, start)?;
                if !matches!(made, AbstractValue::Nothing) {
                    result = made;
                }
            }
            if listed.is_none() && matches!(result, AbstractValue::Nothing) {
                result = self.made_by(name, &receiver, &arguments)?;
            }
            self.touched_beside(last, acts, &arguments, start)?;
            self.call_back(&result, &arguments, start)?;
            return Ok(result);
        }
        self.enters_program(name, &arguments)?;
        if !self.scene.written
            && acts.is_none()
            && (last.starts_with("de")
                || matches!(last, "drop_all" | "truncate")
                || may_change_rows(last) && self.scene.target_by_variables() == Some(Tag::Prod))
        {
            self.empties_model(object, last, start)?;
        }
        // A method of another machine may have any name.
        if acts.is_none() || peer::of_object(&receiver).is_some() {
            self.reaches_peer(last, &receiver, &arguments, start)?;
        }
        self.pass_functions(&arguments, start)?;
        if let Some(made) = self.built_in(name, &arguments)? {
            return Ok(made);
        }
        let calls = |thing: &AbstractValue| {
            matches!(thing, AbstractValue::Function(_) | AbstractValue::Name(_))
        };
        if acts.is_none() || !self.scene.written && arguments.all().any(calls) {
            self.touched(last, &arguments, start)?;
        }
        if acts.is_none() {
            self.done_to(last, &receiver, start)?;
        }
        let made = match &receiver {
            // Whatever it is, it lies below or beside: `folder.descend_to('x')`.
            AbstractValue::Object(object)
                if object.kind == "Path" && acts.is_none() && pass::leads_on(last) =>
            {
                let mut below = object.text.clone();
                below.push_text("/");
                below.push_text(crate::value::HOLE_STR);
                AbstractValue::object("Path", below)
            }
            _ => self.made_by(name, &receiver, &arguments)?,
        };
        self.call_back(&made, &arguments, start)?;
        self.made_of_each(last, made, &arguments, start)
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
        if !self.scene.written && texts::may_compute(name, receiver, arguments) {
            value.origins |= Origins::COMPUTED;
        }
        let kind = [name, "()"].concat();
        let mut peer = peer::of(name, receiver, arguments);
        if let Some(host) = peer::pair(name, arguments) {
            let last = name.rsplit('.').next().unwrap_or(name);
            let actor = Actor::new(last, &self.evidence(self.at.saturating_sub(1)));
            self.scene.reaches(&actor, EffectKind::Connect, &host)?;
            self.network.connected = true;
            self.network.host = Some(host.clone());
            value.origins |= Origins::FETCHED;
            value.add_source(&host.text);
            let (address, made_for) = (host, true);
            peer = Some(Peer { address, made_for });
        }
        if let Some(peer) = peer::of_object(receiver).filter(|peer| peer.made_for) {
            // What another machine answers.
            value.origins |= Origins::FETCHED;
            value.add_source(&peer.address.text);
        }
        Ok(AbstractValue::reaching(&kind, value.clone(), value, peer))
    }

    /// Whether a function runs or deletes what it is given.
    pub(super) fn runs(&self, name: &str) -> bool {
        self.acts(name).is_some_and(|acts| acts.iter().any(runs))
    }

    /// Whether the table has something to say about a name.
    pub(in crate::code) fn knows(&self, name: &str) -> bool {
        self.acts(name).is_some()
            || matches!(self.variables.get(name), Some(AbstractValue::Function(_)))
    }
}

/// Whether a function only makes something of its arguments, and its entry says no more.
fn is_text(acts: &[Act]) -> bool {
    matches!(acts, [act] if act.role == Role::Text)
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
