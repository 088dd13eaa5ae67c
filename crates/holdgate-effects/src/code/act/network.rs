//! What code asks of hosts, sends to them, and whether it gives them a shell.

use super::Call;
use crate::code::lex::Kind as TokenKind;
use crate::code::read::Reader;
use crate::code::thing::AbstractValue;
use crate::effect::{Actor, Kind};
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{HOLE_STR, Origins, Value};

/// What is needed to see a remote shell or a fork bomb once all is read.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are facts that are noted one by one"
)]
#[derive(Debug, Default)]
pub(in crate::code) struct Network {
    /// The host that a raw connection goes to.
    pub(in crate::code) host: Option<Value>,
    pub(in crate::code) connected: bool,
    pub(in crate::code) listening: bool,
    /// A shell was started that reads its commands from somewhere.
    pub(in crate::code) shell: bool,
    /// Any program was started.
    pub(in crate::code) runs: bool,
    /// What came over the network was run.
    pub(in crate::code) runs_received: bool,
    /// Standard streams were tied to something else.
    pub(in crate::code) redirected: bool,
    pub(in crate::code) forks: bool,
    pub(in crate::code) endless: bool,
}

impl Reader<'_, '_, '_> {
    pub(super) fn fetches(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let mut answer = Value::default();
        for url in self.values(call, 0)? {
            if !url.text.is_empty() {
                answer = self.scene.fetch(&call.actor, &url)?;
            }
        }
        Ok(answer_of(answer))
    }

    pub(super) fn downloads(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let to = self.value(call, 1)?;
        let mut answer = Value::default();
        for url in self.values(call, 0)? {
            answer = self.scene.fetch(&call.actor, &url)?;
            self.scene.write(&call.actor, &to, &answer, false)?;
        }
        Ok(answer_of(answer))
    }

    pub(super) fn sends(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let data = self.data(call)?;
        let mut answer = Value::default();
        for url in self.values(call, 0)? {
            answer = self.scene.send(&call.actor, &url, &data)?;
        }
        Ok(answer_of(answer))
    }

    pub(super) fn connects_to(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let address = call.one(0).unwrap_or_default();
        self.connects(call, &address)
    }

    pub(super) fn connects_to_pair(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        match call.one(0) {
            Some(address @ AbstractValue::List(_))
                if address.items().is_some_and(|i| i.len() == 2) =>
            {
                self.connects(call, &address)
            }
            // `socket.connect('tcp://host:port')`
            Some(AbstractValue::Text(address)) if address.text.starts_with("tcp://") => {
                self.connects(call, &AbstractValue::value((*address).clone()))
            }
            _ => Ok(AbstractValue::Nothing),
        }
    }

    pub(super) fn names_host(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let host = self.value(call, 0)?;
        if !host.text.is_empty() {
            self.network.host = Some(host.clone());
        }
        Ok(AbstractValue::value(host))
    }

    pub(super) fn listens(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        self.network.listening = true;
        self.scene.emit(call.actor.does(Kind::Listen))?;
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn receives(&mut self, call: &Call<'_>) -> AbstractValue {
        let from = call.one(0).unwrap_or_default();
        if let AbstractValue::Object(object) = &from
            && object.kind != "Socket"
            && !(self.network.connected && object.kind.ends_with(')'))
            && object.data != Value::default()
        {
            return AbstractValue::value(object.data.clone());
        }
        let mut received = Value::unknown(Origins::FETCHED);
        if let Some(host) = &self.network.host {
            received.add_source(&host.text);
        }
        AbstractValue::value(received)
    }

    pub(super) fn sends_data_over(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let data = self.data_at(call, 0)?;
        self.sends_over(call, &data)
    }

    pub(super) fn requests(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let first = call.one(0).unwrap_or_default();
        let mut data = self.data(call)?;
        if let AbstractValue::Object(object) = &first
            && matches!(object.kind.as_str(), "Request")
        {
            data.push(&object.data);
        }
        let method = match call.named("method") {
            Some(thing) => self.value_of(&thing)?.text.to_ascii_uppercase(),
            None => String::new(),
        };
        let sends = !data.text.is_empty() || matches!(method.as_str(), "POST" | "PUT" | "PATCH");
        let mut answer = Value::default();
        let mut urls = Vec::new();
        for one in first.each() {
            urls.push(match one {
                AbstractValue::Object(object) => object.text.clone(),
                other => self.value_of(other)?,
            });
        }
        for url in urls.into_iter().filter(|url| !url.text.is_empty()) {
            answer = if sends {
                self.scene.send(&call.actor, &url, &data)?
            } else {
                self.scene.fetch(&call.actor, &url)?
            };
        }
        Ok(answer_of(answer))
    }

    /// What is sent: the second argument of the role and all that follow.
    fn data(&mut self, call: &Call<'_>) -> Fueled<Value> {
        let mut data = Value::default();
        for index in 1..call.act.arguments.len() {
            data.push(&self.data_at(call, index)?);
        }
        // Options can say more than one of `data`, `json`, `files`.
        for name in ["data", "json", "files", "body", "content"] {
            if let Some(thing) = call.named(name) {
                data.taint(&self.value_of(&thing)?);
            }
        }
        Ok(data)
    }

    fn data_at(&mut self, call: &Call<'_>, index: usize) -> Fueled<Value> {
        let mut data = Value::default();
        for thing in call.all(index) {
            for one in thing.each() {
                data.push(&self.value_of(one)?);
            }
        }
        Ok(data)
    }

    fn connects(&mut self, call: &Call<'_>, address: &AbstractValue) -> Fueled<AbstractValue> {
        let mut host = match address {
            AbstractValue::List(items) => match items.first() {
                Some(host) => self.value_of(host)?,
                None => Value::default(),
            },
            // `net.connect(4444)` and `net.connect(port, host)`.
            AbstractValue::Number(_) => Value::known("localhost"),
            AbstractValue::Nothing => Value::default(),
            other => self.value_of(other)?,
        };
        if host.text.is_empty() || host.is_blank() {
            host = self.network.host.clone().unwrap_or(host);
        }
        if host.text.is_empty() {
            HOLE_STR.clone_into(&mut host.text);
        }
        self.network.connected = true;
        self.network.host = Some(host.clone());
        self.scene.reaches(&call.actor, Kind::Connect, &host)?;
        Ok(AbstractValue::object("Socket", host))
    }

    /// Data goes over an open connection.
    pub(super) fn sends_over(&mut self, call: &Call<'_>, data: &Value) -> Fueled<AbstractValue> {
        let worth = Origins::SECRET | Origins::FILE | Origins::ENVIRONMENT | Origins::OUTPUT;
        if let Some(host) = self.network.host.clone()
            && data.origins.any(worth)
        {
            self.scene.send(&call.actor, &host, data)?;
        }
        Ok(AbstractValue::Nothing)
    }

    /// What shows only once all is read.
    pub(in crate::code) fn finish(&mut self) -> Fueled {
        let network = &self.network;
        let open = network.connected || network.listening;
        let tied = network.redirected && network.runs;
        let remote = open && (network.shell || network.runs_received || tied);
        let bomb = network.forks && network.endless && !self.waits();
        let actor = Actor::new(self.language.word(), &self.evidence(0));
        if remote {
            match &self.network.host {
                Some(host) => self.scene.reaches(&actor, Kind::RemoteShell, host)?,
                None => self.scene.emit(actor.does(Kind::RemoteShell))?,
            }
        }
        if bomb {
            let bomb = actor.does(Kind::Exhaust).tagged(Tag::ForkBomb);
            self.scene.emit(bomb.about("fork"))?;
        }
        Ok(())
    }

    /// Whether the code has anything that keeps a loop with `fork` from growing without end.
    fn waits(&self) -> bool {
        self.has_token(|token| {
            token.kind == TokenKind::Name
                && matches!(
                    token.text,
                    "wait" | "waitpid" | "accept" | "exit" | "_exit" | "break" | "sleep" | "last"
                )
        })
    }
}

fn answer_of(answer: Value) -> AbstractValue {
    if answer.text.is_empty() {
        return AbstractValue::Nothing;
    }
    AbstractValue::holding("Answer", answer.clone(), answer)
}
