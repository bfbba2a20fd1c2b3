//! A question of the server that waits for its answer.

/// A question in a client's table.
#[expect(unnameable_types, reason = "only the sealed `Storage` names it")]
#[derive(Clone, Debug)]
pub struct OpenQuestion<L> {
    pub(super) id: L,
    pub(super) stage: Asked,
    /// True if the answer goes into the array of answers that is gathered.
    pub(super) batched: bool,
}

/// The stage of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The application makes the answer.
    Open,
    /// Cancelled by the foreign method: its sender waits for error -32800 (`$/cancelRequest`).
    Refused,
    /// The connection is over, and the application must be notified.
    Orphaned,
}
