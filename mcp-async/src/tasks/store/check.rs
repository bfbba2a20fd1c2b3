//! A test of stores of tasks.

use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::{Poll, ready};
use core::time::Duration;

use super::{TaskRecord, TaskStore, TaskStoreError};

/// Checks that a store does what [`TaskStore`] says, with tasks whose ids begin with `check-`, which
/// it removes. The store must not be in use by a server meanwhile. The check waits for as long as a
/// [watch](TaskStore::watch) does, so give it a timeout.
///
/// # Errors
/// The first rule that the store breaks, or its error.
///
/// ```
/// use mcp_async::tasks::store::{MemoryTaskStore, check};
///
/// # async fn test() {
/// check(&MemoryTaskStore::new()).await.unwrap();
/// # }
/// # let mut test = core::pin::pin!(test());
/// # let mut cx = core::task::Context::from_waker(core::task::Waker::noop());
/// # assert!(core::future::Future::poll(test.as_mut(), &mut cx).is_ready());
/// ```
pub async fn check(store: &impl TaskStore) -> Result<(), CheckError> {
    for id in [A, B, C] {
        store.remove(id).await?;
    }
    records(store).await?;
    lists(store).await?;
    times(store).await?;
    watches(store).await?;
    for id in [A, B, C] {
        store.remove(id).await?;
    }
    Ok(())
}

async fn records(store: &impl TaskStore) -> Result<(), CheckError> {
    let first = TaskRecord::new(A, BOOT, 1_000).with_owner(Some(OWNER));
    let rule = |holds, rule| require(holds, rule);
    rule(
        store.load(A).await?.is_none(),
        "an unknown id has no record",
    )?;
    rule(
        !store.replace(&first.failed("x")).await?,
        "a record that does not exist is not replaced",
    )?;
    rule(
        store.load(A).await?.is_none(),
        "a replacement creates no record",
    )?;
    rule(store.create(&first).await?, "a new record is created")?;
    rule(
        store.load(A).await?.as_ref() == Some(&first),
        "a record is found as it was created",
    )?;
    let other = first.clone().with_owner(Some("check-other"));
    rule(!store.create(&other).await?, "an id is created once")?;
    let second = first.failed("x");
    rule(store.replace(&second).await?, "the next version replaces")?;
    rule(
        !store.replace(&second).await?,
        "the same version does not replace twice",
    )?;
    rule(
        !store.replace(&second.failed("y").failed("z")).await?,
        "a version is not left out",
    )?;
    rule(
        store.load(A).await?.as_ref() == Some(&second),
        "what was refused changes nothing",
    )?;
    store.remove(A).await?;
    store.remove(A).await?;
    rule(
        store.load(A).await?.is_none(),
        "a record that was removed is gone",
    )
}

async fn lists(store: &impl TaskStore) -> Result<(), CheckError> {
    for id in [C, A, B] {
        let owner = if id == C { "check-other" } else { OWNER };
        let record = TaskRecord::new(id, BOOT, 1_000).with_owner(Some(owner));
        require(store.create(&record).await?, "a removed id can be created")?;
    }
    let ids = |records: Vec<TaskRecord>| -> Vec<String> {
        records.iter().map(|record| record.id().into()).collect()
    };
    let all = ids(store.list(OWNER, None, 10).await?);
    require(
        all == [A, B],
        "an owner's tasks are listed by id, no others",
    )?;
    let first = ids(store.list(OWNER, None, 1).await?);
    require(first == [A], "a list has a limit")?;
    let rest = ids(store.list(OWNER, Some(A), 10).await?);
    require(rest == [B], "a list continues after an id")?;
    for id in [A, B, C] {
        store.remove(id).await?;
    }
    let none = store.list(OWNER, None, 10).await?;
    require(none.is_empty(), "what was removed is not listed")
}

async fn times(store: &impl TaskStore) -> Result<(), CheckError> {
    let kept = TaskRecord::new(A, BOOT, 1_000);
    let short = TaskRecord::new(B, BOOT, 1_000).with_ttl(Some(10));
    store.create(&kept).await?;
    store.create(&short).await?;
    let has = |records: &[TaskRecord], id| records.iter().any(|record| record.id() == id);
    let expired = store.expired(1_009, usize::MAX).await?;
    require(!has(&expired, B), "a task does not expire before its time")?;
    let expired = store.expired(1_010, usize::MAX).await?;
    require(
        has(&expired, B) && !has(&expired, A),
        "a task expires at its time, one without a time never",
    )?;
    require(
        !store.is_alive("check-unknown").await?,
        "an unknown process is not alive",
    )?;
    let minute = Duration::from_secs(60);
    let first = store.renew(BOOT, 0, minute).await?;
    let second = store.renew(BOOT, first, minute).await?;
    require(
        first > 0 && second == first,
        "a lease that is renewed keeps its number",
    )?;
    let forgotten = store.renew(BOOT, 0, minute).await?;
    require(
        forgotten > first,
        "a process that does not know its lease begins another one",
    )?;
    require(
        store.is_alive(BOOT).await?,
        "a process is alive during its lease",
    )?;
    store.replace(&short.failed("x")).await?;
    let orphaned = store.orphaned(usize::MAX).await?;
    require(!has(&orphaned, A), "a task of a live process has one")?;
    store.renew(BOOT, forgotten, Duration::ZERO).await?;
    require(
        !store.is_alive(BOOT).await?,
        "a process is not alive after its lease",
    )?;
    let orphaned = store.orphaned(usize::MAX).await?;
    require(
        has(&orphaned, A) && !has(&orphaned, B),
        "tasks of a dead process that are not terminal are found",
    )?;
    let next = store.renew(BOOT, forgotten, Duration::ZERO).await?;
    require(next > forgotten, "a lease that is over is not renewed")?;
    let later = store.renew(BOOT, 1 << 52, Duration::ZERO).await?;
    require(
        later > 1 << 52,
        "a lease is greater than one that the store has forgotten",
    )?;
    store.remove(A).await?;
    store.remove(B).await?;
    let expired = store.expired(u64::MAX, usize::MAX).await?;
    require(!has(&expired, B), "what was removed does not expire")
}

async fn watches(store: &impl TaskStore) -> Result<(), CheckError> {
    store.watch(A, 0).await?;
    let first = TaskRecord::new(A, BOOT, 1_000);
    store.create(&first).await?;
    store.watch(A, 0).await?;
    let replaced = async {
        let replaced = store.replace(&first.failed("x")).await?;
        require(replaced, "the next version replaces")
    };
    both(store.watch(A, 1), replaced).await?;
    let removed = async { Ok(store.remove(A).await?) };
    both(store.watch(A, 2), removed).await
}

/// Waits for the watch, which begins before the change.
async fn both(
    watch: impl Future<Output = Result<(), TaskStoreError>>,
    change: impl Future<Output = Result<(), CheckError>>,
) -> Result<(), CheckError> {
    let (mut watch, mut change) = (pin!(watch), pin!(change));
    let (mut watched, mut changed) = (false, false);
    poll_fn(|cx| {
        loop {
            if !watched && let Poll::Ready(result) = watch.as_mut().poll(cx) {
                result?;
                watched = true;
            }
            if changed {
                return match watched {
                    true => Poll::Ready(Ok(())),
                    false => Poll::Pending,
                };
            }
            ready!(change.as_mut().poll(cx))?;
            changed = true;
        }
    })
    .await
}

fn require(holds: bool, rule: &'static str) -> Result<(), CheckError> {
    match holds {
        true => Ok(()),
        false => Err(CheckError::Broken(rule)),
    }
}

/// Reasons for which [`check`] fails.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckError {
    /// The store breaks this rule.
    Broken(&'static str),
    /// The store failed.
    Failed(TaskStoreError),
}

impl From<TaskStoreError> for CheckError {
    fn from(error: TaskStoreError) -> Self {
        Self::Failed(error)
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(rule) => write!(f, "not so: {rule}"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for CheckError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Broken(_) => None,
            Self::Failed(error) => error.source(),
        }
    }
}

const A: &str = "check-a";
const B: &str = "check-b";
const C: &str = "check-c";
const BOOT: &str = "check-boot";
const OWNER: &str = "check-owner";
