//! A connection that ends on a signal from outside.

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::io;
use std::sync::Arc;
use std::task::Wake;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::Instant;
use pin_project_lite::pin_project;

use crate::server::{Connection, Service};
use crate::sync::Lock;

impl<R, W, S> Connection<R, W, S>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    S: Service,
{
    /// Serves until `end` is done, if the connection does not end before, and then ends it in good
    /// order, as [`Peer::shutdown`](crate::server::Peer::shutdown) does.
    ///
    /// # Errors
    ///
    /// Those of the connection.
    ///
    /// ```
    /// use mcp_async::runtime::RuntimeHandle;
    /// use mcp_async::server::{Connection, Service};
    /// # use futures_io::{AsyncRead, AsyncWrite};
    ///
    /// /// Serves until the program is interrupted.
    /// async fn run<I, O, S>(
    ///     connection: Connection<I, O, S>,
    ///     runtime: &RuntimeHandle,
    /// ) -> std::io::Result<()>
    /// where
    /// #   I: AsyncRead + Unpin,
    /// #   O: AsyncWrite + Unpin,
    ///     S: Service,
    /// {
    ///     connection.run_until(runtime.interrupted()).await
    /// }
    /// ```
    pub async fn run_until(self, end: impl Future<Output = ()>) -> io::Result<()> {
        self.serve_until(end).await.0
    }

    /// As [`run_until`](Self::run_until), and returns the time at which the end began.
    pub(in crate::server) fn serve_until<F: Future<Output = ()>>(
        self,
        end: F,
    ) -> ServeUntil<R, W, S, F> {
        let flag = Arc::new(WakeFlag {
            is_set: AtomicBool::new(true),
            task: Lock::new(Waker::noop().clone()),
        });
        ServeUntil {
            waker: Waker::from(Arc::clone(&flag)),
            flag,
            end: Some(end),
            connection: self,
        }
    }
}

pin_project! {
    /// The future of a connection that ends in good order when another one is ready.
    pub(in crate::server) struct ServeUntil<R, W, S: Service, F> {
        connection: Connection<R, W, S>,
        #[pin]
        end: Option<F>,
        flag: Arc<WakeFlag>,
        // Sets the flag.
        waker: Waker,
    }
}

impl<R, W, S, F> Future for ServeUntil<R, W, S, F>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    S: Service,
    F: Future<Output = ()>,
{
    type Output = (io::Result<()>, Option<Instant>);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        this.flag.listen(cx.waker());
        // Polled when it has woken, not with every message: that may cost a system call.
        if this.flag.is_set.swap(false, Ordering::SeqCst)
            && let Some(end) = this.end.as_mut().as_pin_mut()
            && end.poll(&mut Context::from_waker(this.waker)).is_ready()
        {
            this.end.set(None);
            this.connection.driver.role_mut().peer.shutdown();
        }
        let served = Pin::new(&mut *this.connection).poll(cx);
        served.map(|served| (served, this.connection.driver.ending_since()))
    }
}

/// Tells a wake of one future from those of another in the same task.
struct WakeFlag {
    is_set: AtomicBool,
    task: Lock<Waker>,
}

impl WakeFlag {
    fn listen(&self, waker: &Waker) {
        let mut task = self.task.lock();
        task.clone_from(waker);
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.is_set.store(true, Ordering::SeqCst);
        let task = self.task.lock();
        let waker = task.clone();
        drop(task);
        waker.wake();
    }
}
