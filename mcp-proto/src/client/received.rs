//! A response to a request of this side.

use super::Failure;
use crate::json::Raw;
use crate::rpc::ErrorObject;

/// The response to an id of ours.
#[derive(Clone, Copy)]
pub(super) enum Received<'b> {
    Result(Raw<'b>),
    Error(ErrorObject<'b>),
    /// Something that answers nothing.
    Unusable(Failure),
}
