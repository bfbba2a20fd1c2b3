//! A server of the same process as the way of a client.

use core::future::poll_fn;
use core::pin::Pin;

use crate::client::{ClientBuilder, ClosureConnector, ConnectError, Connector};
use crate::runtime::{RuntimeHandle, duplex};
use crate::server::serving::Server;

/// Returns a connector to a server in this process, for tests of either; both connections run in tasks of their own.
///
/// ```
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_async::{Client, Server, in_memory};
///
/// async fn check(runtime: RuntimeHandle) -> Result<(), Box<dyn std::error::Error>> {
///     let server = Server::builder("demo", "1.0")
///         .tool("hello", "Greets", |(): (), _| async { Ok("Hello!") })
///         .build()?;
///     let client = Client::connect(in_memory(runtime, &server)).await?;
///     assert_eq!(client.call_tool("hello", &()).await?.text(), "Hello!");
///     Ok(())
/// }
/// ```
pub fn in_memory<S>(runtime: RuntimeHandle, server: &Server<S>) -> impl Connector + use<S> {
    let server = server.without_state();
    ClosureConnector(move |client: ClientBuilder| async move {
        runtime.check().map_err(ConnectError::start)?;
        let (ours, theirs) = duplex(PIPE);
        let (mut connection, _peer) = server.connect(theirs.split(), &runtime);
        // It ends with that of the client; a pipe in memory has no errors.
        let served = poll_fn(move |cx| Pin::new(&mut connection).poll(cx).map(drop));
        runtime.spawn(Box::pin(served));
        client.connect_over(runtime, ours.split()).await
    })
}

/// The capacity of a pipe of the operating system.
const PIPE: usize = 64 << 10;
