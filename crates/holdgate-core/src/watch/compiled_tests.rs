//! Rules and patterns that are part of the program are what their YAML says.

use super::{PatternFile, Patterns};
use crate::compiled::FILES;
use crate::rules::{Profile, RuleFile, RuleSet};

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
                let rules = RuleSet::read(Profile::default(), &[RuleFile::operator(name, text)]);
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
