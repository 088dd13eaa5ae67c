//! The door between client and model API: a streaming reverse proxy.
//!
//! One thread accepts; a few workers, each with a runtime of its own, carry the connections, so
//! that an event never changes threads on its way through. `handle.rs` takes it from here.

pub(crate) mod answer;
mod app;
mod asking;
mod body;
mod bridging;
mod budget;
mod connections;
mod handle;
#[cfg(test)]
mod history_tests;
mod hooks;
mod host;
mod judge_first;
mod judges;
#[cfg(test)]
mod judging_tests;
mod labels;
mod marking;
#[cfg(test)]
mod marking_tests;
mod nightly;
#[cfg(test)]
mod nightly_tests;
mod records;
mod refused;
mod reload;
pub(crate) mod route;
mod stall;
mod whole;
mod whole_body;

use crate::asks::pin::Pin;
use crate::asks::{self, Asks, socket};
use crate::config::{Config, Operator};
use crate::hook;
use crate::judge::WorkContext;
use crate::ledger::Ledger;
use crate::listening::HOOKS;
use crate::threads::{runtime, spawn};
use crate::upstream;
use anyhow::Context as _;
use app::App;
use budget::Full;
use connections::Connection;
use holdgate_core::watch::Commands;
use holdgate_core::{Finding, divergence, injection, prepare_all_masking};
use holdgate_effects::json::Json;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// An idle connection is closed after this, as other servers do.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// Bytes of a request's head, and of a read.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// How long a connection may take for the head of its first request.
const FIRST_REQUEST: Duration = Duration::from_secs(10);
/// Requests at once on one HTTP/2 connection, and how far ahead a client may send on it: what it may
/// send is what is kept of it.
const MAX_STREAMS: u32 = 64;
const HTTP2_WINDOW: u32 = 64 << 10;

/// A running proxy. Dropping it stops it at once; [`Proxy::stop`] lets streams finish.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    app: Arc<App>,
    /// Where `holdgate approve` comes; ends after the streams, which may still ask.
    socket: Option<socket::Server>,
    /// Where hooks come.
    hooks: Option<hook::server::Server>,
    stop: watch::Sender<bool>,
    /// While it is there, files are watched.
    watching: Option<[std_mpsc::Sender<()>; 3]>,
    threads: Vec<JoinHandle<()>>,
}

impl Proxy {
    /// Starts to listen.
    pub fn start(config: Config) -> anyhow::Result<Proxy> {
        Self::serve(App::new(config)?)
    }

    fn serve(app: App) -> anyhow::Result<Proxy> {
        let listen = app.config.proxy.listen;
        let listener = std::net::TcpListener::bind(listen)
            .with_context(|| format!("cannot listen on {listen}"))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let app = Arc::new(app);
        let socket = serve_answers(&app, address.port());
        let (stop, stopped) = watch::channel(false);
        let mut threads = Vec::new();
        let mut workers = Vec::new();
        for number in 0..app.config.proxy.workers {
            let (sender, receiver) = mpsc::unbounded_channel();
            workers.push(sender);
            let client = upstream::client(app.config.proxy.connect_timeout)?;
            let (app, stopped) = (app.clone(), stopped.clone());
            let runtime = runtime()?;
            let work = move || runtime.block_on(work(app, client, receiver, stopped));
            threads.push(spawn(format!("worker-{number}"), work)?);
        }
        let runtime = runtime()?;
        let accepting = app.clone();
        let accept = move || runtime.block_on(accept(accepting, listener, workers, stopped));
        threads.push(spawn("accept".to_owned(), accept)?);
        let (watching, unwatched) = std_mpsc::channel();
        let watched = app.clone();
        let watch = move || reload::watch(&watched, &unwatched);
        threads.push(spawn("watch".to_owned(), watch)?);
        let (reading, unread) = std_mpsc::channel();
        let labelled = app.clone();
        let read = move || labels::watch(&labelled, &unread);
        // It may be in the middle of a large project; nobody has to wait for it.
        spawn("labels".to_owned(), read)?;
        let (learning, unlearned) = std_mpsc::channel();
        let learner = app.clone();
        let learn = move || nightly::watch(&learner, &unlearned);
        // Nobody has to wait for it either: what it leaves is whole or not there.
        spawn("learn".to_owned(), learn)?;
        Ok(Proxy {
            address,
            app,
            socket,
            hooks: None,
            stop,
            watching: Some([watching, reading, learning]),
            threads,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reads in the background what the first call would wait for otherwise, from `delay` on: what
    /// starts now does not have to share the machine with it.
    pub fn prepare(&self, delay: Duration) {
        let know = self.app.know.clone();
        // Without the thread it is read when it is needed.
        let _ = spawn("warm", move || {
            std::thread::sleep(delay);
            prepare_all_masking();
            divergence::prepare();
            injection::prepare();
            know.warm();
        });
    }

    /// Tries to reach the upstream, in the background, and says if it cannot be reached.
    pub fn probe_upstream(&self) {
        upstream::probe(&self.app.config.upstream);
    }

    /// Asks at this process's terminal, if it has one to itself.
    pub fn ask_at_terminal(&self) -> std::io::Result<()> {
        asks::terminal::start(&self.app.asks)
    }

    /// Judges what hooks of clients hand over, at the socket of this name in the state folder.
    fn serve_hooks(&mut self, name: &str) {
        self.hooks = hooks::serve(&self.app, name);
    }

    /// Judges for the hooks of all clients.
    pub fn serve_all_hooks(&mut self) {
        self.serve_hooks(HOOKS);
    }

    /// Judges for the hooks of the agent that this process runs.
    pub fn serve_own_hooks(&mut self) {
        self.serve_hooks(&hook::line::name_of_run(std::process::id()));
    }

    /// What the agents of this proxy are there for, if the judge is asked about their calls.
    pub(crate) fn tell_work(&self, work: &WorkContext) {
        if let Some(first) = &self.app.judge_first {
            // The first work order stays.
            let _ = first.work.set(work.clone());
        }
    }

    /// The questions that are open.
    pub fn asks(&self) -> &Arc<Asks> {
        &self.app.asks
    }

    /// Waits until every decision that was made so far is recorded.
    pub fn flush(&self) {
        self.app.records.flush();
    }

    /// Where decisions are recorded.
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.app.ledger
    }

    /// What judges commands that an agent in this folder shows, by the rules that are in force now.
    pub fn commands(&self, folder: Option<&str>) -> Commands {
        let world = self.app.world(folder);
        let in_force = self.app.in_force();
        let project = world.project.as_deref();
        if let Some(news) = project.and_then(|project| in_force.look_at(project)) {
            self.app.report(&news);
        }
        Commands::new(
            in_force.rules(project),
            self.app.know.clone(),
            world.clone(),
        )
    }

    /// Whether `holdgate approve` can reach this proxy.
    pub fn takes_answers(&self) -> bool {
        self.socket.is_some()
    }

    /// How many requests to a model have come, counted on.
    pub fn asked(&self) -> &Arc<AtomicU64> {
        &self.app.asked
    }

    /// Connections that are open now.
    pub fn open_connections(&self) -> usize {
        self.app.connections.len()
    }

    /// Bytes of the memory budget that are reserved now, and the most that ever were.
    pub fn memory(&self) -> (usize, usize) {
        self.app.budget.used()
    }

    /// Changes of rules and settings: how many were put in force, and how many could not be used.
    pub fn reloads(&self) -> (u64, u64) {
        let reloads = &self.app.reloads;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (count(&reloads.loaded), count(&reloads.failed))
    }

    /// Takes a message about expert mode: `{"expert": 600}`. Only the operator may send any.
    pub fn expert_message(&self, message: &Json<'_>) -> Json<'static> {
        self.app.expert_message(message)
    }

    /// Takes no more connections, lets the open streams finish within the grace time, and returns.
    pub fn stop(mut self) {
        // All receivers gone means that the threads have ended.
        let _ = self.stop.send(true);
        self.watching = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        drop(self.socket.take());
        drop(self.hooks.take());
        self.app.records.flush();
    }
}

/// Without it, only this terminal can answer.
fn serve_answers(app: &Arc<App>, port: u16) -> Option<socket::Server> {
    if app.config.ask.operator == Operator::Never {
        return None;
    }
    let dir = &app.config.state_dir;
    let weak = Arc::downgrade(app);
    let expert = Box::new(move |message: &Json<'_>| match weak.upgrade() {
        Some(app) => app.expert_message(message),
        None => Json::object([("error", "the proxy is stopping".into())]),
    });
    let ledger = app.ledger.clone();
    let record =
        Box::new(move |finding: &Finding| ledger.append_event("operator", "told", finding));
    let pin = app.config.pin_file.as_deref().map(Pin::load).transpose();
    let pin = pin.unwrap_or_else(|error| {
        crate::log::warn(&format!("the PIN is not used: {error:#}"));
        None
    });
    let operator = socket::Operator {
        expert,
        record,
        pin: pin.flatten(),
    };
    match socket::Server::start(dir, app.asks.clone(), operator, port) {
        Ok(server) => Some(server),
        Err(error) => {
            let path = dir.join(socket::NAME);
            let path = path.display();
            crate::log::warn(&format!(
                "`holdgate approve` cannot reach this proxy: {path}: {error}"
            ));
            None
        }
    }
}

type Accepted = (TcpStream, Arc<Connection>);

/// Hands connections to the workers in turn, as many as there is room for, and turns the others
/// away.
async fn accept(
    app: Arc<App>,
    listener: std::net::TcpListener,
    workers: Vec<mpsc::UnboundedSender<Accepted>>,
    mut stopped: watch::Receiver<bool>,
) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return crate::log::warn(&format!("cannot accept connections: {error}")),
    };
    for worker in workers.iter().cycle() {
        let next = async {
            loop {
                match listener.accept().await {
                    Ok((socket, peer)) => return Some((socket.into_std().ok()?, peer)),
                    Err(error) => {
                        // Out of file descriptors, say: wait for one to come free.
                        crate::log::warn(&format!("cannot accept a connection: {error}"));
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                }
            }
        };
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            accepted = next => if let Some((socket, peer)) = accepted {
                match app.admit(peer.ip()) {
                    // A worker ends only when all do.
                    Ok(connection) => drop(worker.send((socket, connection))),
                    Err(Full) => app.turn_away(socket),
                }
            },
        }
    }
}

/// Carries connections until told to stop, then lets them finish.
async fn work(
    app: Arc<App>,
    client: upstream::Client,
    mut accepted: mpsc::UnboundedReceiver<Accepted>,
    mut stopped: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(KEEP_ALIVE)
        .max_buf_size(MAX_HEAD_BYTES);
    server
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .max_concurrent_streams(MAX_STREAMS)
        .initial_connection_window_size(HTTP2_WINDOW)
        .initial_stream_window_size(HTTP2_WINDOW)
        .max_send_buf_size(MAX_HEAD_BYTES)
        .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX));
    loop {
        let (socket, peer) = tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => break,
            next = accepted.recv() => match next {
                Some(accepted) => accepted,
                None => break,
            },
        };
        let Ok(socket) = tokio::net::TcpStream::from_std(socket) else {
            app.closed(&peer);
            continue;
        };
        // Without this, small events would wait for the client's acknowledgements.
        let _ = socket.set_nodelay(true);
        let io = TokioIo::new(stall::StallGuard::new(
            socket,
            app.config.proxy.client_timeout,
            FIRST_REQUEST,
            peer.begun.clone(),
        ));
        let (this, client, on) = (app.clone(), client.clone(), peer.clone());
        let service = hyper::service::service_fn(move |request| {
            handle::handle(this.clone(), client.clone(), on.clone(), request)
        });
        let connection = graceful.watch(server.serve_connection(io, service).into_owned());
        let app = app.clone();
        tokio::spawn(async move {
            tokio::select! {
                // A client that hangs up, or breaks the protocol, ends its own connection.
                _ = connection => {}
                () = peer.close.notified() => {}
            }
            app.closed(&peer);
        });
    }
    let grace = app.config.proxy.shutdown_grace;
    if tokio::time::timeout(grace, graceful.shutdown())
        .await
        .is_err()
    {
        crate::log::warn("some streams did not finish in time and were closed");
    }
}
