use std::io;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_async::Runtime as _;
use mcp_async::server::{Connection, Peer, Service, connect};
use mcp_proto::server::ServerSetup;

use crate::{Claim, Runtime, stdio};

/// Serves one client over a pair of byte streams: [`stdio`], or what [`split`](crate::split) and
/// [`pair`](crate::pair) make of any other.
///
/// Await the connection, or spawn it. The [`Peer`] reaches the client from outside of its calls.
///
/// ```no_run
/// # async fn example(stream: smol::net::TcpStream) -> std::io::Result<()> {
/// use mcp_smol::server::service_fn;
/// use mcp_smol::{ErrorReply, mcp_proto::server::ServerConfig};
///
/// let service = service_fn(|call| call.refuse(ErrorReply::method_not_found()));
/// let config = ServerConfig::new("nothing", "1.0");
/// let (connection, _peer) = mcp_smol::serve(mcp_smol::split(stream), config, service);
/// connection.await
/// # }
/// ```
pub fn serve<R, W, S>(
    streams: (R, W),
    config: impl Into<ServerSetup<'static>>,
    service: S,
) -> (Connection<R, W, Runtime, S>, Peer)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    S: Service,
{
    connect(streams, Runtime, config, service)
}

/// Serves one client over this process's standard input and output, until either is closed or
/// the program is interrupted (SIGINT, SIGTERM, Ctrl-C; with the feature `signal`).
///
/// Both are the wire's alone from then on, see [`Claim::Exclusive`]; `serve(stdio(Claim::Shared)?,
/// ..)` leaves them as they are. At the end of input everything read is answered, handlers that
/// still run get a second, and the result is `Ok`: return from `main` (ST-10). An output that was
/// closed is no error either.
///
/// # Errors
///
/// What [`stdio`] refuses, and errors of the streams.
///
/// ```
/// # async fn example() -> std::io::Result<()> {
/// use mcp_smol::mcp_proto::server::ServerConfig;
/// use mcp_smol::{ErrorReply, server::service_fn};
///
/// let service = service_fn(|call| call.refuse(ErrorReply::method_not_found()));
/// mcp_smol::serve_stdio(ServerConfig::new("nothing", "1.0"), service).await
/// # }
/// ```
pub async fn serve_stdio<S: Service>(
    config: impl Into<ServerSetup<'static>>,
    service: S,
) -> io::Result<()> {
    let (connection, _) = serve(stdio(Claim::Exclusive)?, config, service);
    connection.until(Runtime::interrupted()).await
}
