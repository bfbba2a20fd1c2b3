//! Stores that do what they should, and others.

use core::future::{Future, pending, ready};
use core::pin::pin;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mcp_async::Runtime as _;
use mcp_async::tasks::server::Tasks;
use mcp_async::tasks::store::{
    CheckError, MemoryTaskStore, TaskRecord, TaskStore, TaskStoreError, TaskStoreFuture, check,
};

use super::support::{about, accept, call, client, create, pass, server, sleep, status, update};
use crate::server_typed::support::{member, text};

/// A store that misbehaves from a certain call on.
#[derive(Clone)]
pub(crate) struct Hostile {
    store: MemoryTaskStore,
    fault: Fault,
    /// Calls that are answered well before the first fault.
    good: Arc<AtomicUsize>,
    /// The processes that it knows from this view of it.
    boots: Arc<Mutex<BTreeSet<String>>>,
    /// The reply to the next renewal that has its effect is lost.
    loses_renewal: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    Fails,
    Never,
    /// It does what it is asked, and says that it failed.
    Lies,
    /// It panics, in the call or in its future.
    Panics,
    /// It refuses each replacement, as if another process had been faster.
    Refuses,
    /// It does what it is asked, after this many milliseconds.
    Slow(u64),
    /// It says that it has removed records, and keeps them.
    Keeps,
    /// It answers with the record of another task.
    Confuses,
    /// It fails to remove the record that expires first, while there are several.
    Stuck,
}

impl Hostile {
    pub(crate) fn new(fault: Fault, good: usize) -> Self {
        Self::over(MemoryTaskStore::new(), fault, good)
    }

    pub(crate) fn over(store: MemoryTaskStore, fault: Fault, good: usize) -> Self {
        Self {
            store: store.clock(|| crate::sim::Sim.now()),
            fault,
            good: Arc::new(AtomicUsize::new(good)),
            boots: Arc::default(),
            loses_renewal: Arc::default(),
        }
    }

    /// The store loses what it knows of processes.
    pub(crate) fn forget_processes(&self) {
        for boot in &*self.boots.lock().unwrap() {
            drop(self.store.renew(boot, 0, Duration::ZERO));
        }
    }

    pub(crate) fn heal(&self) {
        self.good.store(usize::MAX / 2, Ordering::SeqCst);
    }

    pub(crate) fn lose_reply_to_renewal(&self) {
        self.loses_renewal.store(true, Ordering::SeqCst);
    }

    pub(crate) fn fail_after(&self, good: usize) {
        self.good.store(good, Ordering::SeqCst);
    }

    fn answer<'a, T: Send + 'a>(
        &self,
        future: TaskStoreFuture<'a, T>,
        refused: Option<T>,
    ) -> TaskStoreFuture<'a, T> {
        let count = |left: usize| left.checked_sub(1);
        let is_good = self
            .good
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, count)
            .is_ok();
        match (self.fault, refused) {
            _ if is_good => future,
            (Fault::Fails, _) => Box::pin(ready(Err(TaskStoreError::new("down")))),
            (Fault::Never, _) => Box::pin(pending()),
            (Fault::Panics, Some(_)) => panic!("secret"),
            (Fault::Panics, None) => Box::pin(async { panic!("secret") }),
            (Fault::Lies, _) => Box::pin(async move {
                future.await?;
                Err(TaskStoreError::new("lost"))
            }),
            (Fault::Slow(millis), _) => Box::pin(async move {
                sleep(millis).await;
                future.await
            }),
            (Fault::Keeps | Fault::Stuck | Fault::Confuses, _) => future,
            (Fault::Refuses, Some(refused)) => Box::pin(ready(Ok(refused))),
            (Fault::Refuses, None) => future,
        }
    }
}

impl TaskStore for Hostile {
    fn create<'a>(&'a self, record: &'a TaskRecord) -> TaskStoreFuture<'a, bool> {
        self.answer(self.store.create(record), None)
    }

    fn load<'a>(&'a self, id: &'a str) -> TaskStoreFuture<'a, Option<TaskRecord>> {
        if self.fault == Fault::Confuses && self.good.load(Ordering::SeqCst) == 0 {
            return Box::pin(async move {
                let all = self.store.expired(u64::MAX, usize::MAX).await?;
                Ok(all.into_iter().find(|record| record.id() != id))
            });
        }
        self.answer(self.store.load(id), None)
    }

    fn replace<'a>(&'a self, record: &'a TaskRecord) -> TaskStoreFuture<'a, bool> {
        self.answer(self.store.replace(record), Some(false))
    }

    fn remove<'a>(&'a self, id: &'a str) -> TaskStoreFuture<'a, ()> {
        if self.fault == Fault::Keeps {
            return Box::pin(ready(Ok(())));
        }
        if self.fault == Fault::Stuck {
            return Box::pin(async move {
                let first = self.store.expired(u64::MAX, 1).await?;
                let is_first = first.first().is_some_and(|first| first.id() == id);
                match is_first && self.store.len() > 1 {
                    true => Err(TaskStoreError::new("stuck")),
                    false => self.store.remove(id).await,
                }
            });
        }
        self.answer(self.store.remove(id), None)
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> TaskStoreFuture<'a, Vec<TaskRecord>> {
        self.answer(self.store.list(owner, after, limit), None)
    }

    fn expired<'a>(&'a self, now: u64, limit: usize) -> TaskStoreFuture<'a, Vec<TaskRecord>> {
        self.answer(self.store.expired(now, limit), None)
    }

    fn orphaned(&self, limit: usize) -> TaskStoreFuture<'_, Vec<TaskRecord>> {
        self.answer(self.store.orphaned(limit), None)
    }

    fn watch<'a>(&'a self, id: &'a str, version: u64) -> TaskStoreFuture<'a, ()> {
        self.answer(self.store.watch(id, version), None)
    }

    fn renew<'a>(&'a self, boot: &'a str, last: u64, lease: Duration) -> TaskStoreFuture<'a, u64> {
        // What is not answered is not done either.
        let renewed = async move {
            self.boots.lock().unwrap().insert(boot.to_owned());
            let renewed = self.store.renew(boot, last, lease).await;
            match self.loses_renewal.swap(false, Ordering::SeqCst) {
                true => Err(TaskStoreError::new("lost")),
                false => renewed,
            }
        };
        self.answer(Box::pin(renewed), None)
    }

    fn is_alive<'a>(&'a self, boot: &'a str) -> TaskStoreFuture<'a, bool> {
        self.answer(self.store.is_alive(boot), None)
    }
}

fn checked(store: &dyn TaskStore) -> Result<(), CheckError> {
    let mut cx = Context::from_waker(Waker::noop());
    match pin!(check(store)).poll(&mut cx) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the check waits"),
    }
}

#[test]
fn the_store_in_memory_passes_the_check() {
    let store = MemoryTaskStore::new();
    checked(&store).unwrap();
    assert!(store.is_empty());
    for good in 3..60 {
        for fault in [Fault::Fails, Fault::Lies, Fault::Refuses] {
            let result = checked(&Hostile::new(fault, good));
            assert!(result.is_err() || good > 7, "{fault:?} from call {good} on");
        }
    }
}

/// Whatever a store does, and from which call on: a call is answered in time, and a task that the
/// client knows of ends in one way once the store works again.
/// TK-61
#[test]
fn a_hostile_store_neither_hangs_nor_tears_a_task() {
    for fault in [
        Fault::Fails,
        Fault::Never,
        Fault::Panics,
        Fault::Lies,
        Fault::Refuses,
    ] {
        for good in 0..24 {
            let store = Hostile::new(fault, good);
            let tasks = Tasks::new()
                .ttl(Some(Duration::from_secs(60)))
                .store_timeout(Duration::from_millis(100));
            let (server, running) = server(tasks.store(store.clone()));
            let mut wire = client(&server);
            let asked = wire.send(
                "tools/call",
                r#"{"name":"job","arguments":{"steps":1,"ask":1}}"#,
            );
            for _ in 0..20 {
                pass(50);
            }
            let created = wire.answer(asked).expect("an answer in time");
            if !member(&created, &["error"]).is_empty() {
                assert_eq!(
                    text(&created, &["error", "message"]),
                    "the store of tasks failed",
                    "{created}"
                );
                store.heal();
                for _ in 0..30 {
                    pass(500);
                }
                assert!(store.store.is_empty(), "{fault:?} {good}");
                assert_eq!(running.get(), 0);
                continue;
            }
            let id = text(&created, &["result", "taskId"]);
            store.heal();
            for _ in 0..20 {
                pass(500);
            }
            assert_eq!(status(&mut wire, &id), "input_required", "{fault:?} {good}");
            update(&mut wire, &id, &accept("q1", "yes"));
            pass(500);
            let got = about(&mut wire, "tasks/get", &id);
            assert!(got.contains("done yes"), "{fault:?} {good}: {got}");
            assert_eq!(running.get(), 0);
            drop(wire);
            for _ in 0..130 {
                pass(500);
            }
            assert!(store.store.is_empty());
            crate::sim::end();
        }
    }
}

/// TK-61
#[test]
fn a_task_whose_process_has_ended_fails_after_a_lease_of_the_next_one() {
    let store = Hostile::new(Fault::Fails, usize::MAX / 2);
    let lease = Duration::from_millis(1500);
    let (first, running) = server(Tasks::new().store(store.clone()).lease(lease));
    let mut wire = client(&first);
    let done = create(&mut wire, "job", "{}");
    let lost = create(&mut wire, "job", r#"{"steps":100}"#);
    pass(150);
    assert_eq!(running.get(), 1);
    drop((wire, first));
    crate::sim::end();
    let (second, _) = server(Tasks::new().store(store).lease(lease));
    let mut wire = client(&second);
    assert_eq!(status(&mut wire, &done), "completed");
    for _ in 0..5 {
        pass(500);
    }
    let got = about(&mut wire, "tasks/get", &lost);
    assert_eq!(text(&got, &["result", "status"]), "failed");
    assert_eq!(member(&got, &["result", "error", "code"]), "-32603");
    crate::sim::end();
}

/// TK-61
#[test]
fn what_arrives_at_another_process_reaches_the_task() {
    let store = Hostile::new(Fault::Fails, usize::MAX / 2);
    let (first, running) = server(Tasks::new().store(store.clone()));
    let (second, _) = server(Tasks::new().store(store));
    let (mut here, mut there) = (client(&first), client(&second));
    let asks = create(&mut here, "job", r#"{"ask":1}"#);
    let works = create(&mut here, "job", r#"{"steps":100}"#);
    assert_eq!(status(&mut there, &asks), "input_required");
    update(&mut there, &asks, &accept("q1", "there"));
    pass(500);
    let got = about(&mut here, "tasks/get", &asks);
    assert!(got.contains("done there"), "{got}");
    about(&mut there, "tasks/cancel", &works);
    pass(500);
    assert_eq!(running.get(), 0);
    assert_eq!(status(&mut here, &works), "cancelled");
    let refused = call(&mut there, "job_only", "[]");
    assert_eq!(member(&refused, &["error", "code"]), "-32602");
    crate::sim::end();
}

#[test]
fn a_dropped_watch_leaves_no_waker() {
    struct Count;
    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {}
    }
    let store = MemoryTaskStore::new();
    let record = TaskRecord::new("a", "boot", 0);
    let mut noop = Context::from_waker(Waker::noop());
    assert!(store.create(&record).as_mut().poll(&mut noop).is_ready());
    let count = Arc::new(Count);
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);
    let before = Arc::strong_count(&count);
    for _ in 0..3 {
        let mut watch = store.watch("a", 1);
        assert!(watch.as_mut().poll(&mut cx).is_pending());
        assert!(watch.as_mut().poll(&mut cx).is_pending());
    }
    assert_eq!(Arc::strong_count(&count), before);
}
