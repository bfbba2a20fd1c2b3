//! The thread that writes to the file.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use redb::{Database, Durability, Error};

use super::super::TaskStoreError;
use super::change::Change;
use super::tables::apply;
use crate::connection::oneshot::{self, Sender};

/// The thread, as the store uses it. Dropping it ends the thread, after its last change.
pub(super) struct Writer {
    /// `None` while it is dropped.
    changes: Option<SyncSender<Wanted>>,
    thread: Option<JoinHandle<()>>,
}

/// A change, and who waits for it.
struct Wanted {
    change: Change,
    answer: Sender<Result<bool, TaskStoreError>>,
}

impl Wanted {
    /// Returns true if the change is to be made: a replacement that was given up is tried again as
    /// another change.
    fn is_awaited(&self) -> bool {
        !matches!(self.change, Change::Replace(_)) || self.answer.is_awaited()
    }

    fn answer(self, made: Result<bool, TaskStoreError>, changed: &impl Fn(&str)) {
        let is_made = matches!(made, Ok(true));
        self.answer.send(made);
        if is_made {
            changed(self.change.id());
        }
    }
}

impl Writer {
    /// Starts the thread, which calls `changed` with the id of each record that has changed.
    pub(super) fn start(
        database: Arc<Database>,
        changed: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, TaskStoreError> {
        let (changes, wanted) = sync_channel(WAITING);
        let thread = thread::Builder::new()
            .name("mcp-task-store".into())
            .spawn(move || run(&database, &wanted, &changed))
            .map_err(TaskStoreError::new)?;
        Ok(Self {
            changes: Some(changes),
            thread: Some(thread),
        })
    }

    /// Makes the change, and resolves when it is written.
    pub(super) fn change(
        &self,
        change: Change,
    ) -> impl Future<Output = Result<bool, TaskStoreError>> + Send + use<> {
        let (answer, made) = oneshot::channel();
        let wanted = Wanted { change, answer };
        let is_full = self
            .changes
            .as_ref()
            .is_some_and(|changes| matches!(changes.try_send(wanted), Err(TrySendError::Full(_))));
        async move {
            if is_full {
                return Err(TaskStoreError::new(FULL));
            }
            // Without the thread the answer is dropped.
            let made = made.recv().await;
            made.unwrap_or_else(|| Err(TaskStoreError::new(ENDED)))
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.changes = None;
        // A waker that has the last handle is woken, and dropped, by the thread itself.
        let is_other = |thread: &JoinHandle<()>| thread.thread().id() != thread::current().id();
        if let Some(thread) = self.thread.take().filter(is_other) {
            // A panic was reported by the hook.
            let _ = thread.join();
        }
    }
}

fn run(database: &Database, wanted: &Receiver<Wanted>, changed: &impl Fn(&str)) {
    while let Ok(first) = wanted.recv() {
        let batch = core::iter::once(first).chain(wanted.try_iter().take(BATCH));
        let batch: Vec<Wanted> = batch.filter(Wanted::is_awaited).collect();
        if batch.is_empty() {
            continue;
        }
        match write(database, &batch) {
            Ok(made) => {
                for (wanted, made) in batch.into_iter().zip(made) {
                    wanted.answer(Ok(made), changed);
                }
            }
            // Nothing was written. One change may be the cause, so each is tried alone.
            Err(_) => {
                for wanted in batch {
                    let made = write(database, core::slice::from_ref(&wanted));
                    let made = made.map(|made| made.contains(&true));
                    wanted.answer(made.map_err(TaskStoreError::new), changed);
                }
            }
        }
    }
}

/// Makes all changes in one transaction.
fn write(database: &Database, batch: &[Wanted]) -> Result<Vec<bool>, Error> {
    let mut writing = database.begin_write()?;
    if batch.iter().all(|wanted| wanted.change.may_be_lost()) {
        writing.set_durability(Durability::None)?;
    }
    let made = batch.iter().map(|wanted| apply(&writing, &wanted.change));
    let made = made.collect::<Result<Vec<bool>, Error>>()?;
    writing.commit()?;
    Ok(made)
}

/// Changes of one transaction, after its first.
const BATCH: usize = 255;

/// Changes that wait for the thread: with records of a megabyte a gigabyte.
const WAITING: usize = 1024;

const FULL: &str = "limit reached: changes that wait for the disk";
const ENDED: &str = "the thread of the store has ended";
