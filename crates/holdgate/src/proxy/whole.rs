//! A response that is not streamed, under guard.

use super::App;
use super::asking::Asked;
use super::budget::StreamLoad;
use super::judge_first;
use super::judges::Awaited;
use super::refused::Refused;
use super::whole_body::read_answer;
use holdgate_core::{
    Answer, Canonical, JobDone, MessageGuard, Output, Progress, ResponseContext, Unjudged,
};
use hyper::StatusCode;
use hyper::body::Incoming;
use std::sync::Arc;

/// A message that is not streamed: read as a whole, judged, and rewritten if it contains calls.
pub(super) async fn guard_whole(
    app: &Arc<App>,
    judge: ResponseContext,
    body: Incoming,
    load: &mut StreamLoad,
) -> Result<Canonical, Refused> {
    let body = read_answer(app, body, load.share()).await?;
    let mut outputs = Vec::new();
    // What cannot be judged is recorded with the other decisions.
    let broken = |violation| {
        let message = format!("the response cannot be judged: {violation} (rule stream-protocol)");
        Refused::plain(StatusCode::BAD_REQUEST, message)
    };
    let mut guard = match MessageGuard::new(judge, &body, &mut outputs) {
        Ok(guard) => guard.judging_apart(),
        Err(violation) => {
            carry_out(app, outputs).await?;
            return Err(broken(violation));
        }
    };
    loop {
        let advanced = guard.advance(app.now(), &mut outputs);
        let next = carry_out(app, std::mem::take(&mut outputs)).await?;
        if advanced.map_err(broken)? == Progress::Decided {
            break;
        }
        // A client that hangs up drops this future, and with it the question or the verdict.
        match next {
            Next::Nothing => guard.answer(app.asks.absent(), app.now(), &mut outputs),
            Next::FoundSafe => guard.answer(Answer::Judge, app.now(), &mut outputs),
            Next::Answer(mut asked) => {
                let reply = asked.wait().await;
                asked.end(false);
                guard.answer(reply, app.now(), &mut outputs);
            }
            Next::Verdict(verdict) => {
                let due = guard.verdict_due().unwrap_or_default();
                let left = due.saturating_sub(app.now());
                let verdict = match tokio::time::timeout(left, verdict).await {
                    Ok(verdict) => verdict.map_err(|_| Unjudged::Failed),
                    Err(_) => Err(Unjudged::Late),
                };
                guard.judged(verdict, app.now(), &mut outputs);
            }
            Next::Unjudged(done) => guard.judged(Ok(done), app.now(), &mut outputs),
        }
    }
    Ok(guard.finish())
}

/// What a message waits for.
enum Next {
    /// Nothing, or a question that nobody could be asked.
    Nothing,
    Answer(Box<Asked>),
    /// Nothing: the judge has found the call safe.
    FoundSafe,
    Verdict(Awaited),
    /// A call that had no room among those that are judged.
    Unjudged(JobDone),
}

/// Records the decisions among `outputs`, asks the question and has the call judged, if there is
/// one.
async fn carry_out(app: &Arc<App>, outputs: Vec<Output>) -> Result<Next, Refused> {
    let mut next = Next::Nothing;
    for output in outputs {
        let writing = match output {
            Output::Record(record) => app.records.write(record),
            Output::Judge(job) => {
                next = match app.judges.judge(job) {
                    Ok(verdict) => Next::Verdict(verdict),
                    Err(done) => Next::Unjudged(done),
                };
                continue;
            }
            Output::Ask(question) => {
                if let Some(opinion) = judge_first::ask(app, &question)
                    && opinion.await
                {
                    next = Next::FoundSafe;
                    continue;
                }
                let Some((asked, writing)) = Asked::ask(app, *question) else {
                    continue;
                };
                next = Next::Answer(Box::new(asked));
                writing
            }
            Output::Send(_) | Output::Abort => continue,
        };
        writing.await.map_err(|error| {
            let message = format!("the decision cannot be recorded: {error}");
            Refused::plain(StatusCode::BAD_REQUEST, message)
        })?;
    }
    Ok(next)
}
