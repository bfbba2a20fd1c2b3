//! Errors of requests and of connections.

#[cfg(all(feature = "auth", feature = "http-client"))]
mod authorization;
#[cfg(not(all(feature = "auth", feature = "http-client")))]
#[path = "no_authorization.rs"]
mod authorization;
mod call;
mod chain;
mod connect;
mod printable;
mod reply;
mod task;

use core::error::Error;

pub use self::authorization::AuthorizationError;
pub use self::call::CallError;
pub use self::chain::ErrorChain;
pub use self::connect::ConnectError;
pub(crate) use self::printable::Printable;
pub use self::reply::ErrorReply;
pub use self::task::TaskError;

/// Returns whether a client of this program reports the error.
pub(crate) fn is_of_client(error: &(dyn Error + 'static)) -> bool {
    error.is::<CallError>() || error.is::<ConnectError>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_client_are_known_without_the_feature_client() {
        let reply = || ErrorReply::new(7, "from another server");
        assert!(is_of_client(&CallError::Server(reply())));
        assert!(is_of_client(&ConnectError::Refused(reply())));
        assert!(!is_of_client(&reply()));
    }
}
