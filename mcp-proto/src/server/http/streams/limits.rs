//! The bounds of the streams of a session, and their delivery.

/// The bounds of the streams of one session. Every field can be set; none can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Streams besides the session's own, finished ones included while they are kept. As many as
    /// requests may be in flight. There may be as many more of POSTs that are answered at once.
    pub streams: usize,
    /// Events that are kept for replay, of all streams together.
    pub events: usize,
    /// Bytes that these events may take together. A longer message is delivered, but not kept.
    pub bytes: usize,
    /// Bytes of one stream that wait to be read, before its producers have to wait too.
    pub unread: usize,
}

/// The form in which the messages of a stream are sent to the client, which depends on the
/// revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// From 2025-03-26 to 2025-11-25: events have ids, and are kept to be replayed (SH-24).
    Resumable,
    /// 2026-07-28: events have no ids, and are forgotten as soon as they are read.
    Once,
    /// 2024-11-05: as [`Once`](Self::Once), and each event names its type (HS-04).
    HttpSse,
}

impl Default for StreamLimits {
    /// 1,024 streams, 256 events in 4 MiB, and 256 KiB that wait to be read.
    fn default() -> Self {
        Self {
            streams: 1024,
            events: 256,
            bytes: 4 << 20,
            unread: 256 << 10,
        }
    }
}
