//! What a message of a conversation says about calls.

use crate::call::Executor;
use crate::request::Mention;
use holdgate_effects::json::Json;

/// What `message` says, in order.
pub(super) fn mentions<'m>(message: &'m Json<'m>) -> Vec<Mention<'m>> {
    let by_model = message.get_str("role") == Some("assistant");
    let content = message.get("content");
    if let Some(text) = content.and_then(Json::as_str) {
        return vec![said(text, by_model)];
    }
    let blocks = content.and_then(Json::as_array).unwrap_or(&[]);
    let blocks = blocks.iter();
    blocks.filter_map(|b| mention(b, by_model)).collect()
}

fn said(text: &str, by_model: bool) -> Mention<'_> {
    if by_model {
        Mention::Text(text)
    } else {
        Mention::User(text)
    }
}

fn mention<'m>(block: &'m Json<'m>, by_model: bool) -> Option<Mention<'m>> {
    let text = |key| block.get_str(key);
    match text("type")? {
        "text" => Some(said(text("text")?, by_model)),
        kind @ ("tool_use" | "server_tool_use" | "mcp_tool_use") if by_model => {
            Some(Mention::Call {
                id: text("id")?,
                tool: text("name")?.into(),
                runs: match kind {
                    "tool_use" => Executor::AtClient,
                    _ => Executor::AtProvider,
                },
                input: block.get("input").map(Json::text),
            })
        }
        // The provider's results are in the model's own message.
        kind if kind == "tool_result" || by_model && is_providers_result(kind) => {
            Some(Mention::Result {
                call: text("tool_use_id")?,
                in_order: false,
                failed: block.get("is_error") == Some(&Json::Bool(true))
                    || is_error(block)
                    || block.get("content").is_some_and(holds_error),
                texts: block.get("content").map(texts).unwrap_or_default(),
            })
        }
        _ => None,
    }
}

/// Members that say how a result is written.
const FORM: &[&str] = &[
    "type",
    "media_type",
    "id",
    "tool_use_id",
    "encrypted_content",
];

/// The texts of a result: all strings but what says how they are written.
fn texts<'m>(content: &'m Json<'m>) -> Vec<&'m str> {
    let mut texts = Vec::new();
    let mut open = vec![content];
    while let Some(json) = open.pop() {
        match json {
            Json::String(text) => texts.push(text.as_ref()),
            Json::Array(items) => open.extend(items.iter().rev()),
            Json::Object(members) => {
                let encoded = json.get_str("type") == Some("base64");
                let is_form = |key: &str| FORM.contains(&key) || encoded && key == "data";
                let members = members.iter().rev();
                let texts = members.filter(|(key, _)| !is_form(key));
                open.extend(texts.map(|(_, value)| value));
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    texts
}

fn is_providers_result(kind: &str) -> bool {
    kind.ends_with("_tool_result") || kind.ends_with("_tool_result_error")
}

/// Providers report an error by the type of the result's content.
fn holds_error(content: &Json<'_>) -> bool {
    is_error(content) || content.as_array().unwrap_or(&[]).iter().any(is_error)
}

fn is_error(block: &Json<'_>) -> bool {
    let kind = block.get_str("type");
    kind.is_some_and(|kind| kind.ends_with("_error"))
}
