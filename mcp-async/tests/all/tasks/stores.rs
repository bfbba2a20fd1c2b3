//! Stores that do what they should, and others.

use core::future::{Future, pending, poll_fn};
use core::pin::pin;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::task::{Context, Waker};
use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mcp_async::runtime::Runtime as _;
use mcp_async::tasks::server::Tasks;
use mcp_async::tasks::store::{MemoryTaskStore, TaskRecord, TaskStore, TaskStoreError, check};

use super::support::{about, accept, call, client, create, pass, server, sleep, status, update};
use crate::scripted::{member, text};
use crate::sim::done;
use crate::texts::has;

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
    /// Records that were read, and polls of those who wait for a change.
    looks: Arc<AtomicUsize>,
    is_prompt: bool,
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
            looks: Arc::default(),
            is_prompt: false,
        }
    }

    /// A store without a fault, whose watches are prompt or not.
    pub(crate) fn counted(is_prompt: bool) -> Self {
        Self {
            is_prompt,
            ..Self::new(Fault::Fails, usize::MAX / 2)
        }
    }

    /// The number of looks at records since it was last read.
    pub(crate) fn take_looks(&self) -> usize {
        self.looks.swap(0, Ordering::SeqCst)
    }

    /// The store loses what it knows of processes.
    pub(crate) fn forget_processes(&self) {
        for boot in &*self.boots.lock().unwrap() {
            let renewed = pin!(self.store.renew(boot, 0, Duration::ZERO));
            assert!(
                renewed
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_ready()
            );
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

    fn answer<T: Send>(
        &self,
        future: impl Future<Output = Result<T, TaskStoreError>> + Send,
        refused: Option<T>,
    ) -> impl Future<Output = Result<T, TaskStoreError>> + Send {
        let count = |left: usize| left.checked_sub(1);
        let is_good = self
            .good
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, count)
            .is_ok();
        let fault = self.fault;
        let panics_in_call = !is_good && fault == Fault::Panics && refused.is_some();
        assert!(!panics_in_call, "secret");
        async move {
            match (fault, refused) {
                _ if is_good => future.await,
                (Fault::Fails, _) => Err(TaskStoreError::new("down")),
                (Fault::Never, _) => pending().await,
                (Fault::Panics, _) => panic!("secret"),
                (Fault::Lies, _) => {
                    future.await?;
                    Err(TaskStoreError::new("lost"))
                }
                (Fault::Slow(millis), _) => {
                    sleep(millis).await;
                    future.await
                }
                (Fault::Refuses, Some(refused)) => Ok(refused),
                (Fault::Keeps | Fault::Stuck | Fault::Confuses | Fault::Refuses, _) => future.await,
            }
        }
    }
}

impl TaskStore for Hostile {
    async fn create(&self, record: &TaskRecord) -> Result<bool, TaskStoreError> {
        self.answer(self.store.create(record), None).await
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        if self.fault == Fault::Confuses && self.good.load(Ordering::SeqCst) == 0 {
            let all = self.store.expired(u64::MAX, usize::MAX).await?;
            return Ok(all.into_iter().find(|record| record.id() != id));
        }
        self.answer(self.store.load(id), None).await
    }

    fn replace(
        &self,
        record: &TaskRecord,
    ) -> impl Future<Output = Result<bool, TaskStoreError>> + Send {
        self.answer(self.store.replace(record), Some(false))
    }

    async fn remove(&self, id: &str) -> Result<(), TaskStoreError> {
        if self.fault == Fault::Keeps {
            return Ok(());
        }
        if self.fault == Fault::Stuck {
            let first = self.store.expired(u64::MAX, 1).await?;
            let is_first = first.first().is_some_and(|first| first.id() == id);
            return match is_first && self.store.len() > 1 {
                true => Err(TaskStoreError::new("stuck")),
                false => self.store.remove(id).await,
            };
        }
        self.answer(self.store.remove(id), None).await
    }

    async fn list(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, TaskStoreError> {
        self.answer(self.store.list(owner, after, limit), None)
            .await
    }

    async fn expired(&self, now: u64, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        self.answer(self.store.expired(now, limit), None).await
    }

    async fn orphaned(&self, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        self.answer(self.store.orphaned(limit), None).await
    }

    async fn watch(&self, id: &str, version: u64) -> Result<(), TaskStoreError> {
        let mut watch = pin!(self.answer(self.store.watch(id, version), None));
        poll_fn(move |cx| {
            self.looks.fetch_add(1, Ordering::SeqCst);
            watch.as_mut().poll(cx)
        })
        .await
    }

    async fn renew(&self, boot: &str, last: u64, lease: Duration) -> Result<u64, TaskStoreError> {
        // What is not answered is not done either.
        let renewed = async move {
            self.boots.lock().unwrap().insert(boot.to_owned());
            let renewed = self.store.renew(boot, last, lease).await;
            match self.loses_renewal.swap(false, Ordering::SeqCst) {
                true => Err(TaskStoreError::new("lost")),
                false => renewed,
            }
        };
        self.answer(renewed, None).await
    }

    async fn is_alive(&self, boot: &str) -> Result<bool, TaskStoreError> {
        self.answer(self.store.is_alive(boot), None).await
    }

    fn watches_are_prompt(&self) -> bool {
        self.is_prompt
    }
}

#[test]
fn the_store_in_memory_passes_the_check() {
    let store = MemoryTaskStore::new();
    done(check(&store)).unwrap();
    assert!(store.is_empty());
    for good in 3..60 {
        for fault in [Fault::Fails, Fault::Lies, Fault::Refuses] {
            let result = done(check(&Hostile::new(fault, good)));
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
            (0..20).for_each(|_| pass(50));
            let created = wire.answer(asked).expect("an answer in time");
            if !member(&created, &["error"]).is_empty() {
                assert_eq!(
                    text(&created, &["error", "message"]),
                    "the store of tasks failed",
                    "{created}"
                );
                store.heal();
                (0..30).for_each(|_| pass(500));
                assert!(store.store.is_empty(), "{fault:?} {good}");
                assert_eq!(running.get(), 0);
                continue;
            }
            let id = text(&created, &["result", "taskId"]);
            store.heal();
            (0..20).for_each(|_| pass(500));
            assert_eq!(status(&mut wire, &id), "input_required", "{fault:?} {good}");
            update(&mut wire, &id, &accept("q1", "yes"));
            pass(500);
            let got = about(&mut wire, "tasks/get", &id);
            assert!(got.contains("done yes"), "{fault:?} {good}: {got}");
            assert_eq!(running.get(), 0);
            drop(wire);
            (0..130).for_each(|_| pass(500));
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
    (0..5).for_each(|_| pass(500));
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
    has(&about(&mut here, "tasks/get", &asks), ["done there"]);
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
    assert!(done(store.create(&record)).unwrap());
    let count = Arc::new(Count);
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);
    let before = Arc::strong_count(&count);
    for _ in 0..3 {
        let mut watch = pin!(store.watch("a", 1));
        assert!(watch.as_mut().poll(&mut cx).is_pending());
        assert!(watch.as_mut().poll(&mut cx).is_pending());
    }
    assert_eq!(Arc::strong_count(&count), before);
}
