//! What a request says about the session and the tools.

use super::super::prompt::working_dir;
use super::history::mentions;
use super::results::results;
use crate::request::{Layout, ProviderTools, Request, RequestFacts};
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates};

static LAYOUT: Layout = Layout {
    messages: "messages",
    content: "content",
    system: &[],
    mentions,
    results,
};

/// Kinds of tool that run at the provider, by the start of their type, and the names under which
/// their calls come besides the tool's own. Other typed tools, such as `bash_20250124`, run at the
/// client.
const SERVER_TOOLS: &[(&str, &[&str])] = &[
    ("web_search_", &[]),
    ("web_fetch_", &[]),
    (
        "code_execution_",
        &["bash_code_execution", "text_editor_code_execution"],
    ),
    ("tool_search_tool_", &["tool_search"]),
    ("advisor_", &[]),
];

/// Finds the parts of a request, and reads all but its messages.
pub(super) fn read(body: Bytes) -> Result<Request, JsonError> {
    Request::read(body, &LAYOUT, |facts: &mut RequestFacts, name, value| {
        let items = value.as_array().unwrap_or(&[]);
        match name {
            "metadata" => facts.session = session(value),
            "system" => facts.working_dir = working_dir(value),
            "tools" => {
                let required = items.iter().filter_map(requires_arguments);
                facts.tools_with_required = required.collect();
                let tools = items.iter().flat_map(provider_names);
                facts.provider.tools.extend(tools.map(str::to_owned));
            }
            "mcp_servers" => {
                let names = items.iter().filter_map(|server| server.get_str("name"));
                facts.provider.servers.extend(names.map(str::to_owned));
            }
            _ => {}
        }
    })
}

/// Under which names the provider runs this tool; none, if the client does.
fn provider_names<'t>(tool: &'t Json<'_>) -> Vec<&'t str> {
    let text = |key| tool.get_str(key);
    let Some((kind, name)) = text("type").zip(text("name")) else {
        return Vec::new();
    };
    let known = |(start, _): &&(&str, _)| kind.starts_with(start);
    let names = SERVER_TOOLS.iter().find(known);
    names.map_or_else(Vec::new, |(_, names)| [*names, &[name]].concat())
}

/// Whether the provider ran the call of this block.
pub(super) fn runs_at_provider(provider: &ProviderTools, block: &Json<'_>) -> bool {
    let text = |key| block.get_str(key);
    match text("type") {
        Some("server_tool_use") => text("name").is_some_and(|name| provider.tools.contains(name)),
        Some("mcp_tool_use") => {
            text("server_name").is_some_and(|name| provider.servers.contains(name))
        }
        _ => false,
    }
}

/// Claude Code puts a JSON object into `metadata.user_id`; older ones a text that ends with it.
fn session(metadata: &Json<'_>) -> Option<String> {
    let user = metadata.get_str("user_id")?;
    if let Ok(user) = Json::read(user.as_bytes(), 8, LoneSurrogates::Refuse) {
        return Some(user.get_str("session_id")?.to_owned());
    }
    let (_, session) = user.rsplit_once("_session_")?;
    Some(session.to_owned())
}

fn requires_arguments(tool: &Json<'_>) -> Option<String> {
    let required = tool.get("input_schema")?.get("required")?.as_array()?;
    let name = tool.get_str("name")?;
    (!required.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::ProviderTools;
    use std::collections::HashSet;
    use std::sync::Arc;

    fn facts(body: &str) -> Arc<RequestFacts> {
        read(Bytes::copy_from_slice(body.as_bytes())).unwrap().facts
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
                bridged: Arc::default(),
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
            assert_eq!(runs_at_provider(&declared.provider, &json), ran, "{block}");
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
        let long = "é".repeat(64 << 10);
        let message = format!(r#"{{"content":[{{"text":"a"}},{{"text":"{long}"}}]}}"#);
        assert!(((64 << 10) - 4..=(64 << 10)).contains(&root(&message).len()));
    }

    #[test]
    fn a_body_that_cannot_be_read_is_an_error() {
        for body in [
            "model=claude",
            "[1]",
            r#"{"system":{"a":1,"a":2}}"#,
            r#"{"other":tru}"#,
        ] {
            assert!(read(Bytes::from_static(body.as_bytes())).is_err());
        }
        let error = read(Bytes::from_static(br#"{"a":1,"system":[1,]}"#)).unwrap_err();
        assert_eq!(error.at, 19, "places are those of the whole body");
    }
}
