//! The time at which a call leaves its exchange.

/// The time at which a call leaves its exchange: see [`Call::detach`](crate::server::Call::detach).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detach {
    /// Before its handler runs.
    Now,
    /// Before its handler runs, and also if the service answers the call at once, with the result
    /// for arguments that do not fit the tool for instance. A call that the service refuses at once
    /// with an error ends in its exchange.
    Always,
    /// When its handler calls [`CallContext::begin_task`](crate::server::CallContext::begin_task). Until then it is an ordinary call, which
    /// may also end in its exchange.
    OnRequest,
}
