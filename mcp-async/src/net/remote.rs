//! The address of the client.

use core::cell::Cell;
use core::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::Extensions;

/// The address that a connection came from: [`HttpListener`](super::HttpListener) puts it into the extensions
/// of every request.
///
/// It is the address of the direct peer, which can be a proxy; other servers report it in
/// their own way. A program that serves in another way inserts it into the extensions of each request, so
/// that [shares] are counted for each client. Handlers find it through
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
///
/// [shares]: https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/http/index.html#shares
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RemoteAddr(pub SocketAddr);

std::thread_local! {
    /// The extensions of a request that has ended, which hold an address or nothing.
    static SPARE: Cell<Extensions> = Cell::default();
}

impl RemoteAddr {
    /// Puts the address into the extensions of a request.
    pub(crate) fn insert_into(self, extensions: &mut Extensions) {
        if extensions.is_empty() {
            *extensions = SPARE.try_with(Cell::take).unwrap_or_default();
        }
        match extensions.get_mut() {
            Some(address) => *address = self,
            None => drop(extensions.insert(self)),
        }
    }

    /// Keeps the storage of the extensions of a request that has ended, for the next request on the thread: three allocations with
    /// the address. All other values are dropped.
    pub(crate) fn reuse(extensions: &mut Extensions) {
        if extensions.len() > 1 || extensions.get::<Self>().is_none() {
            extensions.clear();
        }
        // The thread is ending: nothing is kept.
        let _ = SPARE.try_with(|spare| spare.set(core::mem::take(extensions)));
    }
}

/// The part of an address that one client has: an address of IPv4, the first 64 bits of one of IPv6.
pub(crate) fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_that_are_used_again_hold_an_address_alone() {
        for port in 1..9 {
            let address = RemoteAddr(SocketAddr::from(([127, 0, 0, 1], port)));
            let mut extensions = Extensions::new();
            address.insert_into(&mut extensions);
            assert_eq!((extensions.len(), extensions.get()), (1, Some(&address)));
            if port % 3 == 0 {
                extensions.insert("a user");
            }
            RemoteAddr::reuse(&mut extensions);
            assert!(extensions.is_empty());
        }
    }

    #[test]
    fn a_client_has_a_whole_network_of_ipv6() {
        for (address, network) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(client_network(address).to_string(), network);
        }
    }
}
