//! The future of a connection to a server.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll};
use core::time::Duration;
use std::io;
use std::sync::{Arc, OnceLock};

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::client::{Client as Core, ClientConfig, Growing};
use mcp_proto::{Instant, PreparedConfig, SendError};

use super::awaited::Awaited;
use super::handler::Handler;
use super::peer::Peer;
use super::role::{ClientRole, ConnectionInfo};
use crate::client::Machine;
use crate::connection::{Driver, Respond, Shared};
use crate::observe::Transport;
use crate::runtime::RuntimeHandle;

/// Speaks to one server over a pair of byte streams.
///
/// Spawn the [`Connection`]; nothing happens otherwise. The [`Peer`] makes calls, which wait
/// until it is known who the server is; [`Peer::ready`] tells.
///
/// ```
/// use mcp_async::client::connect;
/// use mcp_async::runtime::{ManualRuntime, duplex};
/// use mcp_proto::client::ClientConfig;
///
/// let (client_side, _server_side) = duplex(4096);
/// let config = ClientConfig::new("demo", "1.0");
/// let (connection, client) = connect(client_side.split(), ManualRuntime::default(), config, ());
/// drop(connection);
/// assert!(client.is_closed());
/// ```
pub fn connect<R, W, H>(
    streams: (R, W),
    runtime: impl Into<RuntimeHandle>,
    config: impl Into<PreparedConfig<ClientConfig<'static>>>,
    handler: H,
) -> (Connection<R, W>, Peer)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    H: Handler,
{
    let opening = (Core::connect as Open, Transport::Pipe);
    let (side, peer) = begin(opening, None, runtime.into(), config.into(), handler);
    let shared = Arc::clone(&peer.shared);
    let limits = shared.lock().machine.config().limits;
    let driver = Driver::new(streams, &limits, GRACE, side, shared);
    (Connection { driver }, peer)
}

/// The first command to a machine, which opens its connection.
pub(crate) type Open = fn(&mut Machine, Instant) -> Result<(), SendError>;

/// The role of a connection and its first handle.
pub(crate) fn begin(
    (open, transport): (Open, Transport),
    outbound: Option<<Machine as Respond>::Outbound>,
    runtime: RuntimeHandle,
    config: PreparedConfig<ClientConfig<'static>>,
    handler: impl Handler,
) -> (ClientRole, Peer) {
    let mut machine = Core::with_room(config, Growing);
    let limits = machine.config().limits;
    // Errors of a configuration are returned as `ConnectFailed`.
    let _ = open(&mut machine, runtime.now());
    let shared = Shared::new(machine, &limits, runtime, transport, outbound.map(Box::new));
    shared.lock().handles = 1;
    let info = Arc::new(ConnectionInfo {
        handler: Box::new(handler),
        server: OnceLock::new(),
        failed: OnceLock::new(),
    });
    let _ = shared.peer_info.set(Arc::downgrade(&info));
    let side = ClientRole {
        info: Arc::clone(&info),
        awaited: Awaited::default(),
    };
    (side, Peer { shared, info })
}

/// A connection to a server: ends when the server ends it, or when the last [`Peer`] is gone
/// or closes it.
///
/// Messages of the client from before its end are still written. Dropping the connection ends it,
/// and every call, at once.
///
/// # Errors
/// Errors of the transport, apart from a peer that has gone.
#[must_use = "a connection does nothing until it is polled"]
pub struct Connection<R, W> {
    driver: Driver<R, W, ClientRole>,
}

impl<R, W> Connection<R, W> {
    /// Sets the time for which a server that reads nothing delays the end: one second otherwise.
    pub fn with_shutdown_timeout(mut self, shutdown_timeout: Duration) -> Self {
        self.driver.set_shutdown_timeout(shutdown_timeout);
        self
    }
}

impl<R, W> Future for Connection<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().driver.poll(cx)
    }
}

/// Everything in it is polled through `&mut` only.
impl<R, W> Unpin for Connection<R, W> {}

impl<R, W> fmt::Debug for Connection<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// Long enough for a server that reads, too short to notice at the end of a program.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
