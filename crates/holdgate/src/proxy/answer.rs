//! How the upstream's answer has to be read, by its status and headers alone.

use holdgate_core::{Canonical, Framing, Protocol, inert_value};
use holdgate_effects::json::shorten;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap};

/// What an answer to a request for a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An error, which tells the client what is wrong.
    Error,
    /// A stream of events.
    Events,
    /// A message in one piece.
    Message,
}

/// Why an answer cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) rule: &'static str,
    pub(crate) why: String,
}

impl Answer {
    /// Reads status and headers. A stream has frames of this kind.
    pub(crate) fn of(
        status: StatusCode,
        headers: &HeaderMap,
        framing: Framing,
    ) -> Result<Answer, Unreadable> {
        let unreadable = |why: String| Unreadable {
            rule: "unreadable-response",
            why,
        };
        if status.is_redirection() {
            return Err(Unreadable {
                rule: "upstream-redirect",
                why: "the upstream redirects the request, so the client would bypass the \
                      guard; configure the final address as the upstream"
                    .to_owned(),
            });
        }
        if !status.is_success() {
            return Ok(Answer::Error);
        }
        if is_encoded(headers) || has_other_charset(headers) {
            let why = "the upstream sent an encoded response that was not requested";
            return Err(unreadable(why.to_owned()));
        }
        match media_type(headers).as_str() {
            stream if stream == framing.media_type() => Ok(Answer::Events),
            "application/json" => Ok(Answer::Message),
            other => Err(unreadable(format!(
                "the upstream sent `{other}`, but events or JSON were expected"
            ))),
        }
    }
}

/// What leaves of an error.
pub(crate) struct ErrorAnswer {
    pub(crate) body: Canonical,
    /// Why the upstream's own body could carry a call, if it could.
    pub(crate) could_act: Option<&'static str>,
}

/// The body of an error: the upstream's own, if it is JSON in which no client can find a call, or
/// else a plain error. `None` is a body that could not be read to its end.
pub(crate) fn error_answer(
    status: StatusCode,
    headers: &HeaderMap,
    body: Option<&[u8]>,
    protocol: &dyn Protocol,
) -> ErrorAnswer {
    let replaced = |what: &str, could_act| {
        let status = status.as_u16();
        let message = format!("[holdgate] the upstream responded with status {status} and {what}");
        ErrorAnswer {
            // Not by its status: it is the upstream's error, and the text is ours.
            body: protocol.error_body(500, &message),
            could_act,
        }
    };
    let Some(body) = body else {
        return replaced("a body that is too large or incomplete", None);
    };
    if is_encoded(headers) || has_other_charset(headers) {
        let why = "its body has an encoding that was not requested";
        return replaced("an encoded body that cannot be read", Some(why));
    }
    if let Some(body) = inert_value(body) {
        return ErrorAnswer {
            body: protocol.upstream_error(status.as_u16(), body),
            could_act: None,
        };
    }
    let text = String::from_utf8_lossy(body);
    match media_type(headers).as_str() {
        "application/json" | "text/event-stream" | "application/x-ndjson" => {
            let why = "its body could carry a tool call";
            replaced("a body that could carry a tool call", Some(why))
        }
        // Such as the page of a gateway. As a text in an error it can cause nothing.
        other => replaced(&format!("`{other}`: {}", shorten(text.trim(), 300)), None),
    }
}

/// Whether a body must be decoded before it can be read. Every header counts: clients decode them
/// one after the other.
pub(crate) fn is_encoded(headers: &HeaderMap) -> bool {
    let encodings = headers.get_all(header::CONTENT_ENCODING);
    encodings
        .iter()
        .any(|e| !e.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Clients may decode text by the charset that is named; we read UTF-8.
pub(crate) fn has_other_charset(headers: &HeaderMap) -> bool {
    headers.get_all(header::CONTENT_TYPE).iter().any(|value| {
        let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        let charset = value.split_once("charset").map(|(_, rest)| rest.to_owned());
        charset.is_some_and(|c| !c.replace([' ', '"', '=', '-'], "").starts_with("utf8"))
    })
}

/// The content type without its parameters; with several, nobody knows which one counts.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let first = values
        .next()
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    if values.next().is_some() {
        return "several content types".to_owned();
    }
    let kind = first.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}
