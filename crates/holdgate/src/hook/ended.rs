//! How a call ended, as far as its result says so: a call that failed fulfils no rule that wants
//! something done before.

use crate::args::HookAgent;
use holdgate_effects::json::{Json, LoneSurrogates};

const MAX_DEPTH: usize = 80;

/// Whether `result`, which came with `event`, says that a call of `tool` has failed.
pub(super) fn has_failed(
    agent: HookAgent,
    tool: &str,
    event: &Json<'_>,
    result: &Json<'_>,
) -> bool {
    match agent {
        HookAgent::ClaudeCode | HookAgent::Codex => says_so(result),
        HookAgent::Gemini => {
            let text = result.get_str("llmContent").unwrap_or_default();
            says_so(result) || tool == "run_shell_command" && text.lines().any(is_exit)
        }
        // Its results are texts of JSON.
        HookAgent::Cursor => {
            let text = result.as_str().unwrap_or_default().as_bytes();
            let inner = Json::read(text, MAX_DEPTH, LoneSurrogates::Replace);
            says_so(&inner.unwrap_or(Json::Null)) || says_so(result)
        }
        // Our plugin adds it to the event.
        HookAgent::Opencode => is_code(event.get("exit_code")),
    }
}

/// Whether the members of a result say so.
fn says_so(result: &Json<'_>) -> bool {
    let is = |key: &str, value: bool| result.get(key) == Some(&Json::Bool(value));
    let error = match result.get("error") {
        None | Some(Json::Null | Json::Bool(false)) => false,
        Some(Json::String(text)) => !text.is_empty(),
        Some(Json::Bool(true) | Json::Number(_) | Json::Array(_) | Json::Object(_)) => true,
    };
    let codes = ["exit_code", "exitCode"];
    error
        || is("is_error", true)
        || is("isError", true)
        || is("interrupted", true)
        || is("success", false)
        || codes.iter().any(|key| is_code(result.get(key)))
}

/// Whether this is the exit code of a command that failed.
fn is_code(code: Option<&Json<'_>>) -> bool {
    matches!(code, Some(Json::Number(code)) if code != "0")
}

/// Whether a line tells of such a code.
fn is_exit(line: &str) -> bool {
    let code = line.strip_prefix("Exit Code: ");
    code.is_some_and(|code| !matches!(code.trim(), "0" | "(none)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(agent: HookAgent, tool: &str, result: &str, expected: bool) {
        let result = Json::read(result.as_bytes(), 16, LoneSurrogates::Refuse).unwrap();
        let event = Json::object([("exit_code", 1.into())]);
        let failed = has_failed(agent, tool, &event, &result);
        assert_eq!(failed, expected, "{agent:?} {}", result.text());
    }

    #[test]
    fn clients_tell_of_failures_in_their_own_ways() {
        let (claude, codex) = (HookAgent::ClaudeCode, HookAgent::Codex);
        check(
            claude,
            "Bash",
            r#"{"stdout":"a","interrupted":false}"#,
            false,
        );
        check(claude, "Bash", r#"{"stdout":"a","interrupted":true}"#, true);
        check(codex, "Bash", r#""{\"error\":\"a file says so\"}""#, false);
        check(codex, "mcp__x__y", r#"{"isError":true}"#, true);
        let (gemini, shell) = (HookAgent::Gemini, "run_shell_command");
        check(
            gemini,
            shell,
            r#"{"llmContent":"Output: x\nExit Code: 0\n"}"#,
            false,
        );
        check(
            gemini,
            shell,
            r#"{"llmContent":"Output: x\nExit Code: 2\n"}"#,
            true,
        );
        check(
            gemini,
            "read_file",
            r#"{"llmContent":"Exit Code: 2"}"#,
            false,
        );
        check(
            gemini,
            "read_file",
            r#"{"llmContent":"","error":{"message":"no"}}"#,
            true,
        );
        let cursor = HookAgent::Cursor;
        check(
            cursor,
            "Shell",
            r#""{\"exitCode\":0,\"stdout\":\"\"}""#,
            false,
        );
        check(
            cursor,
            "Shell",
            r#""{\"exitCode\":1,\"stdout\":\"\"}""#,
            true,
        );
        check(cursor, "Bash", r#""text""#, false);
        check(HookAgent::Opencode, "bash", r#""text""#, true);
    }
}
