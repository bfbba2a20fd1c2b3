//! The processes that share the sessions of an endpoint.
//!
//! ```text
//! message        the messages of processes to each other
//! this_process   the name of this process and its lease, and the others that live
//! owners         which process owns a session, as far as this one knows
//! forward        sends a request to its owner, and makes a response of what arrives
//! route          the way to it
//! nonces         the numbers of requests of others: none is served twice
//! announcements  announcements that requests wait for
//! outbox         changes of lists and resources of this process
//! sharing        the state of an endpoint that all of them share
//! counters       the numbers of takeovers, of lost sessions and of forwarded requests
//! ```
//!
//! Each process has a name and a lease, which it renews three times in the time that it lasts. A session
//! belongs to the process in which it began, until that process is dead or releases it; then the next process
//! that a request arrives at claims the session and takes it over from the store, which begins an epoch.
//!
//! An owner serves a session while its lease is good by its own clock, and asks the store nothing. When the
//! lease may be over it renews it first, and confirms in the store that the session is still its own.
//!
//! While the owner lives, another process sends it the request over HTTP, in an envelope: the head, as far as
//! it is listed, and the sender, as verified, signed with a key that all processes have. The owner serves it
//! like any other request, its own checks included, but for that of who sent it. A request that may have
//! arrived is never sent again.

pub(super) mod announcements;
pub(super) mod counters;
pub(super) mod forward;
pub(super) mod message;
pub(super) mod nonces;
pub(super) mod outbox;
pub(super) mod owners;
pub(super) mod route;
pub(super) mod sharing;
pub(super) mod this_process;

use http::HeaderName;

pub(super) use self::counters::{Counter, Counters};
pub(super) use self::forward::Forwarding;
#[cfg(feature = "auth")]
pub(super) use self::message::VerifiedToken;
pub(super) use self::message::{Forwarded, NotOwner};
pub(super) use self::this_process::Processes;

/// The envelope of a forwarded request.
pub(super) const REQUEST: HeaderName = HeaderName::from_static("x-mcp-forwarded");

/// The envelope of the answer to one.
pub(super) const ANSWER: HeaderName = HeaderName::from_static("x-mcp-answered");
