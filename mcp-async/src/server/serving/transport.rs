//! Ways in which a server is served until it ends.

use core::future::Future;
use core::time::Duration;
use std::io;

use futures_io::{AsyncRead, AsyncWrite};

use super::Server;
use super::builder::ServerBuilder;
use super::serving_scope::ServingScope;
use crate::io::stdio::{self, StdioMode};
use crate::runtime::{BoxFuture, RuntimeHandle};

/// A way in which a server is served, for [`Server::serve`]. It brings the runtime that the server is served on.
///
/// The adapters have functions for the usual ones; over HTTP, [`Server::http`](Server::http) makes an endpoint with
/// settings of its own. Another transport opens its streams and leaves the rest to
/// [`Streams`](crate::Streams):
///
/// ```
/// use std::io;
///
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_async::server::Transport;
/// use mcp_async::runtime::{Duplex, duplex};
/// use mcp_async::{Server, Streams};
///
/// /// One connection from a broker, say.
/// struct Broker {
///     runtime: RuntimeHandle,
/// }
///
/// async fn accept() -> io::Result<Duplex> {
/// #   let (left, _right) = duplex(1024);
/// #   Ok(left)
/// }
///
/// impl Transport for Broker {
///     async fn serve(self, server: Server) -> io::Result<()> {
///         let streams = accept().await?.split();
///         server.serve(Streams::new(self.runtime, streams)).await
///     }
/// }
/// ```
pub trait Transport: Send {
    /// Serves the server until the transport ends.
    ///
    /// # Errors
    /// Streams or sockets that cannot be had, and their errors.
    fn serve(self, server: Server) -> impl Future<Output = io::Result<()>> + Send;
}

/// Returns a transport that serves one client over this process's standard input and output, until either is closed. Both are reserved for the
/// protocol from then on ([`StdioMode::Exclusive`]). However it ends, what was read is answered and the result is `Ok`:
/// return from `main`. Handlers have the [shutdown timeout](crate::server::ServerBuilder::shutdown_timeout) to finish.
///
/// Standard streams that cannot be taken are an error.
pub fn stdio(runtime: RuntimeHandle) -> impl Transport {
    Stdio(runtime)
}

impl<S: Send + Sync + 'static> Server<S> {
    /// Serves clients by this transport, until it ends, the server is [shut down](crate::server::Registry::shutdown), or the
    /// program is [interrupted](crate::runtime::Runtime::interrupted).
    ///
    /// Work apart from connections, such as [tasks](crate::tasks), runs on the first runtime that the server is served
    /// on, and ends with the last transport. A program that accepts connections itself, one after the other, gives each
    /// to [`connect`](Self::connect).
    ///
    /// # Errors
    /// Those of the transport.
    pub async fn serve(&self, transport: impl Transport) -> io::Result<()> {
        Box::pin(transport.serve(self.without_state())).await
    }
}

impl Server {
    /// Serves one client until the connection ends, and ends with it the work apart from connections.
    pub(crate) async fn serve_streams<I, O>(
        self,
        streams: (I, O),
        runtime: RuntimeHandle,
    ) -> io::Result<()>
    where
        I: AsyncRead + Send + Unpin + 'static,
        O: AsyncWrite + Send + Unpin + 'static,
    {
        runtime.check()?;
        let (connection, _) = self.begin(streams, runtime.clone());
        let grace = self.inner.settings.shutdown_timeout;
        let serving = ServingScope::new(&self.inner, grace);
        serving.start();
        // In a box, because the compiler cannot prove of a future with a connection in it that it is `Send`.
        let serve_until: BoxFuture<'static, _> =
            Box::pin(connection.serve_until(runtime.interrupted()));
        let (served, ending) = serve_until.await;
        // Work apart from the connection has as much time to end as its handlers.
        let passed = ending.map_or(Duration::ZERO, |since| {
            runtime.now().saturating_since(since)
        });
        serving.end(grace.saturating_sub(passed));
        serving.drained().await;
        serving.finish().await;
        served
    }
}

impl<S: Send + Sync + 'static> ServerBuilder<S> {
    /// Builds the server, and serves clients by this transport: see [`Server::serve`].
    ///
    /// # Errors
    /// Those of [`build`](Self::build), as an [`InvalidInput`](io::ErrorKind::InvalidInput) that
    /// holds the [`BuildError`](crate::server::BuildError), and those of [`Server::serve`].
    pub async fn serve(self, transport: impl Transport) -> io::Result<()> {
        self.build()?.serve(transport).await
    }
}

struct Stdio(RuntimeHandle);

impl Transport for Stdio {
    async fn serve(self, server: Server) -> io::Result<()> {
        let streams = stdio::open(&*self.0, StdioMode::Exclusive)?;
        server.serve_streams(streams, self.0).await
    }
}
