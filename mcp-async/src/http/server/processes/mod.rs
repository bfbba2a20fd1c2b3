//! The processes that share the sessions of an endpoint.
//!
//! ```text
//! message        what processes send to each other
//! inbound        a request that another process answers; the state of its response
//! serving        a request of another process; its state here
//! owners         which process owns a session, as far as this one knows
//! this_process   the name of this process, and the requests in both directions
//! forward        sends a request to its owner, and makes a response of what arrives
//! forwarded      answers a request of another process, and sends the response
//! tasks          the lease of this process, its inbox, and its announcements
//! ```
//!
//! Each process has a name and a lease, which it renews three times in the time that it lasts. A session
//! belongs to the process in which it began, until that process is dead; then the next process that a
//! request arrives at claims the session and takes it over from the store, which begins an epoch.
//!
//! While the owner lives, another process sends it the request as one message: head, body, and the sender,
//! as verified: the name of the principal, or all that its token states. It remembers the owner and does
//! not look it up again, until the owner is dead or answers that it does not own the session. The owner
//! serves it like any other request, its own checks included, but for that of a token that was verified,
//! and sends the response in numbered parts. At most [`message::WINDOW`] parts are under way; the receiver
//! reports what its client has read. A receiver whose client is gone cancels; a sender whose receiver is
//! dead drops the response. A response that lacks a part, whose owner is dead, or which is silent for too
//! long ends early, and the client resumes it with `Last-Event-ID`. A request that gets no response in time
//! is answered with 503.

mod forward;
mod forwarded;
mod inbound;
mod message;
mod owners;
mod serving;
mod tasks;
mod this_process;

#[cfg(feature = "auth")]
pub(super) use self::message::VerifiedToken;
pub(super) use self::message::{Forwarded, NotOwner};
pub(super) use self::tasks::start;
pub(super) use self::this_process::Processes;
