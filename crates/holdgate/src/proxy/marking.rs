//! Marks results of tools that give orders before a request goes on, see [`holdgate_core::marking`].

use super::App;
use super::budget::Share;
use super::refused::{Exchange, Refused, unreadable};
use crate::config::{InjectionSettings, Unreadable};
use crate::ledger::{hex, key_of, private};
use anyhow::Context as _;
use bytes::Bytes;
use hmac::{Hmac, Mac as _};
use holdgate_core::injection::{self, Suspicion};
use holdgate_core::marking::{MarkedResult, Marker, Marks, SharedExamined};
use holdgate_core::{
    Action, Finding, LayerName, Record, Request, ResponseContext, SharedSession, lock_session,
};
use holdgate_effects::json::JsonError;
use hyper::StatusCode;
use sha2::Sha256;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::thread;

/// The file with the key of this installation, from which the numbers of markers are computed.
const KEY_FILE: &str = "marking.key";
/// More bytes than the file has.
const KEY_FILE_BYTES: u64 = 256;
/// Bytes of messages that are examined on the thread that carries the connection.
const MAX_HERE: usize = 64 << 10;
/// Threads that read one long conversation.
const MAX_THREADS: usize = 4;
/// Results of one request that have a record of their own.
const MAX_RECORDS: usize = 256;

/// What finds orders, and what numbers the markers.
#[derive(Debug)]
pub(super) struct Marking {
    pub(super) examine: fn(&str) -> Option<Suspicion>,
    key: Key,
}

/// The key of this installation. It stays the same, so that a conversation is marked with the same
/// bytes after a restart.
struct Key([u8; 32]);

impl Marking {
    /// Reads the key in the state folder `dir`, or makes one.
    pub(super) fn open(dir: &Path) -> anyhow::Result<Marking> {
        let path = dir.join(KEY_FILE);
        let key = Key::open(&path).with_context(|| format!("cannot use {}", path.display()))?;
        Ok(Marking {
            examine: injection::examine,
            key,
        })
    }
}

impl Key {
    fn open(path: &Path) -> io::Result<Key> {
        let mut file = private(path, |options| options.create(true).truncate(false))?;
        // Another process may start at the same time. Closing the file releases the lock.
        file.lock()?;
        let mut text = String::new();
        let read = Read::by_ref(&mut file)
            .take(KEY_FILE_BYTES)
            .read_to_string(&mut text);
        match read.ok().and_then(|_| key_of(text.trim_end())) {
            Some(key) => Ok(Key(key)),
            // New, or torn by a crash.
            None => Key::create(&mut file),
        }
    }

    fn create(file: &mut File) -> io::Result<Key> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(io::Error::from)?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(format!("{}\n", hex(&key)).as_bytes())?;
        file.sync_all()?;
        Ok(Key(key))
    }

    /// The number of the markers around `text` in a session.
    fn number(&self, session: &str, text: &str) -> String {
        // HMAC takes keys of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            return String::new();
        };
        mac.update(&(session.len() as u64).to_le_bytes());
        mac.update(session.as_bytes());
        mac.update(text.as_bytes());
        let mac = mac.finalize().into_bytes();
        hex(mac.get(..8).unwrap_or_default())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// The body to forward in place of the one that came; `None` if that goes on as it is. What is
/// marked for the first time is recorded before.
pub(super) async fn mark(
    app: &Arc<App>,
    settings: InjectionSettings,
    request: &Request,
    session: &SharedSession,
    exchange: &Exchange,
    share: &mut Share,
) -> Result<Option<Bytes>, Refused> {
    if !settings.mark {
        return Ok(None);
    }
    let examined = lock_session(session).examined.clone();
    let marks = match find(app, request, &exchange.session, &examined).await? {
        Ok(marks) => marks,
        Err(error) => return pass(app, settings.unreadable, &error, exchange).await,
    };
    if marks.is_empty() {
        marks.note(&examined);
        return Ok(None);
    }
    // Both bodies are kept: what has been done is read from the one that came.
    let bytes = share.bytes() + marks.bytes();
    app.reserve(share, bytes)?;
    let records = records(exchange, &marks.new);
    let writing: Vec<_> = records.map(|record| app.records.write(record)).collect();
    marks.note(&examined);
    for written in writing {
        if let Err(error) = written.await {
            examined.forget(&marks.new);
            let message = format!("a marked result cannot be recorded: {error}");
            return Err(Refused::plain(StatusCode::BAD_REQUEST, message));
        }
    }
    Ok(Some(marks.body()))
}

/// Finds what to mark. A long conversation is read on another thread.
async fn find(
    app: &Arc<App>,
    request: &Request,
    session: &str,
    examined: &SharedExamined,
) -> Result<Result<Marks, JsonError>, Refused> {
    let (app, session, examined) = (app.clone(), session.to_owned(), examined.clone());
    let find = move |request: &Request, threads: usize| {
        let Marking { examine, key } = &app.marking;
        let marker = Marker {
            examine,
            number: &|text| key.number(&session, text),
            threads,
        };
        marker.marks(request, &examined)
    };
    let bytes: usize = request.messages().map(<[u8]>::len).sum();
    if bytes <= MAX_HERE {
        return Ok(find(request, 1));
    }
    let request = request.clone();
    // A conversation that is new waits to be read as a whole.
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(MAX_THREADS);
    let found = tokio::task::spawn_blocking(move || find(&request, threads)).await;
    found.map_err(|_| {
        let message = "the results of tools in the request could not be examined";
        Refused::by_rule("unreadable-request", message)
    })
}

/// What becomes of a request that cannot be read.
async fn pass(
    app: &App,
    setting: Unreadable,
    error: &JsonError,
    exchange: &Exchange,
) -> Result<Option<Bytes>, Refused> {
    match setting {
        Unreadable::Refuse => Err(unreadable(error)),
        Unreadable::Pass => {
            let reason = format!("results of tools could not be examined: {error}");
            let finding = Finding::audit(LayerName::Injection, "unreadable-request", reason);
            let record = record(
                exchange,
                "r0",
                (None, None),
                vec![finding],
                Action::Forwarded,
            );
            app.records.write(record).await.map_err(|error| {
                let message = format!("the decision cannot be recorded: {error}");
                Refused::plain(StatusCode::BAD_REQUEST, message)
            })?;
            Ok(None)
        }
    }
}

/// One record for each result, and one for those beyond the limit.
fn records<'r>(
    exchange: &'r Exchange,
    results: &'r [MarkedResult],
) -> impl Iterator<Item = Record> + 'r {
    let single = results.iter().take(MAX_RECORDS).enumerate();
    let single = single.map(|(at, result)| {
        let names = (result.tool.clone(), result.call.clone());
        let number = format!("r{}", at + 1);
        let findings = result.findings.clone();
        record(exchange, &number, names, findings, Action::Marked)
    });
    let others = results.len().saturating_sub(MAX_RECORDS);
    let others = (others > 0).then(|| {
        let reason = format!("{others} more results in this request give orders");
        let finding = Finding::audit(LayerName::Injection, "more-results", reason);
        record(exchange, "r0", (None, None), vec![finding], Action::Marked)
    });
    single.chain(others)
}

/// Records what results have shown that must not get around, each once.
pub(super) async fn record_shown(app: &App, judge: &ResponseContext) -> Result<(), Refused> {
    let new = lock_session(&judge.session).new_shown(&judge.history);
    for (at, (finding, tool, call)) in new.into_iter().enumerate() {
        let id = format!("{}-s{}", judge.response_id, at + 1);
        let names = (Some(tool), Some(call));
        let session = judge.session_id.clone();
        let record = Record::of_result(id, session, names, vec![finding], Action::Forwarded);
        app.records.write(record).await.map_err(|error| {
            let message = format!("what a result shows cannot be recorded: {error}");
            Refused::plain(StatusCode::BAD_REQUEST, message)
        })?;
    }
    Ok(())
}

fn record(
    exchange: &Exchange,
    number: &str,
    names: (Option<String>, Option<String>),
    findings: Vec<Finding>,
    action: Action,
) -> Record {
    let id = format!("{}-{number}", exchange.id);
    Record::of_result(id, exchange.session.clone(), names, findings, action)
}
