//! The questions of the server that the application has to answer.

use crate::batch::{Batch, Reading};
use crate::id_buf::IdStorage;
use crate::rpc::Id;
use crate::slots::{Full, Key, Queue, Slot, Slots};
use crate::store::Table;

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

/// The table of questions, and the arrays in which they come and are answered (JR-15).
#[derive(Debug)]
pub(super) struct Questions<L, S, B> {
    pub(super) table: Slots<OpenQuestion<L>, S>,
    pub(super) answers: Batch<B>,
}

impl<L: IdStorage, S: Table<Slot<OpenQuestion<L>>>, B: Table<u8>> Questions<L, S, B> {
    pub(super) fn new(store: S, limit: usize, answers: Batch<B>) -> Self {
        Self {
            table: Slots::new(store, limit),
            answers,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub(super) fn get(&self, key: Key) -> Option<&OpenQuestion<L>> {
        self.table.get(key)
    }

    /// The question that the server asked under this id.
    pub(super) fn find(&self, id: Id<'_>) -> Option<Key> {
        self.table
            .find(id.hash32(), |question| question.id.matches(id))
    }

    pub(super) fn insert(&mut self, question: OpenQuestion<L>) -> Result<Key, Full> {
        let (hash, batched) = (question.id.id().hash32(), question.batched);
        let key = self.table.insert(hash, question)?;
        if batched {
            self.answers.open();
        }
        Ok(key)
    }

    /// Takes out a question that is over. Returns whether there was one.
    pub(super) fn remove(&mut self, key: Key) -> bool {
        let question = self.table.remove(key);
        if question.as_ref().is_some_and(|question| question.batched) {
            self.answers.close();
        }
        question.is_some()
    }

    /// Undoes the arrival of a question: the same message comes again.
    pub(super) fn unread(&mut self, key: Key) -> bool {
        let found = self.remove(key);
        if found && self.answers.reading() != Reading::Outside {
            self.answers.uncount();
        }
        found
    }

    /// The server gave up the question and waits for an error.
    pub(super) fn refuse(&mut self, key: Key) {
        if let Some(question) = self.table.get_mut(key) {
            question.stage = Asked::Refused;
        }
        self.table.mark(Queue::Transmit, key);
    }

    /// The first question that is answered by such an error.
    pub(super) fn refused(&self) -> Option<Key> {
        self.table.first(Queue::Transmit)
    }

    /// The server is gone or has lost the session: questions can no longer be answered.
    pub(super) fn orphan(&mut self) {
        let mut at = 0;
        while let Some(key) = self.table.next_key(&mut at) {
            self.table.unmark(Queue::Transmit, key);
            match self.table.get_mut(key).map(|question| &mut question.stage) {
                Some(stage @ Asked::Open) => {
                    *stage = Asked::Orphaned;
                    self.table.mark(Queue::Event, key);
                }
                Some(Asked::Refused) => {
                    self.table.remove(key);
                }
                Some(Asked::Orphaned) | None => {}
            }
        }
    }

    /// Takes out the next question that ended without the application knowing.
    pub(super) fn next_orphan(&mut self) -> Option<Key> {
        let key = self.table.first(Queue::Event)?;
        self.table.remove(key);
        Some(key)
    }
}
