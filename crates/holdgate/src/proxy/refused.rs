//! An answer of our own in place of the upstream's: why, with which status, and how it is recorded.

use super::App;
use super::budget::Full;
use super::host::Misdirected;
use crate::upstream::{Body, full};
use holdgate_core::{Protocol, Record};
use holdgate_effects::json::{JsonError, shorten};
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

/// When a client may try again that found no room, in seconds.
pub(super) const RETRY_AFTER: u32 = 5;
/// Refusals of which there may be a flood.
const SELDOM: &[&str] = &["memory-budget", "unknown-host", "foreign-origin"];

/// An answer of our own in place of the upstream's.
pub(super) struct Refused {
    pub(super) status: StatusCode,
    /// The rule for the ledger; `None` if it is not a decision, such as an upstream that is down.
    pub(super) rule: Option<&'static str>,
    pub(super) message: String,
}

impl Refused {
    /// The request, or its whole answer, is refused. Clients do not try a 400 again.
    pub(super) fn by_rule(rule: &'static str, message: impl Into<String>) -> Self {
        Refused {
            status: StatusCode::BAD_REQUEST,
            rule: Some(rule),
            message: message.into(),
        }
    }

    pub(super) fn plain(status: StatusCode, message: impl Into<String>) -> Self {
        Refused {
            status,
            rule: None,
            message: message.into(),
        }
    }
}

impl From<Full> for Refused {
    fn from(Full: Full) -> Self {
        Refused {
            status: StatusCode::SERVICE_UNAVAILABLE,
            rule: Some("memory-budget"),
            message: "the proxy has used up its memory budget; try again soon, or raise \
                      `[proxy] memory_budget`"
                .to_owned(),
        }
    }
}

impl From<Misdirected> for Refused {
    fn from(misdirected: Misdirected) -> Self {
        let (status, rule, message) = match misdirected {
            Misdirected::Host(named) => (
                StatusCode::MISDIRECTED_REQUEST,
                "unknown-host",
                format!(
                    "the request is for {}, which is not a known name of this proxy; use its \
                     address, or add the name to `[proxy] hosts`",
                    shorten(&named, 200)
                ),
            ),
            Misdirected::Origin(origin) => (
                StatusCode::FORBIDDEN,
                "foreign-origin",
                format!(
                    "a web page from `{}` sent this request; to allow it, add its host to \
                     `[proxy] hosts`",
                    shorten(&origin, 200)
                ),
            ),
        };
        Refused {
            status,
            rule: Some(rule),
            message,
        }
    }
}

/// A request and its response, as far as they are known.
pub(super) struct Exchange {
    /// The response's id.
    pub(super) id: String,
    pub(super) session: String,
    pub(super) protocol: &'static dyn Protocol,
}

pub(super) async fn refusal(app: &App, refused: &Refused, exchange: Exchange) -> Response<Body> {
    let mut message = format!("[holdgate] {}", refused.message);
    if let Some(rule) = refused.rule.filter(|rule| SELDOM.contains(rule)) {
        app.record_seldom(rule, &refused.message);
        message.push_str(&format!(" (rule {rule})"));
    } else if let Some(rule) = refused.rule {
        let id = format!("{}-0", exchange.id);
        let record = Record::of_response(id, exchange.session, rule, &refused.message);
        // It is refused in any case; that it could not be recorded has been said.
        let _ = app.records.write(record).await;
        message.push_str(&format!(" (rule {rule})"));
    }
    let status = refused.status.as_u16();
    let mut response = Response::new(full(exchange.protocol.error_body(status, &message)));
    *response.status_mut() = refused.status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    if refused.status == StatusCode::SERVICE_UNAVAILABLE {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, RETRY_AFTER.into());
    }
    response
}

pub(super) fn unreadable(error: &JsonError) -> Refused {
    let message = format!("the request body is not valid JSON: {error}");
    Refused::by_rule("unreadable-request", message)
}
