//! Programs that are entered through their module: `pip.main([…])`, or `main()` after `sys.argv` was set.

use super::{Arguments, Reader};
use crate::code::Language;
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;
use crate::value::Value;

/// Functions by which programs start.
const ENTRIES: [&str; 6] = [
    "main",
    "_main",
    "cli",
    "console_main",
    "execute_from_command_line",
    "entry_point",
];

impl Reader<'_, '_, '_> {
    /// A function of a module is called that may start its program.
    pub(super) fn enters_program(&mut self, name: &str, arguments: &Arguments) -> Fueled {
        let Some((module, last)) = name.rsplit_once('.') else {
            return Ok(());
        };
        if self.language != Language::Python || !ENTRIES.contains(&last) {
            return Ok(());
        }
        match arguments.all().next() {
            Some(list @ AbstractValue::List(_)) => self.runs_as(module, list),
            Some(_) => Ok(()),
            None => self.runs_with_command_line(module),
        }
    }

    /// The program of a module runs with the words that the code has set as its command line.
    pub(in crate::code) fn runs_with_command_line(&mut self, module: &str) -> Fueled {
        let Some(AbstractValue::List(words)) = self.variables.get("sys.argv") else {
            return Ok(());
        };
        let words = words.iter().skip(1).cloned().collect();
        self.runs_as(module, &AbstractValue::list(words))
    }

    fn runs_as(&mut self, module: &str, list: &AbstractValue) -> Fueled {
        let top = module.split('.').next().unwrap_or(module);
        // `awscli` is the module of `aws`.
        let names = [top, top.trim_end_matches("cli").trim_end_matches('_')];
        let known = |name: &&str| self.scene.know.commands.get(name).is_some();
        let Some(program) = names.into_iter().find(known) else {
            return Ok(());
        };
        let AbstractValue::List(items) = list else {
            return Ok(());
        };
        let mut words = vec![Value::known(program)];
        for item in items.iter().take(64) {
            words.push(self.value_of(item)?);
        }
        self.scene.argv(&words, None).map(drop)
    }
}
