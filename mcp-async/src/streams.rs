//! A pair of byte streams as the way between a client and a server.

use core::fmt;
use std::io;

use futures_io::{AsyncRead, AsyncWrite};

#[cfg(feature = "client")]
use crate::client::{Client, ClientBuilder, ConnectError, Connector};
use crate::runtime::RuntimeHandle;
#[cfg(feature = "server")]
use crate::server::{Transport, serving::Server};

/// A pair of byte streams and the runtime to use them on: a [`Transport`](crate::server::Transport) for one client, a
/// [`Connector`](crate::client::Connector) to one server. When the streams end, what uses them ends.
///
/// ```
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_async::runtime::duplex;
/// use mcp_async::{Server, Streams};
///
/// async fn serve(runtime: RuntimeHandle, server: Server) -> std::io::Result<()> {
///     let (_client, ours) = duplex(4096);
///     server.serve(Streams::new(runtime, ours.split())).await
/// }
/// ```
#[must_use = "nothing is sent before a server or a client uses it"]
pub struct Streams<I, O> {
    runtime: RuntimeHandle,
    streams: (I, O),
}

impl<I, O> Streams<I, O> {
    /// Creates the pair of a reader and a writer.
    pub fn new(runtime: impl Into<RuntimeHandle>, streams: (I, O)) -> Self {
        Self {
            runtime: runtime.into(),
            streams,
        }
    }
}

#[cfg(feature = "server")]
impl<I, O> Transport for Streams<I, O>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    async fn serve(self, server: Server) -> io::Result<()> {
        server.serve_streams(self.streams, self.runtime).await
    }
}

#[cfg(feature = "client")]
impl<I, O> Connector for Streams<I, O>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    async fn connect(self, client: ClientBuilder) -> Result<Client, ConnectError> {
        client.connect_over(self.runtime, self.streams).await
    }
}

impl<I, O> fmt::Debug for Streams<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}
