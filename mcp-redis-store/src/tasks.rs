//! Tasks.
//!
//! A task is one key, and each set of tasks is another one. A task is created before it is added to the
//! sets, and removed before it is taken out of them. So an id in a set without a task is one of a task
//! that has ended, and the process that finds it takes it out.

use core::time::Duration;
use std::time::Instant;

use redis::{Value, cmd};

use crate::error::Failure;
use crate::scripts::TASK_LAYOUT;
use crate::time::{all, sleep};
use crate::{RedisStore, bytes, decimal, list, milliseconds, number, parts, scripts, text};
use mcp_async::tasks::store::{TaskRecord, TaskStore, TaskStoreError};

impl RedisStore {
    fn task(&self, id: &str) -> String {
        self.key("task", id)
    }

    fn tasks(&self, kind: &str) -> String {
        self.key("tasks", &format!("{TASK_LAYOUT}:{kind}"))
    }

    fn tasks_of_boot(&self, boot: &str) -> String {
        self.tasks(&format!("boot:{boot}"))
    }

    fn tasks_of_owner(&self, owner: &str) -> String {
        self.tasks(&format!("owner:{owner}"))
    }

    /// Changes a set of tasks.
    async fn change(
        &self,
        name: &str,
        key: String,
        arguments: &[&[u8]],
        deadline: Instant,
    ) -> Result<(), Failure> {
        let mut command = cmd(name);
        command.arg(key);
        for argument in arguments {
            command.arg(*argument);
        }
        self.command(&command, deadline).await.map(|_| ())
    }

    /// A field of a task, whose layout must be known.
    async fn field(
        &self,
        id: &str,
        name: &str,
        deadline: Instant,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let mut command = cmd("HMGET");
        command.arg(self.task(id)).arg("v").arg(name);
        match parts(self.command(&command, deadline).await?)? {
            [Value::Nil, _] | [_, Value::Nil] => Ok(None),
            [Value::BulkString(layout), value] if layout == TASK_LAYOUT.as_bytes() => {
                Ok(Some(bytes(value)?))
            }
            _ => Err(Failure::Layout),
        }
    }

    async fn record(
        &self,
        id: &str,
        deadline: Instant,
    ) -> Result<Option<TaskRecord>, TaskStoreError> {
        let record = self.field(id, "d", deadline).await?;
        let record = record.map(|bytes| TaskRecord::from_bytes(&bytes));
        Ok(record.transpose()?)
    }

    /// The tasks with these ids of a set, which those that have ended are taken out of. Tasks of other layouts, and records that
    /// cannot be read, are left out: `load` returns the error.
    async fn records(
        &self,
        ids: &[String],
        set: &str,
        remove: &str,
        deadline: Instant,
    ) -> Result<Page, TaskStoreError> {
        let mut page = Page::default();
        for ids in ids.chunks(AT_ONCE) {
            let fields = all(ids.iter().map(|id| self.field(id, "d", deadline))).await;
            for (id, field) in ids.iter().zip(fields) {
                match field {
                    Ok(Some(bytes)) => match TaskRecord::from_bytes(&bytes) {
                        Ok(record) => page.records.push(record),
                        Err(_) => page.left_out += 1,
                    },
                    Ok(None) => {
                        let ended = [id.as_bytes()];
                        self.change(remove, set.to_owned(), &ended, deadline)
                            .await?;
                    }
                    Err(Failure::Layout) => page.left_out += 1,
                    Err(failure) => return Err(failure.into()),
                }
            }
        }
        Ok(page)
    }

    /// Adds a task to the sets that it belongs to.
    async fn enlist(&self, record: &TaskRecord, deadline: Instant) -> Result<(), Failure> {
        let id = record.id().as_bytes();
        self.change("SADD", self.tasks_of_boot(record.boot()), &[id], deadline)
            .await?;
        let boots = self.tasks("boots");
        let arguments = [record.boot().as_bytes()];
        self.run_until(&scripts::BOOT_NOTE, &boots, &arguments, deadline)
            .await?;
        if let Some(at) = record.expires_at() {
            let arguments: [&[u8]; 2] = [&decimal(at), id];
            self.change("ZADD", self.tasks("expiring"), &arguments, deadline)
                .await?;
        }
        if let Some(owner) = record.owner() {
            let arguments: [&[u8]; 2] = [b"0", id];
            self.change("ZADD", self.tasks_of_owner(owner), &arguments, deadline)
                .await?;
        }
        Ok(())
    }
}

/// Some tasks of a set.
#[derive(Default)]
struct Page {
    records: Vec<TaskRecord>,
    /// The number of others that stay in the set.
    left_out: usize,
}

impl TaskStore for RedisStore {
    async fn create(&self, record: &TaskRecord) -> Result<bool, TaskStoreError> {
        let deadline = self.link.deadline();
        let expires = record.expires_at();
        let lives = expires.map(|at| at.saturating_sub(record.created_at()));
        let keep = lives
            .map(|lives| milliseconds(Duration::from_millis(lives).saturating_add(AFTERWARDS)));
        let bytes = record.to_bytes()?;
        let version = decimal(record.version());
        let keep = keep.unwrap_or_default();
        let mut arguments = vec![&*bytes, &version, record.boot().as_bytes(), &keep];
        arguments.extend(record.owner().map(str::as_bytes));
        let key = self.task(record.id());
        let created = self
            .run_until(&scripts::TASK_CREATE, &key, &arguments, deadline)
            .await?;
        if number(&created)? == 0 {
            return Ok(false);
        }
        if let Err(failure) = self.enlist(record, deadline).await {
            // Without a time to live it would stay; what fails here fails for the same reason.
            let _ = self.run(&scripts::TASK_REMOVE, &key, &[]).await;
            return Err(failure.into());
        }
        Ok(true)
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        self.record(id, self.link.deadline()).await
    }

    async fn replace(&self, record: &TaskRecord) -> Result<bool, TaskStoreError> {
        let Some(before) = record.version().checked_sub(1) else {
            return Ok(false);
        };
        let deadline = self.link.deadline();
        let arguments: [&[u8]; 3] = [
            &record.to_bytes()?,
            &decimal(before),
            &decimal(record.version()),
        ];
        let key = self.task(record.id());
        let replaced = self
            .run_until(&scripts::TASK_REPLACE, &key, &arguments, deadline)
            .await?;
        if number(&replaced)? == 0 {
            return Ok(false);
        }
        if record.status().is_terminal() {
            let set = self.tasks_of_boot(record.boot());
            let id = [record.id().as_bytes()];
            // The task is replaced; `orphaned` takes it out otherwise.
            let _ = self.change("SREM", set, &id, deadline).await;
        }
        Ok(true)
    }

    async fn remove(&self, id: &str) -> Result<(), TaskStoreError> {
        let deadline = self.link.deadline();
        let removed = self
            .run_until(&scripts::TASK_REMOVE, &self.task(id), &[], deadline)
            .await?;
        let [boot, owner] = parts(removed)?;
        let (boot, id) = (text(boot)?, [id.as_bytes()]);
        if boot.is_empty() {
            return Ok(());
        }
        self.change("SREM", self.tasks_of_boot(&boot), &id, deadline)
            .await?;
        self.change("ZREM", self.tasks("expiring"), &id, deadline)
            .await?;
        if owner != Value::Nil {
            let set = self.tasks_of_owner(&text(owner)?);
            self.change("ZREM", set, &id, deadline).await?;
        }
        Ok(())
    }

    async fn list(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, TaskStoreError> {
        let deadline = self.link.deadline();
        let limit = limit.min(MAX_RECORDS);
        let set = self.tasks_of_owner(owner);
        let mut after = after.map_or_else(|| "-".to_owned(), |id| format!("({id}"));
        let mut found = Vec::new();
        while found.len() < limit {
            let wanted = limit - found.len();
            let mut command = cmd("ZRANGEBYLEX");
            command
                .arg(&set)
                .arg(after)
                .arg("+")
                .arg("LIMIT")
                .arg(0)
                .arg(wanted);
            let ids = texts(self.command(&command, deadline).await?)?;
            let Some(last) = ids.last() else {
                break;
            };
            after = format!("({last}");
            found.extend(self.records(&ids, &set, "ZREM", deadline).await?.records);
        }
        Ok(found)
    }

    async fn expired(&self, now: u64, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        let deadline = self.link.deadline();
        let set = self.tasks("expiring");
        let limit = limit.min(MAX_RECORDS);
        let (mut found, mut left_out) = (Vec::new(), 0);
        while found.len() < limit {
            let mut command = cmd("ZRANGEBYSCORE");
            command.arg(&set).arg("-inf").arg(now);
            command.arg("LIMIT").arg(found.len() + left_out).arg(limit);
            let ids = texts(self.command(&command, deadline).await?)?;
            if ids.is_empty() {
                break;
            }
            let page = self.records(&ids, &set, "ZREM", deadline).await?;
            found.extend(page.records);
            left_out += page.left_out;
        }
        found.truncate(limit);
        Ok(found)
    }

    async fn orphaned(&self, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        let deadline = self.link.deadline();
        let limit = limit.min(MAX_RECORDS);
        let boots = self.tasks("boots");
        let mut found = Vec::new();
        for boot in texts(
            self.run_until(&scripts::BOOTS_DEAD, &boots, &[], deadline)
                .await?,
        )? {
            // There may be many, and each has its own time.
            let deadline = self.link.deadline();
            let set = self.tasks_of_boot(&boot);
            let mut command = cmd("SMEMBERS");
            command.arg(&set);
            let ids = match self.command(&command, deadline).await? {
                Value::Set(ids) => texts(Value::Array(ids))?,
                ids => texts(ids)?,
            };
            if ids.is_empty() {
                let arguments = [boot.as_bytes(), &milliseconds(AFTERWARDS)];
                self.run_until(&scripts::BOOT_FORGET, &boots, &arguments, deadline)
                    .await?;
            }
            for ids in ids.chunks(AT_ONCE) {
                for record in self.records(ids, &set, "SREM", deadline).await?.records {
                    if record.status().is_terminal() {
                        let id = [record.id().as_bytes()];
                        self.change("SREM", set.clone(), &id, deadline).await?;
                    } else {
                        found.push(record);
                    }
                }
                if found.len() >= limit {
                    found.truncate(limit);
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    async fn watch(&self, id: &str, version: u64) -> Result<(), TaskStoreError> {
        loop {
            let current = self.field(id, "n", self.link.deadline()).await?;
            let current = current.map(|text| number(&Value::BulkString(text)));
            if current.transpose()?.is_none_or(|current| current > version) {
                return Ok(());
            }
            sleep(LOOK).await;
        }
    }

    async fn renew(&self, boot: &str, last: u64, lease: Duration) -> Result<u64, TaskStoreError> {
        let lease = lease.as_millis().min(u128::from(u32::MAX));
        let arguments: [&[u8]; 3] = [boot.as_bytes(), &decimal(last), &decimal(lease)];
        let boots = self.tasks("boots");
        let renewed = self.run(&scripts::BOOT_RENEW, &boots, &arguments).await?;
        Ok(number(&renewed)?)
    }

    async fn is_alive(&self, boot: &str) -> Result<bool, TaskStoreError> {
        let (boots, deadline) = (self.tasks("boots"), self.link.deadline());
        let [lease] = self.leases_of(&boots, [boot], deadline).await?;
        Ok(lease.is_some())
    }
}

fn texts(values: Value) -> Result<Vec<String>, Failure> {
    list(values)?.into_iter().map(text).collect()
}

/// Records in one answer.
const MAX_RECORDS: usize = 1_000;

/// Records that are read at a time.
const AT_ONCE: usize = 50;

/// The interval at which a task is read again for changes by other processes.
const LOOK: Duration = Duration::from_millis(250);

/// The time for which a task is kept after it has expired, and a process that does not live without
/// a task: others remove the task before, and no process creates one so late.
const AFTERWARDS: Duration = Duration::from_secs(3600);
