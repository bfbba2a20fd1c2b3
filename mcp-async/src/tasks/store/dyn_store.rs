//! A store of tasks whose type is not known.

use core::time::Duration;

use super::{TaskRecord, TaskStore, TaskStoreError};
use crate::runtime::BoxFuture;

/// A [`TaskStore`] as an object: its futures are in boxes.
pub(in crate::tasks) trait DynTaskStore: Send + Sync {
    fn create<'a>(&'a self, record: &'a TaskRecord) -> Answer<'a, bool>;
    fn load<'a>(&'a self, id: &'a str) -> Answer<'a, Option<TaskRecord>>;
    fn replace<'a>(&'a self, record: &'a TaskRecord) -> Answer<'a, bool>;
    fn remove<'a>(&'a self, id: &'a str) -> Answer<'a, ()>;
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> Answer<'a, Vec<TaskRecord>>;
    fn expired(&self, now: u64, limit: usize) -> Answer<'_, Vec<TaskRecord>>;
    fn orphaned(&self, limit: usize) -> Answer<'_, Vec<TaskRecord>>;
    fn watch<'a>(&'a self, id: &'a str, version: u64) -> Answer<'a, ()>;
    fn renew<'a>(&'a self, boot: &'a str, last: u64, lease: Duration) -> Answer<'a, u64>;
    fn is_alive<'a>(&'a self, boot: &'a str) -> Answer<'a, bool>;
    fn watches_are_prompt(&self) -> bool;
    fn is_shared(&self) -> bool;
}

impl<S: TaskStore> DynTaskStore for S {
    fn create<'a>(&'a self, record: &'a TaskRecord) -> Answer<'a, bool> {
        Box::pin(TaskStore::create(self, record))
    }

    fn load<'a>(&'a self, id: &'a str) -> Answer<'a, Option<TaskRecord>> {
        Box::pin(TaskStore::load(self, id))
    }

    fn replace<'a>(&'a self, record: &'a TaskRecord) -> Answer<'a, bool> {
        Box::pin(TaskStore::replace(self, record))
    }

    fn remove<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        Box::pin(TaskStore::remove(self, id))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> Answer<'a, Vec<TaskRecord>> {
        Box::pin(TaskStore::list(self, owner, after, limit))
    }

    fn expired(&self, now: u64, limit: usize) -> Answer<'_, Vec<TaskRecord>> {
        Box::pin(TaskStore::expired(self, now, limit))
    }

    fn orphaned(&self, limit: usize) -> Answer<'_, Vec<TaskRecord>> {
        Box::pin(TaskStore::orphaned(self, limit))
    }

    fn watch<'a>(&'a self, id: &'a str, version: u64) -> Answer<'a, ()> {
        Box::pin(TaskStore::watch(self, id, version))
    }

    fn renew<'a>(&'a self, boot: &'a str, last: u64, lease: Duration) -> Answer<'a, u64> {
        Box::pin(TaskStore::renew(self, boot, last, lease))
    }

    fn is_alive<'a>(&'a self, boot: &'a str) -> Answer<'a, bool> {
        Box::pin(TaskStore::is_alive(self, boot))
    }

    fn watches_are_prompt(&self) -> bool {
        TaskStore::watches_are_prompt(self)
    }

    fn is_shared(&self) -> bool {
        TaskStore::is_shared(self)
    }
}

/// The future of an answer.
pub(in crate::tasks) type Answer<'a, T> = BoxFuture<'a, Result<T, TaskStoreError>>;
