//! The three ways to ask a model for one JSON object.

use super::prompt::Prompt;
use crate::config::Provider;
use holdgate_effects::json::Json;

/// A verdict needs few; models that think spend some more.
const MAX_TOKENS: u64 = 1_024;

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
    // These think at length by default; later ones think little, and use other parameters.
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
