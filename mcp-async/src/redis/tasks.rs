//! Tasks.

use core::time::Duration;

use redis::{Cmd, Value, cmd};

use super::error::Failure;
use super::events::messages;
use super::{RedisStore, decimal, milliseconds, scripts};
use crate::net::Network;
use crate::net::time::RuntimeSleep;
use crate::tasks::store::{TaskRecord, TaskStore, TaskStoreError, TaskStoreFuture};

impl<R: Network> RedisStore<R> {
    fn task(&self, id: &str) -> String {
        self.key("task", id)
    }

    fn tasks(&self, kind: &str) -> String {
        self.key("tasks", kind)
    }

    /// The field of a task.
    async fn field(&self, id: &str, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let mut command = cmd("HGET");
        command.arg(self.task(id)).arg(name);
        match self.command(&command).await? {
            Value::Nil => Ok(None),
            Value::BulkString(value) => Ok(Some(value)),
            _ => Err(Failure::Unexpected),
        }
    }
}

impl<R: Network> TaskStore for RedisStore<R> {
    fn create<'a>(&'a self, record: &'a TaskRecord) -> TaskStoreFuture<'a, bool> {
        Box::pin(async move {
            let owner = record.owner().unwrap_or_default();
            let keys = [
                self.task(record.id()),
                self.tasks(&format!("boot:{}", record.boot())),
                self.tasks("boots"),
                self.tasks("expiring"),
                self.tasks(&format!("owner:{owner}")),
            ];
            let keys = keys.each_ref().map(String::as_str);
            let expires = record.expires_at();
            let lives = expires.map(|at| at.saturating_sub(record.created_at()));
            let keep = lives.map(|lives| milliseconds(Duration::from_millis(lives) + AFTERWARDS));
            let arguments: [&[u8]; 7] = [
                record.id().as_bytes(),
                &record.to_bytes()?,
                &decimal(record.version()),
                record.boot().as_bytes(),
                &expires.map(decimal).unwrap_or_default(),
                &keep.unwrap_or_default(),
                flag(record.owner().is_some()),
            ];
            changed(self.run(&scripts::TASK_CREATE, &keys, &arguments).await?)
        })
    }

    fn load<'a>(&'a self, id: &'a str) -> TaskStoreFuture<'a, Option<TaskRecord>> {
        Box::pin(async move {
            let record = self.field(id, "d").await?;
            let record = record.map(|bytes| TaskRecord::from_bytes(&bytes));
            Ok(record.transpose()?)
        })
    }

    fn replace<'a>(&'a self, record: &'a TaskRecord) -> TaskStoreFuture<'a, bool> {
        Box::pin(async move {
            let Some(before) = record.version().checked_sub(1) else {
                return Ok(false);
            };
            let arguments: [&[u8]; 5] = [
                record.id().as_bytes(),
                &record.to_bytes()?,
                &decimal(before),
                &decimal(record.version()),
                flag(record.status().is_terminal()),
            ];
            let key = self.task(record.id());
            changed(
                self.run(&scripts::TASK_REPLACE, &[&key], &arguments)
                    .await?,
            )
        })
    }

    fn remove<'a>(&'a self, id: &'a str) -> TaskStoreFuture<'a, ()> {
        Box::pin(async move {
            let keys = [self.task(id), self.tasks("expiring")];
            let keys = keys.each_ref().map(String::as_str);
            changed(
                self.run(&scripts::TASK_REMOVE, &keys, &[id.as_bytes()])
                    .await?,
            )?;
            Ok(())
        })
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> TaskStoreFuture<'a, Vec<TaskRecord>> {
        Box::pin(async move {
            let key = self.tasks(&format!("owner:{owner}"));
            let after = after.map_or_else(|| "-".to_owned(), |id| format!("({id}"));
            let prefix = self.task("");
            let arguments: [&[u8]; 3] = [prefix.as_bytes(), after.as_bytes(), &at_most(limit)];
            records(self.run(&scripts::TASK_LIST, &[&key], &arguments).await?)
        })
    }

    fn expired<'a>(&'a self, now: u64, limit: usize) -> TaskStoreFuture<'a, Vec<TaskRecord>> {
        Box::pin(async move {
            let key = self.tasks("expiring");
            let prefix = self.task("");
            let arguments: [&[u8]; 3] = [prefix.as_bytes(), &decimal(now), &at_most(limit)];
            records(
                self.run(&scripts::TASK_EXPIRED, &[&key], &arguments)
                    .await?,
            )
        })
    }

    fn orphaned<'a>(&'a self, now: u64, limit: usize) -> TaskStoreFuture<'a, Vec<TaskRecord>> {
        Box::pin(async move {
            let key = self.tasks("boots");
            let (tasks, boots) = (self.task(""), self.tasks("boot:"));
            let arguments: [&[u8]; 4] = [
                tasks.as_bytes(),
                boots.as_bytes(),
                &decimal(now),
                &at_most(limit),
            ];
            records(
                self.run(&scripts::TASK_ORPHANED, &[&key], &arguments)
                    .await?,
            )
        })
    }

    fn watch<'a>(&'a self, id: &'a str, version: u64) -> TaskStoreFuture<'a, ()> {
        Box::pin(async move {
            loop {
                let current = self.field(id, "v").await?;
                let current = current.and_then(|text| String::from_utf8(text).ok()?.parse().ok());
                if current.is_none_or(|current: u64| current > version) {
                    return Ok(());
                }
                RuntimeSleep::<R>::after(LOOK).await;
            }
        })
    }

    fn renew<'a>(&'a self, boot: &'a str, until: u64) -> TaskStoreFuture<'a, ()> {
        Box::pin(async move {
            let mut command = cmd("ZADD");
            command.arg(self.tasks("boots")).arg(until).arg(boot);
            self.command(&command).await?;
            Ok(())
        })
    }

    fn is_alive<'a>(&'a self, boot: &'a str, now: u64) -> TaskStoreFuture<'a, bool> {
        Box::pin(async move {
            let mut command: Cmd = cmd("ZSCORE");
            command.arg(self.tasks("boots")).arg(boot);
            match self.command(&command).await? {
                Value::Nil => Ok(false),
                Value::BulkString(until) => {
                    let until = String::from_utf8(until).ok();
                    let until: Option<f64> = until.and_then(|until| until.parse().ok());
                    Ok(until.ok_or(Failure::Unexpected)? > now as f64)
                }
                _ => Err(Failure::Unexpected.into()),
            }
        })
    }
}

impl From<Failure> for TaskStoreError {
    fn from(failure: Failure) -> Self {
        Self::new(failure)
    }
}

/// Whether a script has changed something.
fn changed(reply: Value) -> Result<bool, TaskStoreError> {
    match reply {
        Value::Int(count) => Ok(count == 1),
        _ => Err(Failure::Unexpected.into()),
    }
}

fn records(reply: Value) -> Result<Vec<TaskRecord>, TaskStoreError> {
    let Value::Array(found) = reply else {
        return Err(Failure::Unexpected.into());
    };
    let records = messages(found)?.into_iter();
    Ok(records
        .map(|bytes| TaskRecord::from_bytes(&bytes))
        .collect::<Result<_, _>>()?)
}

const fn flag(set: bool) -> &'static [u8] {
    if set { b"1" } else { b"0" }
}

fn at_most(limit: usize) -> Vec<u8> {
    decimal(limit.min(MAX_RECORDS))
}

/// Records in one reply.
const MAX_RECORDS: usize = 1_000;

/// How often a task is looked at for changes of other processes.
const LOOK: Duration = Duration::from_millis(250);

/// How long a task is kept after it has expired: its server removes it before.
const AFTERWARDS: Duration = Duration::from_secs(3600);
