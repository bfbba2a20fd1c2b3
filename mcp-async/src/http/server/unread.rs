//! Answers that were written and not read.

use std::sync::Arc;

use http::request::Parts;

use super::answer::{self, Answer};
use super::caller::CallerId;
use super::endpoint::HttpEndpoint;
use crate::runtime::Runtime;
use crate::shares::{Share, Shares};

/// What answers that are not read may take together, the beginning of each not counted: a short answer takes no
/// lock, and less than what its connection takes.
pub(super) struct UnreadBudget(Arc<Shares<CallerId>>);

impl UnreadBudget {
    pub(super) fn new(bytes: usize) -> Self {
        Self(Shares::new(bytes))
    }

    /// For the answers to one request.
    pub(super) fn part(&self, caller: Option<CallerId>) -> UnreadBytes {
        UnreadBytes(self.0.empty(caller))
    }
}

/// What the answers to one request take of it, given back when it is dropped.
pub(super) struct UnreadBytes(Share<CallerId>);

impl UnreadBytes {
    /// Counts so many bytes at least; false, and nothing changes, if they are more than there is room for.
    pub(super) fn grow_to(&mut self, bytes: usize) -> bool {
        self.0.grow_to(bytes.saturating_sub(FREE))
    }

    /// Counts so many bytes, which exist already.
    pub(super) fn set(&mut self, bytes: usize) {
        self.0.set(bytes.saturating_sub(FREE));
    }
}

impl<R: Runtime> HttpEndpoint<R> {
    /// Counts the bytes of an answer until they are read; the answer is another one if there is no room for it.
    pub(super) fn count_unread(&self, parts: &Parts, answer: Answer) -> Answer {
        let len = answer.body().bytes().map_or(0, <[u8]>::len);
        if len <= FREE {
            return answer;
        }
        let mut part = self.unread.part(self.caller(parts));
        match part.grow_to(len) {
            true => answer.map(|body| body.counted_by(part)),
            false => {
                answer::busy("too many bytes of answers wait to be read: the request may have run")
            }
        }
    }
}

/// The beginning of each answer that is not counted.
const FREE: usize = 4 << 10;
