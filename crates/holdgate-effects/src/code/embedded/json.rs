//! Commands in JSON: scripts of packages, tasks of editors, hooks of agents, cells of notebooks.

use super::Reader;
use crate::json::Json;
use crate::scene::Done;

impl Reader<'_, '_, '_> {
    pub(super) fn json(&mut self, json: &Json<'_>, key: &str) -> Done {
        self.scene.fuel.spend(1)?;
        match json {
            Json::Object(members) => {
                if let Some(source) = json
                    .get("source")
                    .filter(|_| json.get("cell_type").is_some())
                {
                    if json.get("cell_type").and_then(Json::as_str) == Some("code") {
                        self.cell(&joined(source))?;
                    }
                    return Ok(());
                }
                let command = json.get("command").and_then(Json::as_str);
                let arguments = json.get("args").and_then(Json::as_array);
                if let (Some(command), Some(arguments)) = (command, arguments) {
                    let mut words = vec![command.to_owned()];
                    words.extend(arguments.iter().filter_map(Json::as_str).map(str::to_owned));
                    if command.contains(' ') {
                        self.shell("task", &words.join(" "), None)?;
                    } else {
                        self.words(&words, None)?;
                    }
                }
                for (name, value) in members {
                    let taken = arguments.is_some() && matches!(&**name, "command" | "args");
                    if taken {
                        continue;
                    }
                    if let Some(text) = value.as_str().filter(|_| runs(key, name)) {
                        self.shell(name, text, None)?;
                        continue;
                    }
                    if matches!(key, "scripts" | "tasks") {
                        let lines = value.as_array().unwrap_or(&[]);
                        for line in lines.iter().filter_map(Json::as_str) {
                            self.shell(name, line, None)?;
                        }
                    }
                    self.json(value, name)?;
                }
                Ok(())
            }
            Json::Array(items) => {
                for item in items {
                    self.json(item, "")?;
                }
                Ok(())
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(()),
        }
    }
}

/// Whether the text under `name`, in an object under `key`, is a command.
pub(super) fn runs(key: &str, name: &str) -> bool {
    matches!(key, "scripts" | "tasks" | "gitHooks" | "hooks")
        || matches!(
            name,
            "command"
                | "cmd"
                | "run"
                | "apiKeyHelper"
                | "awsAuthRefresh"
                | "awsCredentialExport"
                | "otelHeadersHelper"
                | "initializeCommand"
                | "onCreateCommand"
                | "updateContentCommand"
                | "postCreateCommand"
                | "postStartCommand"
                | "postAttachCommand"
                | "shell_cmd"
        )
}

fn joined(source: &Json<'_>) -> String {
    match source.as_array() {
        Some(lines) => lines.iter().filter_map(Json::as_str).collect(),
        None => source.as_str().unwrap_or("").to_owned(),
    }
}
