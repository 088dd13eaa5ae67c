//! Threads, their runtimes, and what they share.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Deeply nested commands are read by recursion, to a bounded depth that fits well into this.
const STACK_BYTES: usize = 8 << 20;

/// Locks. Whoever panicked while it held the lock has left a value that can be used.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a thread.
pub(crate) fn spawn(
    name: impl Into<String>,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.into());
    thread.stack_size(STACK_BYTES).spawn(work)
}

/// A runtime that runs on the thread that blocks on it.
pub fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
}
