//! Errors of requests and of connections.

mod call;
mod chain;
mod connect;
mod reply;
mod spawn;

#[cfg(feature = "server")]
use core::error::Error;

pub use self::call::CallError;
pub use self::chain::ErrorChain;
pub use self::connect::ConnectError;
pub use self::reply::ErrorReply;
pub use self::spawn::SpawnError;

/// Returns whether a client of this program reports the error.
#[cfg(all(feature = "server", feature = "client"))]
pub(crate) fn is_of_client(error: &(dyn Error + 'static)) -> bool {
    error.is::<CallError>() || error.is::<ConnectError>() || error.is::<SpawnError>()
}

#[cfg(all(feature = "server", not(feature = "client")))]
pub(crate) const fn is_of_client(_: &(dyn Error + 'static)) -> bool {
    false
}
