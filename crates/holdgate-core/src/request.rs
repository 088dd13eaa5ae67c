//! One request under guard: what it tells about the session and the tools, and where its messages
//! stand.
//!
//! This runs before the request is sent on, so it must cost little: the messages are only found
//! here. `conversation.rs` reads those that are new, while the upstream is at work.

mod provider;
mod skim;

pub use provider::ProviderTools;

use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// History nests a call's own depth below the message's.
pub(crate) const MAX_DEPTH: usize = 200;
/// Bytes of the first message that tell one conversation from another.
const ROOT_BYTES: usize = 64 << 10;

/// A request whose parts have been found.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What it tells besides its messages.
    pub facts: Arc<RequestFacts>,
    body: Bytes,
    messages: Vec<Range<usize>>,
}

/// What is taken from a request. Its bytes go upstream as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The session id that the client keeps in the request's metadata.
    pub session: Option<String>,
    /// The beginning of the first message's text: the root of the conversation.
    pub root: String,
    /// The tools that cannot be called without arguments.
    pub tools_with_required: HashSet<String>,
    /// What the provider may run itself.
    pub provider: ProviderTools,
    /// The folder that the client works in, as its system prompt says.
    pub working_dir: Option<String>,
}

impl Request {
    /// Finds the parts of an Anthropic Messages request, and reads all but its messages.
    pub fn read(body: Bytes) -> Result<Self, JsonError> {
        let outline = skim::outline(&body, MAX_DEPTH)?;
        let mut facts = RequestFacts::default();
        for (name, place) in &outline.members {
            let value = part(&body, place)?;
            match name.as_str() {
                "metadata" => facts.session = session(&value),
                "system" => facts.working_dir = working_dir(&value),
                "tools" => {
                    let tools = value.as_array().unwrap_or(&[]);
                    facts.tools_with_required =
                        tools.iter().filter_map(requires_arguments).collect();
                    facts.provider.declare_tools(tools);
                }
                "mcp_servers" => {
                    let servers = value.as_array().unwrap_or(&[]);
                    facts.provider.declare_servers(servers);
                }
                // Read all the same: what is not acceptable is not sent on.
                _ => {}
            }
        }
        if let Some(first) = outline.messages.first() {
            let first = body.get(first.clone()).unwrap_or_default();
            // Without the cache marks, which wander as the conversation grows; and clients write
            // the same text as a string or as a block, depending on where the marks are.
            facts.root = skim::beginning(first, ROOT_BYTES);
        }
        Ok(Request {
            facts: Arc::new(facts),
            body,
            messages: outline.messages,
        })
    }

    /// The messages as they were sent, oldest first. They may not be JSON.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        let message = |place: &Range<usize>| self.body.get(place.clone()).unwrap_or_default();
        self.messages.iter().map(message)
    }
}

/// Reads a part of the body.
fn part<'a>(body: &'a [u8], place: &Range<usize>) -> Result<Json<'a>, JsonError> {
    let text = body.get(place.clone()).unwrap_or_default();
    // Conversations hold what tools printed, cut anywhere: lone surrogates are ordinary here.
    Json::read(text, MAX_DEPTH, LoneSurrogates::Replace).map_err(|error| JsonError {
        at: error.at + place.start,
        ..error
    })
}

/// Claude Code puts a JSON object into `metadata.user_id`; older ones a text that ends with it.
fn session(metadata: &Json<'_>) -> Option<String> {
    let user = metadata.get("user_id")?.as_str()?;
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

fn requires_arguments(tool: &Json<'_>) -> Option<String> {
    let required = tool.get("input_schema")?.get("required")?.as_array()?;
    let name = tool.get("name")?.as_str()?;
    (!required.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(body: &str) -> Arc<RequestFacts> {
        Request::read(Bytes::copy_from_slice(body.as_bytes()))
            .unwrap()
            .facts
    }

    fn check(body: &str, expected: &RequestFacts) {
        assert_eq!(&*facts(body), expected);
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
                provider: ProviderTools::default(),
                working_dir: None,
            },
        );
        let old = r#"{"metadata":{"user_id":"user_1_account__session_abc"},"messages":[]}"#;
        assert_eq!(facts(old).session.as_deref(), Some("abc"));
    }

    #[test]
    fn the_provider_runs_what_the_request_declares_and_nothing_else() {
        let declared = facts(
            r#"{"tools":[{"type":"web_search_20250305","name":"web_search"},
                         {"type":"code_execution_20250825","name":"code_execution"},
                         {"type":"bash_20250124","name":"bash"},
                         {"name":"web_fetch","input_schema":{}}],
                "mcp_servers":[{"type":"url","url":"https://x.example","name":"docs"}]}"#,
        );
        for (block, ran) in [
            (r#"{"type":"server_tool_use","name":"web_search"}"#, true),
            (
                r#"{"type":"server_tool_use","name":"bash_code_execution"}"#,
                true,
            ),
            (r#"{"type":"server_tool_use","name":"bash"}"#, false),
            (r#"{"type":"server_tool_use","name":"web_fetch"}"#, false),
            (r#"{"type":"tool_use","name":"web_search"}"#, false),
            (
                r#"{"type":"mcp_tool_use","name":"q","server_name":"docs"}"#,
                true,
            ),
            (
                r#"{"type":"mcp_tool_use","name":"q","server_name":"other"}"#,
                false,
            ),
            (r#"{"type":"mcp_tool_use","name":"docs"}"#, false),
        ] {
            let json = Json::read(block.as_bytes(), 8, LoneSurrogates::Refuse).unwrap();
            assert_eq!(declared.provider.ran(&json), ran, "{block}");
        }
    }

    #[test]
    fn the_working_folder_is_what_the_system_prompt_says_first() {
        let dir = |body: &str| facts(body).working_dir.clone();
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
    fn the_root_is_the_text_however_it_is_written() {
        let root = |message: &str| {
            facts(&format!(r#"{{"messages":[{message}]}}"#))
                .root
                .clone()
        };
        let plain = root(r#"{"role":"user","content":"hi"}"#);
        assert_eq!(plain, "hi");
        let marked =
            r#"{"role":"user","content":[{"type":"text","text":"hi","cache_control":{}}]}"#;
        assert_eq!(root(marked), plain);
        let long = "é".repeat(ROOT_BYTES);
        let message = format!(r#"{{"content":[{{"text":"a"}},{{"text":"{long}"}}]}}"#);
        assert!((ROOT_BYTES - 4..=ROOT_BYTES).contains(&root(&message).len()));
    }

    #[test]
    fn a_body_that_cannot_be_read_is_an_error() {
        for body in [
            "model=claude",
            "[1]",
            r#"{"system":{"a":1,"a":2}}"#,
            r#"{"other":tru}"#,
        ] {
            assert!(Request::read(Bytes::from_static(body.as_bytes())).is_err());
        }
        let error = Request::read(Bytes::from_static(br#"{"a":1,"system":[1,]}"#)).unwrap_err();
        assert_eq!(error.at, 19, "places are those of the whole body");
    }
}
