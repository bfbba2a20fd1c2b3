//! Ways in which a server is served until it ends.

use std::io;

use super::serving::Server;
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
/// use mcp_async::runtime::{BoxFuture, RuntimeHandle};
/// use mcp_async::server::Transport;
/// use mcp_async::{Duplex, Server, Streams, duplex};
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
///     fn serve(self: Box<Self>, server: Server) -> BoxFuture<'static, io::Result<()>> {
///         Box::pin(async move {
///             let streams = accept().await?.split();
///             server.serve(Streams::new(self.runtime, streams)).await
///         })
///     }
/// }
/// ```
pub trait Transport: Send {
    /// Serves the server until the transport ends.
    ///
    /// # Errors
    /// Streams or sockets that cannot be had, and their errors.
    fn serve(self: Box<Self>, server: Server) -> BoxFuture<'static, io::Result<()>>;
}

/// Serves one client over this process's standard input and output, until either is closed. Both are reserved for the
/// protocol from then on ([`StdioMode::Exclusive`]). However it ends, what was read is answered and the result is `Ok`:
/// return from `main`. Handlers have the [shutdown timeout](super::ServerBuilder::shutdown_timeout) to finish.
///
/// Standard streams that cannot be taken are an error.
pub fn stdio(runtime: RuntimeHandle) -> impl Transport {
    Stdio(runtime)
}

struct Stdio(RuntimeHandle);

impl Transport for Stdio {
    fn serve(self: Box<Self>, server: Server) -> BoxFuture<'static, io::Result<()>> {
        Box::pin(async move {
            let streams = stdio::open(&*self.0, StdioMode::Exclusive)?;
            server.serve_streams(streams, self.0).await
        })
    }
}
