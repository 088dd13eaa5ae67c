//! Our own cases, as far as they are commands.

use serde_json::Value;
use std::path::Path;

/// The commands of all cases, each once.
pub(crate) fn commands() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut commands = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "jsonl") {
            for line in std::fs::read_to_string(path).unwrap().lines() {
                collect(&serde_json::from_str(line).unwrap(), &mut commands);
            }
        }
    }
    commands.sort();
    commands.dedup();
    assert!(commands.len() > 500, "{}", commands.len());
    commands
}

fn collect(value: &Value, commands: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let command = value
                    .as_str()
                    .filter(|_| name == "command" || name == "cmd");
                match command {
                    Some(text) => commands.push(text.to_owned()),
                    None => collect(value, commands),
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                collect(value, commands);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
