//! Functions that are given their arguments one after the other: bound ones, constructors, what a list is
//! reduced with.

use super::{Arguments, Reader};
use crate::code::thing::{AbstractValue, Bound};
use crate::scene::Fueled;
use std::rc::Rc;

/// Items of a list that are reduced.
const MAX_REDUCED: usize = 64;

impl Reader<'_, '_, '_> {
    /// Calls a function that was given some of its arguments before.
    pub(super) fn call_bound(
        &mut self,
        bound: &Bound,
        arguments: Arguments,
        start: usize,
    ) -> Fueled<AbstractValue> {
        let mut all = Arguments {
            positional: bound.positional.clone(),
            named: bound.named.clone(),
        };
        // `methodcaller('read')(file)`
        if let Some(member) = bound.function.known() {
            let mut given = arguments.positional.into_iter();
            let receiver = given.next().unwrap_or_default();
            all.positional.extend(given);
            return self.method(&receiver, member, all, start);
        }
        all.positional.extend(arguments.positional);
        all.named.extend(arguments.named);
        self.call(&bound.function, all, start)
    }

    /// `functools.partial(f, x)`, `operator.methodcaller('name')`: a function for later.
    pub(super) fn bound(name: &str, arguments: &Arguments) -> Option<AbstractValue> {
        let last = name.rsplit('.').next().unwrap_or(name);
        let (function, rest) = arguments.positional.split_first()?;
        let binds = match last {
            "partial" => !matches!(function, AbstractValue::Text(_)),
            "methodcaller" | "attrgetter" => function.known().is_some(),
            _ => false,
        };
        binds.then(|| {
            AbstractValue::Bound(Rc::new(Bound {
                function: function.clone(),
                positional: rest.to_vec(),
                named: arguments.named.clone(),
            }))
        })
    }

    /// An object of one of the code's own classes is made: its constructor gets the arguments.
    pub(super) fn constructed(&mut self, arguments: &Arguments) -> Fueled {
        let names = ["__init__", "constructor", "initialize"];
        let made = names.iter().find_map(|name| self.variables.get(*name));
        if let Some(AbstractValue::Function(id)) = made {
            let id = *id;
            self.call_own(id, arguments)?;
        }
        Ok(())
    }

    /// What a field of an object of the code's own classes holds: what a method or the class itself has
    /// given to that name.
    pub(super) fn field_of_class(&self, member: &str) -> Option<AbstractValue> {
        if self.classes.is_empty() {
            return None;
        }
        let names = [
            format!("self.{member}"),
            format!("this.{member}"),
            member.to_owned(),
        ];
        let found = names.iter().find_map(|name| self.variables.get(name))?;
        (!matches!(found, AbstractValue::Function(_) | AbstractValue::Nothing))
            .then(|| found.clone())
    }

    /// `list.reduce(f, first)`: what `f` makes of all items, one after the other.
    pub(super) fn reduced(
        &mut self,
        function: &AbstractValue,
        items: &[AbstractValue],
        first: Option<&AbstractValue>,
        start: usize,
    ) -> Fueled<AbstractValue> {
        let mut items = items.iter().take(MAX_REDUCED);
        let mut made = first.or_else(|| items.next()).cloned().unwrap_or_default();
        for item in items {
            let both = Arguments::of(vec![made, item.clone()]);
            made = self.call(function, both, start)?;
        }
        Ok(made)
    }
}
