//! The questions of the server that the application has to answer.

use crate::id_buf::IdStorage;
use crate::received::{Received, ReceivedRequest, ReceivedRequests, Stage};
use crate::rpc::Id;
use crate::slots::{Key, Queue, SlotStore};
use crate::source::Pipe;
use crate::store::Store;

/// A question in a client's table.
#[derive(Clone, Debug)]
pub(crate) struct OpenQuestion<L>(Received<L, Pipe>);

impl<L: IdStorage> OpenQuestion<L> {
    /// A question as it arrived; `None` if its id is too long to be kept.
    pub(super) fn new(id: Id<'_>) -> Option<Self> {
        Received::new(id, Pipe).map(Self)
    }
}

impl<L: IdStorage> ReceivedRequest for OpenQuestion<L> {
    type Id = L;
    type Place = Pipe;

    const TOO_LARGE: &'static str = "the answer is too long";

    fn received(&self) -> &Received<L, Pipe> {
        &self.0
    }

    fn received_mut(&mut self) -> &mut Received<L, Pipe> {
        &mut self.0
    }
}

/// The table of questions.
pub(super) type Questions<L, S, B> = ReceivedRequests<OpenQuestion<L>, S, B>;

impl<L: IdStorage, S: SlotStore<OpenQuestion<L>>, B: Store<u8>> Questions<L, S, B> {
    /// Ends all questions: the server is gone, or has lost the session.
    pub(super) fn end_all(&mut self) {
        self.batch.clear();
        let mut at = 0;
        while let Some(key) = self.table.next_key(&mut at) {
            match self.table.get(key).map(|question| question.0.stage()) {
                Some(Stage::Running) => self.end(key),
                Some(Stage::Ended) | None => {}
                Some(Stage::Refused | Stage::Silent) => drop(self.remove(key)),
            }
        }
    }

    /// Takes out the next question that ended without the application knowing.
    pub(super) fn next_ended(&mut self) -> Option<Key> {
        let key = self.table.first(Queue::Event)?;
        self.remove(key);
        Some(key)
    }
}
