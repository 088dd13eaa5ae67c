//! Tables and rules that are part of the program, as the build script has compiled them.

use holdgate_effects::table::Table;

/// The compiled form of a table.
macro_rules! table {
    ($name:literal) => {
        holdgate_effects::table::Table(include_bytes!(concat!(env!("OUT_DIR"), "/", $name)))
    };
}
pub(crate) use table;

/// The files of rules and patterns: names, texts, compiled.
const FILES: &[(&str, &str, Table<'static>)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The compiled form of a file, if it is one that is part of the program.
pub(crate) fn file(name: &str, text: &str) -> Option<Table<'static>> {
    let found = FILES.iter().find(|(n, t, _)| *n == name && *t == text);
    found.map(|(_, _, table)| *table)
}

#[cfg(test)]
mod tests {
    use super::FILES;
    use crate::rules::{Profile, RuleFile, RuleSet};
    use crate::watch::{PatternFile, Patterns};

    #[test]
    fn compiled_rules_are_what_the_yaml_says() {
        for (name, text, _) in FILES {
            // Another name, so that the YAML is read.
            let other = format!("{}x", name.strip_suffix(|_: char| true).unwrap());
            let read = |name: &str| {
                if name.starts_with("rules/watch/") {
                    let patterns = Patterns::read(&[PatternFile { name, text }]);
                    format!("{:#?}", patterns.unwrap().iter().collect::<Vec<_>>())
                } else {
                    let rules =
                        RuleSet::read(Profile::default(), &[RuleFile::operator(name, text)]);
                    format!("{:#?}", rules.unwrap().rules().collect::<Vec<_>>())
                }
            };
            let (compiled, yaml) = (read(name), read(&other).replace(&other, name));
            let without_widths = |text: &str| {
                let lines = text.lines().filter(|line| !line.contains("width: "));
                lines.map(str::to_owned).collect::<Vec<_>>()
            };
            let (compiled, yaml) = (without_widths(&compiled), without_widths(&yaml));
            for (line, expected) in compiled.iter().zip(&yaml) {
                assert_eq!(line, expected, "{name}");
            }
            assert_eq!(compiled.len(), yaml.len(), "{name}");
        }
    }
}
