//! The address of the client.

use core::net::SocketAddr;

/// The address that a connection came from: [`Listen`](super::Listen) puts it into the extensions
/// of every request.
///
/// It is the address of the direct peer, which can be a proxy; other servers report it in
/// their own way. Handlers find it through
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
