//! Requests on their way over a bridge.

use super::App;
use super::budget::{Share, to_read};
use super::refused::{Refused, unreadable};
use super::whole_body::read_request;
use crate::upstream::{self, Body, full, keeping};
use bytes::Bytes;
use holdgate_core::{Protocol, Translated, Untranslatable, estimated_tokens};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use std::sync::Arc;

/// Bytes of a request that is translated on the thread that carries the connection.
const MAX_HERE: usize = 64 << 10;

/// The request as the upstream wants it, if that speaks another protocol than the client: address,
/// headers and body.
pub(super) async fn translate(
    app: &Arc<App>,
    protocol: &'static dyn Protocol,
    path: &str,
    (head, body): (&mut Parts, &mut Bytes),
    share: &mut Share,
) -> Result<Option<Translated>, Refused> {
    let bridge = app.config.bridge;
    if bridge.speaks.is_none() {
        return Ok(None);
    }
    // The values of the request, and those of the translation with its text.
    let (before, more) = (share.bytes(), to_read(body));
    app.reserve(share, before + 2 * more + body.len())?;
    let (path, from) = (
        path.split('?').next().unwrap_or_default().to_owned(),
        body.clone(),
    );
    let work = move || protocol.translate(&path, &from, bridge.dialect);
    let translated = if body.len() <= MAX_HERE {
        work()
    } else {
        tokio::task::spawn_blocking(work).await.map_err(|_| {
            Refused::by_rule("unreadable-request", "the request could not be translated")
        })?
    };
    let translated = translated.map_err(|error| match error {
        Untranslatable::Json(error) => unreadable(&error),
        Untranslatable::Unsupported(_) => Refused::by_rule("no-bridge", error.to_string()),
    })?;
    let Some(translated) = translated else {
        app.reserve(share, before)?;
        return Ok(None);
    };
    app.reserve(share, before + translated.body.len())?;
    *body = translated.body.clone();
    head.uri = upstream::url(&app.config.upstream, &translated.path)
        .map_err(|_| Refused::plain(StatusCode::BAD_REQUEST, "the path cannot be forwarded"))?;
    upstream::bridge_headers(&mut head.headers);
    Ok(Some(translated))
}

/// Counts the tokens of a request, about: the upstream has no such path.
pub(super) async fn count_tokens(
    app: &App,
    body: Incoming,
    mut share: Share,
) -> Result<Response<Body>, Refused> {
    let body = read_request(app, body, &mut share).await?;
    let tokens = estimated_tokens(&body).map_err(|error| unreadable(&error))?;
    let answer = format!("{{\"input_tokens\":{tokens}}}");
    let mut response = Response::new(keeping(full(answer), share));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}
