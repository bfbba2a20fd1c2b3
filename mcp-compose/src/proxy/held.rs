//! Calls of legacy servers that stay open while a caller of 2026-07-28 answers a question.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::Arc;

use mcp_async::client::{CallError, RoundResult};
use mcp_async::runtime::RuntimeHandle;

use super::bridge::{OpenCall, Question};
use super::sessions::Lease;
use super::steps::WithSteps;
use crate::waiting::sleep;
use crate::watch::Watch;

/// A call of a legacy server that has begun.
///
/// Dropping it cancels the call; the session is free again after that.
pub(super) struct RunningCall {
    pub(super) call: WithSteps<Result<RoundResult, CallError>>,
    /// The question that the caller is to answer.
    pub(super) asked: Option<Question>,
    pub(super) open: OpenCall,
    pub(super) lease: Lease,
}

/// The calls that wait for an answer of their callers.
#[derive(Default)]
pub(super) struct HeldCalls(Watch<Held>);

#[derive(Default)]
struct Held {
    calls: HashMap<u64, RunningCall>,
    last: u64,
}

impl HeldCalls {
    /// Keeps a call for this time at most, and returns its number; cancels it and returns `None` if there are too many.
    pub(super) fn put(
        self: &Arc<Self>,
        call: RunningCall,
        runtime: &RuntimeHandle,
        (most, time): (usize, Duration),
    ) -> Option<u64> {
        let mut call = Some(call);
        let number = self.0.change(|held| {
            if held.calls.len() >= most {
                return None;
            }
            held.last += 1;
            held.calls.extend(call.take().map(|call| (held.last, call)));
            Some(held.last)
        })?;
        let (held, clock) = (Arc::downgrade(self), runtime.clone());
        runtime.spawn(Box::pin(async move {
            sleep(&clock, time).await;
            let late = held.upgrade().and_then(|held: Arc<Self>| held.take(number));
            drop(late);
        }));
        Some(number)
    }

    /// Takes a call out: each number is good once.
    pub(super) fn take(&self, number: u64) -> Option<RunningCall> {
        self.0.change(|held| held.calls.remove(&number))
    }

    /// Cancels all calls.
    pub(super) fn clear(&self) {
        let calls = self.0.change(|held| core::mem::take(&mut held.calls));
        drop(calls);
    }

    /// Returns how many calls wait.
    pub(super) fn len(&self) -> usize {
        self.0.read(|held| held.calls.len())
    }
}
