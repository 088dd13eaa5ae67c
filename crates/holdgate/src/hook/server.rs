//! The resident engine's end of the socket.

use super::engine::{Engine, Handed};
use super::input::MAX_INPUT;
use super::line::{is_ours, read_header};
use super::reply::Reply;
use crate::listening::{Bound, connect, listen};
use crate::threads::spawn;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Hooks at once.
const MAX_PEERS: usize = 16;
/// How long a hook may take to hand over its call, or to take the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of the line before the call.
const MAX_HEADER: usize = 16 << 10;

/// A running server. Dropping it ends it and takes the socket away.
#[derive(Debug)]
pub(crate) struct Server {
    bound: Bound,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens at `name` in the state folder `dir`.
    pub(crate) fn start(dir: &Path, name: &str, engine: Engine) -> io::Result<Server> {
        let (listener, bound) = listen(dir, name)?;
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = stopped.clone();
        let engine = Arc::new(engine);
        let thread = spawn("hooks", move || accept(&listener, &engine, &stop))?;
        Ok(Server {
            bound,
            stopped,
            thread: Some(thread),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // It waits for a connection.
        let woken = connect(&self.bound.path).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &UnixListener, engine: &Arc<Engine>, stopped: &AtomicBool) {
    let peers = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        if !is_ours(&stream) {
            continue;
        }
        let place = Peer::new(&peers);
        if peers.load(Ordering::Relaxed) > MAX_PEERS {
            let _ = say(
                &stream,
                &Reply::fault("too many calls wait to be judged; try again"),
            );
            continue;
        }
        let engine = engine.clone();
        let serve = move || {
            // A hook that goes away has ended by refusing.
            let _ = serve(&stream, &engine);
            drop(place);
        };
        // Without a thread the connection is closed, and the hook refuses.
        let _ = spawn("hook", serve);
    }
}

/// Counts those who are served.
struct Peer(Arc<AtomicUsize>);

impl Peer {
    fn new(count: &Arc<AtomicUsize>) -> Peer {
        count.fetch_add(1, Ordering::Relaxed);
        Peer(count.clone())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(stream: &UnixStream, engine: &Engine) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut bytes = Vec::new();
    // One byte more than the most: whoever sends too much is told so.
    let most = u64::try_from(MAX_HEADER + MAX_INPUT + 1).unwrap_or(u64::MAX);
    stream.take(most).read_to_end(&mut bytes)?;
    let reply = match read_header(&bytes) {
        Some((agent, project, bytes)) => engine.answer(&Handed {
            agent,
            project: project.as_deref(),
            bytes,
        }),
        None => Reply::fault("the hook is of another version than the proxy"),
    };
    say(stream, &reply)
}

fn say(mut stream: &UnixStream, reply: &Reply) -> io::Result<()> {
    stream.write_all(reply.to_json().text().as_bytes())
}
