//! What a request says about the session and the tools.

use super::super::prompt::working_dir;
use super::history::{mentions, results};
use super::names::{get, get_str, is, items, plain};
use crate::request::{Layout, Request, RequestFacts};
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError};
use std::sync::Arc;

static LAYOUT: Layout = Layout {
    messages: "contents",
    content: "parts",
    system: &[],
    mentions,
    results,
};

/// How Gemini CLI begins a conversation, and what stands before the folder in which it works.
const CLI_CONTEXT: &str = "<session_context>\nThis is the Gemini CLI.";
const CLI_FOLDERS: &str = "\n- **Workspace Directories:**\n";

/// Finds the parts of a request, and reads all but its messages.
pub(super) fn read(body: Bytes) -> Result<Request, JsonError> {
    let mut request = Request::read(body, &LAYOUT, take_fact)?;
    if request.facts.working_dir.is_none() {
        let folder = cli_folder(&request.facts.root).map(str::to_owned);
        Arc::make_mut(&mut request.facts).working_dir = folder;
    }
    Ok(request)
}

/// Takes what is needed from a member of the body.
fn take_fact(facts: &mut RequestFacts, name: &str, value: &Json<'_>) {
    if is(name, "systemInstruction") {
        let parts = Json::Array(items(get(value, "parts")).to_vec());
        facts.working_dir = working_dir(&parts);
    } else if name == "tools" {
        for tool in items(Some(value)) {
            for (key, value) in tool.as_object().unwrap_or_default() {
                if is(key, "functionDeclarations") {
                    let required = items(Some(value)).iter().filter_map(requires_arguments);
                    facts.tools_with_required.extend(required);
                } else if *value != Json::Null {
                    facts.provider.tools.insert(plain(key));
                }
            }
        }
    }
}

fn requires_arguments(function: &Json<'_>) -> Option<String> {
    let schema = get(function, "parametersJsonSchema").or_else(|| get(function, "parameters"));
    let required = schema?.get("required")?.as_array()?;
    let name = get_str(function, "name")?;
    (!required.is_empty()).then(|| name.to_owned())
}

/// The folder in which Gemini CLI works, as it says itself at the start of the conversation; with
/// several folders, the first one. What follows comes from the folder.
fn cli_folder(root: &str) -> Option<&str> {
    let context = root.strip_prefix(CLI_CONTEXT)?;
    let (_, folders) = context.split_once(CLI_FOLDERS)?;
    let folder = folders.lines().next()?.trim().strip_prefix("- ")?;
    folder.starts_with('/').then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(body: &str) -> Arc<RequestFacts> {
        read(Bytes::copy_from_slice(body.as_bytes())).unwrap().facts
    }

    #[test]
    fn reads_root_tools_and_working_folder_in_both_spellings() {
        let body = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],
            "systemInstruction":{"parts":[{"text":"Working directory: /home/dev/x"}]},
            "tools":[{"functionDeclarations":[
                {"name":"bash","parametersJsonSchema":{"required":["command"]}},
                {"name":"edit","parameters":{"type":"OBJECT","required":["path"]}},
                {"name":"list","parameters":{"type":"OBJECT"}}]},
                {"codeExecution":{}}]}"#;
        let read = facts(body);
        assert_eq!(read.root, "hi");
        assert_eq!(read.working_dir.as_deref(), Some("/home/dev/x"));
        let required = ["bash".to_owned(), "edit".to_owned()];
        assert_eq!(read.tools_with_required, required.into());
        assert_eq!(read.provider.tools, ["codeexecution".to_owned()].into());
        let snake = body
            .replace("systemInstruction", "system_instruction")
            .replace("functionDeclarations", "function_declarations")
            .replace("parametersJsonSchema", "parameters_json_schema")
            .replace("codeExecution", "code_execution");
        assert_eq!(facts(&snake), read);
        let alone = r#"{"system_instruction":{"parts":{"text":"Working directory: /home/dev/x"}},
            "tools":{"code_execution":{}},"contents":{"parts":{"text":"hi"}}}"#;
        assert_eq!(facts(alone).working_dir, read.working_dir);
        assert_eq!(facts(alone).provider, read.provider);
    }

    #[test]
    fn gemini_cli_says_where_it_works() {
        let dir = |text: &str| {
            let body = Json::object([(
                "contents",
                Json::Array(vec![Json::object([(
                    "parts",
                    Json::Array(vec![Json::object([("text", text.to_owned().into())])]),
                )])]),
            )]);
            facts(&body.text()).working_dir.clone()
        };
        let context = "<session_context>\nThis is the Gemini CLI. We are setting up.\n- **Workspace Directories:**\n  - /home/dev/x\n- **Directory Structure:**\n";
        assert_eq!(dir(context).as_deref(), Some("/home/dev/x"));
        assert_eq!(dir(&format!("see: {context}")), None);
    }
}
