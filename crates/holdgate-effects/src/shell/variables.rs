//! Variables: what they hold, and what they may hold after something uncertain.

use super::Shell;
use super::array::MAX_ELEMENTS;
use super::syntax::Assignment;
use crate::effect::Actor;
use crate::scene::Fueled;
use crate::value::{Origins, Value};

/// Values that one variable may have at a time.
const MAX_ALTERNATIVES: usize = 8;

impl Shell<'_, '_> {
    /// `NAME=value`, for this command or from here on.
    pub(super) fn assignment(&mut self, assignment: &Assignment, for_command: bool) -> Fueled {
        self.scene.fuel.spend(6)?;
        if assignment.array {
            let mut values = self.expand_all(&assignment.values)?;
            values.truncate(MAX_ELEMENTS);
            self.set_array(&assignment.name, values, assignment.append);
            return Ok(());
        }
        let mut value = match assignment.values.first() {
            Some(word) => self.expand_assigned(word)?,
            None => Value::default(),
        };
        if assignment.append
            && assignment.index.is_none()
            && let Some(old) = self.value_of(&assignment.name)
        {
            let mut whole = old;
            whole.push(&value);
            self.scene.fuel.spend_on(whole.text.len())?;
            value = whole;
        }
        if let Some(index) = &assignment.index {
            let index = self.expand_one(index)?;
            self.hidden_in_numbers(&index.text)?;
            let index = self.counted(&assignment.name, index)?;
            if assignment.append
                && let Some(mut whole) = self.element(&assignment.name, &index.text)
            {
                whole.push(&value);
                self.scene.fuel.spend_on(whole.text.len())?;
                value = whole;
            }
            self.set_element(&assignment.name, &index.text, value);
            return Ok(());
        }
        if for_command || crate::language::variables::steers(&assignment.name) {
            let shown = crate::json::shorten(&value.text, 120);
            let actor = Actor::new("shell", &format!("{}={shown}", assignment.name));
            self.note_old(&assignment.name);
            return self.scene.set_environment(&actor, &assignment.name, &value);
        }
        self.assign(&assignment.name, vec![value]);
        Ok(())
    }

    /// Sets a variable from here on.
    pub(super) fn assign(&mut self, name: &str, values: Vec<Value>) {
        self.note_old(name);
        self.scene.variables.insert(name.to_owned(), values);
    }

    fn note_old(&mut self, name: &str) {
        if self.maybe > 0
            && let Some(old) = self.scene.variables.get(name)
        {
            self.before.push((name.to_owned(), old.clone()));
        }
    }

    /// After something uncertain a variable may still hold what it held before.
    pub(super) fn merge(&mut self, name: String, old: Vec<Value>) {
        let values = self.scene.variables.entry(name).or_default();
        for value in old {
            if values.len() < MAX_ALTERNATIVES && !values.contains(&value) {
                values.push(value);
            }
        }
    }

    /// The value that counts now; `None` if nothing in the call sets it.
    pub(super) fn value_of(&mut self, name: &str) -> Option<Value> {
        if let Ok(number) = name.parse::<usize>() {
            return match number {
                0 => Some(self.zeroth.clone().unwrap_or_else(|| Value::known("bash"))),
                _ if self.arguments.is_empty() && self.calls == 0 => None,
                _ => Some(self.arguments.get(number - 1).cloned().unwrap_or_default()),
            };
        }
        if name == "#" && (!self.arguments.is_empty() || self.calls > 0) {
            return Some(Value::known(self.arguments.len().to_string()));
        }
        let name = self.references.get(name).map_or(name, String::as_str);
        let Some(values) = self.scene.variables.get(name) else {
            // An earlier call has set it, if its shell is still there.
            let values = self.scene.world.pending.variables.get(name)?;
            let count = values.len() + 1;
            self.most = self.most.max(count);
            return values.get(self.pick % count).cloned();
        };
        self.most = self.most.max(values.len());
        let count = values.len().max(1);
        // The newest value first, then what it may have been before.
        values.get(self.pick % count).cloned()
    }

    /// What is usual outside of the call.
    pub(super) fn default_of(&self, name: &str) -> Value {
        let name = self.references.get(name).map_or(name, String::as_str);
        match name {
            // Folders that were left before the call began.
            "OLDPWD" | "DIRSTACK" => Value::unknown(Origins::OUTPUT),
            "LS_COLORS" | "SHELLOPTS" | "BASHOPTS" | "#" | "?" | "$" | "!" | "-" | "_" => {
                Value::unknown(Origins::OUTPUT)
            }
            _ => self.scene.usual_variable(name),
        }
    }
}

/// Whether a variable that the call does not set may be set outside.
pub(super) fn outside(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
}
