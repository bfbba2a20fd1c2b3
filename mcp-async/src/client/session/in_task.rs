//! Connections in tasks of their own.

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::PreparedConfig;
use mcp_proto::client::ClientConfig;

use super::child_session::Ending;
use crate::client::{ConnectError, Handler, Peer, connect};
use crate::io::process::Command;
use crate::runtime::RuntimeHandle;

/// Connects to a server over a pair of byte streams, and runs the connection in a task of its own.
///
/// Returns once it is known who the server is. The task ends with the last [`Peer`].
///
/// # Errors
///
/// See [`ConnectError`].
///
/// ```
/// use futures_io::{AsyncRead, AsyncWrite};
/// use mcp_async::client::{ConnectError, Peer, connect_in_task};
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_proto::client::ClientConfig;
///
/// /// What an adapter's `split` and `pair` return is such a pair of streams.
/// async fn meet<I, O>(runtime: &RuntimeHandle, streams: (I, O)) -> Result<Peer, ConnectError>
/// where
///     I: AsyncRead + Send + Unpin + 'static,
///     O: AsyncWrite + Send + Unpin + 'static,
/// {
///     connect_in_task(streams, runtime, ClientConfig::new("demo", "1.0"), ()).await
/// }
/// ```
pub async fn connect_in_task<I, O, H>(
    streams: (I, O),
    runtime: impl Into<RuntimeHandle>,
    config: impl Into<PreparedConfig<ClientConfig<'static>>>,
    handler: H,
) -> Result<Peer, ConnectError>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
    H: Handler,
{
    let runtime = runtime.into();
    let (connection, client) = connect(streams, &runtime, config, handler);
    runtime.spawn(Box::pin(async { drop(connection.await) }));
    client.ready().await?;
    Ok(client)
}

impl Command {
    /// Starts a server as a child process, connects to it, and runs the connection in a task of its
    /// own.
    ///
    /// Returns once it is known who the server is. After [`Peer::close`], or with the last [`Peer`],
    /// the child is shut down in order; await the [`Ending`] for that before the program ends. See
    /// [`process`](crate::process) for what becomes of the child in every other case.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`]. Nothing is left running then.
    ///
    /// ```
    /// use mcp_async::process::Command;
    /// use mcp_async::runtime::RuntimeHandle;
    /// use mcp_proto::client::ClientConfig;
    ///
    /// async fn talk(runtime: &RuntimeHandle) -> Result<(), Box<dyn std::error::Error>> {
    ///     let config = ClientConfig::new("demo", "1.0");
    ///     let command = Command::new("npx").args(["-y", "some-server"]);
    ///     let (client, ending) = command.connect_in_task(runtime, config, ()).await?;
    ///     // ... calls ...
    ///     client.close();
    ///     ending.await?;
    ///     Ok(())
    /// }
    /// ```
    pub async fn connect_in_task<H: Handler>(
        &self,
        runtime: impl Into<RuntimeHandle>,
        config: impl Into<PreparedConfig<ClientConfig<'static>>>,
        handler: H,
    ) -> Result<(Peer, Ending), ConnectError> {
        let runtime = runtime.into();
        let (session, client, ending) = self.connect(&runtime, config, handler).await?;
        runtime.spawn(Box::pin(session));
        Ok((client, ending))
    }
}
