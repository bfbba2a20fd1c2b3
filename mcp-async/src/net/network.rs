use core::future::Future;
use core::net::SocketAddr;
use std::io;

use futures_io::{AsyncRead, AsyncWrite};

use crate::runtime::Runtime;

/// A [`Runtime`] with sockets: what HTTP needs beyond what a pipe does.
///
/// Each adapter implements it. Everything that can be said once for all runtimes (binding, trying
/// one address after the other, timeouts, TLS) is said above it.
///
/// ```
/// use mcp_async::net::Network;
///
/// /// Whether anybody listens at `host` and `port`, on any runtime.
/// async fn reachable<R: Network>(host: &str, port: u16) -> std::io::Result<bool> {
///     for address in R::resolve(host, port).await? {
///         if R::dial(address).await.is_ok() {
///             return Ok(true);
///         }
///     }
///     Ok(false)
/// }
/// ```
pub trait Network: Runtime {
    /// A connected socket. Small writes leave at once (`TCP_NODELAY`).
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// A socket that connections arrive at.
    type Listener: Send + Sync + 'static;

    /// Puts a bound socket under the watch of this runtime.
    ///
    /// # Errors
    ///
    /// The operating system refuses, or no runtime is running here.
    fn listen(socket: std::net::TcpListener) -> io::Result<Self::Listener>;

    /// The next connection, and who it comes from.
    ///
    /// # Errors
    ///
    /// Whatever the operating system says. The listener is good for another call: an error is
    /// about one connection, or about resources that may be there a moment later.
    fn accept(
        listener: &Self::Listener,
    ) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>> + Send;

    /// The addresses of a host, in the order in which the operating system would try them.
    ///
    /// # Errors
    ///
    /// The name is unknown, or no resolver could be reached.
    fn resolve(host: &str, port: u16) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send;

    /// Connects to one address. There is no time limit but the operating system's.
    ///
    /// # Errors
    ///
    /// Whatever the operating system says.
    fn dial(address: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}
