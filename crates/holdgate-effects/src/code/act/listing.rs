//! Listings of folders. What is in a folder is not known, but where it is: `folder/*`.

use super::Call;
use crate::code::functions::Role;
use crate::code::read::Reader;
use crate::code::thing::AbstractValue;
use crate::effect::Actor;
use crate::language::Language;
use crate::path::PathClass;
use crate::scene::{ARGUMENTS, Fueled};
use crate::tag::Tag;
use crate::value::{Origins, Value};

impl Reader<'_, '_, '_> {
    /// What a listing of a folder yields.
    pub(super) fn lists(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let pattern = self.value(call, 1)?;
        let mut entries = Vec::new();
        for folder in self.values(call, 0)? {
            let folder = if folder.text.is_empty() {
                Value::known(".")
            } else {
                folder
            };
            let actor = call.actor.and(Tag::List);
            self.scene.read(&actor, &folder)?;
            let below = |what: &str| {
                let folder_text = folder.text.trim_end_matches('/');
                folder.map(format!("{folder_text}/{what}"))
            };
            let path = |value: Value| match call.receiver {
                AbstractValue::Object(object) if object.kind == "Path" => {
                    AbstractValue::object("Path", value)
                }
                _ => AbstractValue::object("Entry", value),
            };
            let any = || AbstractValue::list(vec![AbstractValue::text("*")]);
            // Most of what is in a home is hidden, and a listing shows it, other than a glob.
            let hidden = self.scene.place(&folder).is(PathClass::HomeRoot);
            let with_hidden = |shown: AbstractValue, hides: AbstractValue| {
                if hidden {
                    AbstractValue::any(vec![shown, hides])
                } else {
                    shown
                }
            };
            entries.push(match call.act.role {
                // With their types they are more than names.
                Role::Names if call.arguments.positional.len() > 1 => {
                    with_hidden(path(below("*")), path(below(".*")))
                }
                Role::Names => with_hidden(AbstractValue::text("*"), AbstractValue::text(".*")),
                Role::Below if pattern.is_known() && !pattern.text.is_empty() => {
                    path(below(&format!("**/{}", pattern.text)))
                }
                Role::Below => path(below("**")),
                Role::Walk => {
                    AbstractValue::list(vec![AbstractValue::value(below("**")), any(), any()])
                }
                Role::Matches => path(folder.clone()),
                // `Path.glob` has a pattern.
                _ if pattern.is_known() && !pattern.text.is_empty() => path(below(&pattern.text)),
                _ => with_hidden(path(below("*")), path(below(".*"))),
            });
        }
        if entries.is_empty() {
            entries.push(AbstractValue::text("*"));
        }
        Ok(AbstractValue::list(entries))
    }

    /// `@ARGV = 'file'`: what `<>` reads.
    pub(in crate::code) fn reads_later(&mut self, thing: &AbstractValue) -> Fueled {
        let actor = Actor::new(self.language.word(), "@ARGV");
        for one in thing.items().unwrap_or(thing.each()).iter().take(64) {
            let path = self.value_of(one)?;
            if !path.text.is_empty() && !path.is_blank() {
                self.scene.read(&actor, &path)?;
            }
        }
        Ok(())
    }

    /// The words that the program was started with, as far as they are known.
    pub(in crate::code) fn command_line(&self) -> AbstractValue {
        let Some(words) = self.scene.variable(ARGUMENTS) else {
            return AbstractValue::value(Value::unknown(Origins::UNKNOWN));
        };
        // In Perl, Ruby and Lua the name of the script is no part of them.
        let before: &[&str] = match self.language {
            Language::Python | Language::Php => &["-"],
            Language::JavaScript => &["node"],
            _ => &[],
        };
        let before = before.iter().map(|word| AbstractValue::text(*word));
        let words = words.iter().cloned().map(AbstractValue::value);
        AbstractValue::List(before.chain(words).collect())
    }
}
