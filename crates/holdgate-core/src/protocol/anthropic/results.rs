//! The texts that tools returned, in a message of a conversation.

use crate::request::ToolResult;
use holdgate_effects::json::Json;

/// Members that hold text for the model, in results and in what is nested in them. All others keep
/// their bytes: addresses, ids, and what only the provider can read.
const TEXTS: &[&str] = &[
    "alt",
    "alt_text",
    "caption",
    "content",
    "context",
    "description",
    "lines",
    "output",
    "stderr",
    "stdout",
    "text",
    "title",
];

/// The results in `message`, the client's and the provider's own, in order.
pub(super) fn results<'m>(message: &'m Json<'m>) -> Vec<ToolResult<'m>> {
    let content = message.get("content").and_then(Json::as_array);
    let blocks = content.unwrap_or_default().iter();
    let is_result = |block: &&Json<'_>| {
        let kind = block.get_str("type");
        kind.is_some_and(|kind| kind.ends_with("tool_result"))
    };
    let results = blocks.filter(is_result).map(|block| {
        let mut texts = Vec::new();
        collect(block, false, &mut texts);
        ToolResult {
            call: block.get_str("tool_use_id"),
            texts,
        }
    });
    results.filter(|result| !result.texts.is_empty()).collect()
}

/// Adds the texts in `value`, which is itself text if it is a string and `is_text`.
fn collect<'m>(value: &'m Json<'m>, is_text: bool, texts: &mut Vec<&'m Json<'m>>) {
    match value {
        Json::String(text) if is_text && !text.is_empty() => texts.push(value),
        Json::Array(items) => {
            for item in items {
                collect(item, is_text, texts);
            }
        }
        Json::Object(members) => {
            // A document holds its text as `data`, as it does with what is no text.
            let is_plain = value.get_str("type") == Some("text");
            for (key, member) in members {
                let is_text = TEXTS.contains(&&**key) || is_plain && key == "data";
                collect(member, is_text, texts);
            }
        }
        Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::json::LoneSurrogates;

    #[track_caller]
    fn check(block: &str, expected: &[&str]) {
        let message = format!(r#"{{"role":"user","content":[{block}]}}"#);
        let json = Json::read(message.as_bytes(), 64, LoneSurrogates::Replace).unwrap();
        let found = results(&json);
        let texts = found.iter().flat_map(|result| &result.texts);
        let texts: Vec<&str> = texts.filter_map(|text| text.as_str()).collect();
        assert_eq!(texts, expected, "{block}");
        assert!(found.iter().all(|result| result.call == Some("t")));
    }

    #[test]
    fn results_have_texts_in_every_form_of_content() {
        let result = |content: &str| {
            format!(r#"{{"type":"tool_result","tool_use_id":"t","content":{content}}}"#)
        };
        check(&result(r#""plain""#), &["plain"]);
        check(&result(r#""""#), &[]);
        check(
            &result(
                r#"[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}},
                    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aWdub3Jl"},
                     "alt":"two","title":"three"}]"#,
            ),
            &["one", "two", "three"],
        );
        check(
            &result(
                r#"[{"type":"document","title":"a","context":"b",
                     "source":{"type":"text","media_type":"text/plain","data":"c"}},
                    {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"}},
                    {"type":"document","source":{"type":"content","content":[{"type":"text","text":"d"}]}},
                    {"type":"search_result","source":"https://example.com/x","title":"e",
                     "content":[{"type":"text","text":"f"}],"citations":{"enabled":true}}]"#,
            ),
            &["a", "b", "c", "d", "e", "f"],
        );
    }

    #[test]
    fn the_providers_results_have_texts_too() {
        let result = |kind: &str, content: &str| {
            format!(r#"{{"type":"{kind}_tool_result","tool_use_id":"t","content":{content}}}"#)
        };
        check(
            &result(
                "web_search",
                r#"[{"type":"web_search_result","url":"https://example.com","title":"a",
                     "encrypted_content":"xyz","page_age":"1 day"}]"#,
            ),
            &["a"],
        );
        check(
            &result(
                "web_fetch",
                r#"{"type":"web_fetch_result","url":"https://example.com","content":{"type":"document",
                    "source":{"type":"text","media_type":"text/plain","data":"a"},"title":"b"}}"#,
            ),
            &["a", "b"],
        );
        check(
            &result(
                "bash_code_execution",
                r#"{"type":"bash_code_execution_result","stdout":"a","stderr":"b","return_code":0,
                    "content":[{"type":"bash_code_execution_output","file_id":"file_1"}]}"#,
            ),
            &["a", "b"],
        );
        check(&result("mcp", r#"[{"type":"text","text":"a"}]"#), &["a"]);
    }

    #[test]
    fn what_is_no_result_has_none() {
        check(r#"{"type":"text","text":"said by a person"}"#, &[]);
        check(
            r#"{"type":"tool_use","id":"t","name":"Bash","input":{"content":"ls"}}"#,
            &[],
        );
    }
}
