//! Ways to a server: a child process, streams that are opened again.

use core::future::Future;
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};

use super::builder::ClientBuilder;
use super::supervisor::{Dialled, open_connection};
use crate::client::handle::Client;
use crate::client::state::ClientState;
use crate::client::state::child_end::ChildEnd;
use crate::client::state::inner::Exit;
use crate::error::ConnectError;
use crate::io::process::Command;
use crate::runtime::BoxFuture;
use crate::runtime::RuntimeHandle;

/// A way to a server, for [`ClientBuilder::connect`]. It brings the runtime that the client runs on.
///
/// The adapters have functions for the usual ones. Another one opens its streams and leaves the rest to
/// [`Streams`](crate::Streams) or [`reopened`]:
///
/// ```
/// use mcp_async::client::{Client, ClientBuilder, ConnectError, Connector, reopened};
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_async::runtime::{Duplex, duplex};
///
/// /// A connection to a broker, say, that is opened again after each end.
/// struct Broker {
///     runtime: RuntimeHandle,
/// }
///
/// async fn open() -> std::io::Result<Duplex> {
/// #   let (left, _right) = duplex(1024);
/// #   Ok(left)
/// }
///
/// impl Connector for Broker {
///     async fn connect(self, client: ClientBuilder) -> Result<Client, ConnectError> {
///         let connector = reopened(self.runtime, || async { Ok(open().await?.split()) });
///         client.connect(connector).await
///     }
/// }
/// ```
pub trait Connector: Send {
    /// Connects a client with these settings.
    ///
    /// # Errors
    /// See [`ConnectError`].
    fn connect(
        self,
        client: ClientBuilder,
    ) -> impl Future<Output = Result<Client, ConnectError>> + Send;
}

impl Client {
    /// Connects to a server with the default settings of a [`builder`](Self::builder), under the name and version of this
    /// crate.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn connect(connector: impl Connector) -> Result<Self, ConnectError> {
        let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self::builder(name, version).connect(connector).await
    }
}

impl<S: Send + Sync + 'static> ClientBuilder<S> {
    /// Connects to a server, in a task of its own, and returns once the server has identified itself.
    ///
    /// The [`Connector`] decides how, and brings its runtime: the adapters have functions for a child process, a URL, a
    /// pair of streams, and a server of this process. With a [policy](Self::restart) a child process, streams that are
    /// [reopened](crate::client::reopened) and a URL are connected to again; a pair of streams cannot be.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn connect(self, connector: impl Connector) -> Result<Client, ConnectError> {
        Box::pin(connector.connect(self.with_state(()))).await
    }
}

/// Returns a connector that starts a server as a child process. [`Client::close`] shuts it down in order; nothing is left running if connecting
/// fails.
pub fn child(runtime: RuntimeHandle, command: Command) -> impl Connector {
    ClosureConnector(move |client: ClientBuilder| {
        let dial = move |config, client_state: Arc<ClientState>| -> BoxFuture<'static, _> {
            let command = command.clone();
            Box::pin(async move {
                let runtime = client_state.runtime.clone();
                let connected = command.connect(runtime, config, client_state);
                let (mut session, peer, ending) = connected.await?;
                let (end, witness) = ChildEnd::new();
                session.on_end(move |died| witness.tell(died));
                let run: BoxFuture<'static, Exit> = Box::pin(async move {
                    session.await;
                    ending.await.map(Some)
                });
                Ok(Dialled::new(peer, run)?.with_child(end))
            })
        };
        async move { client.parts(&runtime)?.dial(dial).await }
    })
}

/// Returns a connector over byte streams that the function opens: a socket, say. With a
/// [policy](ClientBuilder::restart) it opens them again whenever the connection ends. An error of the function is
/// [`ConnectError::Start`].
pub fn reopened<F, Fut, I, O>(runtime: RuntimeHandle, open: F) -> impl Connector
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = io::Result<(I, O)>> + Send + 'static,
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    ClosureConnector(move |client: ClientBuilder| {
        let dial = move |config, client_state| -> BoxFuture<'static, _> {
            let opening = open();
            Box::pin(async move {
                let streams = opening.await.map_err(ConnectError::start)?;
                open_connection(streams, config, client_state).await
            })
        };
        async move { client.parts(&runtime)?.dial(dial).await }
    })
}

/// A connector that is a closure.
pub(crate) struct ClosureConnector<F>(pub(crate) F);

impl<F, Fut> Connector for ClosureConnector<F>
where
    F: FnOnce(ClientBuilder) -> Fut + Send,
    Fut: Future<Output = Result<Client, ConnectError>> + Send,
{
    fn connect(
        self,
        client: ClientBuilder,
    ) -> impl Future<Output = Result<Client, ConnectError>> + Send {
        (self.0)(client)
    }
}
