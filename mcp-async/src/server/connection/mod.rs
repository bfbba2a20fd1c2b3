//! The future of a connection to a client.

pub(super) mod role;
pub(super) mod run_until;
pub(super) mod sender;
pub(super) mod state;
pub(super) mod stdio;
pub(super) mod streams;

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll};
use core::time::Duration;
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::PreparedConfig;
use mcp_proto::server::{Growing, Server, ServerConfig};

use self::role::ServerRole;
use super::rounds::StateKeys;
use crate::connection::{Driver, Shared};
use crate::observe::Transport;
use crate::runtime::RuntimeHandle;
use crate::server::call::service::Service;
use crate::server::caller::peer::Peer;
use crate::server::caller::principal::Principal;

/// Serves one client over a pair of byte streams.
///
/// Spawn the [`Connection`], or await it; nothing happens otherwise. The [`Peer`] reaches the
/// client from outside of its calls, and ends the connection. An [`output`](mcp_proto::Limits::output)
/// that cannot hold what the server says of itself is raised until it can.
///
/// ```
/// use mcp_async::server::{connect, service_fn};
/// use mcp_async::runtime::{ManualRuntime, duplex};
/// use mcp_async::ErrorReply;
/// use mcp_proto::server::ServerConfig;
///
/// let (_client_side, server_side) = duplex(4096);
/// let service = service_fn(|call| call.refuse(ErrorReply::method_not_found()));
/// let config = ServerConfig::new("nothing", "1.0");
/// let (connection, peer) = connect(server_side.split(), ManualRuntime::default(), config, service);
/// # let _ = peer;
/// drop(connection);
/// ```
pub fn connect<R, W, S>(
    streams: (R, W),
    runtime: impl Into<RuntimeHandle>,
    config: impl Into<PreparedConfig<ServerConfig<'static>>>,
    service: S,
) -> (Connection<R, W, S>, Peer)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    S: Service,
{
    let machine = Server::with_room(config, Growing);
    let limits = machine.config().limits;
    let shared = Shared::new(machine, &limits, runtime.into(), Transport::Pipe, None);
    let peer = Peer::new(Arc::clone(&shared));
    let side = ServerRole::new(service, peer.clone(), None);
    let driver = Driver::new(streams, &limits, GRACE, side, shared);
    (Connection { driver }, peer)
}

/// One client being served, until either side ends it.
///
/// At the end of the input everything that was read is answered. Handlers that still run after a short
/// [shutdown timeout](Self::with_shutdown_timeout) are dropped, and their calls answered with error -32603.
/// Then the output is flushed and closed, and the result is `Ok`; with nothing left to do that takes no
/// time. An output that the client has closed is the same without the answers. Dropping the connection ends
/// it at once.
///
/// # Errors
/// The errors of the transport, apart from a peer that has gone.
#[must_use = "a connection does nothing until it is polled"]
pub struct Connection<R, W, S: Service> {
    pub(super) driver: Driver<R, W, ServerRole<S>>,
}

impl<R, W, S: Service> Connection<R, W, S> {
    /// Sets how long handlers may continue after the end of the input, and how long a client that
    /// reads nothing delays the end: one second otherwise.
    pub fn with_shutdown_timeout(mut self, shutdown_timeout: Duration) -> Self {
        self.driver.set_shutdown_timeout(shutdown_timeout);
        self
    }

    /// Sets the client that the transport has verified: a name, or a [`Principal`] with claims.
    /// Request states are bound to the name, and handlers find the principal in
    /// [`CallContext::principal`](super::CallContext::principal).
    pub fn with_principal(mut self, principal: impl Into<Principal>) -> Self {
        self.driver.role_mut().set_principal(Some(principal.into()));
        self
    }

    /// Seals request states with these keys; with random ones of this process otherwise, see
    /// [`StateKeys`].
    pub fn with_state_keys(mut self, keys: StateKeys) -> Self {
        let shared = &self.driver.role_mut().peer.shared;
        shared.lock().role_state.rounds.set_keys(keys);
        self
    }
}

impl<R, W, S> Future for Connection<R, W, S>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    S: Service,
{
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().driver.poll(cx)
    }
}

/// Everything in it is polled through `&mut` only.
impl<R, W, S: Service> Unpin for Connection<R, W, S> {}

impl<R, W, S: Service> fmt::Debug for Connection<R, W, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// Long enough for a handler that is about to finish, short enough for a client that waits
/// for the process to exit (ST-10).
pub(super) const GRACE: Duration = Duration::from_secs(1);
