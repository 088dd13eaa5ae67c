//! Families of libraries: what the options of container engines let a container reach, keys that are
//! typed in a person's place, tokens that are taken out of a store.

use super::Call;
use crate::code::read::Reader;
use crate::code::thing::AbstractValue;
use crate::effect::{Actor, Kind};
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::Value;

/// Options in options.
const MAX_DEPTH: u32 = 5;
/// Bytes of a command that are kept.
const MAX_EVIDENCE: usize = 8 << 10;
/// Options of one call that are looked at.
const MAX_OPTIONS: usize = 64;

impl Reader<'_, '_, '_> {
    pub(super) fn makes_container(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        for (name, thing) in call.arguments.named.iter().take(MAX_OPTIONS) {
            self.option(&call.actor, name, thing, MAX_DEPTH)?;
        }
        // `Mount(target, source)`, `V1HostPathVolumeSource(path)`
        let source = match &*call.actor.program {
            "Mount" => call.arguments.positional.get(1).cloned(),
            name if name.contains("HostPath") => {
                let first = call.arguments.positional.first().cloned();
                call.named("path").or(first)
            }
            _ => None,
        };
        if let Some(source) = source {
            self.mounts(&call.actor, &source, MAX_DEPTH)?;
        }
        for thing in &call.arguments.positional {
            self.options(&call.actor, thing, MAX_DEPTH)?;
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn types(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let keys = match call.arguments.positional.first() {
            Some(thing) => self.value_of(thing)?,
            None => Value::default(),
        };
        let effect = call.actor.does(Kind::System).tagged(Tag::Keystrokes);
        self.scene.emit(effect.about(&keys.text))?;
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn observes(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let effect = call.actor.does(Kind::System).tagged(Tag::Observes);
        self.scene.emit(effect.about(&call.actor.program))?;
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn kills_listed(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let effect = call.actor.does(Kind::Kill).tagged(Tag::ByName);
        let mut effect = effect.tagged(Tag::FromList).about(&call.actor.program);
        // The code names the processes that it is after somewhere.
        effect.evidence = crate::text::beginning(&self.scene.command, MAX_EVIDENCE).into();
        self.scene.emit(effect)?;
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn takes_token(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let store = call.actor.does(Kind::Read).tagged(Tag::SecretStore);
        self.scene.emit(store)?;
        Ok(AbstractValue::Nothing)
    }

    /// The options in a thing.
    fn options(&mut self, actor: &Actor, thing: &AbstractValue, depth: u32) -> Fueled {
        if depth == 0 {
            return Ok(());
        }
        self.scene.fuel.spend(1)?;
        match thing {
            AbstractValue::Map(members) => {
                for (name, thing) in members.iter().take(MAX_OPTIONS) {
                    self.option(actor, name, thing, depth)?;
                }
            }
            AbstractValue::List(items) => {
                for item in items.iter().take(MAX_OPTIONS) {
                    self.options(actor, item, depth - 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// One option, by its name: `cap_add`, `CapAdd` and `capAdd` are the same.
    fn option(&mut self, actor: &Actor, name: &str, thing: &AbstractValue, depth: u32) -> Fueled {
        let plain = name.replace(['_', '-'], "").to_ascii_lowercase();
        let container = |tag: Tag| actor.does(Kind::Container).tagged(tag);
        let is_host = || thing.known() == Some("host");
        match plain.as_str() {
            "privileged" if thing.number() == Some(1) => {
                self.scene.emit(container(Tag::Privileged))
            }
            "pidmode" | "pid" if is_host() => self.scene.emit(container(Tag::HostPid)),
            "hostpid" if thing.number() == Some(1) => self.scene.emit(container(Tag::HostPid)),
            "ipcmode" | "usernsmode" | "cgroupnsmode" | "utsmode" if is_host() => {
                self.scene.emit(container(Tag::HostNamespace))
            }
            "capadd" | "securityopt" => {
                let tag = if plain == "capadd" {
                    Tag::Capability
                } else {
                    Tag::SecurityOpt
                };
                for one in thing.items().unwrap_or(&[]).iter().take(MAX_OPTIONS) {
                    let text = self.value_of(one)?.text;
                    self.scene.emit(container(tag).about(&text))?;
                }
                Ok(())
            }
            "volumes" | "binds" | "mounts" | "hostpath" | "source" | "src" => {
                self.mounts(actor, thing, depth)
            }
            _ => self.options(actor, thing, depth - 1),
        }
    }

    /// `{'/': {'bind': '/m'}}`, `['/:/m']`, `[{Type: 'bind', Source: '/'}]`, `{path: '/'}`.
    fn mounts(&mut self, actor: &Actor, thing: &AbstractValue, depth: u32) -> Fueled {
        match thing {
            AbstractValue::Text(text) => self.scene.mounts_folder(actor, text),
            AbstractValue::List(items) => {
                for item in items.iter().take(MAX_OPTIONS) {
                    match item {
                        AbstractValue::Text(text) => self.scene.mounts_folder(actor, text)?,
                        // `('/', '/m')`
                        AbstractValue::List(pair) => {
                            if let Some(AbstractValue::Text(text)) = pair.first() {
                                self.scene.mounts_folder(actor, text)?;
                            }
                        }
                        other => self.options(actor, other, depth - 1)?,
                    }
                }
                Ok(())
            }
            AbstractValue::Map(members) => {
                for (name, options) in members.iter().take(MAX_OPTIONS) {
                    let read_only = match options {
                        AbstractValue::Text(text) if name == "path" => {
                            self.scene.mounts_folder(actor, text)?;
                            continue;
                        }
                        other => other.get("mode").and_then(AbstractValue::known) == Some("ro"),
                    };
                    let end = if read_only { ":ro" } else { "" };
                    let mount = Value::known(format!("{name}:{name}{end}"));
                    self.scene.mounts_folder(actor, &mount)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
