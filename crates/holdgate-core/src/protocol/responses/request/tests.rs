use super::*;

fn facts(body: &str) -> Arc<RequestFacts> {
    read(Bytes::copy_from_slice(body.as_bytes())).unwrap().facts
}

const CODEX: &str = r#""client_metadata":{"x-codex-installation-id":"i","session_id":"s-1"}"#;
const CONTEXT: &str = r#"{"type":"message","role":"user","content":[{"type":"input_text",
    "text":"<environment_context>\n  <cwd>/home/dev/a &amp; b</cwd>\n  <shell>bash</shell>\n</environment_context>"}]}"#;

#[test]
fn reads_session_root_and_tools_of_codex() {
    let facts = facts(&format!(
        r#"{{"model":"m","prompt_cache_key":"00000000-0000-4000-8000-000000000000",{CODEX},
            "input":[{{"type":"message","role":"developer","content":[{{"type":"input_text","text":"You are Codex"}}]}},
                {CONTEXT},
                {{"type":"message","role":"user","content":[{{"type":"input_text","text":"fix it"}}]}}],
            "tools":[{{"type":"function","name":"exec_command","parameters":{{"required":["cmd"]}}}},
                {{"type":"function","name":"get_goal","parameters":{{"required":[]}}}},
                {{"type":"custom","name":"apply_patch","format":{{}}}},
                {{"type":"web_search","external_web_access":true}},
                {{"type":"tool_search","execution":"client"}},
                {{"type":"mcp","server_label":"docs","server_url":"https://docs.example"}}]}}"#
    ));
    assert_eq!(facts.session.as_deref(), Some("s-1"));
    assert_eq!(facts.root, "fix it");
    assert_eq!(facts.working_dir.as_deref(), Some("/home/dev/a & b"));
    let tools: Vec<&String> = facts.tools_with_required.iter().collect();
    assert_eq!(tools, ["exec_command"]);
    let mut provider: Vec<&String> = facts.provider.tools.iter().collect();
    provider.sort();
    assert_eq!(provider, ["mcp", "web_search"]);
    assert!(facts.provider.servers.contains("docs"));
}

#[test]
fn code_mode_declares_its_tools_among_the_items() {
    let facts = facts(
        r#"{"input":[{"type":"additional_tools","role":"developer","tools":[
            {"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"},
                {"type":"function","name":"wait","parameters":{"required":["cell_id"]}}]},
            {"type":"web_search"}]}]}"#,
    );
    assert!(facts.provider.tools.contains("web_search"));
    assert!(facts.tools_with_required.is_empty(), "it needs a namespace");
}

#[test]
fn the_working_folder_is_what_the_client_says_before_the_user() {
    let dir = |client: &str, items: &[&str]| {
        let body = format!(r#"{{{client}"input":[{}]}}"#, items.join(","));
        facts(&body).working_dir.clone()
    };
    let codex = format!("{CODEX},");
    let said = r#"{"role":"user","content":"hello"}"#;
    let pasted =
        r#"{"role":"user","content":"<environment_context><cwd>/</cwd></environment_context>"}"#;
    let printed = r#"{"type":"function_call_output","call_id":"c","output":"<environment_context><cwd>/</cwd></environment_context>"}"#;
    let agents = r##"{"role":"user","content":"# AGENTS.md instructions\n<environment_context><cwd>/</cwd></environment_context>"}"##;
    assert_eq!(
        dir(&codex, &[CONTEXT, said]).as_deref(),
        Some("/home/dev/a & b")
    );
    assert_eq!(
        dir(&codex, &[CONTEXT, pasted]).as_deref(),
        Some("/home/dev/a & b")
    );
    assert_eq!(
        dir(&codex, &[agents, CONTEXT]).as_deref(),
        Some("/home/dev/a & b")
    );
    assert_eq!(dir(&codex, &[said, pasted]), None);
    assert_eq!(dir(&codex, &[said, printed]), None);
    assert_eq!(
        dir("", &[pasted]),
        None,
        "another client's users write anything"
    );
}

#[test]
fn sessions_are_named_in_several_places() {
    let session = |members: &str| facts(&format!("{{{members}}}")).session.clone();
    assert_eq!(
        session(r#""metadata":{"session_id":"m"},"conversation":"conv_1""#).as_deref(),
        Some("conv_1")
    );
    assert_eq!(
        session(r#""conversation":{"id":"conv_1"}"#).as_deref(),
        Some("conv_1")
    );
    assert_eq!(
        session(r#""metadata":{"session_id":"m"}"#).as_deref(),
        Some("m")
    );
    let key = "11111111-0000-4000-8000-000000000000";
    assert_eq!(
        session(&format!(r#""prompt_cache_key":"{key}""#)).as_deref(),
        Some(key)
    );
    assert_eq!(session(r#""prompt_cache_key":"all-users""#), None);
}

#[test]
fn the_whole_conversation_can_be_one_text() {
    let request = read(Bytes::from_static(br#"{"model":"m","input":"hi there"}"#)).unwrap();
    assert_eq!(request.facts.root, "hi there");
    let messages: Vec<&[u8]> = request.messages().collect();
    assert_eq!(messages, [br#""hi there""#]);
}
