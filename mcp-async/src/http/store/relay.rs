//! Messages between the processes of one endpoint.

use core::time::Duration;

use super::StoreFuture;

/// Connects the processes that share a [`SessionStore`](super::SessionStore), so that a balancer needs
/// no affinity: a request for a session that another process owns is forwarded to that process.
///
/// # Ownership
/// - A process has a random name and says that it lives with [`announce`](Self::announce), three times
///   in the time of its lease. A process whose lease has ended is dead.
/// - A session belongs to the process in which it began. [`claim`](Self::claim) makes another process
///   its owner only if the owner is dead; the comparison and the write are one atomic step. The new
///   owner takes the session over from the session store, which begins an epoch.
/// - A lease is a hint, an epoch is not: a process that lives but cannot reach the store loses its
///   sessions after its lease, and the store refuses what it writes of them later. So clocks that jump
///   cause takeovers at most.
///
/// # Messages
/// A forwarded request is one message, and its response one or several. A process reads its inbox with
/// [`receive`](Self::receive), one call at a time. Messages of one sender to one process arrive in their
/// order. Messages may be lost, or arrive twice after a failure: the server numbers them, ends a
/// response that lacks a part, and the client resumes it. An inbox is bounded.
///
/// Messages contain what clients send and receive, credentials included. Who can write to an inbox can
/// act as any client of the server: the processes trust the relay.
///
/// The server does not limit how long a call takes: give the calls a timeout.
pub trait Relay: Send + Sync {
    /// Says that a process lives for the time of its lease from now. Returns the processes that do, this
    /// one included.
    fn announce<'a>(&'a self, process: &'a str, lease: Duration) -> StoreFuture<'a, Vec<String>>;

    /// Ends the lease of a process, and forgets its inbox.
    fn withdraw<'a>(&'a self, process: &'a str) -> StoreFuture<'a, ()>;

    /// Makes the process the owner of a session that the session store has, unless another process owns
    /// it that lives.
    fn claim<'a>(&'a self, session: &'a str, process: &'a str) -> StoreFuture<'a, Claim>;

    /// Puts a message into the inbox of a process. Returns `false` if the process is dead.
    ///
    /// # Errors
    /// The inbox is full.
    fn send<'a>(&'a self, process: &'a str, message: &'a [u8]) -> StoreFuture<'a, bool>;

    /// Puts a message into the inboxes of all live processes apart from the sender. One that is full is
    /// passed over: what is sent so only says that something has changed.
    fn broadcast<'a>(&'a self, from: &'a str, message: &'a [u8]) -> StoreFuture<'a, ()>;

    /// Takes messages out of the inbox of this process in their order. Waits for one for a bounded time,
    /// then returns none. The server does not drop the future before it is ready.
    fn receive<'a>(&'a self, process: &'a str) -> StoreFuture<'a, Vec<Vec<u8>>>;
}

/// Whose a session is: see [`Relay::claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The process that asked owns it now.
    Own,
    /// This process owns it, and lives.
    Other(String),
    /// The session store has no such session.
    Unknown,
}
