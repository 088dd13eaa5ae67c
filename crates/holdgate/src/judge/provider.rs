//! The three ways to ask a model for one JSON object, and to find it in the answer.

use super::Verdict;
use super::fault::Fault;
use super::prompt::Prompt;
use super::quote::one_line;
use super::settings::Provider;
use holdgate_core::json::{Json, LoneSurrogates};

const MAX_DEPTH: usize = 32;
/// A verdict needs few; models that think spend some more.
const MAX_TOKENS: u64 = 1_024;
/// Characters of a reason.
const REASON: usize = 500;
/// Characters of a server's word for what went wrong.
const WORD: usize = 80;

/// The path below the base URL.
pub(super) fn path(provider: Provider, model: &str) -> String {
    match provider {
        Provider::Gemini => {
            let model = model.strip_prefix("models/").unwrap_or(model);
            format!("/v1beta/models/{model}:generateContent")
        }
        Provider::Anthropic => "/v1/messages".to_owned(),
        Provider::OpenAi | Provider::Nobody => "/chat/completions".to_owned(),
    }
}

/// The header that carries the key, and how it is written there.
pub(super) fn key_header(provider: Provider, key: &str) -> (&'static str, String) {
    match provider {
        Provider::Gemini => ("x-goog-api-key", key.to_owned()),
        Provider::Anthropic => ("x-api-key", key.to_owned()),
        Provider::OpenAi | Provider::Nobody => ("authorization", format!("Bearer {key}")),
    }
}

/// The request's body.
pub(super) fn body(provider: Provider, model: &str, prompt: &Prompt) -> String {
    let (system, question) = (prompt.system.as_str(), prompt.question.as_str());
    let message =
        |role: &'static str, content| Json::object([("role", role.into()), ("content", content)]);
    let body = match provider {
        Provider::Gemini => gemini_body(model, system, question),
        Provider::Anthropic => {
            let format = Json::object([("type", "json_schema".into()), ("schema", schema())]);
            Json::object([
                ("model", model.into()),
                ("max_tokens", MAX_TOKENS.into()),
                ("system", system.into()),
                (
                    "messages",
                    Json::Array(vec![message("user", question.into())]),
                ),
                ("output_config", Json::object([("format", format)])),
            ])
        }
        Provider::OpenAi | Provider::Nobody => {
            let format = Json::object([
                ("name", "ruling".into()),
                ("strict", Json::Bool(true)),
                ("schema", schema()),
            ]);
            let messages = [("system", system), ("user", question)];
            let messages = messages.map(|(role, text)| message(role, text.into()));
            Json::object([
                ("model", model.into()),
                ("messages", Json::Array(messages.into())),
                ("max_completion_tokens", MAX_TOKENS.into()),
                (
                    "response_format",
                    Json::object([("type", "json_schema".into()), ("json_schema", format)]),
                ),
            ])
        }
    };
    body.to_string()
}

fn gemini_body<'a>(model: &str, system: &'a str, question: &'a str) -> Json<'a> {
    let parts = |text: &'a str| Json::Array(vec![Json::object([("text", text.into())])]);
    let string = || ("type", "STRING".into());
    let properties = Json::object([
        ("verdict", Json::object([string(), ("enum", verdicts())])),
        ("reason", Json::object([string()])),
    ]);
    let schema = Json::object([
        ("type", "OBJECT".into()),
        ("properties", properties),
        ("required", names()),
        ("propertyOrdering", names()),
    ]);
    let mut generation = Json::object([
        ("temperature", 0.into()),
        ("maxOutputTokens", MAX_TOKENS.into()),
        ("candidateCount", 1.into()),
        ("responseMimeType", "application/json".into()),
        ("responseSchema", schema),
    ]);
    // These think at length unless told otherwise; later ones think little, and want other words.
    if model.contains("2.5-flash") {
        let none = Json::object([("thinkingBudget", 0.into())]);
        generation.set("thinkingConfig", none);
    }
    let user = Json::object([("role", "user".into()), ("parts", parts(question))]);
    // The evidence is dangerous by its nature: to block it would leave the question open.
    let unblocked = Json::object([
        ("category", "HARM_CATEGORY_DANGEROUS_CONTENT".into()),
        ("threshold", "BLOCK_NONE".into()),
    ]);
    Json::object([
        (
            "systemInstruction",
            Json::object([("parts", parts(system))]),
        ),
        ("contents", Json::Array(vec![user])),
        ("generationConfig", generation),
        ("safetySettings", Json::Array(vec![unblocked])),
    ])
}

fn verdicts() -> Json<'static> {
    Json::Array(["SAFE", "WARN", "KILL"].map(Json::from).into())
}

fn names() -> Json<'static> {
    Json::Array(["verdict", "reason"].map(Json::from).into())
}

fn schema() -> Json<'static> {
    let string = || ("type", "string".into());
    Json::object([
        ("type", "object".into()),
        (
            "properties",
            Json::object([
                ("verdict", Json::object([string(), ("enum", verdicts())])),
                ("reason", Json::object([string()])),
            ]),
        ),
        ("required", names()),
        ("additionalProperties", Json::Bool(false)),
    ])
}

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

/// The texts of a list's items, put together; `None` where an item is anything but text.
fn joined(items: &[Json<'_>]) -> Result<String, Fault> {
    let mut text = String::new();
    for item in items {
        let thought = item.get("thought") == Some(&Json::Bool(true))
            || matches!(string(item, "type"), Some("thinking" | "redacted_thinking"));
        match string(item, "text") {
            _ if thought => {}
            Some(piece) => text.push_str(piece),
            None => return Err(Fault::Unreadable("it holds more than text".to_owned())),
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
        .ok_or_else(|| Fault::Unreadable("it holds no text".to_owned()))
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
            return Err(wrong(&format!("`{other}` is no verdict")));
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
            let expected = expected.replace('~', "its answer cannot be read: ");
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
            "~`safe` is no verdict",
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
