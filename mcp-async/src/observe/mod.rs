//! Spans and events. The module is empty without the feature `tracing`; with it, a program without a
//! subscriber pays one load per span or event.
//!
//! Data of a peer is not recorded, except the names of requested items: arguments, results, states,
//! session ids and the texts of panics are not for logs. Errors of handlers and callbacks are
//! recorded if the peer does not see them; the first of them is printed where no subscriber can receive
//! it.

#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;
#[cfg(feature = "tracing")]
pub(crate) mod span;
#[cfg(any(feature = "server", feature = "client"))]
mod unseen;

#[cfg(all(feature = "client", not(feature = "tracing")))]
pub(crate) use self::off::callback_failed;
#[cfg(all(feature = "auth", feature = "http-client", not(feature = "tracing")))]
pub(crate) use self::off::issuer_spelling;
#[cfg(all(feature = "auth", feature = "http-server", not(feature = "tracing")))]
pub(crate) use self::off::refused;
#[cfg(not(feature = "tracing"))]
pub(crate) use self::off::{CallSpan, expired, ignored, panicked, ping_missed};
#[cfg(all(feature = "server", not(feature = "tracing")))]
pub(crate) use self::off::{
    Here, handler_failed, kept_in_exchange, task_store_failed, task_store_late, variable_missing,
    variables_unfit,
};
#[cfg(all(feature = "http-server", not(feature = "tracing")))]
pub(crate) use self::off::{
    claims_not_shared, displaced, forward_failed, forwarded_refused, forwarding, listening,
    store_failed, taken_over, unverified,
};
#[cfg(all(feature = "http-client", not(feature = "tracing")))]
pub(crate) use self::off::{oversized, tool_dropped, unsent};
#[cfg(all(feature = "client", feature = "tracing"))]
pub(crate) use self::on::callback_failed;
#[cfg(all(feature = "auth", feature = "http-client", feature = "tracing"))]
pub(crate) use self::on::issuer_spelling;
#[cfg(all(feature = "auth", feature = "http-server", feature = "tracing"))]
pub(crate) use self::on::refused;
#[cfg(all(feature = "http-server", feature = "tracing"))]
pub(crate) use self::on::{
    claims_not_shared, displaced, forward_failed, forwarded_refused, forwarding, listening,
    store_failed, taken_over, unverified,
};
#[cfg(feature = "tracing")]
pub(crate) use self::on::{expired, ignored, panicked, ping_missed};
#[cfg(all(feature = "server", feature = "tracing"))]
pub(crate) use self::on::{
    handler_failed, kept_in_exchange, task_store_failed, task_store_late, variable_missing,
    variables_unfit,
};
#[cfg(all(feature = "http-client", feature = "tracing"))]
pub(crate) use self::on::{oversized, tool_dropped, unsent};
#[cfg(all(feature = "server", feature = "tracing"))]
pub(crate) use self::span::Here;
#[cfg(feature = "tracing")]
pub(crate) use self::span::{CallFailure, CallSpan, Failure};

/// The transport that carries the messages of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// A pair of byte streams.
    Pipe,
    /// Exchanges of HTTP.
    #[cfg(any(feature = "http-server", feature = "http-client"))]
    Http,
}
