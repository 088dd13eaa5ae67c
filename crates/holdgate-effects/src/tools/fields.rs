//! The arguments of a call, by their roles.

use super::{Role, Roles, ToolTable};
use crate::decode;
use crate::effect::Actor;
use crate::json::Json;
use crate::scene::{Fueled, Scene};
use crate::value::Value;

/// Objects within objects that are looked into for arguments.
const MAX_ENVELOPES: u32 = 3;

/// A call's name and arguments, and who acts.
pub(super) struct Call<'j> {
    pub(super) name: &'j str,
    pub(super) input: &'j Json<'j>,
    pub(super) fields: Fields<'j>,
    pub(super) actor: Actor,
}

/// The arguments that have a role.
pub(super) struct Fields<'j> {
    members: Vec<(Roles, &'j str, &'j Json<'j>)>,
}

impl<'j> Fields<'j> {
    pub(super) fn of(scene: &Scene<'_>, input: &'j Json<'j>) -> Fueled<Self> {
        let mut members = Vec::new();
        collect(scene, &scene.know.tools, input, MAX_ENVELOPES, &mut members)?;
        Ok(Fields { members })
    }

    /// All arguments of a role, with their names.
    pub(super) fn all(&self, role: Role) -> impl Iterator<Item = (&'j str, &'j Json<'j>)> {
        let of_role = move |(roles, key, value): &(Roles, &'j str, &'j Json<'j>)| {
            roles.has(role).then_some((*key, *value))
        };
        self.members.iter().filter_map(of_role)
    }

    /// The texts of a role: strings, and those in lists.
    pub(super) fn texts(&self, role: Role) -> Vec<&'j str> {
        let mut texts = Vec::new();
        for (_, value) in self.all(role) {
            push_texts(value, &mut texts);
        }
        texts
    }

    /// The paths: what is a URL of something else than a file is none.
    pub(super) fn paths(&self) -> Vec<Value> {
        let texts = self.texts(Role::Path).into_iter();
        texts.flat_map(path_readings).collect()
    }

    /// The first text of a role.
    pub(super) fn text(&self, role: Role) -> Option<&'j str> {
        self.texts(role).into_iter().find(|text| !text.is_empty())
    }

    /// The objects in lists of parts.
    pub(super) fn items(&self) -> impl Iterator<Item = &'j Json<'j>> {
        self.all(Role::Items)
            .filter_map(|(_, value)| value.as_array())
            .flatten()
            .filter(|item| item.as_object().is_some())
    }

    /// Whether something is turned on, in any of the ways that clients take.
    pub(super) fn is_on(&self, role: Role) -> bool {
        self.all(role).any(|(_, value)| match value {
            Json::Null => false,
            Json::Bool(on) => *on,
            Json::Number(number) => number != "0",
            Json::String(text) => !matches!(
                text.trim().to_ascii_lowercase().as_str(),
                "" | "false" | "0" | "no" | "none" | "null" | "default" | "use_default"
            ),
            Json::Array(items) => !items.is_empty(),
            Json::Object(members) => !members.is_empty(),
        })
    }
}

fn collect<'j>(
    scene: &Scene<'_>,
    table: &ToolTable,
    input: &'j Json<'j>,
    depth: u32,
    members: &mut Vec<(Roles, &'j str, &'j Json<'j>)>,
) -> Fueled {
    for (key, value) in input.as_object().unwrap_or_default() {
        scene.fuel.spend_on(key.len())?;
        let roles = table.roles_or_guess(key);
        let is_envelope = roles.has(Role::Envelope) || roles == Roles::default();
        if is_envelope && value.as_object().is_some() && depth > 0 {
            collect(scene, table, value, depth - 1, members)?;
        }
        if roles != Roles::default() {
            members.push((roles, key, value));
        }
    }
    Ok(())
}

fn push_texts<'j>(value: &'j Json<'j>, texts: &mut Vec<&'j str>) {
    match value {
        Json::String(text) | Json::Number(text) => texts.push(text),
        Json::Array(items) => {
            for item in items {
                if let Json::String(text) | Json::Number(text) = item {
                    texts.push(text);
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Object(_) => {}
    }
}

/// The paths that a text may stand for: as it is, and as servers decode it.
pub(super) fn path_readings(text: &str) -> Vec<Value> {
    let text = text.trim();
    if let Some(path) = text.strip_prefix("file:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return vec![Value::known(decode::percent(path))];
    }
    if text.is_empty() || text.contains("://") {
        return Vec::new();
    }
    let mut readings = vec![Value::known(text)];
    if text.contains('%') {
        let plain = decode::percent(text);
        if plain != text {
            readings.push(Value::known(plain));
        }
    }
    if text.contains('\\') && !text.contains('/') {
        readings.push(Value::known(text.replace('\\', "/")));
    }
    readings
}

/// A string somewhere in a call.
pub(super) struct Leaf<'j> {
    /// The argument, or the member of one, that it stands in.
    pub(super) key: &'j str,
    pub(super) roles: Roles,
    pub(super) text: &'j str,
    /// It stands in an object of a list, where no known tool looks for arguments.
    pub(super) deep: bool,
}

/// All strings of a call, however deep.
pub(super) fn leaves<'j>(scene: &Scene<'_>, input: &'j Json<'j>) -> Fueled<Vec<Leaf<'j>>> {
    let mut found = Vec::new();
    // The reader of JSON bounds the depth.
    let mut open = vec![("", Roles::default(), input, false)];
    while let Some((key, roles, value, deep)) = open.pop() {
        scene.fuel.spend(4)?;
        match value {
            Json::String(text) => found.push(Leaf {
                key,
                roles,
                text,
                deep,
            }),
            Json::Array(items) => {
                let is_object = |item: &Json<'_>| item.as_object().is_some();
                let below = |item| {
                    let hidden = is_object(item) && !roles.has(Role::Items);
                    (key, roles, item, deep || hidden)
                };
                open.extend(items.iter().rev().map(below));
            }
            Json::Object(members) => {
                for (key, value) in members.iter().rev() {
                    scene.fuel.spend_on(key.len())?;
                    open.push((key, scene.know.tools.roles_or_guess(key), value, deep));
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    Ok(found)
}

/// A list that is all words.
pub(super) fn list_of_words(value: &Json<'_>) -> Option<Vec<Value>> {
    let items = value.as_array()?;
    items
        .iter()
        .map(|item| match item {
            Json::String(text) | Json::Number(text) => Some(Value::known(text.as_ref())),
            Json::Bool(on) => Some(Value::known(on.to_string())),
            Json::Null | Json::Array(_) | Json::Object(_) => None,
        })
        .collect()
}
