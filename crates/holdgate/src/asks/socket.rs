//! `approve.sock`: where `holdgate approve` reaches the proxy. One JSON object a line, both ways.
//!
//! | request | answer |
//! |---|---|
//! | `{"do":"list"}` | `{"open":[…]}` |
//! | `{"do":"watch"}` | the same, and again whenever it changes |
//! | `{"do":"answer","id":"…","answer":"once"}` | `{"done":"…"}` |
//! | `{"expert":600}`, `0` ends it, `null` asks | `{"expert":600}`: seconds left |
//!
//! Whatever cannot be done is `{"error":"…"}`.

use super::peer::Processes;
use super::{Asks, Attended};
use anyhow::Context as _;
use holdgate_core::json::{Json, LoneSurrogates};
use holdgate_core::question::Answer;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, oneshot, watch};

/// The socket's name in the state directory.
pub const NAME: &str = "approve.sock";
/// Peers at once.
const MAX_PEERS: usize = 16;
/// Bytes of a request.
const MAX_REQUEST: u64 = 4096;

/// Does what a message about expert mode says.
pub type Expert = Box<dyn Fn(&Json<'_>) -> Json<'static> + Send + Sync>;

/// A running server. Dropping it ends it and takes the socket away.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    inode: u64,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What connections share.
struct Shared {
    asks: Arc<Asks>,
    expert: Expert,
    processes: Processes,
    own_uid: u32,
    /// Where the proxy listens.
    port: u16,
}

impl Server {
    /// Listens in the state directory `dir` for a proxy on `port`.
    pub fn start(dir: &Path, asks: Arc<Asks>, expert: Expert, port: u16) -> anyhow::Result<Server> {
        let path = dir.join(NAME);
        if std::os::unix::net::UnixStream::connect(&path).is_ok() {
            anyhow::bail!("another proxy with the same state directory answers there");
        }
        // Made beside its place, so that it is never there with other rights than it should have.
        let new = dir.join(format!(".approve-{}-{port}", std::process::id()));
        let _ = std::fs::remove_file(&new);
        let listener = std::os::unix::net::UnixListener::bind(&new)?;
        listener.set_nonblocking(true)?;
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&new, &path)?;
        let inode = std::fs::symlink_metadata(&path)?.ino();
        let shared = Arc::new(Shared {
            asks,
            expert,
            processes: Processes::default(),
            own_uid: rustix::process::geteuid().as_raw(),
            port,
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("no runtime")?;
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = accept(listener, shared) => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("approve".into());
        Ok(Server {
            path,
            inode,
            stop: Some(stop),
            thread: Some(thread.spawn(serve)?),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let ours = std::fs::symlink_metadata(&self.path).is_ok_and(|m| m.ino() == self.inode);
        if ours {
            let _ = std::fs::remove_file(&self.path);
        }
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
        Err(error) => return crate::log::warn(&format!("cannot take answers: {error}")),
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
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
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
        None => Err("who it is cannot be seen".to_owned()),
    };
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    if let Err(why) = check() {
        crate::log::warn(&format!(
            "refused process {} at {NAME}: {why}",
            pid.unwrap_or(0)
        ));
        return say(
            &mut write,
            "error",
            format!("you cannot answer here: {why}").into(),
        )
        .await;
    }
    let mut begun = Vec::new();
    let mut watching: Option<(watch::Receiver<u64>, Attended)> = None;
    loop {
        let changed = async {
            match &mut watching {
                Some((changes, _)) => changes.changed().await.is_ok(),
                None => std::future::pending().await,
            }
        };
        let request = tokio::select! {
            request = next_line(&mut read, &mut begun) => request?,
            _ = changed => {
                say(&mut write, "open", open(shared)).await?;
                continue;
            }
        };
        let Some(line) = request else {
            return Ok(());
        };
        let json = Json::read(&line, 8, LoneSurrogates::Refuse);
        let json = json.unwrap_or(Json::Null);
        let text = |key: &str| json.get(key).and_then(Json::as_str).unwrap_or_default();
        match text("do") {
            "list" => say(&mut write, "open", open(shared)).await?,
            "watch" => {
                let mut changes = shared.asks.changes();
                changes.mark_unchanged();
                watching = Some((changes, shared.asks.attend()));
                say(&mut write, "open", open(shared)).await?;
            }
            "answer" => {
                // Once more: who was in the foreground may no longer be.
                let answered = check().and_then(|()| {
                    let answer = Answer::from_word(text("answer"));
                    let answer = answer.ok_or("an answer is once, session, rule or deny")?;
                    shared.asks.answer(text("id"), answer)?;
                    Ok(answer.word())
                });
                match answered {
                    Ok(word) => say(&mut write, "done", word.into()).await?,
                    Err(why) => say(&mut write, "error", why.into()).await?,
                }
            }
            _ if json.get("expert").is_some() => {
                let answer = check().map(|()| (shared.expert)(&json));
                let answer = answer.unwrap_or_else(|why| Json::object([("error", why.into())]));
                write.write_all(format!("{answer}\n").as_bytes()).await?;
            }
            _ => {
                let known = "write list, watch, answer or expert";
                say(&mut write, "error", known.into()).await?;
            }
        }
    }
}

fn open(shared: &Shared) -> Json<'static> {
    let open = shared.asks.open();
    Json::Array(open.iter().map(|shown| shown.to_json()).collect())
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

async fn say(
    write: &mut OwnedWriteHalf,
    key: &'static str,
    value: Json<'_>,
) -> std::io::Result<()> {
    let line = format!("{}\n", Json::object([(key, value)]));
    write.write_all(line.as_bytes()).await
}
