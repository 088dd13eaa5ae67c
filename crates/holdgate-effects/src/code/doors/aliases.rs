//! Other names for functions that run a command: `exec: run`, `system as go`, `run = promisify(cp.exec)`.

use super::parts::{assignment, calls, identifiers};
use crate::knowledge::doors::DoorTable;
use std::collections::HashSet;

/// What makes another function of one that does the same.
const WRAPPERS: [&str; 3] = ["util.promisify(", "promisify(", "partial("];

/// The names that `code` gives to functions that run a command.
pub(super) fn of<'t>(table: &DoorTable, code: &'t str) -> HashSet<&'t str> {
    let names = code.lines().flat_map(|line| {
        imported(table, line)
            .into_iter()
            .chain(assigned(table, line))
    });
    names.collect()
}

/// `import { exec as run }`, `const { exec: run } = require(…)`, `from os import system as run`
fn imported<'t>(table: &DoorTable, line: &'t str) -> Vec<&'t str> {
    if !line.contains("import") && !line.contains("require(") {
        return Vec::new();
    }
    let parts = line.split(['{', '}', ',']);
    let renamed = parts.filter_map(|part| {
        let (name, other) = part.split_once(" as ").or_else(|| part.split_once(": "))?;
        calls(&table.commands, name.trim_end()).then(|| identifiers(other).next())?
    });
    renamed.collect()
}

/// `run = os.system`, `const run = util.promisify(cp.exec);`
fn assigned<'t>(table: &DoorTable, line: &'t str) -> Option<&'t str> {
    let (left, right) = assignment(line)?;
    let right = right.trim().trim_end_matches(';');
    let inner = WRAPPERS.iter().find_map(|w| right.strip_prefix(w));
    let function = inner.map_or(right, |inner| inner.trim_end_matches(')'));
    let is_name = !function.is_empty()
        && function
            .chars()
            .all(|c| c.is_alphanumeric() || "_.$".contains(c));
    let runs = is_name && calls(&table.commands, function);
    runs.then(|| identifiers(left).last())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Knowledge;

    #[test]
    fn functions_that_run_commands_are_known_by_their_other_names() {
        let know = Knowledge::built_in().unwrap();
        let of = |code| of(&know.doors, code).into_iter().collect::<Vec<_>>();
        assert_eq!(of("const { exec: go, spawn } = require('')"), ["go"]);
        assert_eq!(of("import { execSync as go } from ''"), ["go"]);
        assert_eq!(of("from os import path as p, system as go"), ["go"]);
        assert_eq!(of("const go = util.promisify(cp.exec);"), ["go"]);
        assert_eq!(of("go = os.system\nresult = os.system(x)"), ["go"]);
        assert_eq!(of("const a = { exec: go };\nlet b = regex.exec;"), [""; 0]);
    }
}
