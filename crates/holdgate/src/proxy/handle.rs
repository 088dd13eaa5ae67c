//! One request: what it is, where it goes, and how its answer comes back.

use super::answer::{Answer, is_encoded, media_type};
use super::body::{Body, BoxError, GuardedBody, full};
use super::route::{Route, asks_for_upgrade, session_id, split_session};
use super::whole::guard_whole;
use super::{App, Rebuilding, upstream};
use crate::in_force::{InForce, News};
use bytes::Bytes;
use holdgate_core::guard::{Judge, StreamGuard};
use holdgate_core::incident::Record;
use holdgate_core::json::{Json, JsonError, LoneSurrogates};
use holdgate_core::request::Request as ReadRequest;
use holdgate_core::session::{self, SharedSession};
use holdgate_core::stack::Stack;
use holdgate_core::wire::anthropic::error_body;
use holdgate_core::wire::carries_calls;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// How long a request waits for the rules of a project that is new here.
const PROJECT_PATIENCE: Duration = Duration::from_secs(5);
/// Depth of an answer on a path that is not known.
const MAX_DEPTH: usize = 128;

/// An answer of our own in place of the upstream's.
pub(super) struct Refused {
    status: StatusCode,
    /// The rule for the ledger; `None` for what is no decision, such as an upstream that is down.
    rule: Option<&'static str>,
    message: String,
}

impl Refused {
    /// The request, or its whole answer, is refused. Clients do not try a 400 again.
    fn by_rule(rule: &'static str, message: impl Into<String>) -> Self {
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

/// Answers one request.
pub(crate) async fn handle(
    app: Arc<App>,
    client: upstream::Client,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let id = app.response_id();
    let mut session = "none".to_owned();
    let answered = answer(&app, &client, request, &id, &mut session).await;
    Ok(answered.unwrap_or_else(|refused| refusal(&app, &refused, &id, session)))
}

fn refusal(app: &App, refused: &Refused, id: &str, session: String) -> Response<Body> {
    let mut message = format!("[holdgate] {}", refused.message);
    if let Some(rule) = refused.rule {
        let record = Record::of_response(format!("{id}-0"), session, rule, &refused.message);
        if let Err(error) = app.ledger.append(&record) {
            crate::log::warn(&format!("cannot write the ledger: {error}"));
        }
        message.push_str(&format!(" (rule {rule})"));
    }
    let kind = match refused.status {
        StatusCode::BAD_REQUEST => "invalid_request_error",
        StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => "timeout_error",
        _ => "api_error",
    };
    let mut response = Response::new(full(error_body(kind, &message)));
    *response.status_mut() = refused.status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

async fn answer(
    app: &Arc<App>,
    client: &upstream::Client,
    mut request: Request<Incoming>,
    id: &str,
    session: &mut String,
) -> Result<Response<Body>, Refused> {
    if request.method() == Method::CONNECT || asks_for_upgrade(request.headers()) {
        return Err(Refused {
            status: StatusCode::UPGRADE_REQUIRED,
            rule: Some("connection-upgrade"),
            message: "a connection that changes its protocol cannot be guarded; use plain HTTP"
                .to_owned(),
        });
    }
    let (given_session, path) = split_session(&request);
    let url = upstream::url(&app.config.upstream, &path)
        .map_err(|_| Refused::plain(StatusCode::BAD_REQUEST, "the path cannot be forwarded"))?;
    let route = Route::of(request.method(), url.path());
    let asks_for_expert = crate::expert::is_asked_for(request.headers());
    upstream::request_headers(&mut request);
    *request.uri_mut() = url;
    *request.version_mut() = hyper::Version::HTTP_11;
    match route {
        Route::Other => pass_through(app, client, request).await,
        Route::Unguarded => Err(Refused::by_rule(
            "unguarded-protocol",
            "this path carries tool calls in a protocol that is not guarded here",
        )),
        Route::Messages => {
            let (head, body) = request.into_parts();
            if is_encoded(&head.headers) {
                return Err(Refused::by_rule(
                    "unreadable-request",
                    "the request's body is compressed and cannot be read; send it plain",
                ));
            }
            let body = read_request(app, body).await?;
            let read = ReadRequest::read(body.clone()).map_err(|e| unreadable(&e))?;
            let facts = read.facts.clone();
            *session = session_id(given_session.as_deref(), &head.headers, &facts);
            let known = app.session_apart(session, facts.working_dir.as_deref());
            let known = known.await.map_err(|_| {
                let message = "the folder that the agent works in could not be looked at";
                Refused::by_rule("unreadable-request", message)
            })?;
            let in_force = app.in_force();
            let judge = Judge {
                stack: stack(app, &in_force, &known).await,
                history: Arc::default(),
                expert: app.config.expert_header && asks_for_expert || app.expert.left().is_some(),
                session: known,
                session_id: session.clone(),
                response_id: id.to_owned(),
                request: facts,
                settings: in_force.guard.clone(),
            };
            // The history is needed only when the answer comes: the request does not wait for it.
            let history = app.rebuild(read, &judge.session);
            let response = send(app, client, Request::from_parts(head, full(body))).await?;
            guard_response(app, judge, history, response).await
        }
    }
}

fn unreadable(error: &JsonError) -> Refused {
    let message = format!("the request's body is not acceptable JSON: {error}");
    Refused::by_rule("unreadable-request", message)
}

/// What judges the calls of a session, by the project that it works in. A project that is new here
/// may have rules that take a while to read, and other streams must not wait for that.
async fn stack(app: &Arc<App>, in_force: &Arc<InForce>, session: &SharedSession) -> Arc<Stack> {
    let world = session::lock(session).world.clone();
    if let Some(stack) = in_force.stack(world.project.as_deref()) {
        return stack;
    }
    let (reader, reading) = (app.clone(), in_force.clone());
    let project = world.project.clone();
    let read = tokio::task::spawn_blocking(move || {
        let news = reading.look_at(project.as_deref()?);
        if let Some(news) = news {
            reader.report(&news);
        }
        reading.stack(project.as_deref())
    });
    let read = tokio::time::timeout(PROJECT_PATIENCE, read).await;
    if let Ok(Ok(Some(stack))) = read {
        return stack;
    }
    app.report(&News {
        subject: "project",
        now: "a project's file is not in force yet, only the rules around it are".to_owned(),
        problem: Some("reading it takes too long, or failed".to_owned()),
    });
    in_force.stack_without_project()
}

async fn read_request(app: &App, body: Incoming) -> Result<Bytes, Refused> {
    let limit = app.config.proxy.max_request_bytes;
    let read = Limited::new(body, limit).collect();
    match tokio::time::timeout(app.config.proxy.client_timeout, read).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(Refused::plain(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request is larger than {limit} bytes"),
        )),
        Ok(Err(error)) => Err(Refused::plain(
            StatusCode::BAD_REQUEST,
            format!("the request broke off: {error}"),
        )),
        Err(_) => Err(Refused::plain(
            StatusCode::REQUEST_TIMEOUT,
            "the request took too long to arrive",
        )),
    }
}

async fn send(
    app: &App,
    client: &upstream::Client,
    request: Request<Body>,
) -> Result<Response<Incoming>, Refused> {
    let wait = app.config.proxy.response_timeout;
    let mut response = match tokio::time::timeout(wait, client.request(request)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            let message = format!("the upstream cannot be reached: {}", chain(&error));
            return Err(Refused::plain(StatusCode::BAD_GATEWAY, message));
        }
        Err(_) => {
            let message = format!("the upstream did not answer within {} s", wait.as_secs());
            return Err(Refused::plain(StatusCode::GATEWAY_TIMEOUT, message));
        }
    };
    upstream::remove_hop_by_hop(response.headers_mut());
    Ok(response)
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// What carries no calls goes both ways as it is. An answer that could carry some, on a path that
/// is not known, belongs to a protocol that is not guarded, and is refused.
async fn pass_through(
    app: &App,
    client: &upstream::Client,
    request: Request<Incoming>,
) -> Result<Response<Body>, Refused> {
    let limit = app.config.proxy.max_request_bytes;
    let is_head = request.method() == Method::HEAD;
    let request = request.map(|body| Limited::new(body, limit).boxed_unsync());
    let response = send(app, client, request).await?;
    if is_head || !response.status().is_success() || response.body().is_end_stream() {
        return Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()));
    }
    let unknown = |what: &str| {
        let message = format!("the upstream answers with {what} on a path that is not known here");
        Refused::by_rule("unknown-answer", message)
    };
    if is_encoded(response.headers()) {
        return Err(unknown("an encoded body"));
    }
    let kind = media_type(response.headers());
    let (head, body) = response.into_parts();
    match kind.as_str() {
        "application/json" => {
            let body = read_answer(app, body).await?;
            let json = Json::read(&body, MAX_DEPTH, LoneSurrogates::Replace);
            if json.is_ok_and(|json| !carries_calls(&json)) {
                Ok(Response::from_parts(head, full(body)))
            } else {
                Err(unknown("tool calls, or with JSON that cannot be read,"))
            }
        }
        "text/plain" | "text/html" | "application/octet-stream" | "application/pdf" => {
            let body = body.map_err(BoxError::from).boxed_unsync();
            Ok(Response::from_parts(head, body))
        }
        image if image.starts_with("image/") => {
            let body = body.map_err(BoxError::from).boxed_unsync();
            Ok(Response::from_parts(head, body))
        }
        other => Err(unknown(&format!("`{other}`"))),
    }
}

async fn guard_response(
    app: &Arc<App>,
    mut judge: Judge,
    history: Rebuilding,
    response: Response<Incoming>,
) -> Result<Response<Body>, Refused> {
    let answer = Answer::of(response.status(), response.headers())
        .map_err(|unreadable| Refused::by_rule(unreadable.rule, unreadable.why))?;
    if answer == Answer::Error {
        return Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()));
    }
    judge.history = match history.await {
        Ok(Ok(history)) => history,
        Ok(Err(error)) => return Err(unreadable(&error)),
        Err(_) => {
            let message = "the conversation in the request could not be understood";
            return Err(Refused::by_rule("unreadable-request", message));
        }
    };
    let (mut head, body) = response.into_parts();
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.remove(header::CONTENT_ENCODING);
    if answer == Answer::Message {
        let body = guard_whole(app, judge, body).await?;
        return Ok(Response::from_parts(head, full(body)));
    }
    let guard = StreamGuard::new(judge, app.now());
    let body = GuardedBody::new(app.clone(), body, guard);
    Ok(Response::from_parts(head, body.boxed_unsync()))
}

/// The whole of an answer that is not streamed.
pub(super) async fn read_answer(app: &App, body: Incoming) -> Result<Bytes, Refused> {
    let limit = app.config.proxy.max_response_bytes;
    let read = Limited::new(body, limit).collect();
    match tokio::time::timeout(app.config.proxy.response_timeout, read).await {
        Ok(Ok(body)) => match body.to_bytes() {
            body if body.is_empty() => {
                let message = "the upstream's answer is empty";
                Err(Refused::plain(StatusCode::BAD_GATEWAY, message))
            }
            body => Ok(body),
        },
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            let message = format!("the upstream's answer is larger than {limit} bytes");
            Err(Refused::by_rule("unreadable-response", message))
        }
        Ok(Err(error)) => {
            let message = format!("the upstream's answer broke off: {error}");
            Err(Refused::plain(StatusCode::BAD_GATEWAY, message))
        }
        Err(_) => {
            let message = "the upstream's answer took too long";
            Err(Refused::plain(StatusCode::GATEWAY_TIMEOUT, message))
        }
    }
}
