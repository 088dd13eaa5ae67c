//! Through the front door: bytes in, hits out.

use super::*;
use crate::action::Knowledge;
use crate::rules::{Profile, RuleErrors, RuleSet};

fn commands() -> Commands {
    let rules = RuleSet::built_in(Profile::default()).unwrap();
    Commands::new(rules, Knowledge::built_in().unwrap(), Arc::default())
}

fn patterns() -> Arc<Patterns> {
    Patterns::built_in().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_built_in_patterns_hold_on_their_examples() {
    let tried = try_examples(&patterns(), &commands());
    let errors: Vec<_> = tried.into_iter().filter_map(|t| t.error).collect();
    assert!(errors.is_empty(), "{}", RuleErrors(errors));
}
