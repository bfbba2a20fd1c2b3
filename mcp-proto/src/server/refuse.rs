//! Refusals: messages that cannot be accepted, and arrays.

use super::arrival::Arrival;
use super::reply::{ReplyKind, id_len};
use super::{Event, PeerError, Reply, Server, Storage};
use crate::action::{Action, IgnoreReason};
use crate::batch::{Counted, Reading};
use crate::revision::Revision;
use crate::rpc::{Id, Invalid, Shape};
use crate::source::Place;
use crate::time::Instant;

impl<S: Storage> Server<'_, S> {
    pub(super) fn invalid<'b>(
        &mut self,
        now: Instant,
        from: &Arrival<'_, S::Place>,
        invalid: Invalid<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if !invalid.shape.is_answerable() {
            // SH-08: an exchange ends with a status in any case, so it may say why.
            return match self.unusable_answer(now, invalid) {
                Action::Ignore(_) if from.head().is_some() && !self.arrays.batch.is_reading() => {
                    self.refuse(from, None, PeerError::Invalid(invalid.reason))
                }
                action => action,
            };
        }
        if invalid.shape == Shape::Unknown
            && let action @ (Action::Event(_) | Action::Done) = self.unusable_answer(now, invalid)
        {
            return action;
        }
        match self.count_element() {
            Counted::Served => {
                let id = invalid
                    .id
                    .filter(|id| !self.may_be_ours(*id, invalid.shape));
                self.refuse(from, id, PeerError::Invalid(invalid.reason))
            }
            Counted::Refused => self.refuse(from, None, PeerError::BatchTooLong),
            Counted::Silent => Action::Ignore(IgnoreReason::Garbage),
        }
    }

    /// Whether this id of a broken message may be that of a request of ours. Without a method
    /// nothing tells a response from a request, and an error with the id of a request of ours
    /// would answer the client's request of the same id.
    fn may_be_ours(&self, id: Id<'_>, shape: Shape) -> bool {
        shape == Shape::Unknown && id.to_u64().is_some_and(|id| self.questions.is_used(id))
    }

    pub(super) fn count_element(&mut self) -> Counted {
        match self.arrays.batch.reading() {
            Reading::Outside => Counted::Served,
            _ => self.arrays.batch.count(self.config.limits.batch),
        }
    }

    pub(super) fn start_batch<'b>(
        &mut self,
        from: &Arrival<'_, S::Place>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let allowed = self
            .session
            .revision()
            .is_some_and(Revision::allows_batches)
            && self.arrays.batch.has_room();
        self.arrays.start(allowed, from.channel());
        if allowed {
            Action::Done
        } else {
            self.refuse(from, None, PeerError::Batch)
        }
    }

    pub(super) fn refuse<'b>(
        &self,
        from: &Arrival<'_, S::Place>,
        id: Option<Id<'b>>,
        error: PeerError,
    ) -> Action<Event<'b>, Reply<'b>> {
        self.answer(from, Reply::refusal(id, error, None))
    }

    pub(super) fn answer<'b>(
        &self,
        from: &Arrival<'_, S::Place>,
        reply: Reply<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let reading = self.arrays.batch.reading();
        let mut reply = Reply {
            machine: Some(self.id),
            batched: self.arrays.batch.takes_answers(),
            null_id: self.null_id(),
            ..reply
        };
        if matches!(reply.kind, ReplyKind::Error { .. }) {
            reply.id = reply.id.filter(|id| id_len(*id) <= S::ID_ECHO);
        }
        if from.place().is_exchange() {
            reply.channel = from.channel();
            reply.draft = self.is_draft(from);
            reply.end = matches!(reading, Reading::Outside | Reading::Refused);
            reply.status = reply.kind.status(from.modern);
        }
        Action::Reply(reply)
    }
}
