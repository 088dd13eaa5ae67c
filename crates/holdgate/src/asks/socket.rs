//! `approve.sock`: where `holdgate approve` reaches the proxy. One JSON object a line, both ways.
//!
//! | request | answer |
//! |---|---|
//! | `{"do":"list"}` | `{"open":[…],"proof":"code"}` |
//! | `{"do":"watch"}` | the same, and again whenever it changes |
//! | `{"do":"answer","id":"…","answer":"once"}` | `{"done":"…"}` |
//! | `{"expert":600}`, `0` ends it, `null` asks | `{"expert":600}`: seconds left |
//!
//! Whatever cannot be done is `{"error":"…"}`. To decide anything takes a `"proof"` that a person
//! is there: the code of the question if a terminal of the proxy shows it, else the PIN, once for
//! each connection. A request without one is answered with `{"need":"code"}` or `{"need":"pin"}`;
//! one to lift the gate becomes a question at that terminal first.

use super::Asks;
use super::peer::Processes;
use super::pin::Pin;
use super::request::{Lifting, Peer, error, open};
use crate::listening::{Bound, listen};
use crate::threads::{runtime, spawn};
use anyhow::Context as _;
use holdgate_core::{Answer, Finding};
use holdgate_effects::json::{Json, LoneSurrogates};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, oneshot};

/// The socket's name in the state directory.
pub const NAME: &str = "approve.sock";
/// Peers at once.
const MAX_PEERS: usize = 16;
/// Bytes of a request.
const MAX_REQUEST: u64 = 4096;

/// Writes what happened into the ledger.
pub type Recorder = dyn Fn(&Finding) -> std::io::Result<()> + Send + Sync;

/// What the operator can do, and how a client proves to be the operator.
pub struct Operator {
    /// Does what a message about expert mode says.
    pub expert: Box<dyn Fn(&Json<'_>) -> Json<'static> + Send + Sync>,
    /// Writes into the ledger who tried what.
    pub record: Box<Recorder>,
    /// What counts where no terminal shows the question.
    pub pin: Option<Pin>,
}

/// A running server. Dropping it ends it and takes the socket away.
#[derive(Debug)]
pub struct Server {
    bound: Option<Bound>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What connections share.
pub(super) struct Shared {
    pub(super) asks: Arc<Asks>,
    pub(super) operator: Operator,
    processes: Processes,
    own_uid: u32,
    /// Where the proxy listens.
    port: u16,
}

impl Server {
    /// Listens in the state directory `dir` for a proxy on `port`.
    pub fn start(
        dir: &Path,
        asks: Arc<Asks>,
        operator: Operator,
        port: u16,
    ) -> anyhow::Result<Server> {
        let (listener, bound) = listen(dir, NAME)?;
        listener.set_nonblocking(true)?;
        if operator.pin.is_some() {
            asks.take_pin();
        }
        let shared = Arc::new(Shared {
            asks,
            operator,
            processes: Processes::default(),
            own_uid: rustix::process::geteuid().as_raw(),
            port,
        });
        let runtime = runtime().context("no runtime")?;
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = accept(listener, shared) => {}
                }
            });
        };
        Ok(Server {
            bound: Some(bound),
            stop: Some(stop),
            thread: Some(spawn("approve", serve)?),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.bound.take());
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: std::os::unix::net::UnixListener, shared: Arc<Shared>) {
    let listener = match UnixListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return crate::log::warn(&format!("cannot receive answers: {error}")),
    };
    let room = Arc::new(Semaphore::new(MAX_PEERS));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = shared.clone();
                tokio::spawn(async move {
                    // A peer that goes away ends its own connection.
                    let _ = serve(stream, &shared).await;
                    drop(permit);
                });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn serve(stream: UnixStream, shared: &Shared) -> std::io::Result<()> {
    let peer = stream.peer_cred()?;
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
    let check = || match pid {
        Some(pid) => shared
            .processes
            .check(pid, peer.uid(), shared.own_uid, shared.port),
        None => Err("the process cannot be identified".to_owned()),
    };
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    if let Err(why) = check() {
        crate::log::warn(&format!(
            "rejected process {} at {NAME}: {why}",
            pid.unwrap_or(0)
        ));
        let said = error(format!("you cannot answer here: {why}"));
        return write.write_all(format!("{said}\n").as_bytes()).await;
    }
    let mut peer = Peer::new(pid.unwrap_or(0));
    let mut begun = Vec::new();
    loop {
        let Peer {
            watching, lifting, ..
        } = &mut peer;
        let changed = async {
            match watching {
                Some((changes, _)) => changes.changed().await.is_ok(),
                None => std::future::pending().await,
            }
        };
        let lifted = async {
            match lifting {
                Some(Lifting { ticket, until, .. }) => {
                    tokio::time::timeout_at(*until, ticket).await
                }
                None => std::future::pending().await,
            }
        };
        let said = tokio::select! {
            request = next_line(&mut read, &mut begun) => match request? {
                Some(line) => {
                    let json = Json::read(&line, 8, LoneSurrogates::Refuse);
                    let json = json.unwrap_or(Json::Null);
                    peer.request(&json, shared, check)
                }
                None => return Ok(()),
            },
            _ = changed => Some(open(shared)),
            answer = lifted => Some(peer.lift(answer.unwrap_or(Answer::Timeout), shared)),
        };
        let Some(said) = said else {
            continue;
        };
        write.write_all(format!("{said}\n").as_bytes()).await?;
    }
}

/// The next line of the peer; `None` at its end, or if it says too much. What has come of a line
/// stays in `line` when the future is dropped.
async fn next_line(
    read: &mut BufReader<OwnedReadHalf>,
    line: &mut Vec<u8>,
) -> std::io::Result<Option<Vec<u8>>> {
    let room = MAX_REQUEST.saturating_sub(line.len() as u64);
    read.take(room).read_until(b'\n', line).await?;
    let line = std::mem::take(line);
    Ok(line.ends_with(b"\n").then_some(line))
}
