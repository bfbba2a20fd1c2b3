//! Ways to a server: a child process, streams, a server of the same process.

use core::future::Future;
#[cfg(feature = "server")]
use core::future::poll_fn;
#[cfg(feature = "server")]
use core::pin::Pin;
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};

use super::boxed::Boxed;
use super::builder::ClientBuilder;
use super::child_end::ChildEnd;
use super::client_state::ClientState;
use super::handle::Client;
use super::inner::Exit;
use super::supervisor::{Dialled, meet};
use crate::error::ConnectError;
use crate::io::process::Command;
#[cfg(feature = "server")]
use crate::runtime::duplex;
use crate::runtime::{BoxFuture, RuntimeHandle};
#[cfg(feature = "server")]
use crate::server::serving::Server;

/// A way to a server, for [`ClientBuilder::connect`]. It brings the runtime that the client runs on.
///
/// The adapters have functions for the usual ones. Another one opens its streams and leaves the rest to
/// [`Streams`](crate::Streams) or [`reopened`]:
///
/// ```
/// use mcp_async::client::{Client, ClientBuilder, ConnectError, Connector, reopened};
/// use mcp_async::runtime::{BoxFuture, RuntimeHandle};
/// use mcp_async::{Duplex, duplex};
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
///     fn connect(
///         self: Box<Self>,
///         client: ClientBuilder,
///     ) -> BoxFuture<'static, Result<Client, ConnectError>> {
///         let connector = reopened(self.runtime, || async { Ok(open().await?.split()) });
///         Box::pin(client.connect(connector))
///     }
/// }
/// ```
pub trait Connector: Send {
    /// Connects a client with these settings.
    ///
    /// # Errors
    /// See [`ConnectError`].
    fn connect(
        self: Box<Self>,
        client: ClientBuilder,
    ) -> BoxFuture<'static, Result<Client, ConnectError>>;
}

/// Starts a server as a child process. [`Client::close`] shuts it down in order; nothing is left running if connecting
/// fails.
pub fn child(runtime: RuntimeHandle, command: Command) -> impl Connector {
    Way(move |client: ClientBuilder| -> Connecting {
        let dial = move |config, client_state: Arc<ClientState>| -> Boxed<_> {
            let command = command.clone();
            Box::pin(async move {
                let runtime = client_state.runtime.clone();
                let connected = command.connect(runtime, config, client_state);
                let (mut session, peer, ending) = connected.await?;
                let (end, witness) = ChildEnd::new();
                session.on_end(move |died| witness.tell(died));
                let run: Boxed<Exit> = Box::pin(async move {
                    session.await;
                    ending.await.map(Some)
                });
                Ok(Dialled::new(peer, run)?.with_child(end))
            })
        };
        Box::pin(async move { client.parts(&runtime)?.dial(dial).await })
    })
}

/// Speaks over byte streams that the function opens: a socket, say. With a
/// [policy](ClientBuilder::restart) it opens them again whenever the connection ends. An error of the function is
/// [`ConnectError::Start`].
pub fn reopened<F, Fut, I, O>(runtime: RuntimeHandle, open: F) -> impl Connector
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = io::Result<(I, O)>> + Send + 'static,
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    Way(move |client: ClientBuilder| -> Connecting {
        let dial = move |config, client_state| -> Boxed<_> {
            let opening = open();
            Box::pin(async move {
                let streams = opening.await.map_err(ConnectError::start)?;
                meet(streams, config, client_state).await
            })
        };
        Box::pin(async move { client.parts(&runtime)?.dial(dial).await })
    })
}

/// Speaks to a server in this process, for tests of either; both connections run in tasks of their own.
///
/// ```
/// use mcp_async::client::in_memory;
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_async::server::NoArguments;
/// use mcp_async::{Client, Server};
///
/// async fn check(runtime: RuntimeHandle) -> Result<(), Box<dyn std::error::Error>> {
///     let server = Server::builder("demo", "1.0")
///         .tool("hello", "Greets", |_: NoArguments, _| async { Ok("Hello!") })
///         .build()?;
///     let client = Client::connect(in_memory(runtime, &server)).await?;
///     assert_eq!(client.call_tool("hello", &()).await?.text(), "Hello!");
///     Ok(())
/// }
/// ```
#[cfg(feature = "server")]
pub fn in_memory<S>(runtime: RuntimeHandle, server: &Server<S>) -> impl Connector + use<S> {
    let server = server.without_state();
    Way(move |client: ClientBuilder| -> Connecting {
        let (ours, theirs) = duplex(PIPE);
        let (mut connection, _peer) = server.connect(theirs.split(), &runtime);
        // It ends with that of the client; a pipe in memory has no errors.
        let served = poll_fn(move |cx| Pin::new(&mut connection).poll(cx).map(drop));
        runtime.spawn(Box::pin(served));
        Box::pin(client.connect_over(runtime, ours.split()))
    })
}

/// The capacity of a pipe of the operating system.
#[cfg(feature = "server")]
const PIPE: usize = 64 << 10;

type Connecting = BoxFuture<'static, Result<Client, ConnectError>>;

/// A connector that is a closure.
struct Way<F>(F);

impl<F: FnOnce(ClientBuilder) -> Connecting + Send> Connector for Way<F> {
    fn connect(self: Box<Self>, client: ClientBuilder) -> Connecting {
        (self.0)(client)
    }
}
