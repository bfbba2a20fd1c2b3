//! A client whose server is a child process.

use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

use mcp_proto::PreparedConfig;
use mcp_proto::client::{ClientConfig, Negotiation};

use super::stray::Inspected;
use crate::client::{Connection, Handler, Peer, connect};
use crate::error::ConnectError;
use crate::io::process::{Child, Command, ExitedEarly, Process};
use crate::io::stdio::Output;
use crate::runtime::{RuntimeHandle, Sleep};
use crate::sync::{Lock, Waiter};

/// A client's connection to a child process, and the child: both in one future.
///
/// It must be spawned or polled to make progress. It ends when the server ends the connection,
/// exits, or the last [`Peer`] is gone or closes it, and after an orderly
/// [shutdown](Child::shutdown) of the child. Dropping it kills the child.
#[must_use = "a session does nothing until it is polled"]
pub struct Session {
    running: Option<Running>,
    /// After the other one.
    shutdown: Option<Shutdown>,
    end: Arc<Lock<End>>,
    /// Receives how the child ended.
    describe: Option<Box<dyn FnOnce(ExitedEarly) + Send>>,
}

/// Resolves when the child of a [`Session`] is gone and all that it started.
///
/// Await it after [`Peer::close`] before the program ends: otherwise the child is killed in
/// the middle of its own ending. Dropping it changes nothing.
///
/// # Errors
/// As for [`Child::shutdown`]; [`ConnectionAborted`](io::ErrorKind::ConnectionAborted) if the
/// session was dropped, and the child killed.
#[must_use = "it resolves when the child has exited, and does not end it"]
pub struct Ending {
    end: Arc<Lock<End>>,
}

type Shutdown = Pin<Box<dyn Future<Output = io::Result<ExitStatus>> + Send>>;

/// A connection and the child at its other end.
struct Running {
    connection: Connection<Inspected, Output>,
    child: Child,
    /// Since the child has exited: how long the connection may still last.
    rest: Option<Sleep>,
}

#[derive(Default)]
struct End {
    told: bool,
    result: Option<io::Result<ExitStatus>>,
    waker: Waiter,
}

impl Command {
    /// Starts the child and connects to the server that it is.
    ///
    /// A legacy server may exit on the first message of a modern client. If the child ends during
    /// a [probe](Negotiation::Probe), it is started once more and met with a
    /// [handshake](Negotiation::Handshake).
    ///
    /// Dropping the future kills the child.
    ///
    /// # Errors
    /// See [`ConnectError`]. Nothing is left running then.
    pub async fn connect<H: Handler>(
        &self,
        runtime: impl Into<RuntimeHandle>,
        config: impl Into<PreparedConfig<ClientConfig<'static>>>,
        handler: H,
    ) -> Result<(Session, Peer, Ending), ConnectError> {
        let config = config.into();
        let handler = Arc::new(handler);
        let runtime = runtime.into();
        let spawn = || self.spawn(&runtime).map_err(ConnectError::start);
        let first = establish(spawn()?, &runtime, config.clone(), Arc::clone(&handler)).await;
        match first {
            Err(ConnectError::ExitedEarly(_)) if is_worth_a_handshake(&config) => {
                let config = config.with(|config| config.negotiation = Negotiation::Handshake);
                establish(spawn()?, &runtime, config, handler).await
            }
            other => other,
        }
    }
}

async fn establish<H: Handler>(
    process: Process,
    runtime: &RuntimeHandle,
    config: PreparedConfig<ClientConfig<'static>>,
    handler: H,
) -> Result<(Session, Peer, Ending), ConnectError> {
    let (stdout, stray) = Inspected::new(process.stdout);
    let streams = (stdout, process.stdin);
    let (connection, client) = connect(streams, runtime, config, handler);
    let mut running = Running {
        connection,
        child: process.child,
        rest: None,
    };
    let outcome = {
        let mut ready = pin!(client.ready());
        let mut patience = None;
        poll_fn(|task| {
            let ended = running.poll(task);
            match ready.as_mut().poll(task) {
                Poll::Pending if ended.is_ready() => {
                    return Poll::Ready(Some(Err(ConnectError::Closed)));
                }
                Poll::Pending if stray.is_there() => {}
                other => return other.map(|ready| Some(ready.map(|_| ()))),
            }
            let patience = patience.get_or_insert_with(|| running.child.sleep(PATIENCE));
            patience.poll_done(task).map(|()| None)
        })
        .await
    };
    let error = match outcome {
        Some(Ok(())) => {
            stray.finish();
            let end = Arc::default();
            let session = Session {
                running: Some(running),
                shutdown: None,
                end: Arc::clone(&end),
                describe: None,
            };
            return Ok((session, client, Ending { end }));
        }
        Some(Err(error)) => Some(error),
        None => None,
    };
    // The child's input ends here.
    drop(running.connection);
    let child = running.child;
    if let Some(ConnectError::Closed) = &error {
        let mut limit = child.sleep(REST);
        poll_fn(|task| match stray.poll_rest(task) {
            Poll::Pending => limit.poll_done(task),
            ready => ready,
        })
        .await;
    }
    let printed = stray.take();
    let error = match error {
        Some(ConnectError::Closed) => {
            let close = child.grace().close;
            return Err(ConnectError::ExitedEarly(
                child.exited_early_within(close, printed).await,
            ));
        }
        Some(error) => error,
        None => {
            let died = child.exited_early_within(Duration::ZERO, printed).await;
            return Err(ConnectError::Output(died));
        }
    };
    // Its exit status no longer matters.
    let _ = child.shutdown().await;
    Err(error)
}

fn is_worth_a_handshake(config: &ClientConfig<'_>) -> bool {
    config.negotiation == Negotiation::Probe
        && config.revisions.has_modern()
        && config.revisions.has_legacy()
}

impl Session {
    /// Has the end of the child described, as soon as it has exited.
    pub(crate) fn on_end(&mut self, describe: impl FnOnce(ExitedEarly) + Send + 'static) {
        self.describe = Some(Box::new(describe));
    }
}

impl Running {
    /// Ready when nothing more is to be expected of the connection.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<()> {
        let exited = self.child.poll_exit(task).is_ready();
        if Pin::new(&mut self.connection).poll(task).is_ready() {
            return Poll::Ready(());
        }
        if !exited {
            return Poll::Pending;
        }
        // A descendant of the child holds the streams open; it is not the server.
        let child = &self.child;
        let rest = self.rest.get_or_insert_with(|| child.sleep(REST));
        rest.poll_done(task)
    }
}

impl Future for Session {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if let Some(running) = &mut this.running {
            ready!(running.poll(task));
        }
        if let Some(running) = this.running.take() {
            drop(running.connection);
            this.shutdown = Some(match this.describe.take() {
                Some(describe) => Box::pin(running.child.shutdown_described(describe)),
                None => Box::pin(running.child.shutdown()),
            });
        }
        if let Some(shutdown) = &mut this.shutdown {
            let result = ready!(shutdown.as_mut().poll(task));
            this.shutdown = None;
            let waiting = this.end.lock().tell(result);
            waiting.wake();
        }
        Poll::Ready(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The child first, so that tasks that await its end are notified afterwards.
        (self.running, self.shutdown) = (None, None);
        let waiting = {
            let mut end = self.end.lock();
            if end.told {
                return;
            }
            end.tell(Err(io::ErrorKind::ConnectionAborted.into()))
        };
        waiting.wake();
    }
}

impl Future for Ending {
    type Output = io::Result<ExitStatus>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let mut end = self.end.lock();
        match end.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                end.waker.register(task);
                Poll::Pending
            }
        }
    }
}

impl End {
    fn tell(&mut self, result: io::Result<ExitStatus>) -> Waiter {
        self.told = true;
        self.result = Some(result);
        self.waker.take()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl fmt::Debug for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ending").finish_non_exhaustive()
    }
}

/// The time in which a server must identify itself after a line that is no message: some launchers
/// print a banner.
const PATIENCE: Duration = Duration::from_secs(2);

/// Long enough to read what was still in the pipe when the child exited.
const REST: Duration = Duration::from_secs(1);
