//! Settings that many tests change.

use mcp_async::Limits;

/// Returns the default limits after this change.
pub(crate) fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}
