//! Any text can be a rule file: it is read, or said to be wrong.
#![no_main]

use holdgate_core::rules::{Profile, RuleFile, RuleSet};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(errors) = RuleSet::read(Profile::Workstation, &[RuleFile::operator("fuzz.yaml", text)]) {
        assert!(!errors.to_string().is_empty());
    }
});
