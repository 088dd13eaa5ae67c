//! One request: what it is, where it goes, and how its answer comes back.

use super::App;
use super::answer::{Answer, has_other_charset, is_encoded, media_type};
use super::app::{NotRebuilt, Rebuilding};
use super::body::GuardedBody;
use super::bridging::{count_tokens, translate};
use super::budget::{Full, REQUEST_BYTES, Share, StreamLoad};
use super::connections::{Busy, Connection};
use super::host;
use super::marking::{mark, record_shown};
use super::refused::{Exchange, Refused, refusal, unreadable};
use super::route::{self, Route, asks_for_upgrade, session_id, split_session};
use super::whole::guard_whole;
use super::whole_body::{read_answer, read_error, read_request};
use crate::agents::agent_name;
use crate::in_force::{InForce, News};
use crate::upstream::{self, Body, BoxError, full, keeping};
use holdgate_core::{
    Canonical, Protocol, RequestFacts, ResponseContext, SharedSession, Stack, StreamGuard,
    TextActions, inert_value, is_inert_text, lock_session, reads_text,
};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderMap};
use hyper::http::response::Parts;
use hyper::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Answers on unknown paths that are no messages, by the start of their media type.
const PLAIN: &[&str] = &[
    "text/plain",
    "text/html",
    "application/octet-stream",
    "application/pdf",
    "image/",
];

/// How long a request waits for the rules of a project that is new here.
const PROJECT_PATIENCE: Duration = Duration::from_secs(5);

/// Answers one request.
pub(crate) async fn handle(
    app: Arc<App>,
    client: upstream::Client,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    connection.begun.store(true, Ordering::Relaxed);
    let mut exchange = Exchange {
        id: app.response_id(),
        session: "none".to_owned(),
        protocol: route::DEFAULT,
    };
    let on = (&app, &client, &connection);
    let answered = answer(on, request, &mut exchange).await;
    Ok(match answered {
        Ok(response) => response,
        Err(refused) => refusal(&app, &refused, exchange).await,
    })
}

/// A request is answered on this connection, with this client towards the upstream.
type On<'a> = (&'a Arc<App>, &'a upstream::Client, &'a Arc<Connection>);

async fn answer(
    on: On<'_>,
    mut request: Request<Incoming>,
    exchange: &mut Exchange,
) -> Result<Response<Body>, Refused> {
    let (app, client, connection) = on;
    if request.method() == Method::CONNECT || asks_for_upgrade(request.headers()) {
        return Err(Refused {
            status: StatusCode::UPGRADE_REQUIRED,
            rule: Some("connection-upgrade"),
            message: "Holdgate cannot guard a connection that changes its protocol; use plain HTTP"
                .to_owned(),
        });
    }
    host::check(&request, &app.config.proxy)?;
    let mut share = app.share(REQUEST_BYTES)?;
    let (given_session, path) = split_session(&request);
    let vendor = route::vendor(request.method(), &path);
    let url = upstream::url(app.config.upstream_of(vendor), &path)
        .map_err(|_| Refused::plain(StatusCode::BAD_REQUEST, "the path cannot be forwarded"))?;
    let route = Route::of(request.method(), url.path());
    let asks_for_expert = crate::expert::is_asked_for(request.headers());
    upstream::request_headers(&mut request);
    *request.uri_mut() = url;
    *request.version_mut() = hyper::Version::HTTP_11;
    if !matches!(route, Route::Other) {
        app.asked.fetch_add(1, Ordering::Relaxed);
    }
    match route {
        Route::Other if app.config.bridge.speaks.is_some() && route::counts_tokens(&path) => {
            count_tokens(app, request.into_body(), share).await
        }
        Route::Other => pass_through(on, request, &exchange.id, share).await,
        Route::Unguarded => Err(Refused::by_rule(
            "unguarded-protocol",
            "Holdgate cannot guard the protocol of this path yet, so the request was refused",
        )),
        Route::Guarded(protocol) => {
            exchange.protocol = protocol;
            let protocol = app.config.serving(protocol);
            let protocol = protocol.map_err(|why| Refused::by_rule("no-bridge", why))?;
            let (mut head, body) = request.into_parts();
            if is_encoded(&head.headers) {
                return Err(Refused::by_rule(
                    "unreadable-request",
                    "the request body is compressed and cannot be read; send it uncompressed",
                ));
            }
            let mut body = read_request(app, body, &mut share).await?;
            let busy = Busy::new(app, connection);
            let read = protocol
                .read_request(body.clone())
                .map_err(|e| unreadable(&e))?;
            let mut facts = read.facts.clone();
            let query = head.uri.query();
            exchange.session = session_id(given_session.as_deref(), &head.headers, query, &facts);
            let known = app.session_apart(&exchange.session, facts.working_dir.as_deref());
            let known = known.await.map_err(|_| {
                let message = "the agent's working folder could not be read";
                Refused::by_rule("unreadable-request", message)
            })?;
            let in_force = app.in_force();
            check_text(in_force.config.guard.text_actions, protocol, &read)?;
            let injection = in_force.config.injection;
            if let Some(marked) = mark(app, injection, &read, &known, exchange, &mut share).await? {
                body = marked;
                // The client has counted the bytes that it sent.
                head.headers.remove(header::CONTENT_LENGTH);
            }
            let sent = (&mut head, &mut body);
            if let Some(translated) = translate(app, protocol, &path, sent, &mut share).await? {
                facts = Arc::new(RequestFacts {
                    bridged: translated.bridged,
                    ..(*facts).clone()
                });
            }
            let judge = ResponseContext {
                protocol,
                stack: stack(app, &in_force, &known).await,
                history: Arc::default(),
                expert: app.config.expert_header && asks_for_expert || app.expert.left().is_some(),
                tickets: Some(app.once.clone()),
                agent: user_agent(&head.headers)
                    .and_then(agent_name)
                    .map(str::to_owned),
                session: known,
                session_id: exchange.session.clone(),
                response_id: exchange.id.clone(),
                request: facts,
                settings: in_force.guard_for(user_agent(&head.headers)),
            };
            // The history is needed only when the answer comes: the request does not wait for it.
            let history = app.rebuild(read, &exchange.session, &judge.session);
            let response = send(app, client, Request::from_parts(head, full(body))).await?;
            let load = StreamLoad::new(share, busy);
            guard_response(app, judge, history, response, load).await
        }
    }
}

/// With `text_actions`, text that cannot be judged is refused before anybody writes it.
fn check_text(
    actions: TextActions,
    protocol: &dyn Protocol,
    request: &holdgate_core::Request,
) -> Result<(), Refused> {
    if actions == TextActions::Off {
        return Ok(());
    }
    let name = protocol.name();
    let why = if !reads_text(protocol) {
        format!("the text of responses in the protocol `{name}` is not read for actions")
    } else if request.ends_with_answer() {
        "the request has the model continue an answer, whose text cannot be judged in two parts"
            .to_owned()
    } else {
        return Ok(());
    };
    let message = format!("{why} (the setting `proxy.text_actions`)");
    Err(Refused::by_rule("text-actions", message))
}

fn user_agent(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::USER_AGENT)?.to_str().ok()
}

/// What judges the calls of a session, by the project that it works in. A project that is new here
/// may have rules that take a while to read, and other streams must not wait for that.
async fn stack(app: &Arc<App>, in_force: &Arc<InForce>, session: &SharedSession) -> Arc<Stack> {
    let world = lock_session(session).world.clone();
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
        now: "a project's file is not in force yet: using the other rules without it".to_owned(),
        problem: Some("reading it took too long or failed".to_owned()),
    });
    in_force.stack_without_project()
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
            let message = format!(
                "the upstream cannot be reached: {}",
                upstream::causes(&error)
            );
            return Err(Refused::plain(StatusCode::BAD_GATEWAY, message));
        }
        Err(_) => {
            let message = format!("the upstream did not respond within {} s", wait.as_secs());
            return Err(Refused::plain(StatusCode::GATEWAY_TIMEOUT, message));
        }
    };
    upstream::remove_hop_by_hop(response.headers_mut());
    Ok(response)
}

/// What carries no calls goes both ways as it is. An answer that could carry some, on a path that
/// is not known, belongs to a protocol that is not guarded, and is refused.
async fn pass_through(
    (app, client, connection): On<'_>,
    request: Request<Incoming>,
    id: &str,
    mut share: Share,
) -> Result<Response<Body>, Refused> {
    let limit = app.config.proxy.max_request_bytes;
    let is_head = request.method() == Method::HEAD;
    let request = request.map(|body| Limited::new(body, limit).boxed_unsync());
    let response = send(app, client, request).await?;
    // The client would go on without the proxy, and get an answer that nobody judges.
    if response.status().is_redirection() && response.headers().contains_key(header::LOCATION) {
        return Err(Refused::by_rule(
            "upstream-redirect",
            "the upstream redirects the request, so the client would bypass the proxy",
        ));
    }
    let busy = Busy::new(app, connection);
    if is_head || response.body().is_end_stream() {
        return Ok(response.map(|body| keeping(body.map_err(BoxError::from), (share, busy))));
    }
    if !response.status().is_success() {
        let (head, body) =
            read_error(app, response, &mut share, (id, "none"), route::DEFAULT).await;
        return Ok(with_body(head, body, (share, busy)));
    }
    let unknown = |what: &str| {
        let message = format!("the upstream responded with {what} on an unknown path");
        Refused::by_rule("unknown-answer", message)
    };
    if is_encoded(response.headers()) || has_other_charset(response.headers()) {
        return Err(unknown("an encoded body"));
    }
    let kind = media_type(response.headers());
    let (head, body) = response.into_parts();
    match kind.as_str() {
        "application/json" => {
            let body = read_answer(app, body, &mut share).await?;
            match inert_value(&body) {
                Some(body) => Ok(with_body(head, body, (share, busy))),
                None => Err(unknown("tool calls, or with JSON that cannot be read,")),
            }
        }
        // Clients that expect a stream do not look at the type, and files may hold answers.
        kind if PLAIN.iter().any(|plain| kind.starts_with(plain)) => {
            let body = read_answer(app, body, &mut share).await?;
            let text = body.clone();
            let inert = tokio::task::spawn_blocking(move || is_inert_text(&text)).await;
            if !inert.unwrap_or(false) {
                return Err(unknown(&format!("tool calls in `{kind}`")));
            }
            Ok(Response::from_parts(
                head,
                keeping(full(body), (share, busy)),
            ))
        }
        other => Err(unknown(&format!("`{other}`"))),
    }
}

async fn guard_response(
    app: &Arc<App>,
    mut judge: ResponseContext,
    history: Rebuilding,
    response: Response<Incoming>,
    mut load: StreamLoad,
) -> Result<Response<Body>, Refused> {
    let framing = judge.protocol.framing();
    let answer = Answer::of(response.status(), response.headers(), framing)
        .map_err(|unreadable| Refused::by_rule(unreadable.rule, unreadable.why))?;
    if answer == Answer::Error {
        let whose = (judge.response_id.as_str(), judge.session_id.as_str());
        let (head, body) = read_error(app, response, load.share(), whose, judge.protocol).await;
        return Ok(with_body(head, body, load));
    }
    judge.history = match history.await {
        Ok(Ok(history)) => history,
        Ok(Err(NotRebuilt::Full)) => return Err(Full.into()),
        Ok(Err(NotRebuilt::Unreadable(error))) => return Err(unreadable(&error)),
        Err(_) => {
            let message = "the conversation in the request could not be read";
            return Err(Refused::by_rule("unreadable-request", message));
        }
    };
    record_shown(app, &judge).await?;
    // The request's body has gone by now.
    load.keeps(0, 0);
    let (mut head, body) = response.into_parts();
    if answer == Answer::Message {
        let body = guard_whole(app, judge, body, &mut load).await?;
        load.keeps(0, body.len());
        return Ok(with_body(head, body, load));
    }
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.remove(header::CONTENT_ENCODING);
    let guard = StreamGuard::new(judge, app.now());
    let body = GuardedBody::new(app.clone(), body, guard, load);
    Ok(Response::from_parts(head, body.boxed_unsync()))
}

/// An answer with another body than the upstream's bytes; `kept` is dropped with it.
fn with_body(mut head: Parts, body: Canonical, kept: impl Send + 'static) -> Response<Body> {
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.remove(header::CONTENT_ENCODING);
    Response::from_parts(head, keeping(full(body), kept))
}
