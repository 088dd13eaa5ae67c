//! The folder and the variables that what follows finds.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::language::programs;
use crate::path;
use crate::value::Value;

/// The longest path that a kernel takes.
const MAX_PATH: usize = 4096;

impl Scene<'_> {
    /// Relative paths start from `folder` now.
    pub(crate) fn enter(&mut self, folder: &Value) {
        let cwd = path::absolute(&folder.text, &self.cwd, &self.world.home);
        // No kernel goes deeper.
        if cwd.len() <= MAX_PATH {
            self.cwd = cwd;
        }
    }

    /// A variable is set for programs that run from here on.
    pub(crate) fn set_environment(&mut self, actor: &Actor, name: &str, value: &Value) -> Fueled {
        self.variables.insert(name.to_owned(), vec![value.clone()]);
        self.run_by_variable(actor, name, value)?;
        if name.chars().any(char::is_lowercase) || name.len() < 3 || name == "IFS" {
            return Ok(());
        }
        let effect = actor
            .does(Kind::Env)
            .about(&format!("{name}={}", value.text))
            .of(value);
        let effect = if value.text.starts_with('/') {
            effect.at(self.place(value))
        } else {
            effect
        };
        self.emit(effect)
    }

    /// Some variables name programs that others run.
    fn run_by_variable(&mut self, actor: &Actor, name: &str, value: &Value) -> Fueled {
        if let Some(body) = value
            .text
            .strip_prefix("()")
            .filter(|_| name.starts_with("BASH_FUNC_"))
        {
            let code = value.map(format!("f() {body}; f"));
            self.apart(|scene| scene.shell(actor, &code))?;
            return Ok(());
        }
        let prompt = programs::variable_prompts(name);
        let program = programs::variable_runs(name);
        if !value.is_known() || value.text.is_empty() || !(program || prompt) {
            return Ok(());
        }
        let code = if prompt {
            value.map(format!("echo \"{}\"", value.text))
        } else {
            value.clone()
        };
        self.apart(|scene| scene.shell(actor, &code))?;
        Ok(())
    }

    /// All values that a variable may have here: what the call set, or what is usual outside.
    pub(crate) fn variable(&self, name: &str) -> Option<&[Value]> {
        self.variables.get(name).map(Vec::as_slice)
    }
}
