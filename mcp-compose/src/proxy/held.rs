//! Calls of legacy servers that stay open while a caller of 2026-07-28 answers a question.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use mcp_async::Method;
use mcp_async::client::{CallError, RoundResult};
use mcp_async::runtime::RuntimeHandle;
use mcp_proto::Instant;

use super::bridge::{OpenCall, Params, Question};
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

/// What waits for the answer of a caller.
pub(super) enum Waits {
    /// A call of a legacy server, which stays open.
    Call(Box<RunningCall>),
    /// A session with a server of 2026-07-28 for one call at a time, which alone may know the state of the call.
    Session(Lease),
}

/// The calls that wait for an answer of their callers.
#[derive(Default)]
pub(super) struct HeldCalls(Watch<Held>);

#[derive(Default)]
struct Held {
    /// By their numbers, each with the time until which it waits.
    calls: BTreeMap<u64, (Instant, Waits)>,
    last: u64,
    /// True while a task waits for the time of the one that is due first.
    is_timed: bool,
}

impl HeldCalls {
    /// Keeps a call for this time at most, and returns its number; cancels it and returns `None` if there are too many.
    pub(super) fn put(
        self: &Arc<Self>,
        call: Waits,
        runtime: &RuntimeHandle,
        (most, time): (usize, Duration),
    ) -> Option<u64> {
        let until = runtime.now() + time;
        let mut call = Some(call);
        let (number, begins) = self.0.change(|held| {
            if held.calls.len() >= most {
                return None;
            }
            held.last += 1;
            let call = call.take().map(|call| (held.last, (until, call)));
            held.calls.extend(call);
            let begins = !core::mem::replace(&mut held.is_timed, true);
            Some((held.last, begins))
        })?;
        if begins {
            let (held, clock) = (Arc::downgrade(self), runtime.clone());
            runtime.spawn(Box::pin(cancel_late(held, clock, time)));
        }
        Some(number)
    }

    /// Returns the question of a call of a legacy server, which is kept for this time again.
    pub(super) fn question(
        &self,
        number: u64,
        runtime: &RuntimeHandle,
        time: Duration,
    ) -> Option<(String, Method<'static>, Params)> {
        let due = runtime.now() + time;
        self.0.change(|held| match held.calls.get_mut(&number)? {
            (until, Waits::Call(call)) => {
                *until = due;
                call.asked.as_ref().map(Question::parts)
            }
            (_, Waits::Session(_)) => None,
        })
    }

    /// Takes a call out: each number is good once.
    fn take(&self, number: u64) -> Option<Waits> {
        let taken = self.0.change(|held| held.calls.remove(&number));
        taken.map(|(_, call)| call)
    }

    /// Takes a call of a legacy server out.
    pub(super) fn take_call(&self, number: u64) -> Option<RunningCall> {
        match self.take(number)? {
            Waits::Call(call) => Some(*call),
            Waits::Session(_) => None,
        }
    }

    /// Takes a session with a server of 2026-07-28 out.
    pub(super) fn take_session(&self, number: u64) -> Option<Lease> {
        match self.take(number)? {
            Waits::Session(lease) => Some(lease),
            Waits::Call(_) => None,
        }
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

/// Cancels calls when they have waited for this time, until none waits.
async fn cancel_late(held: Weak<HeldCalls>, runtime: RuntimeHandle, mut time: Duration) {
    loop {
        sleep(&runtime, time).await;
        let Some(held) = held.upgrade() else { return };
        let now = runtime.now();
        let (late, next) = held.0.change(|held| {
            let is_due = |_: &u64, (until, _): &mut (Instant, Waits)| *until <= now;
            let late: Vec<_> = held.calls.extract_if(.., is_due).collect();
            let next = held.calls.values().map(|(until, _)| *until).min();
            held.is_timed = next.is_some();
            (late, next)
        });
        drop(late);
        let Some(next) = next else { return };
        time = next.saturating_since(now);
    }
}
