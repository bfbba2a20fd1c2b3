//! The address of the client.

use core::net::SocketAddr;

/// The address that a connection came from: [`Listen`](super::Listen) puts it into the extensions
/// of every request.
///
/// It is that of whoever connected, a proxy say; where the socket is served by something else,
/// that says it in its own way. Handlers find it through
/// [`CallContext::http`](crate::server::CallContext::http), middleware in the request.
///
/// ```
/// use mcp_async::net::RemoteAddr;
/// use mcp_async::server::Context;
///
/// fn is_here(cx: &Context) -> bool {
///     let parts = cx.http();
///     let remote = parts.and_then(|parts| parts.extensions.get::<RemoteAddr>());
///     remote.is_some_and(|remote| remote.0.ip().is_loopback())
/// }
/// # let _ = is_here;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RemoteAddr(pub SocketAddr);
