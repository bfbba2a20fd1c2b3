//! A client and a server of one process, which a pipe in memory joins.

use core::future::{Future, poll_fn};
use core::pin::Pin;

use crate::client::{Client, ClientBuilder, ConnectError};
use crate::runtime::{Runtime, duplex};
use crate::server::serving::Server;

impl<R: Runtime> Client<R> {
    /// A client of a server in this process, for tests of either.
    ///
    /// ```
    /// use mcp_async::server::NoArguments;
    /// use mcp_async::{Client, Runtime, Server};
    ///
    /// async fn check<R: Runtime>() -> Result<(), Box<dyn std::error::Error>> {
    ///     let server = Server::<R>::builder("demo", "1.0")
    ///         .tool("hello", "Greets", |_: NoArguments, _| async { Ok("Hello!") })
    ///         .build()?;
    ///     let client = Client::in_memory(&server).await?;
    ///     assert_eq!(client.call_tool("hello", &()).await?.text(), "Hello!");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn in_memory<S>(server: &Server<R, S>) -> Result<Self, ConnectError> {
        let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self::builder(name, version).in_memory(server).await
    }
}

impl<R: Runtime, S> ClientBuilder<R, S> {
    /// Speaks to a server in this process, for tests; both connections run in tasks of their
    /// own.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn in_memory<T>(self, server: &Server<R, T>) -> Result<Client<R>, ConnectError> {
        self.join(server.without_state()).await
    }

    async fn join(self, server: Server<R>) -> Result<Client<R>, ConnectError> {
        let (ours, theirs) = duplex(PIPE);
        let (mut connection, _peer) = server.serve(theirs.split());
        // It ends with the client's; a pipe in memory has no errors.
        R::spawn(Box::pin(poll_fn(move |cx| {
            Pin::new(&mut connection).poll(cx).map(drop)
        })));
        self.connect_over(ours.split()).await
    }
}

/// The capacity of a pipe of the operating system.
const PIPE: usize = 64 << 10;
