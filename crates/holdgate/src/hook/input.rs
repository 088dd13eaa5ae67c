//! What a client hands to its hook: bytes to a call, or to the result of one.

use super::ended::has_failed;
use crate::args::HookAgent;
use holdgate_effects::json::{Json, LoneSurrogates};
use sha2::{Digest as _, Sha256};

/// Bytes of what a client hands over: the largest call, and the JSON around it.
pub(crate) const MAX_INPUT: usize = 32 << 20;
const MAX_DEPTH: usize = 80;
/// The tool that runs a command, where a client's event names none.
const SHELL: &str = "Bash";

/// What has happened in the client.
#[derive(Debug)]
pub(crate) enum Event {
    /// A call is about to run.
    Before(Call),
    /// A call has ended.
    After {
        /// Its session.
        session: String,
        /// The call.
        id: String,
        /// Whether the tool reported an error.
        failed: bool,
        /// What it returned.
        result: Json<'static>,
    },
    /// Another hook of the same client is asked about the same call.
    AskedElsewhere,
}

/// A call that is about to run.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) session: String,
    /// The call's id; if the client names none, one that is made of the call.
    pub(crate) id: String,
    /// Whether the client has named it.
    pub(crate) has_own_id: bool,
    pub(crate) tool: String,
    pub(crate) input: Json<'static>,
    /// Where it runs.
    pub(crate) folder: Option<String>,
    /// The project, if the client names it.
    pub(crate) project: Option<String>,
    /// Whether the client can ask its user about it.
    pub(crate) can_ask: bool,
    /// What the model reads if it passes, where no event tells of its result.
    pub(crate) shows: Option<Json<'static>>,
}

/// Reads what the hook of `agent` was given. `project` is the folder that the client has named in
/// the environment. The error says what is wrong.
pub(crate) fn read(agent: HookAgent, project: Option<&str>, bytes: &[u8]) -> Result<Event, String> {
    if bytes.len() > MAX_INPUT {
        return Err(format!("the input is larger than {MAX_INPUT} bytes"));
    }
    let strict = Json::read(bytes, MAX_DEPTH, LoneSurrogates::Refuse);
    let (json, is_strict) = match strict {
        Ok(json) => (json, true),
        // What a tool returned may be cut anywhere.
        Err(error) => match Json::read(bytes, MAX_DEPTH, LoneSurrogates::Replace) {
            Ok(json) => (json, false),
            Err(_) => return Err(format!("the input is not valid JSON: {error}")),
        },
    };
    let event = text(&json, &["hook_event_name"])?;
    let session = text(&json, &["session_id", "conversation_id"])?.to_owned();
    let moment =
        moment(agent, event).ok_or_else(|| format!("`{}` is not a known event", shown(event)))?;
    match moment {
        Moment::Before if !is_strict => Err("the input has half of a character".to_owned()),
        Moment::Before => {
            if is_asked_elsewhere(agent, event, &json) {
                return Ok(Event::AskedElsewhere);
            }
            before(agent, event, session, project, &json).map(Event::Before)
        }
        Moment::After { failed } => {
            let (tool, input) = called(agent, event, &json)?;
            let (id, _) = identity(&json, &tool, &input);
            let results = [
                "tool_response",
                "tool_output",
                "result_json",
                "output",
                "error",
            ];
            let result = results.iter().find_map(|key| json.get(key));
            let result = result.cloned().unwrap_or(Json::Null).into_owned();
            let failed = failed || has_failed(agent, &tool, &json, &result);
            Ok(Event::After {
                session,
                id,
                failed,
                result,
            })
        }
    }
}

/// When an event comes.
enum Moment {
    Before,
    After { failed: bool },
}

fn moment(agent: HookAgent, event: &str) -> Option<Moment> {
    const DONE: Moment = Moment::After { failed: false };
    Some(match (agent, event) {
        (HookAgent::ClaudeCode | HookAgent::Codex, "PreToolUse")
        | (HookAgent::Gemini, "BeforeTool")
        | (
            HookAgent::Cursor,
            "preToolUse" | "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile",
        )
        | (HookAgent::Opencode, "tool.execute.before") => Moment::Before,
        (HookAgent::ClaudeCode | HookAgent::Codex, "PostToolUse")
        | (HookAgent::Gemini, "AfterTool")
        | (HookAgent::Cursor, "postToolUse" | "afterShellExecution" | "afterMCPExecution")
        | (HookAgent::Opencode, "tool.execute.after") => DONE,
        (HookAgent::ClaudeCode, "PostToolUseFailure") => Moment::After { failed: true },
        (_, _) => return None,
    })
}

/// Cursor has an event for every tool, and older ones for commands, MCP and files, which can ask.
fn is_asked_elsewhere(agent: HookAgent, event: &str, json: &Json<'_>) -> bool {
    let tool = json.get_str("tool_name").unwrap_or_default();
    agent == HookAgent::Cursor
        && event == "preToolUse"
        && (matches!(tool, "Shell" | "Read") || tool.starts_with("MCP:"))
}

fn before(
    agent: HookAgent,
    event: &str,
    session: String,
    project: Option<&str>,
    json: &Json<'_>,
) -> Result<Call, String> {
    let (tool, input) = called(agent, event, json)?;
    let (id, has_own_id) = identity(json, &tool, &input);
    let roots = json.get("workspace_roots").and_then(Json::as_array);
    let root = roots.and_then(|roots| roots.first()?.as_str());
    let named = project.or(json.get_str("project")).or(root);
    Ok(Call {
        session,
        id,
        has_own_id,
        tool,
        input,
        folder: json
            .get_str("cwd")
            .filter(|dir| !dir.is_empty())
            .map(str::to_owned),
        project: named.filter(|dir| !dir.is_empty()).map(str::to_owned),
        can_ask: can_ask(agent, event, json),
        shows: (event == "beforeReadFile").then(|| {
            let content = json.get("content").cloned().unwrap_or(Json::Null);
            content.into_owned()
        }),
    })
}

/// The tool and its arguments.
fn called(
    agent: HookAgent,
    event: &str,
    json: &Json<'_>,
) -> Result<(String, Json<'static>), String> {
    let of = |key: &'static str| {
        let value = json.get(key).ok_or_else(|| format!("`{key}` is missing"))?;
        Ok::<_, String>(Json::object([(key, value.clone().into_owned())]))
    };
    let (tool, input) = match (agent, event) {
        (HookAgent::Cursor, "beforeShellExecution" | "afterShellExecution") => {
            (SHELL.to_owned(), of("command")?)
        }
        (HookAgent::Cursor, "beforeReadFile") => ("Read".to_owned(), of("file_path")?),
        (HookAgent::Cursor, "beforeMCPExecution" | "afterMCPExecution") => {
            let tool = format!("mcp__cursor__{}", text(json, &["tool_name"])?);
            (tool, arguments(json)?)
        }
        (_, _) => (text(json, &["tool_name"])?.to_owned(), arguments(json)?),
    };
    if tool.is_empty() {
        return Err("the tool has no name".to_owned());
    }
    Ok((tool, input))
}

/// The arguments: an object, or the text of one.
fn arguments(json: &Json<'_>) -> Result<Json<'static>, String> {
    let given = json.get("tool_input").ok_or("`tool_input` is missing")?;
    let read = if let Json::String(text) = given {
        Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse)
            .map_err(|error| format!("`tool_input` is not valid JSON: {error}"))?
            .into_owned()
    } else {
        given.clone().into_owned()
    };
    if read.as_object().is_none() {
        return Err("`tool_input` is not an object".to_owned());
    }
    Ok(read)
}

/// The call's id, and whether the client has named it.
fn identity(json: &Json<'_>, tool: &str, input: &Json<'_>) -> (String, bool) {
    if let Some(id) = json.get_str("tool_use_id").filter(|id| !id.is_empty()) {
        return (id.to_owned(), true);
    }
    let text = format!("{tool}\n{}", input.text());
    let digest = crate::ledger::hex(&Sha256::digest(text));
    let id = format!("call-{}", digest.get(..24).unwrap_or(&digest));
    (id, false)
}

/// Whether an answer to ask is understood, and somebody is there.
fn can_ask(agent: HookAgent, event: &str, json: &Json<'_>) -> bool {
    match agent {
        HookAgent::ClaudeCode => {
            let mode = json.get_str("permission_mode").unwrap_or_default();
            !matches!(mode, "bypassPermissions" | "dontAsk")
        }
        HookAgent::Cursor => matches!(event, "beforeShellExecution" | "beforeMCPExecution"),
        HookAgent::Codex | HookAgent::Gemini | HookAgent::Opencode => false,
    }
}

fn text<'j>(json: &'j Json<'_>, keys: &[&str]) -> Result<&'j str, String> {
    let found = keys.iter().find_map(|key| json.get_str(key));
    let name = keys.first().unwrap_or(&"");
    found.ok_or_else(|| format!("`{name}` is missing or not a text"))
}

fn shown(text: &str) -> String {
    holdgate_effects::json::shorten(text, 80)
}
