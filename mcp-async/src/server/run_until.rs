//! A connection that ends on a signal from outside.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Waker};
use std::io;
use std::sync::{Arc, Mutex};
use std::task::Wake;

use futures_io::{AsyncRead, AsyncWrite};

use super::{Connection, Service};
use crate::lock::lock;
use crate::runtime::Clock;

impl<R, W, C, S> Connection<R, W, C, S>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Clock,
    S: Service,
{
    /// Serves until `end` is done, if the connection does not end before, and then ends it in good
    /// order, as [`Peer::shutdown`](super::Peer::shutdown) does.
    ///
    /// # Errors
    ///
    /// Those of the connection.
    ///
    /// ```
    /// use mcp_async::Runtime;
    /// use mcp_async::server::{Connection, Service};
    /// # use futures_io::{AsyncRead, AsyncWrite};
    ///
    /// /// Serves until the program is interrupted.
    /// async fn run<R, I, O, S>(connection: Connection<I, O, R, S>) -> std::io::Result<()>
    /// where
    ///     R: Runtime,
    /// #   I: AsyncRead + Unpin,
    /// #   O: AsyncWrite + Unpin,
    ///     S: Service,
    /// {
    ///     connection.run_until(R::interrupted()).await
    /// }
    /// ```
    pub async fn run_until(mut self, end: impl Future<Output = ()>) -> io::Result<()> {
        self.serve_until(end).await
    }

    pub(super) async fn serve_until(&mut self, end: impl Future<Output = ()>) -> io::Result<()> {
        let peer = self.driver.role_mut().peer.clone();
        let mut end = pin!(Some(end));
        let bell = Arc::new(Bell {
            rung: AtomicBool::new(true),
            task: Mutex::new(Waker::noop().clone()),
        });
        let waker = Waker::from(Arc::clone(&bell));
        poll_fn(|cx| {
            bell.listen(cx.waker());
            // Polled when it has woken, not with every message: that may cost a system call.
            if bell.rung.swap(false, Ordering::SeqCst)
                && let Some(future) = end.as_mut().as_pin_mut()
                && future.poll(&mut Context::from_waker(&waker)).is_ready()
            {
                end.set(None);
                peer.shutdown();
            }
            Pin::new(&mut *self).poll(cx)
        })
        .await
    }
}

/// Tells a wake of one future from those of another in the same task.
struct Bell {
    rung: AtomicBool,
    task: Mutex<Waker>,
}

impl Bell {
    fn listen(&self, waker: &Waker) {
        let mut task = lock(&self.task);
        task.clone_from(waker);
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        let task = lock(&self.task);
        let waker = task.clone();
        drop(task);
        waker.wake();
    }
}
