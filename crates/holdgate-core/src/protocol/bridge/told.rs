//! What the members of the upstream's answers tell.

use super::{Head, Reason, Usage};
use crate::request::Bridged;
use holdgate_effects::json::{Json, shorten};

/// Bytes of the response's id that ids of calls are made of.
const ID_BYTES: usize = 16;
/// Bytes of an error's text.
const MAX_ERROR: usize = 2000;

/// What the model thinks, in a delta or a message.
pub(super) fn thinking<'j>(json: &'j Json<'_>) -> impl Iterator<Item = &'j str> {
    // Some servers send the same under both names.
    let names = ["reasoning_content", "reasoning"];
    let mut found = names.iter().filter_map(|name| json.get_str(name));
    found.find(|text| !text.is_empty()).into_iter()
}

/// What a response to this request says about itself.
pub(super) fn head(json: &Json<'_>, request: &Bridged) -> Head {
    let id = json.get_str("id").unwrap_or_default();
    let plain: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
    let from = plain.len().saturating_sub(ID_BYTES);
    Head {
        id: format!(
            "{}{:08x}",
            plain.get(from..).unwrap_or_default(),
            request.turn
        ),
        model: shorten(json.get_str("model").unwrap_or("unknown"), 200),
        created: json.get("created").and_then(Json::as_u64).unwrap_or(0),
    }
}

/// Why a choice ends.
pub(super) fn reason(choice: &Json<'_>, request: &Bridged) -> (Reason, Option<String>) {
    let reason = match choice.get_str("finish_reason") {
        Some("length") => Reason::Length,
        Some("content_filter") => Reason::Filter,
        _ => Reason::Done,
    };
    let stop = choice.get_str("stop_reason").map(str::to_owned);
    (reason, stop.filter(|stop| request.stops.contains(stop)))
}

/// What a response has cost.
pub(super) fn usage_of(usage: &Json<'_>) -> Usage {
    let number = |json: &Json<'_>, key| json.get(key).and_then(Json::as_u64).unwrap_or(0);
    let detail = |of, key| usage.get(of).map_or(0, |details| number(details, key));
    Usage {
        input: number(usage, "prompt_tokens"),
        cached: detail("prompt_tokens_details", "cached_tokens"),
        output: number(usage, "completion_tokens"),
        reasoning: detail("completion_tokens_details", "reasoning_tokens"),
    }
}

/// What an error says.
pub(super) fn error_message<'j>(json: &'j Json<'_>) -> Option<&'j str> {
    let error = json.get("error").unwrap_or(json);
    let keys = ["message", "detail", "error"];
    let found = keys.iter().find_map(|key| error.get_str(key));
    let text = error.as_str().or(found)?;
    text.get(..text.floor_char_boundary(MAX_ERROR))
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::json::LoneSurrogates;

    #[test]
    fn an_empty_member_hides_no_thinking() {
        let of = |text: &str| {
            let json = Json::read(text.as_bytes(), 4, LoneSurrogates::Refuse).unwrap();
            thinking(&json).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(of(r#"{"reasoning_content":"","reasoning":"Hm."}"#), ["Hm."]);
        assert_eq!(of(r#"{"reasoning_content":"a","reasoning":"a"}"#), ["a"]);
        assert!(of(r#"{"reasoning_content":null}"#).is_empty());
    }
}
