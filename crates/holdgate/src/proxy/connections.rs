//! The connections that are open, bounded in all and by peer.
//!
//! A connection is busy once a request has come whole on it, until its answer has gone. At a bound,
//! the one that was idle longest makes room, so that whoever opens many and says nothing, or never
//! finishes, keeps nobody out.

use super::App;
use super::budget::{Full, Share};
use super::route::DEFAULT;
use crate::threads::lock;
use std::collections::HashMap;
use std::io::Write as _;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;

/// What a connection takes that does nothing: its buffers for reading and writing.
const CONNECTION_BYTES: usize = 2 * super::MAX_HEAD_BYTES;
/// The part of those at a bound that makes room at once: looking through all takes a while.
const MADE_AT_ONCE: usize = 32;

/// Milliseconds within which a request may be expected on a new connection.
const ON_ITS_WAY: u64 = 1000;

/// The connections that are open.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    known: HashMap<u64, (Arc<Connection>, Share)>,
    by_peer: HashMap<IpAddr, usize>,
    next: u64,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    number: u64,
    peer: IpAddr,
    /// Requests that have come whole and are not answered yet.
    busy: AtomicUsize,
    /// Since when it is idle, in milliseconds of the proxy's clock.
    idle_since: AtomicU64,
    /// Whether a request's head has come.
    pub(super) begun: Arc<AtomicBool>,
    /// It has to make room.
    pub(super) close: Notify,
}

/// A request on a connection that has come whole.
#[derive(Debug)]
pub(crate) struct Busy {
    app: Arc<App>,
    connection: Arc<Connection>,
}

impl Busy {
    pub(super) fn new(app: &Arc<App>, connection: &Arc<Connection>) -> Busy {
        connection.busy.fetch_add(1, Ordering::Relaxed);
        Busy {
            app: app.clone(),
            connection: connection.clone(),
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let now = millis(self.app.now());
        self.connection.idle_since.store(now, Ordering::Relaxed);
        self.connection.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, Open> {
        lock(&self.0)
    }

    /// How many are open.
    pub(super) fn len(&self) -> usize {
        self.open().known.len()
    }
}

impl Open {
    /// Closes some that are idle since `until` or before, of this peer or of all, those first that
    /// were idle longest.
    fn make_room(&mut self, peer: Option<IpAddr>, until: u64) {
        let known = self.known.values().map(|(connection, _)| connection);
        let mut idle: Vec<(u64, u64)> = known
            .filter(|c| peer.is_none_or(|peer| c.peer == peer))
            .filter(|c| c.busy.load(Ordering::Relaxed) == 0)
            .map(|c| (c.idle_since.load(Ordering::Relaxed), c.number))
            .filter(|(since, _)| *since <= until)
            .collect();
        idle.sort_unstable();
        let some = idle.len().div_ceil(MADE_AT_ONCE);
        for (_, number) in idle.into_iter().take(some) {
            self.remove(number);
        }
    }

    fn remove(&mut self, number: u64) {
        let Some((connection, _)) = self.known.remove(&number) else {
            return;
        };
        connection.close.notify_one();
        let peer = connection.peer;
        if let Some(open) = self.by_peer.get_mut(&peer) {
            *open -= 1;
            if *open == 0 {
                self.by_peer.remove(&peer);
            }
        }
    }
}

impl App {
    /// Lets a connection of `peer` in, if there is room or some can be made.
    pub(super) fn admit(&self, peer: IpAddr) -> Result<Arc<Connection>, Full> {
        let peer = peer.to_canonical();
        let settings = &self.config.proxy;
        let share = self.share(CONNECTION_BYTES);
        let now = millis(self.now());
        let mut open = self.connections.open();
        let of_peer = |open: &Open| open.by_peer.get(&peer).copied().unwrap_or_default();
        if of_peer(&open) >= settings.max_connections_per_peer {
            open.make_room(Some(peer), now);
        }
        if open.known.len() >= settings.max_connections {
            open.make_room(None, now);
        } else if share.is_err() {
            // Closing one frees little: not one whose request may be on its way.
            open.make_room(None, now.saturating_sub(ON_ITS_WAY));
        }
        let is_full = of_peer(&open) >= settings.max_connections_per_peer
            || open.known.len() >= settings.max_connections;
        let share = match share {
            Ok(share) if !is_full => share,
            Err(Full) if !is_full => self.share(CONNECTION_BYTES)?,
            Ok(_) | Err(Full) => return Err(Full),
        };
        open.next += 1;
        let connection = Arc::new(Connection {
            number: open.next,
            peer,
            busy: AtomicUsize::new(0),
            idle_since: AtomicU64::new(now),
            begun: Arc::default(),
            close: Notify::new(),
        });
        open.known
            .insert(connection.number, (connection.clone(), share));
        *open.by_peer.entry(peer).or_default() += 1;
        Ok(connection)
    }

    /// A connection has ended.
    pub(super) fn closed(&self, connection: &Connection) {
        self.connections.open().remove(connection.number);
    }

    /// Answers a connection that finds no room, as far as that goes without waiting.
    pub(super) fn turn_away(&self, mut socket: TcpStream) {
        let message = "all connections are in use; try again soon";
        self.record_seldom("connection-limit", message);
        let text = format!("[holdgate] {message} (rule connection-limit)");
        let body = DEFAULT.error_body(503, &text);
        let head = format!(
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: {}\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n",
            super::refused::RETRY_AFTER,
            body.len()
        );
        let _ = socket.set_nonblocking(true);
        let _ = socket.write_all(&[head.as_bytes(), body.as_ref()].concat());
        let _ = socket.shutdown(Shutdown::Write);
    }
}
