//! When a call leaves its exchange.

/// When a call leaves its exchange: see [`Call::detach`](super::Call::detach).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detach {
    /// Before its handler runs.
    Now,
    /// When its handler calls [`CallContext::begin_task`](super::CallContext::begin_task). Until then it is an ordinary call, which
    /// may also end in its exchange.
    OnRequest,
}
