//! The end of a call of a tool.

use core::cell::Cell;

use mcp_proto::{Outcome, Payload};

use super::checks::Promise;
use super::handler_error::{Failure, HandlerError};
use super::output::ToolOutput;
use super::reply::Reply;
use crate::error::ErrorReply;

/// The outcome of a handler, which is written as the response.
pub(super) struct SettledCall<T> {
    result: Result<T, Failure>,
    /// The promise of the tool about its results, if it makes one.
    promise: Option<Promise>,
    /// The answer of the promise, once it was asked.
    is_kept: Cell<Option<bool>>,
}

impl<T> SettledCall<T> {
    pub(super) fn new(result: Result<T, HandlerError>, promise: Option<Promise>) -> Self {
        Self {
            result: result.map_err(|error| error.settle(None)),
            promise,
            is_kept: Cell::new(None),
        }
    }

    /// Returns whether this result is what the tool promises (TL-09).
    fn keeps(&self, promise: &Promise, result: &dyn Payload) -> bool {
        let is_kept = self.is_kept.get();
        let is_kept = is_kept.unwrap_or_else(|| promise.is_kept(result));
        self.is_kept.set(Some(is_kept));
        is_kept
    }
}

impl<T: ToolOutput> Reply for SettledCall<T> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match (&self.result, &self.promise) {
            (Ok(output), None) => output.with_outcome(send),
            (Ok(output), Some(promise)) => output.with_outcome(&mut |outcome| match outcome {
                // TL-09: what breaks the promise is a fault of the server.
                Outcome::Result(result) if !self.keeps(promise, result) => {
                    send(Outcome::Error(ErrorReply::internal().as_object()));
                }
                outcome => send(outcome),
            }),
            (Err(error), _) => error.with_tool_outcome(send),
        }
    }

    fn is_tool_error(&self) -> bool {
        match &self.result {
            Ok(output) => output.is_error(),
            Err(failure) => matches!(failure, Failure::Visible(_)),
        }
    }
}
