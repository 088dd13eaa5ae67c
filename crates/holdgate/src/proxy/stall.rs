//! A connection whose peer takes nothing, or never begins, for too long is closed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A stream whose writes fail when they make no progress for `limit`, and whose reads fail if they
/// have not brought the head of a request after a shorter time.
#[derive(Debug)]
pub(crate) struct StallGuard<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write waits.
    writing: Option<Pin<Box<Sleep>>>,
    /// Runs until the head of a request has come.
    opening: Option<Pin<Box<Sleep>>>,
    begun: Arc<AtomicBool>,
}

impl<S> StallGuard<S> {
    /// The reader sets `begun` when the head of a request has arrived.
    pub(crate) fn new(
        stream: S,
        limit: Duration,
        first_request: Duration,
        begun: Arc<AtomicBool>,
    ) -> Self {
        let first_request = first_request.min(limit);
        StallGuard {
            stream,
            limit,
            writing: None,
            opening: Some(Box::pin(tokio::time::sleep(first_request))),
            begun,
        }
    }

    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.writing = None;
            return polled;
        }
        let limit = self.limit;
        let writing = self
            .writing
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + limit)));
        writing
            .as_mut()
            .poll(context)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.stream).poll_read(context, buffer);
        if let Some(opening) = &mut this.opening {
            if this.begun.load(Ordering::Relaxed) {
                this.opening = None;
            } else if opening.as_mut().poll(context).is_ready() {
                // Also if it sends on, a byte now and then.
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.watch(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
