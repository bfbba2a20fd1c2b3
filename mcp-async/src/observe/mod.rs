//! Spans and events. Without the feature `tracing` they write nothing; with it, a program without a
//! subscriber pays one load per span or event.
//!
//! Data of a peer is not recorded, except the names of requested items: arguments, results, states,
//! session ids and the texts of panics are not for logs. Errors of handlers and callbacks are
//! recorded if the peer does not see them; the first of them is printed where no subscriber can receive
//! it.

mod events;
#[cfg(not(feature = "tracing"))]
mod off;
mod public_uri;
#[cfg(feature = "tracing")]
pub(crate) mod span;
mod unseen;

pub(crate) use self::events::callback_failed;
#[cfg(all(feature = "auth", feature = "http-client"))]
pub(crate) use self::events::issuer_spelling;
#[cfg(all(feature = "auth", feature = "http-server", feature = "http-client"))]
pub(crate) use self::events::login_failed;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) use self::events::refused;
pub(crate) use self::events::{
    claims_not_shared, displaced, forward_failed, forwarded_refused, forwarding, listening,
    store_failed, taken_over, unverified,
};
pub(crate) use self::events::{expired, ignored, panicked, ping_missed};
pub(crate) use self::events::{
    handler_failed, kept_in_exchange, task_store_failed, task_store_late, variable_missing,
    variables_unfit,
};
pub(crate) use self::events::{oversized, tool_dropped, unsent};
#[cfg(not(feature = "tracing"))]
pub(crate) use self::off::{CallSpan, Here};
pub(crate) use self::public_uri::public_uri;
#[cfg(feature = "tracing")]
pub(crate) use self::span::{CallFailure, CallSpan, Failure, Here};

/// The transport that carries the messages of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// A pair of byte streams.
    Pipe,
    /// Exchanges of HTTP.
    #[cfg(any(feature = "http-server", feature = "http-client"))]
    Http,
}
