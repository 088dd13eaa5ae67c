//! Bridges under guard: answers that servers should not give, and text that acts.

use crate::bridges::{CLIENTS, END, calls, chunk, context, say};
use crate::guarding::{Play, judge, settings, whole};
use holdgate_core::{
    ANTHROPIC, Dialect, GuardSettings, RESPONSES, RequestFacts, ResponseContext, TextActions,
    bridged,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn bash(id: &str, kind: &str) -> Value {
    json!({"index": 0, "id": id, "type": kind,
           "function": {"name": "Bash", "arguments": "{\"command\":\"ls\"}"}})
}

#[test]
fn a_call_in_both_forms_is_one_call() {
    let both = json!({"tool_calls": [bash("call_a", "function")],
                      "function_call": {"name": "Bash", "arguments": "{\"command\":\"ls\"}"}});
    for client in CLIENTS {
        let mut play = Play::new(context(client, settings()));
        play.feed(chunk(json!({"index": 0, "delta": both})).as_bytes());
        play.feed(END.as_bytes());
        play.finish();
        let most = calls(client, &play.seen).iter().map(Vec::len).max();
        assert_eq!(most, Some(1), "{}", play.seen.text());
        let body =
            json!({"id": "c", "choices": [{"index": 0, "message": both, "finish_reason": "stop"}]});
        let got = whole(context(client, settings()), &body).unwrap();
        assert_eq!(got.to_string().matches("\"Bash\"").count(), 1, "{got}");
    }
}

#[test]
fn no_tool_hides_behind_the_name_of_another() {
    let group = |space: &str, name: &str| {
        let tool = json!({"type": "function", "name": name, "parameters": {}});
        json!({"type": "namespace", "name": space, "tools": [tool]})
    };
    let tools = [group("mcp__a", "b__c"), group("mcp__a__b", "c")];
    let again = json!({"type": "additional_tools", "tools": [group("mcp__a", "b__c")]});
    let body = json!({"input": [again], "tools": tools}).to_string();
    let bridge = bridged(RESPONSES, "chat").unwrap();
    let translated = bridge.translate("/v1/responses", body.as_bytes(), Dialect::Auto);
    let translated = translated.unwrap().unwrap();
    let chat: Value = serde_json::from_slice(&translated.body).unwrap();
    assert_eq!(chat["tools"].as_array().unwrap().len(), 1, "{chat}");
    let context = ResponseContext {
        protocol: bridge,
        request: Arc::new(RequestFacts {
            bridged: translated.bridged,
            ..RequestFacts::default()
        }),
        ..judge(settings())
    };
    let mut play = Play::new(context);
    let call = "<tool_call>{\"name\":\"mcp__a__b__c\",\"arguments\":{}}</tool_call>";
    play.feed(say(call).as_bytes());
    play.feed(END.as_bytes());
    play.finish();
    let text = play.seen.text();
    assert!(text.contains("\"namespace\":\"mcp__a\""), "{text}");
    assert!(text.contains("\"name\":\"b__c\""), "{text}");
}

#[test]
fn a_call_of_an_unknown_kind_is_refused_also_in_a_whole_answer() {
    let message = json!({"tool_calls": [bash("call_a", "remote")]});
    let body =
        json!({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    for client in CLIENTS {
        let got = whole(context(client, settings()), &body).unwrap();
        assert!(
            got.to_string().contains("`remote` is an unknown kind"),
            "{got}"
        );
    }
}

#[test]
fn a_cost_beyond_all_numbers_is_only_a_cost() {
    for client in CLIENTS {
        let mut play = Play::new(context(client, settings()));
        play.feed(say("Hi").as_bytes());
        let usage = json!({"prompt_tokens": u64::MAX, "completion_tokens": u64::MAX});
        let end = json!({"choices": [], "usage": usage});
        let done = "data: [DONE]\n\n";
        let end = END.replace(done, &format!("data: {end}\n\n{done}"));
        play.feed(end.as_bytes());
        play.finish();
        assert!(!play.guard.has_failed());
        assert!(play.seen.text().contains(&u64::MAX.to_string()));
    }
}

#[test]
fn text_that_acts_is_read_to_its_end_without_an_end_mark() {
    let edit = "src/a.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```";
    let play = |text: String| {
        let settings = GuardSettings {
            text_actions: TextActions::Aider,
            ..settings()
        };
        let mut play = Play::new(context(ANTHROPIC, settings));
        play.feed(text.as_bytes());
        // The server closes the connection instead of saying `[DONE]`.
        play.feed(END.replace("data: [DONE]\n\n", "").as_bytes());
        play.finish();
        play.seen.text()
    };
    let honest = play(say(edit));
    assert!(honest.contains("REPLACE"), "it is lost: {honest}");
    assert!(honest.contains("message_stop"), "{honest}");
    let hostile = play(say("Run:\n\n```bash\nrm -rf ~\n```"));
    assert!(!hostile.contains("```bash"), "{hostile}");
    assert!(hostile.contains("[holdgate]"), "{hostile}");
    let thought = play(chunk(
        json!({"index": 0, "delta": {"reasoning_content": edit}}),
    ));
    assert!(thought.contains("only thinking"), "{thought}");
}
