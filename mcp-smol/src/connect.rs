use futures_io::{AsyncRead, AsyncWrite};
use mcp_async::client::{self, ConnectError, Handler, Peer};
use mcp_async::process::{Command, Ending, SpawnError};
use mcp_proto::client::ClientSetup;

use crate::Runtime;

/// Speaks to a server over a pair of byte streams, in a task of its own: what
/// [`split`](crate::split) and [`pair`](crate::pair) make of a stream.
///
/// Returns once it is known who the server is. The task ends with the last [`Peer`].
///
/// # Errors
///
/// See [`ConnectError`].
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_smol::mcp_proto::client::ClientConfig;
///
/// let stream = smol::net::TcpStream::connect("127.0.0.1:7000").await?;
/// let config = ClientConfig::new("demo", "1.0");
/// let peer = mcp_smol::connect(mcp_smol::split(stream), config, ()).await?;
/// # drop(peer);
/// # Ok(())
/// # }
/// ```
pub async fn connect<R, W, H>(
    streams: (R, W),
    config: impl Into<ClientSetup<'static>>,
    handler: H,
) -> Result<Peer, ConnectError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
    H: Handler,
{
    let (connection, client) = client::connect(streams, Runtime, config, handler);
    smol::spawn(connection).detach();
    client.ready().await?;
    Ok(client)
}

/// Starts a server as a child process and speaks to it, in a task of its own.
///
/// Returns once it is known who the server is. After [`Peer::close`], or with the last
/// [`Peer`], the child is shut down in order; await the [`Ending`] for that before the program
/// ends. See [`mcp_async::process`] for what becomes of the child in every other case.
///
/// # Errors
///
/// See [`SpawnError`]. Nothing is left running then.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_smol::Command;
/// use mcp_smol::mcp_proto::client::ClientConfig;
///
/// let config = ClientConfig::new("demo", "1.0");
/// let command = Command::new("npx").args(["-y", "some-server"]);
/// let (client, ending) = mcp_smol::spawn(&command, config, ()).await?;
/// // ... calls ...
/// client.close();
/// ending.await?;
/// # Ok(())
/// # }
/// ```
pub async fn spawn<H: Handler>(
    command: &Command,
    config: impl Into<ClientSetup<'static>>,
    handler: H,
) -> Result<(Peer, Ending), SpawnError> {
    let connected = command.connect(&Runtime, Runtime, config, handler).await;
    let (session, client, ending) = connected?;
    smol::spawn(session).detach();
    Ok((client, ending))
}
