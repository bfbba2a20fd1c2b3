//! Names of requests for the application.

use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::slots::Key;

/// Names a request of the peer, which the application has to answer.
///
/// A token stays unambiguous after its request ended, and is of use for its own machine only:
/// whatever is asked of a machine with a token of an ended request, or with a token of another
/// machine, fails with [`SendError::Stale`](crate::SendError::Stale) or does nothing. For that,
/// each machine draws a number from a counter of the process, so a machine and the 2³² − 1 made
/// after it never take each other's tokens. On a target without atomic read-modify-write
/// instructions two machines share a number if an interrupt makes one while the other is made.
///
/// A request that the machine itself sent has a [`SentToken`].
///
/// ```
/// use mcp_proto::Token;
///
/// /// What a caller keeps for each request in flight, in a table of its own.
/// fn forget<T>(kept: &mut [Option<T>], request: Token) {
///     if let Some(place) = kept.get_mut(request.index()) {
///         *place = None;
///     }
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(Name);

/// Names a request that a machine sent to its peer: a call of a client, a question of a server.
///
/// It is of use for its own machine only, like a [`Token`], which it cannot be taken for:
///
/// ```compile_fail,E0308
/// use mcp_proto::client::{Client, Storage};
/// use mcp_proto::{Instant, Outcome, SentToken};
///
/// fn answer<S: Storage>(client: &mut Client<'_, S>, call: SentToken, outcome: Outcome<'_>) {
///     let _ = client.respond(call, outcome, &mut []);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SentToken(Name);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Name {
    key: Key,
    machine: MachineId,
}

impl Name {
    fn key_in(self, machine: MachineId) -> Option<Key> {
        (self.machine == machine).then_some(self.key)
    }
}

impl Token {
    /// The number of its slot: small, and of no other request of the peer in flight, so a caller
    /// may keep what belongs to the request in a table of its own.
    pub const fn index(self) -> usize {
        self.0.key.slot as usize
    }

    pub(crate) const fn new(key: Key, machine: MachineId) -> Self {
        Self(Name { key, machine })
    }

    /// The place in the table of this machine; `None` for a token of another.
    pub(crate) fn key_in(self, machine: MachineId) -> Option<Key> {
        self.0.key_in(machine)
    }
}

impl SentToken {
    /// The number of its slot: small, and of no other request in flight that this machine sent.
    pub const fn index(self) -> usize {
        self.0.key.slot as usize
    }

    pub(crate) const fn new(key: Key, machine: MachineId) -> Self {
        Self(Name { key, machine })
    }

    /// The place in the table of this machine; `None` for a token of another.
    pub(crate) fn key_in(self, machine: MachineId) -> Option<Key> {
        self.0.key_in(machine)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.key.fmt(f)
    }
}

impl fmt::Debug for SentToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.key.fmt(f)
    }
}

/// Tells the machines of a process apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MachineId(u32);

impl MachineId {
    #[cfg(test)]
    pub(crate) const FIRST: Self = Self(0);

    /// The next number of the process; they repeat after 2³².
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        #[cfg(target_has_atomic = "32")]
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        #[cfg(not(target_has_atomic = "32"))]
        let number = NEXT.load(Ordering::Relaxed);
        #[cfg(not(target_has_atomic = "32"))]
        NEXT.store(number.wrapping_add(1), Ordering::Relaxed);
        Self(number)
    }
}
