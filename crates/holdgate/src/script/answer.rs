//! HTTP answers: whole ones, and streams that are played step by step.

use super::model::Step;
use bytes::Bytes;
use holdgate_effects::json::Json;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;

pub(super) type Answer = Response<Either<Full<Bytes>, Steps>>;

pub(super) fn whole(status: StatusCode, body: String) -> Answer {
    let mut answer = Response::new(Either::Left(Full::from(body)));
    *answer.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

pub(super) fn error(status: StatusCode, message: &str) -> Answer {
    let kind = match status.as_u16() {
        400 => "invalid_request_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let error = Json::object([("type", kind.into()), ("message", message.into())]);
    let body = Json::object([
        ("type", "error".into()),
        ("error", error),
        ("request_id", "req_fake".into()),
    ]);
    whole(status, body.to_string())
}

pub(super) fn streamed(steps: Vec<Step>, kind: &'static str, pace: Duration) -> Answer {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(play(steps, pace, sender));
    let mut answer = Response::new(Either::Right(Steps(receiver)));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// Sends the steps; ends early, by an error, when the client has gone.
async fn play(
    steps: Vec<Step>,
    pace: Duration,
    to: mpsc::Sender<Result<Bytes, CutHere>>,
) -> Result<(), mpsc::error::SendError<Result<Bytes, CutHere>>> {
    for step in steps {
        match step {
            Step::Send(frame) => {
                to.send(Ok(frame)).await?;
                sleep(pace).await;
            }
            Step::Wait(time, None) => sleep(time).await,
            Step::Wait(time, Some(frame)) => {
                for _ in 0..time.as_secs() {
                    sleep(Duration::from_secs(1)).await;
                    to.send(Ok(frame.clone())).await?;
                }
            }
            Step::Cut => {
                // What was sent before is to arrive.
                sleep(Duration::from_millis(20)).await;
                to.send(Err(CutHere)).await?;
            }
            Step::End => {}
        }
    }
    Ok(())
}

/// A body whose data comes from [`play`].
pub(super) struct Steps(mpsc::Receiver<Result<Bytes, CutHere>>);

impl Body for Steps {
    type Data = Bytes;
    type Error = CutHere;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutHere>>> {
        let next = self.0.poll_recv(context);
        next.map(|sent| sent.map(|result| result.map(Frame::data)))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the script cuts the connection here")]
pub(super) struct CutHere;
