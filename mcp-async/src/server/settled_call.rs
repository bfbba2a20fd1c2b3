//! The end of a call of a tool.

use core::cell::Cell;
use std::sync::Arc;

use mcp_proto::{Outcome, Payload};

use super::handler_error::{Failure, HandlerError};
use super::output::ToolOutput;
use super::reply::Reply;
use super::tool::Tool;
use crate::error::ErrorReply;

/// The outcome of a handler, which is written as the response.
pub(super) struct SettledCall<T> {
    result: Result<T, Failure>,
    /// The tool, if its results are checked.
    tool: Option<Arc<Tool>>,
    /// Whether the result is what the tool promises, once that is checked.
    kept: Cell<Option<bool>>,
}

impl<T> SettledCall<T> {
    pub(super) fn new(result: Result<T, HandlerError>, tool: Option<Arc<Tool>>) -> Self {
        Self {
            result: result.map_err(|error| error.settle(None)),
            tool,
            kept: Cell::new(None),
        }
    }

    /// Whether this result is what the tool promises (TL-09).
    fn keeps(&self, tool: &Tool, result: &dyn Payload) -> bool {
        let kept = self.kept.get();
        let kept = kept.unwrap_or_else(|| tool.checks.kept(result));
        self.kept.set(Some(kept));
        kept
    }
}

impl<T: ToolOutput> Reply for SettledCall<T> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match (&self.result, &self.tool) {
            (Ok(output), None) => output.with_outcome(send),
            (Ok(output), Some(tool)) => output.with_outcome(&mut |outcome| match outcome {
                // TL-09: what breaks the promise is a fault of the server.
                Outcome::Result(result) if !self.keeps(tool, result) => {
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
