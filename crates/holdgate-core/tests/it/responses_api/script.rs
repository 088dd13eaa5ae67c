//! Items, and the events in which the API streams them.

use serde_json::{Value, json};

pub(crate) const PATCH: &str = "*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch\n";

pub(crate) fn message(text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]})
}

pub(crate) fn refusal(text: &str) -> Value {
    json!({"id": "msg_2", "type": "message", "status": "completed", "role": "assistant",
        "content": [{"type": "refusal", "refusal": text}]})
}

pub(crate) fn reasoning(encrypted: &str) -> Value {
    json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": encrypted})
}

pub(crate) fn function_call(id: &str, arguments: &str) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "status": "completed", "call_id": id,
        "name": "exec_command", "arguments": arguments})
}

pub(crate) fn custom_call(name: &str, input: &str) -> Value {
    json!({"id": "ctc_1", "type": "custom_tool_call", "status": "completed", "call_id": "u",
        "name": name, "input": input})
}

pub(crate) fn local_shell(command: &[&str]) -> Value {
    json!({"id": "lsh_1", "type": "local_shell_call", "status": "completed", "call_id": "l",
        "action": {"type": "exec", "command": command, "env": {}, "timeout_ms": null}})
}

pub(crate) fn shell(commands: &[&str]) -> Value {
    json!({"id": "sh_1", "type": "shell_call", "status": "completed", "call_id": "s",
        "action": {"commands": commands, "timeout_ms": 1000, "max_output_length": null}})
}

pub(crate) fn patch_call(path: &str, diff: &str) -> Value {
    json!({"id": "apc_1", "type": "apply_patch_call", "status": "completed", "call_id": "p",
        "operation": {"type": "create_file", "path": path, "diff": diff}})
}

pub(crate) fn response(status: &str, output: &[Value]) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 1_700_000_000, "status": status,
        "model": "gpt-5.5", "output": output, "parallel_tool_calls": true, "tool_choice": "auto",
        "tools": [], "error": null, "incomplete_details": null, "usage": null})
}

/// One frame.
pub(crate) fn frame(event: &Value) -> String {
    format!(
        "event: {}\ndata: {event}\n\n",
        event["type"].as_str().unwrap()
    )
}

/// A whole response, as the API streams it.
pub(crate) fn stream(items: &[Value]) -> String {
    frames(items).concat()
}

/// The same, frame by frame.
pub(crate) fn frames(items: &[Value]) -> Vec<String> {
    let mut events = vec![
        json!({"type": "response.created", "response": response("in_progress", &[])}),
        json!({"type": "response.in_progress", "response": response("in_progress", &[])}),
    ];
    for (index, item) in items.iter().enumerate() {
        events.extend(item_events(index, item));
    }
    events.push(json!({"type": "response.completed", "response": response("completed", items)}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events.iter().map(frame).collect()
}

fn item_events(index: usize, item: &Value) -> Vec<Value> {
    let mut begun = item.clone();
    if begun["status"].is_string() {
        begun["status"] = json!("in_progress");
    }
    let event = |kind: &str, more: Value| {
        let mut event = json!({"type": format!("response.{kind}"), "item_id": item["id"], "output_index": index});
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        event
    };
    let pieces = |text: &Value| {
        let chars: Vec<char> = text.as_str().unwrap().chars().collect();
        chars
            .chunks(5)
            .map(|c| c.iter().collect::<String>())
            .collect::<Vec<_>>()
    };
    let mut inner = Vec::new();
    match item["type"].as_str().unwrap() {
        "message" => {
            begun["content"] = json!([]);
            let part = &item["content"][0];
            let (key, kind) = match part["type"].as_str().unwrap() {
                "refusal" => ("refusal", "refusal"),
                _ => ("text", "output_text"),
            };
            let at = |more: Value| {
                let mut more = more;
                more["content_index"] = json!(0);
                more
            };
            let mut empty = part.clone();
            empty[key] = json!("");
            inner.push(event("content_part.added", at(json!({"part": empty}))));
            for piece in pieces(&part[key]) {
                inner.push(event(&format!("{kind}.delta"), at(json!({"delta": piece}))));
            }
            inner.push(event(&format!("{kind}.done"), at(json!({key: part[key]}))));
            inner.push(event("content_part.done", at(json!({"part": part}))));
        }
        "reasoning" => {
            begun["summary"] = json!([]);
            let part = &item["summary"][0];
            let at = |key: &str, value: &Value| json!({"summary_index": 0, key: value});
            inner.push(event("reasoning_summary_part.added", at("part", part)));
            inner.push(event(
                "reasoning_summary_text.delta",
                at("delta", &part["text"]),
            ));
            inner.push(event(
                "reasoning_summary_text.done",
                at("text", &part["text"]),
            ));
            inner.push(event("reasoning_summary_part.done", at("part", part)));
        }
        "function_call" => {
            begun["arguments"] = json!("");
            for piece in pieces(&item["arguments"]) {
                inner.push(event(
                    "function_call_arguments.delta",
                    json!({"delta": piece}),
                ));
            }
            let done = json!({"name": item["name"], "arguments": item["arguments"]});
            inner.push(event("function_call_arguments.done", done));
        }
        "custom_tool_call" => {
            begun["input"] = json!("");
            for piece in pieces(&item["input"]) {
                inner.push(event(
                    "custom_tool_call_input.delta",
                    json!({"delta": piece}),
                ));
            }
            inner.push(event(
                "custom_tool_call_input.done",
                json!({"input": item["input"]}),
            ));
        }
        "shell_call" => {
            begun["action"]["commands"] = json!([]);
            for (number, command) in item["action"]["commands"]
                .as_array()
                .unwrap()
                .iter()
                .enumerate()
            {
                let at = |key: &str, value: &Value| json!({"command_index": number, key: value});
                inner.push(event("shell_call_command.added", at("command", &json!(""))));
                for piece in pieces(command) {
                    inner.push(event(
                        "shell_call_command.delta",
                        at("delta", &json!(piece)),
                    ));
                }
                inner.push(event("shell_call_command.done", at("command", command)));
            }
        }
        "apply_patch_call" => {
            begun["operation"]["diff"] = json!("");
            let diff = &item["operation"]["diff"];
            for piece in pieces(diff) {
                inner.push(event(
                    "apply_patch_call_operation_diff.delta",
                    json!({"delta": piece}),
                ));
            }
            inner.push(event(
                "apply_patch_call_operation_diff.done",
                json!({"diff": diff}),
            ));
        }
        "web_search_call" => {
            inner.push(event("web_search_call.searching", json!({})));
        }
        _ => {}
    }
    let added = json!({"type": "response.output_item.added", "output_index": index, "item": begun});
    let done = json!({"type": "response.output_item.done", "output_index": index, "item": item});
    std::iter::once(added).chain(inner).chain([done]).collect()
}
