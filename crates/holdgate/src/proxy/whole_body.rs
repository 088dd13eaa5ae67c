//! Bodies that are read to their end before anything is done with them, within the memory budget.

use super::App;
use super::answer::error_answer;
use super::budget::{Full, Share, to_read};
use super::refused::Refused;
use bytes::Bytes;
use holdgate_core::{Canonical, Protocol, Record};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::response::Parts;
use hyper::{Response, StatusCode};

/// Bytes of an error's body.
const MAX_ERROR_BYTES: usize = 1 << 20;

/// Why a body cannot be read whole.
enum Unread {
    TooLarge,
    Broken(hyper::Error),
    Full,
}

/// Reads a body of at most `limit` bytes. What it takes to keep and to read it is reserved, beside
/// what was reserved before.
async fn collect(
    app: &App,
    mut body: Incoming,
    limit: usize,
    share: &mut Share,
) -> Result<Bytes, Unread> {
    let before = share.bytes();
    let (mut chunks, mut length) = (Vec::new(), 0);
    let mut room = Ok(());
    while let Some(frame) = body.frame().await {
        if let Ok(chunk) = frame.map_err(Unread::Broken)?.into_data() {
            length += chunk.len();
            if length > limit {
                return Err(Unread::TooLarge);
            }
            // Once in pieces, and once more when they are joined.
            room = room.and_then(|()| app.reserve(share, before + 2 * length));
            if room.is_ok() {
                chunks.push(chunk);
            } else {
                // The rest is read and let go: who sends it does not listen before all is sent.
                chunks = Vec::new();
                let _ = app.reserve(share, before);
            }
        }
    }
    room.map_err(|Full| Unread::Full)?;
    let body = match chunks.as_mut_slice() {
        [only] => std::mem::take(only),
        chunks => Bytes::from(chunks.concat()),
    };
    drop(chunks);
    let bytes = before + to_read(&body);
    app.reserve(share, bytes).map_err(|Full| Unread::Full)?;
    Ok(body)
}

pub(super) async fn read_request(
    app: &App,
    body: Incoming,
    share: &mut Share,
) -> Result<Bytes, Refused> {
    let limit = app.config.proxy.max_request_bytes;
    let read = collect(app, body, limit, share);
    match tokio::time::timeout(app.config.proxy.client_timeout, read).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(Unread::Full)) => Err(Full.into()),
        Ok(Err(Unread::TooLarge)) => Err(Refused::plain(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request is larger than {limit} bytes"),
        )),
        Ok(Err(Unread::Broken(error))) => Err(Refused::plain(
            StatusCode::BAD_REQUEST,
            format!("the request was interrupted: {error}"),
        )),
        Err(_) => Err(Refused::plain(
            StatusCode::REQUEST_TIMEOUT,
            "the request took too long to arrive",
        )),
    }
}

/// An error of the upstream's, with the same status. Clients read errors too. `whose` is the id of
/// the response and of its session.
pub(super) async fn read_error(
    app: &App,
    response: Response<Incoming>,
    share: &mut Share,
    whose: (&str, &str),
    protocol: &dyn Protocol,
) -> (Parts, Canonical) {
    let (mut head, body) = response.into_parts();
    let read = collect(app, body, MAX_ERROR_BYTES, share);
    let read = tokio::time::timeout(app.config.proxy.idle_timeout, read).await;
    let body = read.ok().and_then(Result::ok);
    if body.as_ref().is_some_and(Bytes::is_empty) {
        return (head, Canonical::default());
    }
    let answer = error_answer(head.status, &head.headers, body.as_deref(), protocol);
    if let Some(why) = answer.could_act {
        let reason = format!("the upstream's error was replaced: {why}");
        let (id, session) = (format!("{}-0", whose.0), whose.1.to_owned());
        let record = Record::of_response(id, session, "unreadable-error", &reason);
        // It is refused in any case; that it could not be recorded has been said.
        let _ = app.records.write(record).await;
    }
    let json = HeaderValue::from_static("application/json");
    head.headers.insert(header::CONTENT_TYPE, json);
    (head, answer.body)
}

/// The whole of an answer that is not streamed.
pub(super) async fn read_answer(
    app: &App,
    body: Incoming,
    share: &mut Share,
) -> Result<Bytes, Refused> {
    let limit = app.config.proxy.max_response_bytes;
    let read = collect(app, body, limit, share);
    match tokio::time::timeout(app.config.proxy.response_timeout, read).await {
        Ok(Ok(body)) if body.is_empty() => {
            let message = "the upstream's response is empty";
            Err(Refused::plain(StatusCode::BAD_GATEWAY, message))
        }
        Ok(Ok(body)) => Ok(body),
        Ok(Err(Unread::Full)) => Err(Full.into()),
        Ok(Err(Unread::TooLarge)) => {
            let message = format!("the upstream's response is larger than {limit} bytes");
            Err(Refused::by_rule("unreadable-response", message))
        }
        Ok(Err(Unread::Broken(error))) => {
            let message = format!("the upstream's response was interrupted: {error}");
            Err(Refused::plain(StatusCode::BAD_GATEWAY, message))
        }
        Err(_) => {
            let message = "the upstream's response took too long";
            Err(Refused::plain(StatusCode::GATEWAY_TIMEOUT, message))
        }
    }
}
