//! Arrays, by number and by text.

use super::Shell;
use super::syntax::Word;
use crate::scene::Fueled;
use crate::value::{Origins, Value};

/// Elements of an array.
pub(super) const MAX_ELEMENTS: usize = 256;
/// Separates an array's name from its values, which are kept apart from the alternatives.
const ARRAY: &str = "[]";
/// Stands in an array where it has no element: no text of a shell can hold it.
const GAP: &str = "\0";
/// Marks the name of an array whose indices are texts: `declare -A`.
const MAP: &str = "[=]";

impl Shell<'_, '_> {
    pub(super) fn set_array(&mut self, name: &str, values: Vec<Value>, append: bool) {
        let key = format!("{name}{ARRAY}");
        let mut all = match self.scene.variables.remove(&key) {
            Some(old) if append => old,
            _ => Vec::new(),
        };
        for value in values {
            // `[2]=word` says where it goes.
            let placed = value
                .text
                .strip_prefix('[')
                .and_then(|t| t.split_once("]="));
            let at = placed
                .and_then(|(index, _)| index.parse::<usize>().ok())
                .filter(|at| *at < MAX_ELEMENTS);
            match (at, placed) {
                (Some(at), Some((_, text))) => {
                    let text = text.to_owned();
                    if all.len() <= at {
                        all.resize(at + 1, Value::known(GAP));
                    }
                    if let Some(slot) = all.get_mut(at) {
                        *slot = value.map(text);
                    }
                }
                (None, Some((index, text))) if !index.is_empty() => {
                    let value = value.map(text);
                    self.scene
                        .variables
                        .insert(format!("{name}[{index}]"), vec![value]);
                }
                _ => all.push(value),
            }
        }
        all.truncate(MAX_ELEMENTS);
        if let Some(first) = all.first().filter(|v| v.text != GAP) {
            self.scene
                .variables
                .insert(name.to_owned(), vec![first.clone()]);
        }
        self.scene.variables.insert(key, all);
    }

    /// `declare -A NAME`
    pub(super) fn set_map(&mut self, name: &str) {
        self.scene
            .variables
            .insert(format!("{name}{MAP}"), Vec::new());
    }

    pub(super) fn is_map(&self, name: &str) -> bool {
        self.scene.variables.contains_key(&format!("{name}{MAP}"))
    }

    /// The number that `index` comes to, unless `name` is indexed by texts.
    pub(super) fn counted(&mut self, name: &str, index: Value) -> Fueled<Value> {
        if self.is_map(name) || super::number::parse(&index.text).is_some() {
            return Ok(index);
        }
        let number = self.arithmetic(&Word::quoted(index.text.clone()))?;
        Ok(if number.is_known() { number } else { index })
    }

    /// `NAME[index]=value`
    pub(super) fn set_element(&mut self, name: &str, index: &str, value: Value) {
        let number = super::number::parse(index.trim()).and_then(|n| usize::try_from(n).ok());
        match number.filter(|n| *n < MAX_ELEMENTS) {
            Some(number) => {
                let placed = value.map(format!("[{number}]={}", value.text));
                self.set_array(name, vec![placed], true);
            }
            None => self.assign(&format!("{name}[{index}]"), vec![value]),
        }
    }

    /// One element of an array.
    pub(super) fn element(&mut self, name: &str, index: &str) -> Option<Value> {
        let key = format!("{name}{ARRAY}");
        if let Some(value) = self.value_of(&format!("{name}[{index}]")) {
            return Some(value);
        }
        let Some(values) = self.scene.variables.get(&key) else {
            return if index == "0" {
                self.value_of(name)
            } else {
                None
            };
        };
        let number = super::number::parse(index.trim())?;
        let number = if number < 0 {
            number + i64::try_from(values.len()).ok()?
        } else {
            number
        };
        let value = values.get(usize::try_from(number).ok()?).cloned();
        value.filter(|v| v.text != GAP)
    }

    /// `${!a[@]}`
    pub(super) fn indices(&mut self, name: &str) -> Vec<Value> {
        let count = match self.scene.variables.get(&format!("{name}{ARRAY}")) {
            Some(values) => {
                let set = values.iter().enumerate().filter(|(_, v)| v.text != GAP);
                return set.map(|(at, _)| Value::known(at.to_string())).collect();
            }
            None => self.all_values(name).len(),
        };
        (0..count).map(|at| Value::known(at.to_string())).collect()
    }

    pub(super) fn unset_array(&mut self, name: &str) {
        for mark in [ARRAY, MAP] {
            self.scene.variables.remove(&format!("{name}{mark}"));
        }
    }

    /// `unset 'a[1]'`
    pub(super) fn unset_element(&mut self, name: &str, index: &str) {
        let key = format!("{name}{ARRAY}");
        let at = index.parse::<usize>().ok();
        if let Some(values) = self.scene.variables.get_mut(&key)
            && let Some(slot) = at.and_then(|at| values.get_mut(at))
        {
            *slot = Value::known(GAP);
        }
    }

    /// Whether something in the call sets it.
    pub(super) fn is_set(&mut self, name: &str) -> bool {
        let has_arguments = !self.arguments.is_empty() || self.calls > 0;
        let key = format!("{name}{ARRAY}");
        matches!(name, "@" | "*") && has_arguments
            || self.scene.variables.contains_key(&key)
            || self.value_of(name).is_some()
    }

    /// All elements of an array, or all arguments.
    pub(super) fn all_values(&mut self, name: &str) -> Vec<Value> {
        if matches!(name, "@" | "*") {
            // Whoever runs a script gives it arguments; a command that is typed has none.
            if self.arguments.is_empty() && self.calls == 0 && self.scene.written {
                return vec![Value::unknown(Origins::UNKNOWN)];
            }
            return self.arguments.clone();
        }
        if let Some(values) = self.scene.variables.get(&format!("{name}{ARRAY}")) {
            return values.iter().filter(|v| v.text != GAP).cloned().collect();
        }
        let value = self.value_of(name).unwrap_or_else(|| self.default_of(name));
        vec![value]
    }
}
