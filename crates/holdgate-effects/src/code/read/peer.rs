//! Objects of unlisted libraries that stand for another machine: `ServerProxy(url)`, `Client(url)`.
//! What their methods are given goes there.

use super::{Arguments, Reader};
use crate::code::thing::AbstractValue;
use crate::effect::Actor;
use crate::scene::Fueled;
use crate::value::{Origins, Value};

/// Arguments of one call that are looked at.
const MAX_ARGUMENTS: usize = 16;

/// The address that what a function makes stands for: one that it is given, or that of its object.
pub(super) fn of(receiver: &AbstractValue, arguments: &Arguments) -> Option<Value> {
    let mut all = arguments.all().take(MAX_ARGUMENTS);
    let given = all.find_map(|argument| match argument {
        AbstractValue::Text(value) if is_address(&value.text) => Some((**value).clone()),
        AbstractValue::Object(object) => object.peer.clone(),
        _ => None,
    });
    given.or_else(|| match receiver {
        AbstractValue::Object(object) => object.peer.clone(),
        _ => None,
    })
}

fn is_address(text: &str) -> bool {
    let scheme = text.split("://").next().unwrap_or("");
    scheme.len() < text.len() && (2..=12).contains(&scheme.len()) && text.len() < 2048
}

impl Reader<'_, '_, '_> {
    /// A method that no table knows gets a secret or the whole environment, and its object stands for
    /// another machine. Single variables and files are the daily bread of clients: they log in with
    /// the ones and work on the others.
    pub(super) fn reaches_peer(
        &mut self,
        name: &str,
        receiver: &AbstractValue,
        arguments: &Arguments,
        start: usize,
    ) -> Fueled {
        let AbstractValue::Object(object) = receiver else {
            return Ok(());
        };
        let Some(peer) = &object.peer else {
            return Ok(());
        };
        let mut data = Value::default();
        for argument in arguments.all().take(MAX_ARGUMENTS) {
            let value = match argument {
                AbstractValue::Name(name) if self.is_environment(name) => {
                    crate::code::whole_environment()
                }
                AbstractValue::Name(_) | AbstractValue::Function(_) => continue,
                other => self.value_of(other)?,
            };
            data.taint(&value);
        }
        let whole = data.sources.iter().any(|source| &**source == "environment");
        if data.origins.any(Origins::SECRET) || data.origins.any(Origins::ENVIRONMENT) && whole {
            let actor = Actor::new(name, &self.evidence(start));
            self.scene.send(&actor, peer, &data)?;
        }
        Ok(())
    }
}
