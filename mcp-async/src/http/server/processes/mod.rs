//! The processes that share the sessions of an endpoint.
//!
//! ```text
//! message        the messages of processes to each other
//! this_process   the name of this process and its lease, and the others that live
//! owners         which process owns a session, as far as this one knows
//! forward        sends a request to its owner, and makes a response of what arrives
//! forwarded      answers a request of another process; nonces: none is served twice
//! announcements  announcements that requests wait for
//! changes        changes of lists and resources; outbox: those of this process
//! renewal        starts the tasks of a process, and renews its lease
//! background     the end of these tasks, and their failures
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

mod announcements;
mod background;
mod changes;
mod counters;
mod forward;
mod forwarded;
mod message;
mod nonces;
mod outbox;
mod owners;
mod renewal;
mod this_process;

use http::HeaderName;

pub(super) use self::counters::{Counter, Counters};
pub(super) use self::forward::Forwarding;
#[cfg(feature = "auth")]
pub(super) use self::message::VerifiedToken;
pub(super) use self::message::{Forwarded, NotOwner};
pub(super) use self::renewal::start;
pub(super) use self::this_process::Processes;

/// The envelope of a forwarded request.
pub(super) const REQUEST: HeaderName = HeaderName::from_static("x-mcp-forwarded");

/// The envelope of the answer to one.
const ANSWER: HeaderName = HeaderName::from_static("x-mcp-answered");
