//! Hosts: what is asked of them, and what leaves for them.

use super::{Fueled, Scene};
use crate::effect::{Actor, Effect, Kind};
use crate::path::PathClass;
use crate::tag::Tag;
use crate::value::{Origins, Value};

impl Scene<'_> {
    /// Something is asked of a host. What the URL itself carries is data that leaves.
    pub(crate) fn fetch(&mut self, actor: &Actor, url: &Value) -> Fueled<Value> {
        if let Some(command) = url.text.strip_prefix("ext::") {
            // git runs what such an address says.
            return self.shell(actor, &url.map(command.replace("% ", " ")));
        }
        if let Some(path) = url.text.strip_prefix("file://") {
            return self.read(actor, &Value::known(path));
        }
        let host = self.know.hosts.host(url);
        // The whole address: a known installer is a path on a host.
        let source = if url.is_known() {
            url.text.as_str()
        } else {
            &host.name
        };
        let answer = Value::unknown(Origins::FETCHED).with_source(source);
        let mut carried = Origins::SECRET | Origins::FILE | Origins::ENVIRONMENT;
        if actor.is(Tag::Dns) {
            // A name is looked up at somebody's server: whatever it holds arrives there.
            carried |= Origins::OUTPUT;
        }
        if url.origins.any(carried) {
            let effect = actor
                .does(Kind::Send)
                .with(host.clone())
                .about(&url.text)
                .of(url);
            let effect = self.tag_by_source(effect, url);
            self.emit(effect)?;
        }
        self.emit(actor.does(Kind::Fetch).with(host).about(&url.text))?;
        Ok(answer)
    }

    /// A connection to a host, or what is given one: a shell.
    pub(crate) fn reaches(&mut self, actor: &Actor, kind: Kind, host: &Value) -> Fueled {
        let place = self.know.hosts.host(host);
        self.emit(actor.does(kind).with(place).about(&host.text))
    }

    /// Data leaves for a host.
    pub(crate) fn send(&mut self, actor: &Actor, url: &Value, data: &Value) -> Fueled<Value> {
        let host = self.know.hosts.host(url);
        let answer = Value::unknown(Origins::FETCHED).with_source(&host.name);
        let effect = actor.does(Kind::Send).with(host).about(&url.text).of(data);
        let effect = self.tag_by_source(effect, data);
        self.emit(effect)?;
        Ok(answer)
    }

    /// Whose files the data came from.
    fn tag_by_source(&self, mut effect: Effect, data: &Value) -> Effect {
        if data.sources.iter().any(|s| &**s == "environment") {
            effect = effect.tagged(Tag::WholeEnvironment);
        }
        for source in data.sources.iter().filter(|s| s.starts_with('/')) {
            let place = self.place(&Value::known(source.to_string()));
            let own = [
                PathClass::Project,
                PathClass::Temp,
                PathClass::Cache,
                PathClass::Workspace,
            ];
            if place.is(PathClass::Generated) {
                effect = effect.tagged(Tag::BuildOutput);
            }
            if own.iter().any(|class| place.is(*class)) {
                effect = effect.tagged(Tag::ProjectFile);
            } else if place.is(PathClass::System) {
                effect = effect.tagged(Tag::SystemFile);
            } else if place.is(PathClass::Home) {
                effect = effect.tagged(Tag::PrivateFile);
            }
        }
        effect
    }
}
