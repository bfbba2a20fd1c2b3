//! The state of the connection of a client.

/// The state of the connection of a [`Client`](crate::client::Client).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionState {
    /// There is a connection. Over HTTP this tells nothing of the server, which is met request by request.
    Connected {
        /// The number of connections of this client so far.
        connections: u64,
    },
    /// The connection has ended and another is to follow, by the [`RestartPolicy`](crate::client::RestartPolicy).
    Reconnecting,
    /// The connection is over for good.
    Closed,
}
