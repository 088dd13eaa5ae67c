//! Members that are not called: fields of objects, entries of maps.

use super::postfix::MAX_NAME;
use super::{Arguments, Reader, constant, parent_of};
use crate::code::Language;
use crate::code::act;
use crate::code::functions::{Act, Role};
use crate::code::thing::{AbstractValue, Object, unknown_like};
use crate::scene::Fueled;
use crate::value::{HOLE, Value};

/// Folders above a path that are listed.
const MAX_PARENTS: usize = 16;

impl Reader<'_, '_, '_> {
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
        // What makes a function makes others of texts.
        if let (AbstractValue::Function(_), "constructor") = (thing, member) {
            return Ok(AbstractValue::Name("Function".to_owned()));
        }
        // `[].filter.constructor`, `''.__class__`: functions by way of their insides.
        if member == "constructor" || member.starts_with("__") {
            return Ok(AbstractValue::Name(format!("?.{member}")));
        }
        match thing {
            AbstractValue::Map(_) => Ok(thing.get(member).cloned().unwrap_or_default()),
            AbstractValue::Object(object) => self.field(thing, object, member, start),
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

    /// A field of what a function made.
    fn field(
        &mut self,
        thing: &AbstractValue,
        object: &Object,
        member: &str,
        start: usize,
    ) -> Fueled<AbstractValue> {
        let text = &object.text;
        let name = format!("{}.{member}", object.kind);
        let field = self.acts(&name).or_else(|| self.family(&name));
        if let Some(
            [
                Act {
                    role: Role::Constant,
                    word,
                    ..
                },
            ],
        ) = field
        {
            // A hole stands for what the object was made for.
            let mut value = constant(word);
            if text.is_known() && !text.text.is_empty() {
                value.text = value.text.replace(HOLE, &text.text);
            }
            return Ok(AbstractValue::value(value));
        }
        // Groovy's `file.text`
        if matches!(
            field,
            Some([Act {
                role: Role::Read | Role::Login,
                ..
            }])
        ) {
            return self.method(thing, member, Arguments::default(), start);
        }
        // `connection.info.password`
        if matches!(
            field,
            Some([Act {
                role: Role::Service,
                ..
            }])
        ) && act::gives_secret(member)
        {
            return self.method(thing, member, Arguments::default(), start);
        }
        if object.kind == "Path" && member == "parent" {
            let parent = parent_of(&text.text);
            return Ok(AbstractValue::object("Path", text.map(parent)));
        }
        if object.kind == "Path" && member == "parents" {
            self.scene.fuel.spend_on(MAX_PARENTS * text.text.len())?;
            let folders = std::iter::successors(Some(parent_of(&text.text)), |path| {
                Some(parent_of(path)).filter(|parent| parent != path)
            });
            let folders = folders.take(MAX_PARENTS);
            let folders = folders.map(|folder| AbstractValue::object("Path", text.map(folder)));
            return Ok(AbstractValue::List(folders.collect()));
        }
        if object.kind == "Entry" && matches!(member, "parentPath" | "name") {
            return Ok(AbstractValue::value(entry_part(text, member)));
        }
        if matches!(member, "name" | "path" | "as_posix" | "hostname") && object.kind != "Answer" {
            return Ok(AbstractValue::value(text.clone()));
        }
        if object.kind == "Socket" || object.kind == "Builder" {
            return Ok(thing.clone());
        }
        let data = unknown_like(&object.data);
        // A part of what an unlisted library made is of that library.
        let kind = if object.kind.contains("()") && name.len() < MAX_NAME {
            &name
        } else {
            "Answer"
        };
        let peer = object.peer.clone();
        Ok(AbstractValue::reaching(
            kind,
            unknown_like(text),
            data,
            peer,
        ))
    }
}

/// The folder or the name of an entry of a listing.
fn entry_part(path: &Value, member: &str) -> Value {
    match path.text.rsplit_once('/') {
        Some((folder, _)) if member == "parentPath" => path.map(folder),
        Some((_, name)) => path.map(name),
        None => path.clone(),
    }
}
