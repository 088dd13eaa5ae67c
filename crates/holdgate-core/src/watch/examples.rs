//! Tries patterns on their own examples, through the public interface.

use super::{Commands, Hit, OutputWatch, Patterns, Severity};
use crate::rules::RuleError;
use std::sync::Arc;

/// An example that was tried.
#[derive(Debug)]
pub struct Tried {
    /// The pattern.
    pub pattern: Arc<str>,
    /// The output.
    pub text: String,
    /// What is wrong, if it does not hold.
    pub error: Option<RuleError>,
}

/// Tries the examples of the patterns that `which` selects by name: outputs that the pattern must
/// match, and near misses that no pattern of medium or high severity may match.
pub fn try_examples(
    patterns: &Arc<Patterns>,
    commands: &Commands,
    which: impl Fn(&str) -> bool,
) -> Vec<Tried> {
    let mut tried = Vec::new();
    for pattern in patterns.iter().filter(|pattern| which(&pattern.id)) {
        for example in &pattern.examples {
            let hits = hits(patterns, commands, &example.text);
            let own = hits.iter().any(|hit| hit.pattern == pattern.id);
            let other = hits.iter().find(|hit| hit.severity > Severity::Low);
            let what = match (example.trips, own, other) {
                (true, false, _) => Some(format!("`{}` does not match this example", pattern.id)),
                (false, true, _) => Some(format!("`{}` matches this example", pattern.id)),
                (false, false, Some(other)) => Some(format!(
                    "this example must pass, but `{}` matches it",
                    other.pattern
                )),
                (true, true, _) | (false, false, None) => None,
            };
            tried.push(Tried {
                pattern: pattern.id.clone(),
                text: example.text.clone(),
                error: what.map(|what| RuleError::new(&pattern.source, example.at, what)),
            });
        }
    }
    tried
}

fn hits(patterns: &Arc<Patterns>, commands: &Commands, text: &str) -> Vec<Hit> {
    let mut watch = OutputWatch::new(patterns.clone(), commands.clone());
    let mut hits = Vec::new();
    watch.feed(text.as_bytes(), &mut hits);
    watch.finish(&mut hits);
    hits
}
