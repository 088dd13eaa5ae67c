//! Shell commands.

use crate::action::scene::{Done, Scene};
use crate::action::value::Value;

/// Runs a script.
pub(crate) fn run(_scene: &mut Scene<'_>, _code: &Value) -> Done<Value> {
    Ok(Value::default())
}

/// Runs one command, its words already evaluated.
pub(crate) fn run_words(
    _scene: &mut Scene<'_>,
    _words: &[Value],
    _stdin: Option<&Value>,
) -> Done<Value> {
    Ok(Value::default())
}
