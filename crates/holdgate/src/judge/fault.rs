//! Why there is no verdict.

use super::quote::one_line;
use holdgate_effects::json::{Json, LoneSurrogates};
use hyper::StatusCode;
use hyper::header::{HeaderMap, RETRY_AFTER};
use std::time::Duration;

/// Characters of a server's own words.
const MESSAGE: usize = 300;
const MAX_DEPTH: usize = 32;

/// Why there is no verdict, said of the judge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("no judge is configured: `[judge] provider` is `none`")]
    Nobody,
    #[error("no judge is configured")]
    NotChosen,
    #[error("there is no key: neither `HOLDGATE_JUDGE_API_KEY` nor `{0}` is set")]
    NoKey(String),
    #[error("its key contains invalid characters")]
    BadKey,
    #[error("its address is not valid: {0}")]
    BadAddress(String),
    #[error("its budget of {0} requests per hour is used up")]
    OverBudget(usize),
    #[error("it has failed and is paused for another {}", seconds(*.0))]
    Resting(Duration),
    #[error("it did not respond within {}", seconds(*.0))]
    TimedOut(Duration),
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("it is busy ({status}{}): {message}", wait(*.retry_after))]
    Busy {
        status: StatusCode,
        message: String,
        retry_after: Option<Duration>,
    },
    #[error("it responded with status {status}: {message}")]
    Refused { status: StatusCode, message: String },
    #[error("it rejected the question: {0}")]
    Blocked(String),
    #[error("its response was truncated: {0}")]
    CutShort(String),
    #[error("its response is larger than {0} bytes")]
    Oversize(usize),
    #[error("its response cannot be read: {0}")]
    Unreadable(String),
}

impl Fault {
    /// Whether the service failed, rather than stumbled over this one question. An agent chooses
    /// what it writes, so it must not be able to shut the judge off for others.
    pub(super) fn is_outage(&self) -> bool {
        match self {
            Fault::TimedOut(_)
            | Fault::Unreachable(_)
            | Fault::Busy { .. }
            | Fault::Refused { .. } => true,
            Fault::Nobody
            | Fault::NotChosen
            | Fault::NoKey(_)
            | Fault::BadKey
            | Fault::BadAddress(_)
            | Fault::OverBudget(_)
            | Fault::Resting(_)
            | Fault::Blocked(_)
            | Fault::CutShort(_)
            | Fault::Oversize(_)
            | Fault::Unreadable(_) => false,
        }
    }

    /// How long the server asks to be left alone.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        if let Fault::Busy { retry_after, .. } = self {
            *retry_after
        } else {
            None
        }
    }

    /// What an answer with another status than 200 says.
    pub(super) fn from_answer(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Fault {
        let body = Json::read(body, MAX_DEPTH, LoneSurrogates::Replace).unwrap_or(Json::Null);
        // Some endpoints of Gemini wrap an error in an array.
        let first = body.as_array().and_then(|items| items.first());
        let error = first.unwrap_or(&body).get("error").unwrap_or(&Json::Null);
        let message = error.get("message").and_then(Json::as_str);
        let message = message.or(error.as_str()).unwrap_or("no message");
        let busy = matches!(status.as_u16(), 429 | 503 | 529);
        if !busy {
            return Fault::Refused {
                status,
                message: one_line(message, MESSAGE),
            };
        }
        let header = headers.get(RETRY_AFTER).and_then(|v| v.to_str().ok());
        let retry_after = if quota_is_daily(error) {
            None
        } else {
            retry_info(error)
                .or_else(|| span(header?.trim()))
                .or_else(|| wait_in_words(message))
        };
        Fault::Busy {
            status,
            message: one_line(message, MESSAGE),
            retry_after,
        }
    }
}

fn details<'j>(error: &'j Json<'_>) -> impl Iterator<Item = &'j Json<'j>> {
    let details = error.get("details").and_then(Json::as_array);
    details.unwrap_or_default().iter()
}

/// `google.rpc.RetryInfo`
fn retry_info(error: &Json<'_>) -> Option<Duration> {
    let delay = details(error).find_map(|detail| detail.get("retryDelay"))?;
    span(delay.as_str()?.strip_suffix('s')?)
}

/// A quota of a day is not back after any delay that comes with it.
fn quota_is_daily(error: &Json<'_>) -> bool {
    let violations = details(error).filter_map(|detail| detail.get("violations")?.as_array());
    let mut ids = violations
        .flatten()
        .filter_map(|violation| violation.get("quotaId")?.as_str());
    ids.any(|id| id.contains("PerDay"))
}

/// "Please retry in 37.2s."
fn wait_in_words(message: &str) -> Option<Duration> {
    let (_, rest) = message.split_once("retry in ")?;
    let number = rest
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()?;
    match rest.strip_prefix(number)? {
        unit if unit.starts_with("ms") => span(number).map(|s| s / 1000),
        unit if unit.starts_with('s') => span(number),
        _ => None,
    }
}

fn span(seconds: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

fn seconds(span: Duration) -> String {
    let millis = Duration::from_millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
    humantime::format_duration(millis).to_string()
}

fn wait(span: Option<Duration>) -> String {
    span.map(|s| format!(", asks for {}", seconds(s)))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_wait_is_read_wherever_it_stands() {
        let check = |header: Option<&str>, body: &str, expected: Option<u64>| {
            let mut headers = HeaderMap::new();
            if let Some(value) = header {
                headers.insert(RETRY_AFTER, value.parse().unwrap());
            }
            let status = StatusCode::TOO_MANY_REQUESTS;
            let fault = Fault::from_answer(status, &headers, body.as_bytes());
            let millis = expected.map(Duration::from_millis);
            assert_eq!(fault.retry_after(), millis, "{body}");
            assert!(fault.is_outage());
        };
        let info = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37.5s"}"#;
        check(
            None,
            &format!(r#"{{"error":{{"details":[{{}},{info}]}}}}"#),
            Some(37_500),
        );
        check(
            None,
            &format!(r#"[{{"error":{{"details":[{info}]}}}}]"#),
            Some(37_500),
        );
        let daily = r#"{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}"#;
        check(
            None,
            &format!(r#"{{"error":{{"details":[{daily},{info}]}}}}"#),
            None,
        );
        check(Some("2"), "", Some(2_000));
        check(Some("Wed, 21 Oct 2026 07:28:00 GMT"), "", None);
        check(Some("-1"), "{}", None);
        check(Some("1e300"), "{}", None);
        check(
            None,
            r#"{"error":{"message":"Please retry in 1.25s."}}"#,
            Some(1_250),
        );
        check(
            None,
            r#"{"error":{"message":"Please retry in 250ms"}}"#,
            Some(250),
        );
        check(None, r#"{"error":{"message":"retry in a while"}}"#, None);
        check(None, "not JSON", None);
    }
}
