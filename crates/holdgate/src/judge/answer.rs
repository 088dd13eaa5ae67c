//! The verdict in an answer, or why there is none.

use super::Verdict;
use super::fault::Fault;
use super::quote::one_line;
use crate::config::Provider;
use holdgate_effects::json::{Json, LoneSurrogates};

const MAX_DEPTH: usize = 32;
/// Characters of a reason.
const REASON: usize = 500;
/// Characters of a server's word for what went wrong.
const WORD: usize = 80;

/// The verdict in an answer with status 200.
pub(super) fn read(provider: Provider, answer: &[u8]) -> Result<(Verdict, String), Fault> {
    let answer = Json::read(answer, MAX_DEPTH, LoneSurrogates::Refuse)
        .map_err(|e| Fault::Unreadable(e.to_string()))?;
    let text = match provider {
        Provider::Gemini => gemini_text(&answer)?,
        Provider::Anthropic => anthropic_text(&answer)?,
        Provider::OpenAi | Provider::Nobody => openai_text(&answer)?,
    };
    verdict(&text)
}

/// The texts of a list's items, put together. Thoughts are passed over, anything else is refused.
fn joined(items: &[Json<'_>]) -> Result<String, Fault> {
    let mut text = String::new();
    for item in items {
        let thought = item.get("thought") == Some(&Json::Bool(true))
            || matches!(string(item, "type"), Some("thinking" | "redacted_thinking"));
        match string(item, "text") {
            _ if thought => {}
            Some(piece) => text.push_str(piece),
            None => return Err(Fault::Unreadable("it contains more than text".to_owned())),
        }
    }
    Ok(text)
}

fn gemini_text(answer: &Json<'_>) -> Result<String, Fault> {
    let feedback = answer.get("promptFeedback");
    if let Some(reason) = feedback.and_then(|feedback| string(feedback, "blockReason")) {
        return Err(Fault::Blocked(one_line(reason, WORD)));
    }
    let candidate = only(answer, "candidates")?;
    match string(candidate, "finishReason") {
        Some("STOP") => {}
        Some(other) => return Err(ending(other)),
        None => return Err(Fault::CutShort("no finishReason".to_owned())),
    }
    let parts = candidate.get("content").and_then(|c| c.get("parts"));
    joined(parts.and_then(Json::as_array).unwrap_or_default())
}

fn anthropic_text(answer: &Json<'_>) -> Result<String, Fault> {
    match string(answer, "stop_reason") {
        Some("end_turn") => {}
        Some(other) => return Err(ending(other)),
        None => return Err(Fault::CutShort("no stop_reason".to_owned())),
    }
    let content = answer.get("content").and_then(Json::as_array);
    joined(content.unwrap_or_default())
}

fn openai_text(answer: &Json<'_>) -> Result<String, Fault> {
    let choice = only(answer, "choices")?;
    let message = choice.get("message").unwrap_or(&Json::Null);
    if let Some(refusal) = string(message, "refusal") {
        return Err(Fault::Blocked(one_line(refusal, WORD)));
    }
    match string(choice, "finish_reason") {
        Some("stop") => {}
        Some(other) => return Err(ending(other)),
        None => return Err(Fault::CutShort("no finish_reason".to_owned())),
    }
    string(message, "content")
        .map(str::to_owned)
        .ok_or_else(|| Fault::Unreadable("it contains no text".to_owned()))
}

/// What it means that a model stopped for another reason than that it was done.
fn ending(reason: &str) -> Fault {
    let length = ["MAX_TOKENS", "max_tokens", "length"].contains(&reason);
    let reason = one_line(reason, WORD);
    if length {
        Fault::CutShort(reason)
    } else {
        Fault::Blocked(reason)
    }
}

/// The one item of a list that must have one.
fn only<'j>(answer: &'j Json<'_>, list: &str) -> Result<&'j Json<'j>, Fault> {
    match answer.get(list).and_then(Json::as_array) {
        Some([one]) => Ok(one),
        Some([]) | None => Err(Fault::Unreadable(format!("it has no {list}"))),
        Some(_) => Err(Fault::Unreadable(format!("it has several {list}"))),
    }
}

fn string<'j>(object: &'j Json<'_>, key: &str) -> Option<&'j str> {
    object.get(key).and_then(Json::as_str)
}

/// Reads exactly one object with exactly a verdict and a reason. A model that was talked into
/// anything else has given no verdict.
fn verdict(text: &str) -> Result<(Verdict, String), Fault> {
    let wrong = |what: &str| Fault::Unreadable(what.to_owned());
    if text.trim().is_empty() {
        return Err(wrong("it is empty"));
    }
    let object = Json::read(text.trim().as_bytes(), 4, LoneSurrogates::Refuse)
        .map_err(|e| wrong(&format!("no JSON object: {e}")))?;
    let members = object.as_object().ok_or_else(|| wrong("no JSON object"))?;
    if let Some((name, _)) = members
        .iter()
        .find(|(name, _)| name != "verdict" && name != "reason")
    {
        let name = one_line(name, WORD);
        return Err(wrong(&format!("it has an unknown member `{name}`")));
    }
    let word = string(&object, "verdict").ok_or_else(|| wrong("it has no verdict"))?;
    let verdict = match word {
        "SAFE" => Verdict::Safe,
        "WARN" => Verdict::Warn,
        "KILL" => Verdict::Kill,
        other => {
            let other = one_line(other, WORD);
            return Err(wrong(&format!("`{other}` is not a valid verdict")));
        }
    };
    let reason = string(&object, "reason").ok_or_else(|| wrong("it has no reason"))?;
    let reason = one_line(reason, REASON);
    if reason.is_empty() {
        return Err(wrong("it has no reason"));
    }
    Ok((verdict, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_object_of_the_right_form_is_a_verdict() {
        let check = |text: &str, expected: &str| {
            let read = match verdict(text) {
                Ok((verdict, reason)) => format!("{verdict:?} {reason}"),
                Err(fault) => fault.to_string(),
            };
            let expected = expected.replace('~', "its response cannot be read: ");
            assert_eq!(read, expected, "{text}");
        };
        check(r#" {"verdict":"SAFE","reason":"a test"} "#, "Safe a test");
        check(
            r#"{"reason":"\u001b[2Jrm\n-rf","verdict":"KILL"}"#,
            "Kill [2Jrm -rf",
        );
        check("", "~it is empty");
        check(r#"{"verdict":"SAFE"}"#, "~it has no reason");
        check(r#"{"verdict":"SAFE","reason":" "}"#, "~it has no reason");
        check(r#"{"reason":"SAFE"}"#, "~it has no verdict");
        check(
            r#"{"verdict":"safe","reason":"r"}"#,
            "~`safe` is not a valid verdict",
        );
        check(r#"{"verdict":["SAFE"],"reason":"r"}"#, "~it has no verdict");
        check(r#"["SAFE"]"#, "~no JSON object");
        check(
            r#"{"verdict":"SAFE","reason":"r","note":1}"#,
            "~it has an unknown member `note`",
        );
        for text in [
            r#"{"verdict":"SA"#,
            "SAFE",
            "```json\n{\"verdict\":\"SAFE\",\"reason\":\"r\"}\n```",
            r#"{"verdict":"SAFE","reason":"r"} {"verdict":"KILL","reason":"r"}"#,
            r#"{"verdict":"KILL","reason":"r","verdict":"SAFE"}"#,
        ] {
            let fault = verdict(text).unwrap_err().to_string();
            assert!(fault.contains("no JSON object: "), "{text}: {fault}");
        }
    }
}
