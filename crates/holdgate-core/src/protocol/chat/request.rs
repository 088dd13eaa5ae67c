//! What a request says about the session and the tools.

use super::super::prompt::working_dir;
use super::history::{mentions, results};
use crate::request::{Layout, Request, RequestFacts};
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError};

/// The roles of a client's own instructions.
pub(in super::super) const SYSTEM_ROLES: &[&str] = &["system", "developer"];

static LAYOUT: Layout = Layout {
    messages: "messages",
    content: "content",
    system: SYSTEM_ROLES,
    mentions,
    results,
};

/// Finds the parts of a request, and reads all but its messages.
pub(super) fn read(body: Bytes) -> Result<Request, JsonError> {
    Request::read(body, &LAYOUT, take_fact)
}

/// Takes what is needed from a member of the body.
pub(in super::super) fn take_fact(facts: &mut RequestFacts, name: &str, value: &Json<'_>) {
    let items = value.as_array().unwrap_or(&[]);
    match name {
        "metadata" => {
            let session = value.get_str("session_id").map(str::to_owned);
            facts.session = session.or(facts.session.take());
        }
        // What clients put here is a session's id, or the same for all sessions of a program.
        "prompt_cache_key" if facts.session.is_none() => {
            let id = value.as_str().filter(|key| is_an_id(key));
            facts.session = id.map(str::to_owned);
        }
        "system" if facts.working_dir.is_none() => facts.working_dir = working_dir(value),
        "tools" => {
            let functions = items.iter().filter_map(|tool| tool.get("function"));
            let required = functions.filter_map(requires_arguments);
            facts.tools_with_required.extend(required);
        }
        "functions" => {
            let required = items.iter().filter_map(requires_arguments);
            facts.tools_with_required.extend(required);
        }
        _ => {}
    }
}

/// Whether a key looks as if it had been made for one session: long, and with digits.
fn is_an_id(key: &str) -> bool {
    key.len() >= 16 && key.bytes().filter(u8::is_ascii_digit).count() >= 4
}

fn requires_arguments(function: &Json<'_>) -> Option<String> {
    let required = function.get("parameters")?.get("required")?.as_array()?;
    let name = function.get_str("name")?;
    (!required.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_session_root_tools_and_working_folder() {
        let body = r#"{"model":"m","messages":[
            {"role":"system","content":"You are opencode.\n<env>\n  Working directory: /home/dev/x\n</env>"},
            {"role":"developer","content":[{"type":"text","text":"Working directory: /other"}]},
            {"role":"user","content":[{"type":"text","text":"hi"}]},
            {"role":"system","content":"Working directory: /"}],
            "prompt_cache_key":"ses_7d1b2c3e4f5a6b7c",
            "tools":[{"type":"function","function":{"name":"bash","parameters":{"required":["command"]}}},
                     {"type":"function","function":{"name":"list","parameters":{"required":[]}}},
                     {"type":"custom","custom":{"name":"apply_patch"}}],
            "functions":[{"name":"old","parameters":{"required":["x"]}}]}"#;
        let facts = read(body.into()).unwrap().facts;
        assert_eq!(facts.session.as_deref(), Some("ses_7d1b2c3e4f5a6b7c"));
        assert_eq!(
            facts.root, "hi",
            "the client's own text is the same for all"
        );
        assert_eq!(facts.working_dir.as_deref(), Some("/home/dev/x"));
        let tools = ["bash".to_owned(), "old".to_owned()];
        assert_eq!(facts.tools_with_required, tools.into());
    }

    #[test]
    fn a_key_for_all_sessions_names_none_and_metadata_goes_first() {
        let session = |body: &str| {
            let facts = read(Bytes::copy_from_slice(body.as_bytes())).unwrap().facts;
            facts.session.clone()
        };
        assert_eq!(
            session(r#"{"prompt_cache_key":"my-program","user":"u"}"#),
            None
        );
        let both = r#"{"prompt_cache_key":"0123456789abcdef","metadata":{"session_id":"s"}}"#;
        assert_eq!(session(both).as_deref(), Some("s"));
    }

    #[test]
    fn instructions_that_cannot_be_read_are_an_error() {
        let twice = r#"{"messages":[{"role":"system","content":"a","content":"b"}]}"#;
        assert!(read(twice.into()).is_err());
    }
}
