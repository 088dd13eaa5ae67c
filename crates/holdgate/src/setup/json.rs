//! Entries in settings files that are JSON with comments: put in and taken out as text, so that every
//! other byte stays.

use anyhow::{Context as _, bail};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};

/// What is put into a file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The members that lead to it.
    pub(super) path: &'static [&'static str],
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// An item of an array, which holds this command.
    Hook {
        item: CstInputValue,
        command: String,
    },
    /// A member that must not have another value.
    Text(String),
    /// A member with this number, if there is none.
    Number(u32),
}

/// An object with these members.
pub(super) fn object<const N: usize>(members: [(&str, CstInputValue); N]) -> CstInputValue {
    let own = members.map(|(name, value)| (name.to_owned(), value));
    CstInputValue::Object(own.into())
}

/// The same text with all entries. Those that are there already stay as they are.
pub(super) fn add(text: &str, entries: &[Entry]) -> anyhow::Result<String> {
    let root = read(text)?;
    for entry in entries {
        let mut place = root
            .object_value_or_create()
            .context("it is not an object")?;
        let (name, above) = entry.path.split_last().context("an entry has no name")?;
        for part in above {
            let next = place.object_value_or_create(part);
            place = next.with_context(|| format!("`{part}` is not an object"))?;
        }
        match &entry.what {
            What::Hook { item, command } => {
                let list = place.array_value_or_create(name);
                let list = list.with_context(|| format!("`{name}` is not a list"))?;
                if !list.elements().iter().any(|item| has(item, command)) {
                    list.ensure_multiline();
                    list.append(item.clone());
                }
            }
            What::Text(text) => match member_text(&place, name) {
                Some(there) if there == *text => {}
                Some(there) => bail!("`{}` is already `{there}`", entry.path.join(".")),
                None => drop(place.append(name, CstInputValue::String(text.clone()))),
            },
            What::Number(number) => {
                if place.get(name).is_none() {
                    place.append(name, CstInputValue::Number(number.to_string()));
                }
            }
        }
    }
    Ok(root.to_string())
}

/// The same text without the entries. What only leads to them goes too, unless `before` had it.
/// `None` if nothing is left of a file that was not there before.
pub(super) fn remove(
    text: &str,
    before: Option<&str>,
    entries: &[Entry],
    is_ours: &dyn Fn(&str) -> bool,
) -> anyhow::Result<Option<String>> {
    let root = read(text)?;
    let old = read(before.unwrap_or("{}"))?;
    let mut taken = false;
    for entry in entries {
        let Some((name, above)) = entry.path.split_last() else {
            continue;
        };
        let Some(place) = reach(&root, above) else {
            continue;
        };
        match &entry.what {
            What::Hook { .. } => {
                if let Some(list) = place.array_value(name) {
                    taken |= take_out(&list, is_ours);
                }
            }
            What::Text(text) => {
                if member_text(&place, name).as_ref() == Some(text)
                    && reach(&old, above).is_none_or(|old| old.get(name).is_none())
                    && let Some(member) = place.get(name)
                {
                    member.remove();
                    taken = true;
                }
            }
            What::Number(_) => {}
        }
    }
    if !taken {
        return Ok(Some(text.to_owned()));
    }
    for entry in entries {
        for depth in (1..=entry.path.len()).rev() {
            let (way, _) = entry.path.split_at(depth);
            prune(&root, &old, way);
        }
    }
    let numbers = entries.iter().filter(|e| matches!(e.what, What::Number(_)));
    let of_ours = |name: &str| numbers.clone().any(|entry| entry.path == [name]);
    let is_rest = |name: Option<String>| name.is_some_and(|name| of_ours(&name));
    let left = root.object_value().map(|top| top.properties());
    let left = left.unwrap_or_default();
    let empty = left.iter().all(|member| is_rest(member.decoded_name()));
    if before.is_none() && empty {
        return Ok(None);
    }
    Ok(Some(root.to_string()))
}

/// Whether all hooks among the entries are there.
pub(super) fn has_all(text: &str, entries: &[Entry]) -> bool {
    let Ok(root) = read(text) else {
        return false;
    };
    entries.iter().all(|entry| {
        let Some((name, above)) = entry.path.split_last() else {
            return false;
        };
        let place = reach(&root, above);
        place.is_some_and(|place| match &entry.what {
            What::Hook { command, .. } => place
                .array_value(name)
                .is_some_and(|list| list.elements().iter().any(|item| has(item, command))),
            What::Text(text) => member_text(&place, name).as_ref() == Some(text),
            What::Number(_) => place.get(name).is_some(),
        })
    })
}

/// Where a command stands in a list of groups: the number of its group, and its number in that.
pub(super) fn position(text: &str, path: &[&str], command: &str) -> Option<(usize, usize)> {
    let root = read(text).ok()?;
    let (name, above) = path.split_last()?;
    let groups = reach(&root, above)?.array_value(name)?.elements();
    groups.iter().enumerate().find_map(|(group, item)| {
        let inner = item.as_object()?.array_value("hooks")?.elements();
        let at = inner.iter().position(|item| has(item, command))?;
        Some((group, at))
    })
}

/// A text in a file, by the members that lead to it.
pub(super) fn value(text: &str, path: &[&str]) -> Option<String> {
    let root = read(text).ok()?;
    let (name, above) = path.split_last()?;
    let member = reach(&root, above)?.get(name)?.value()?;
    Some(member.to_string())
}

fn read(text: &str) -> anyhow::Result<CstRootNode> {
    CstRootNode::parse(text, &ParseOptions::default()).context("it is not valid JSON")
}

fn reach(root: &CstRootNode, path: &[&str]) -> Option<CstObject> {
    let mut place = root.object_value()?;
    for part in path {
        place = place.object_value(part)?;
    }
    Some(place)
}

fn member_text(place: &CstObject, name: &str) -> Option<String> {
    text_of(&place.get(name)?.value()?)
}

fn text_of(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}

fn command_of(item: &CstNode) -> Option<String> {
    text_of(&item.as_object()?.get("command")?.value()?)
}

fn inner(item: &CstNode) -> Option<CstArray> {
    item.as_object()?.array_value("hooks")
}

/// Whether an item, or one inside of it, holds this command.
fn has(item: &CstNode, command: &str) -> bool {
    command_of(item).as_deref() == Some(command)
        || inner(item).is_some_and(|inner| inner.elements().iter().any(|item| has(item, command)))
}

/// Takes our hooks out of a list. Returns whether there were any.
fn take_out(list: &CstArray, is_ours: &dyn Fn(&str) -> bool) -> bool {
    let mut taken = false;
    for item in list.elements() {
        if command_of(&item).is_some_and(|command| is_ours(&command)) {
            item.remove();
            taken = true;
        } else if let Some(inner) = inner(&item)
            && take_out(&inner, is_ours)
        {
            taken = true;
            if inner.elements().is_empty() {
                item.remove();
            }
        }
    }
    taken
}

/// Takes out an empty member that was not there before.
fn prune(root: &CstRootNode, old: &CstRootNode, way: &[&str]) {
    let Some((name, above)) = way.split_last() else {
        return;
    };
    let was_there = reach(old, above).is_some_and(|place| place.get(name).is_some());
    let Some(member) = reach(root, above).and_then(|place| place.get(name)) else {
        return;
    };
    let empty = member
        .array_value()
        .is_some_and(|list| list.elements().is_empty())
        || member
            .object_value()
            .is_some_and(|o| o.properties().is_empty());
    if empty && !was_there {
        member.remove();
    }
}
