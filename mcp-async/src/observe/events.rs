//! Events.

#![cfg_attr(
    not(feature = "tracing"),
    allow(
        unused_imports,
        unused_variables,
        reason = "without subscribers there is nothing to write"
    )
)]

use core::time::Duration;

use mcp_proto::IgnoreReason;
#[cfg(feature = "tracing")]
use tracing::{debug, error, info, warn};

#[cfg(feature = "tracing")]
use super::span;
use super::unseen;

/// Takes the place of the macros of `tracing` without that feature.
#[cfg(not(feature = "tracing"))]
macro_rules! silent {
    ($($event:tt)*) => {};
}
#[cfg(not(feature = "tracing"))]
use {silent as debug, silent as error, silent as info, silent as warn};

/// A message had no effect.
pub(crate) fn ignored(why: IgnoreReason) {
    debug!(target: span::TARGET, reason = ?why, "a message of the peer was ignored");
}

/// A store of tasks could not do what it was asked.
pub(crate) fn task_store_failed(error: &(dyn core::error::Error + 'static)) {
    let error = crate::ErrorChain(error);
    warn!(target: span::TARGET, %error, "a task store operation failed");
}

/// A store of tasks has not answered in time.
pub(crate) fn task_store_late() {
    warn!(target: span::TARGET, "a task store operation took too long");
}

/// A store of sessions or events could not do what it was asked.
pub(crate) fn store_failed(error: &(dyn core::error::Error + 'static)) {
    let error = crate::ErrorChain(error);
    warn!(target: span::TARGET, %error, "a session or event store operation failed");
}

/// The hook that verifies the senders of requests has failed.
pub(crate) fn unverified(error: &(dyn core::error::Error + 'static)) {
    unseen::print_first("the sender of a request could not be verified", error);
    let error = crate::ErrorChain(error);
    error!(target: span::TARGET, { exception.message = %error }, "the sender of a request could not be verified");
}

/// A user could not log in, because of the provider or of the document of a client.
#[cfg(all(feature = "auth", feature = "http-server", feature = "http-client"))]
pub(crate) fn login_failed(error: &mcp_auth::AuthError) {
    warn!(target: span::TARGET, %error, "a login at the provider has failed");
}

/// A request was refused because of its token, which is not shown.
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) fn refused(reason: &mcp_auth::resource::Denial) {
    let advice = reason.reason().advice();
    debug!(target: span::TARGET, %reason, advice, "the token of a request was refused");
}

/// A call that may be a task runs in its exchange, because of this limit.
pub(crate) fn kept_in_exchange(limit: &'static str) {
    debug!(target: span::TARGET, limit, "a call runs in its exchange instead of a task");
}

/// A server accepts connections.
pub(crate) fn listening(url: &str) {
    info!(target: span::TARGET, url, "the server accepts connections");
}

/// Another process has taken over a session of this one.
pub(crate) fn displaced() {
    debug!(target: span::TARGET, "another process has taken over or ended a session");
}

/// A session that another process began continues here.
pub(crate) fn taken_over(epoch: u32) {
    info!(target: span::TARGET, epoch, "a session of another process was taken over");
}

/// A request goes to the process that owns its session.
pub(crate) fn forwarding(process: &str) {
    debug!(target: span::TARGET, process, "a request is forwarded");
}

/// The owner of a session does not receive all claims of a principal.
pub(crate) fn claims_not_shared() {
    warn!(target: span::TARGET, "a principal was forwarded without claims that `share_claims` does not name");
}

/// A forwarded request has no answer of its process.
pub(crate) fn forward_failed(reason: &dyn core::fmt::Display) {
    warn!(target: span::TARGET, %reason, "a request could not be forwarded");
}

/// This process does not take a request that another process has forwarded, or that says so.
pub(crate) fn forwarded_refused(reason: &dyn core::fmt::Display) {
    warn!(target: span::TARGET, %reason, "a request that another process has forwarded was refused");
}

/// The handler of a template needs a variable that the template does not have.
pub(crate) fn variable_missing(template: &dyn core::fmt::Display, variable: &str) {
    warn!(target: span::TARGET, %template, variable, "the handler of a template needs a variable that the template does not have");
}

/// The variables of a URI do not fit the type of a template's handler; their texts are not shown.
pub(crate) fn variables_unfit(
    template: &dyn core::fmt::Display,
    variable: &str,
    reason: mcp_proto::json::DecodeErrorKind,
) {
    debug!(target: span::TARGET, %template, variable, ?reason, "the variables of a URI do not fit the handler of its template");
}

/// Code of the application panicked, and the panic was caught. Its message stays with the program's
/// panic hook.
pub(crate) fn panicked() {
    error!(target: span::TARGET, "a handler panicked");
}

/// A handler returned an error that is hidden from the client and logged here. Only its text
/// and those of its sources go there: what they say is the application's choice.
pub(crate) fn handler_failed(error: &(dyn core::error::Error + 'static)) {
    unseen::print_first("a handler failed", error);
    let error = crate::ErrorChain(error);
    error!(target: span::TARGET, { exception.message = %error }, "a handler failed");
}

/// A callback of a client returned an error that the server does not see.
pub(crate) fn callback_failed(error: &(dyn core::error::Error + 'static)) {
    unseen::print_first("a callback failed", error);
    let error = crate::ErrorChain(error);
    error!(target: span::TARGET, { exception.message = %error }, "a callback failed");
}

/// A call was dropped because it took too long.
pub(crate) fn expired(limit: Duration) {
    warn!(target: span::TARGET, ?limit, "a call took too long");
}

/// A regular ping was not answered.
pub(crate) fn ping_missed(misses: u32, limit: u32) {
    warn!(target: span::TARGET, misses, limit, "the peer did not answer a ping");
}

/// A request over HTTP was not answered.
pub(crate) fn unsent(cause: &str) {
    debug!(target: span::TARGET, cause, "a request was not answered");
}

/// The issuer of an authorization server was accepted in two spellings.
#[cfg(all(feature = "auth", feature = "http-client"))]
pub(crate) fn issuer_spelling(spelling: &mcp_auth::IssuerSpelling) {
    warn!(target: span::TARGET, "{spelling}");
}

/// An event over the limit was passed over, and no call is known to have waited for it.
pub(crate) fn oversized() {
    warn!(target: span::TARGET, "an event over the size limit was passed over");
}

/// A tool was taken out of a list, because a client must not call it.
pub(crate) fn tool_dropped(name: &str, why: &dyn core::fmt::Display) {
    warn!(target: span::TARGET, tool = name, %why, "a tool of the server was left out");
}
