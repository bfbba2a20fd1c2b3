//! A request that another process answers, and what has arrived of the response.

use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::message::{StatusLine, WINDOW};

/// A request whose response comes from another process.
pub(super) struct Inbound {
    owner: String,
    state: Mutex<Received>,
}

/// The begin of a response.
pub(super) enum Head {
    /// The head, and whether its body is whole.
    Arrived { line: StatusLine, whole: bool },
    /// Another process owns the session.
    Moved,
    /// There will be none.
    Failed,
}

#[derive(Default)]
pub(super) struct Received {
    head: Option<StatusLine>,
    pub(super) parts: VecDeque<Bytes>,
    /// How many parts have arrived.
    pub(super) count: u64,
    pub(super) ended: bool,
    /// Nothing more is to come, and something is lacking.
    failed: bool,
    /// The process does not own the session.
    moved: bool,
    waker: Option<Waker>,
}

impl Inbound {
    pub(super) fn new(owner: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            state: Mutex::default(),
        }
    }

    /// The process that answers.
    pub(super) fn owner(&self) -> &str {
        &self.owner
    }

    /// A part has arrived, with the head of the response if it is the first. One that arrives twice is
    /// ignored.
    pub(super) fn arrive(&self, head: Option<StatusLine>, part: u64, body: &[u8], end: bool) {
        let mut state = self.state();
        if part < state.count {
            return;
        }
        if part > state.count || state.parts.len() as u64 > 2 * WINDOW {
            state.failed = true;
        } else if !state.failed {
            state.count += 1;
            state.ended = end;
            state.head = head.or(state.head.take());
            if !body.is_empty() {
                state.parts.push_back(Bytes::copy_from_slice(body));
            }
        }
        wake(state);
    }

    /// Nothing more is to come.
    pub(super) fn fail(&self) {
        let mut state = self.state();
        state.failed = true;
        wake(state);
    }

    /// There is no response: another process owns the session.
    pub(super) fn moved(&self) {
        let mut state = self.state();
        (state.moved, state.ended) = (true, true);
        wake(state);
    }

    /// The head of the response.
    pub(super) fn poll_head(&self, cx: &Context<'_>) -> Poll<Head> {
        let mut state = self.state();
        match state.head.take() {
            Some(line) => Poll::Ready(Head::Arrived {
                line,
                whole: state.ended,
            }),
            None if state.moved => Poll::Ready(Head::Moved),
            None if state.failed => Poll::Ready(Head::Failed),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// What has arrived of the body; `None` at its end.
    pub(super) fn poll_part(&self, cx: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.state();
        match state.parts.pop_front() {
            Some(part) => Poll::Ready(Some(part)),
            None if state.ended || state.failed => Poll::Ready(None),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    pub(super) fn whole(&self) -> Vec<u8> {
        let parts = core::mem::take(&mut self.state().parts);
        parts.iter().flatten().copied().collect()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, Received> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(mut state: MutexGuard<'_, Received>) {
    let waker = state.waker.take();
    drop(state);
    waker.into_iter().for_each(Waker::wake);
}
