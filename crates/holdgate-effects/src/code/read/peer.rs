//! Objects of unlisted libraries that stand for another machine: `ServerProxy(url)`, `Client(url)`.
//! What their methods are given goes there.

use super::{Arguments, Reader};
use crate::code::thing::AbstractValue;
use crate::effect::Actor;
use crate::host::HostClass;
use crate::scene::Fueled;
use crate::value::{Origins, Value};

/// Arguments of one call that are looked at.
const MAX_ARGUMENTS: usize = 16;

/// The address that what a function makes stands for: one that it is given, or that of its object.
pub(super) fn of(receiver: &AbstractValue, arguments: &Arguments) -> Option<Value> {
    given(arguments).or_else(|| of_object(receiver).cloned())
}

/// The address that a function is given.
fn given(arguments: &Arguments) -> Option<Value> {
    let mut all = arguments.all().take(MAX_ARGUMENTS);
    all.find_map(|argument| match argument {
        AbstractValue::Text(value) if is_address(&value.text) => Some((**value).clone()),
        other => of_object(other).cloned(),
    })
}

/// The address that an object stands for.
pub(super) fn of_object(thing: &AbstractValue) -> Option<&Value> {
    match thing {
        AbstractValue::Object(object) => object.peer.as_ref(),
        _ => None,
    }
}

/// The same object, which stands for an address from now on: `c.setopt(c.URL, 'https://…')`.
pub(super) fn bound(before: &AbstractValue, after: &AbstractValue) -> Option<AbstractValue> {
    let (AbstractValue::Object(object), Some(peer)) = (before, of_object(after)) else {
        return None;
    };
    let unlisted = object.kind.ends_with(')') && object.peer.is_none();
    unlisted.then(|| {
        let (text, data) = (object.text.clone(), object.data.clone());
        AbstractValue::reaching(&object.kind, text, data, Some(peer.clone()))
    })
}

fn is_address(text: &str) -> bool {
    let scheme = text.split("://").next().unwrap_or("");
    scheme.len() < text.len() && (2..=12).contains(&scheme.len()) && text.len() < 2048
}

impl Reader<'_, '_, '_> {
    /// A function that no table knows gets something that must not leave, and its object stands for
    /// another machine, or it is given the address of one. Single variables are the daily bread of
    /// clients: they log in with them.
    pub(super) fn reaches_peer(
        &mut self,
        name: &str,
        receiver: &AbstractValue,
        arguments: &Arguments,
        start: usize,
    ) -> Fueled {
        let known = of_object(receiver).cloned();
        let bound = known.is_some();
        let Some(peer) = known.or_else(|| given(arguments)) else {
            return Ok(());
        };
        let mut data = Value::default();
        for argument in arguments.all().take(MAX_ARGUMENTS) {
            let value = match argument {
                AbstractValue::Name(name) if self.is_environment(name) => {
                    crate::code::whole_environment()
                }
                AbstractValue::Name(_) | AbstractValue::Function(_) => continue,
                // What is kept at an address goes back there.
                other if of_object(other).is_some() => continue,
                other => self.value_of(other)?,
            };
            data.taint(&value);
        }
        let whole = data.sources.iter().any(|source| &**source == "environment");
        let private =
            data.origins.any(Origins::SECRET) || data.origins.any(Origins::ENVIRONMENT) && whole;
        // Code that is only written serves an application: it sends the application's own files.
        let content = Origins::FILE | Origins::OUTPUT;
        let leaves = !self.scene.written
            && data.origins.any(content)
            && self.scene.know.hosts.host(&peer).class == HostClass::External;
        if bound && private || leaves {
            // Clients work on the project's own files: somebody may have asked for that.
            if !private && self.scene.are_own(&data) {
                data.origins = data.origins.without(Origins::FILE) | Origins::OUTPUT;
            }
            let actor = Actor::new(name, &self.evidence(start));
            self.scene.send(&actor, &peer, &data)?;
        }
        Ok(())
    }
}
