//! What a program that collects spans and events gets to see: nothing without the feature
//! `tracing`, and for one load each while nobody collects.
//!
//! What a peer sends stays out of it, but for the names of what is asked for: arguments, results,
//! states, session ids and the text of errors and panics are not for logs.

#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;
#[cfg(feature = "tracing")]
pub(crate) mod span;

#[cfg(all(feature = "server", not(feature = "tracing")))]
pub(crate) use self::off::tool_failed;
#[cfg(not(feature = "tracing"))]
pub(crate) use self::off::{CallSpan, expired, failed, ignored, panicked, ping_missed};
#[cfg(all(feature = "server", feature = "tracing"))]
pub(crate) use self::on::tool_failed;
#[cfg(feature = "tracing")]
pub(crate) use self::on::{Failure, expired, failed, ignored, panicked, ping_missed, take_failure};
#[cfg(feature = "tracing")]
pub(crate) use self::span::CallSpan;
