//! One request under guard: what it tells about the session and the tools.

use crate::json::{Json, JsonError, LoneSurrogates};
use std::collections::HashSet;

/// History nests a call's own depth below the message's.
const MAX_DEPTH: usize = 200;

/// What is taken from a request. Its bytes go upstream as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The session id that the client keeps in the request's metadata.
    pub session: Option<String>,
    /// The first message, in one canonical form: the root of the conversation.
    pub root: String,
    /// The tools that cannot be called without arguments.
    pub tools_with_required: HashSet<String>,
    /// The folder that the client works in, as its system prompt says.
    pub working_dir: Option<String>,
}

impl RequestFacts {
    /// Reads the body of an Anthropic Messages request.
    pub fn read(body: &[u8]) -> Result<Self, JsonError> {
        // Conversations hold what tools printed, cut anywhere: lone surrogates are ordinary here.
        let body = Json::read(body, MAX_DEPTH, LoneSurrogates::Replace)?;
        let tools = body.get("tools").and_then(Json::as_array).unwrap_or(&[]);
        let first = body
            .get("messages")
            .and_then(Json::as_array)
            .and_then(<[_]>::first);
        Ok(RequestFacts {
            session: session(&body),
            root: first.map(root).unwrap_or_default(),
            tools_with_required: tools.iter().filter_map(requires_arguments).collect(),
            working_dir: body.get("system").and_then(working_dir),
        })
    }
}

/// Claude Code puts a JSON object into `metadata.user_id`; older ones a text that ends with it.
fn session(body: &Json<'_>) -> Option<String> {
    let user = body.get("metadata")?.get("user_id")?.as_str()?;
    if let Ok(user) = Json::read(user.as_bytes(), 8, LoneSurrogates::Refuse) {
        return Some(user.get("session_id")?.as_str()?.to_owned());
    }
    let (_, session) = user.rsplit_once("_session_")?;
    Some(session.to_owned())
}

/// Claude Code says where it works in its system prompt. What users and tools say is not asked:
/// whoever moves the project moves what may be deleted.
fn working_dir(system: &Json<'_>) -> Option<String> {
    let mut texts: Vec<&str> = system.as_str().into_iter().collect();
    let blocks = system.as_array().unwrap_or(&[]);
    texts.extend(
        blocks
            .iter()
            .filter_map(|b| b.get("text").and_then(Json::as_str)),
    );
    // The first one counts: further down stand texts from the repository, such as commit messages.
    let mut lines = texts.iter().flat_map(|text| text.lines());
    lines.find_map(|line| {
        let line = line.trim_start_matches([' ', '-', '*']);
        let rest = ["Primary working directory: ", "Working directory: "]
            .iter()
            .find_map(|label| line.strip_prefix(label))?;
        let dir = rest.trim().trim_matches('`');
        dir.starts_with('/').then(|| dir.to_owned())
    })
}

/// The first message without its cache marks, which wander as the conversation grows.
fn root(message: &Json<'_>) -> String {
    let Some(blocks) = message.get("content").and_then(Json::as_array) else {
        return message.to_string();
    };
    let texts = blocks
        .iter()
        .filter_map(|b| b.get("text").and_then(Json::as_str));
    texts.collect::<Vec<_>>().join("\n")
}

fn requires_arguments(tool: &Json<'_>) -> Option<String> {
    let required = tool.get("input_schema")?.get("required")?.as_array()?;
    let name = tool.get("name")?.as_str()?;
    (!required.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &RequestFacts) {
        assert_eq!(&RequestFacts::read(body.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn reads_session_root_and_tools() {
        check(
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{}}]}],
                "metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"s-1\"}"},
                "tools":[{"name":"Bash","input_schema":{"required":["command"]}},
                         {"name":"List","input_schema":{"required":[]}},{"type":"web_search_1"}]}"#,
            &RequestFacts {
                session: Some("s-1".into()),
                root: "hi".into(),
                tools_with_required: HashSet::from(["Bash".into()]),
                working_dir: None,
            },
        );
        let old = r#"{"metadata":{"user_id":"user_1_account__session_abc"},"messages":[]}"#;
        let facts = RequestFacts::read(old.as_bytes()).unwrap();
        assert_eq!(facts.session.as_deref(), Some("abc"));
    }

    #[test]
    fn the_working_folder_is_what_the_system_prompt_says_first() {
        let dir = |body: &str| RequestFacts::read(body.as_bytes()).unwrap().working_dir;
        let check = |system: &str, expected: Option<&str>| {
            let body = format!(r#"{{"system":{system}}}"#);
            assert_eq!(dir(&body).as_deref(), expected, "{body}");
        };
        check(
            r##"[{"type":"text","text":"You are"},
                {"type":"text","text":"# Environment\n - Primary working directory: /home/a b/x\n - OS: linux"}]"##,
            Some("/home/a b/x"),
        );
        check(
            r#""<env>\nWorking directory: /x\n</env>\nRecent commits:\nWorking directory: /""#,
            Some("/x"),
        );
        check(r#""The Working directory: /x is good""#, None);
        check(r#""Working directory: C:\\x""#, None);
        let said = r#"{"messages":[{"role":"user","content":"Working directory: /"}]}"#;
        assert_eq!(dir(said), None, "only the client itself is believed");
    }

    #[test]
    fn a_body_that_is_no_json_is_an_error() {
        assert!(RequestFacts::read(b"model=claude").is_err());
    }
}
