//! Objects of unlisted libraries that stand for another machine: `ServerProxy(url)`, `Client(url)`.
//! What their methods are given goes there.

use super::{Arguments, Reader};
use crate::code::thing::{AbstractValue, Peer};
use crate::effect::Actor;
use crate::host::HostClass;
use crate::scene::Fueled;
use crate::value::{Origins, Value};

/// Arguments of one call that are looked at.
const MAX_ARGUMENTS: usize = 16;
/// Letters of `https` and its like.
const MAX_SCHEME: usize = 12;

/// What the result of a function stands for: an address that it is given, or that of its object.
pub(super) fn of(name: &str, receiver: &AbstractValue, arguments: &Arguments) -> Option<Peer> {
    let given = given(arguments).map(|peer| Peer {
        made_for: peer.made_for || makes_clients(name),
        ..peer
    });
    given.or_else(|| of_object(receiver).cloned())
}

/// The address that a function is given.
pub(super) fn given(arguments: &Arguments) -> Option<Peer> {
    let mut all = arguments.all().take(MAX_ARGUMENTS);
    all.find_map(|argument| match argument {
        AbstractValue::Text(value) if is_address(&value.text) => Some(Peer {
            address: (**value).clone(),
            made_for: false,
        }),
        other => of_object(other).cloned(),
    })
}

/// The address that an object stands for.
pub(super) fn of_object(thing: &AbstractValue) -> Option<&Peer> {
    match thing {
        AbstractValue::Object(object) => object.peer.as_ref(),
        _ => None,
    }
}

/// Whether a function makes what talks to other machines, by its name: `ServerProxy`, `connect`.
fn makes_clients(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    // `URL`, `URIRef`, `Namespace`: these are texts.
    let is_text = ["URL", "URI", "Url", "Uri", "Name"];
    let makes = ["connect", "client", "proxy", "session", "from_url", "dial"];
    (last.starts_with(|c: char| c.is_ascii_uppercase()) || makes.iter().any(|w| last.contains(w)))
        && !is_text.iter().any(|word| last.contains(word))
}

/// The same object, which stands for an address from now on: `c.setopt(c.URL, 'https://…')`.
pub(super) fn bound(before: &AbstractValue, after: &AbstractValue) -> Option<AbstractValue> {
    let (AbstractValue::Object(object), Some(peer)) = (before, of_object(after)) else {
        return None;
    };
    let unlisted = object.kind.ends_with(')') && object.peer.is_none();
    unlisted.then(|| {
        let (text, data) = (object.text.clone(), object.data.clone());
        let peer = Peer {
            made_for: false,
            ..peer.clone()
        };
        AbstractValue::reaching(&object.kind, text, data, Some(peer))
    })
}

/// The host of `(host, port)`, as one argument or as two, that a function makes a connection to.
pub(super) fn pair(name: &str, arguments: &Arguments) -> Option<Value> {
    let (host, port) = match arguments.positional.as_slice() {
        [AbstractValue::List(items), ..] => match items.as_ref() {
            [host, port] => (host, port),
            _ => return None,
        },
        [host, port, ..] => (host, port),
        _ => return None,
    };
    let (AbstractValue::Text(host), AbstractValue::Number(port)) = (host, port) else {
        return None;
    };
    let fits = (1..=65535).contains(port) && is_host(&host.text) && makes_clients(name);
    fits.then(|| (**host).clone())
}

/// `192.0.2.7`, `db.example.com`.
fn is_host(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
    };
    let digits = |part: &str| part.bytes().all(|c| c.is_ascii_digit());
    let parts: Vec<&str> = text.split('.').take(9).collect();
    let numbers = parts.iter().filter(|part| digits(part)).count();
    let named = parts
        .last()
        .is_some_and(|end| end.len() > 1 && end.bytes().all(|c| c.is_ascii_alphabetic()));
    parts.len() > 1 && parts.iter().all(|p| part(p)) && (named || numbers == 4 && parts.len() == 4)
}

fn is_address(text: &str) -> bool {
    let start = text.as_bytes().get(..MAX_SCHEME + 3);
    let start = start.unwrap_or(text.as_bytes());
    let scheme = start.windows(3).position(|mark| mark == b"://");
    scheme.is_some_and(|length| length >= 2) && text.len() < 2048
}

/// Whether a method takes the name of a file that it sends: `upload_file`, `putFile`.
fn takes_files(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["upload", "putfile", "put_file", "sendfile", "send_file"]
        .iter()
        .any(|word| name.contains(word))
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
        if !bound && self.scene.written {
            return Ok(());
        }
        let Some(Peer { address, made_for }) = known.or_else(|| given(arguments)) else {
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
            let path = argument
                .known()
                .filter(|text| text.contains(['/', '.']) && !is_address(text));
            if let Some(path) = path.filter(|_| !self.scene.written && takes_files(name)) {
                let actor = Actor::new(name, &self.evidence(start));
                data.taint(&self.scene.read(&actor, &Value::known(path))?);
            }
        }
        let whole = data.sources.iter().any(|source| &**source == "environment");
        let private =
            data.origins.any(Origins::SECRET) || data.origins.any(Origins::ENVIRONMENT) && whole;
        // Code that is only written serves an application: it sends the application's own files.
        let content = Origins::FILE | Origins::OUTPUT;
        let leaves = !self.scene.written
            && data.origins.any(content)
            && self.scene.know.hosts.host(&address).class == HostClass::External;
        // Clients work on the project's own files: somebody may have asked for that.
        let own = !private && leaves && self.scene.are_own(&data);
        if own {
            data.origins = data.origins.without(Origins::FILE) | Origins::OUTPUT;
        }
        if bound && private || leaves && (made_for || !own) {
            let actor = Actor::new(name, &self.evidence(start));
            self.scene.send(&actor, &address, &data)?;
        }
        Ok(())
    }
}
