//! The bounds of a connection.

/// The bounds of one connection. Every field can be set; none can be switched off. Those of an HTTP
/// endpoint are [`http::HttpLimits`](crate::http::HttpLimits).
///
/// The defaults are those of a machine with `std`; firmware sets what its buffers can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest line or event in bytes. A longer one is skipped at constant memory.
    /// Large enough for a base64 payload of 12 MB.
    pub message: usize,
    /// The depth to which arrays and objects may nest, at most
    /// [`MAX_DEPTH`](crate::json::MAX_DEPTH). Deeper text is refused as no JSON that we accept,
    /// without recursion.
    pub depth: u8,
    /// Requests in flight per connection and direction. A full table refuses, it never blocks,
    /// because the cancellation that would free a slot has to be read.
    pub in_flight: usize,
    /// Elements of one batch in 2025-03-26; one error answers all beyond it.
    pub batch: usize,
    /// Bytes that the answers or the calls of one batch may take together while they are gathered, with its brackets.
    pub batch_bytes: usize,
    /// Bytes that the URIs of all resource subscriptions of a connection may take together.
    pub subscription_bytes: usize,
    /// Resource URIs that all subscriptions of a connection may name together. A new one is
    /// compared with those before it, so a million of them would cost their square.
    pub subscriptions: usize,
    /// Bytes waiting to be read by the peer. When it is reached the reader stops. A machine cannot
    /// be made with less than one answer of the core takes
    /// ([`Machine::reserve`](crate::Machine::reserve) and a line feed).
    pub output: usize,
}

impl Limits {
    /// The default limits, as a constant: messages of 16 MiB that nest 128 deep, 1,024 requests, batches of 100 elements and 16 MiB,
    /// 1,000 subscriptions of 256 KiB, and 32 MiB of output.
    pub const DEFAULT: Self = Self {
        message: 16 << 20,
        depth: 128,
        in_flight: 1024,
        batch: 100,
        batch_bytes: 16 << 20,
        subscription_bytes: 256 << 10,
        subscriptions: 1000,
        output: 32 << 20,
    };

    /// The longest message that leaves: the line feed takes a byte.
    pub(crate) const fn max_message(&self) -> usize {
        self.output.saturating_sub(1)
    }
}

impl Default for Limits {
    /// Returns [`DEFAULT`](Self::DEFAULT).
    fn default() -> Self {
        Self::DEFAULT
    }
}
