//! The newest record of a task.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use super::super::super::store::TaskRecord;
use super::super::engine::Engine;
use crate::error::ErrorReply;

/// The record of a task as far as it is known, and the wait for a newer one.
pub(super) struct Watched {
    pub(super) engine: Arc<Engine>,
    pub(super) record: TaskRecord,
    newer: Option<Pin<Box<dyn Future<Output = Newest> + Send>>>,
}

/// The newest record of a task in a store, if the store has one.
pub(super) type Newest = Result<Option<TaskRecord>, ErrorReply>;

impl Watched {
    pub(super) const fn new(engine: Arc<Engine>, record: TaskRecord) -> Self {
        Self {
            engine,
            record,
            newer: None,
        }
    }

    /// Ready when the record is newer; with `false` if the task is not known any more.
    pub(super) fn poll_newer(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        loop {
            let (engine, record) = (&self.engine, &self.record);
            let newer = &mut self.newer;
            let newer = newer.get_or_insert_with(|| engine.watch(record, Duration::ZERO));
            let Poll::Ready(newest) = newer.as_mut().poll(cx) else {
                return Poll::Pending;
            };
            self.newer = None;
            match newest {
                Ok(Some(newest)) if newest.version > record.version => {
                    self.record = newest;
                    return Poll::Ready(true);
                }
                Ok(None) => return Poll::Ready(false),
                // The store has failed, or its watch has ended without a reason.
                Ok(Some(_)) | Err(_) => self.newer = Some(engine.watch(record, PAUSE)),
            }
        }
    }

    /// Takes a record that was written here.
    pub(super) fn take(&mut self, newest: TaskRecord) {
        if newest.version > self.record.version {
            self.record = newest;
            self.newer = None;
        }
    }
}

/// The pause after a failure of the store.
const PAUSE: Duration = Duration::from_millis(100);
