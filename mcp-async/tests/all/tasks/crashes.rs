//! Tasks whose process stops at any call of its store.

use core::future::pending;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use mcp_async::runtime::Runtime as _;
use mcp_async::tasks::server::Tasks;
use mcp_async::tasks::store::{MemoryTaskStore, TaskRecord, TaskStore, TaskStoreError};
use mcp_proto::model::TaskStatus;
use proptest::prelude::*;

use super::support::{Running, accept, client, pass, server};
use crate::scripted::{LineClient, member, text};
use crate::sim;

/// A store whose process stops at one of its calls.
#[derive(Clone)]
struct Stopping {
    store: MemoryTaskStore,
    process: Arc<Mutex<Process>>,
}

struct Process {
    /// The calls until it stops.
    left: usize,
    /// The last call takes effect.
    is_done: bool,
    has_stopped: bool,
    /// Ended tasks that were changed.
    torn: Vec<String>,
}

impl Stopping {
    fn new(store: &MemoryTaskStore, left: usize, is_done: bool) -> Self {
        let process = Process {
            left,
            is_done,
            has_stopped: false,
            torn: Vec::new(),
        };
        Self {
            store: store.clone(),
            process: Arc::new(Mutex::new(process)),
        }
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap()
    }

    async fn call<T>(
        &self,
        future: impl Future<Output = Result<T, TaskStoreError>>,
    ) -> Result<T, TaskStoreError> {
        let is_done = {
            let process = &mut *self.process();
            let is_done = !process.has_stopped && (process.left > 0 || process.is_done);
            process.has_stopped |= process.left == 0;
            process.left = process.left.saturating_sub(1);
            is_done
        };
        if is_done {
            let done = future.await;
            if !self.process().has_stopped {
                return done;
            }
        }
        pending().await
    }
}

impl TaskStore for Stopping {
    async fn create(&self, record: &TaskRecord) -> Result<bool, TaskStoreError> {
        self.call(self.store.create(record)).await
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        self.call(self.store.load(id)).await
    }

    async fn replace(&self, record: &TaskRecord) -> Result<bool, TaskStoreError> {
        self.call(async {
            let before = self.store.load(record.id()).await?;
            let replaced = self.store.replace(record).await?;
            if replaced && before.is_some_and(|before| before.status().is_terminal()) {
                self.process().torn.push(record.id().to_owned());
            }
            Ok(replaced)
        })
        .await
    }

    async fn remove(&self, id: &str) -> Result<(), TaskStoreError> {
        self.call(self.store.remove(id)).await
    }

    async fn list(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, TaskStoreError> {
        self.call(self.store.list(owner, after, limit)).await
    }

    async fn expired(&self, now: u64, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        self.call(self.store.expired(now, limit)).await
    }

    async fn orphaned(&self, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        self.call(self.store.orphaned(limit)).await
    }

    async fn watch(&self, id: &str, version: u64) -> Result<(), TaskStoreError> {
        self.call(self.store.watch(id, version)).await
    }

    async fn renew(&self, boot: &str, last: u64, lease: Duration) -> Result<u64, TaskStoreError> {
        self.call(self.store.renew(boot, last, lease)).await
    }

    async fn is_alive(&self, boot: &str) -> Result<bool, TaskStoreError> {
        self.call(self.store.is_alive(boot)).await
    }
}

/// What a client does. Numbers choose among the tasks that it knows.
#[derive(Clone, Debug)]
enum Step {
    Create { steps: u8, ask: u8 },
    Update { task: usize, key: u8 },
    Cancel { task: usize },
    Get { task: usize },
    Wait { millis: u64 },
}

/// One run of a process: so many calls of the store.
#[derive(Clone, Copy, Debug)]
struct Life {
    calls: usize,
    is_done: bool,
}

/// Processes with one store, one after another, and a client that knows its tasks.
struct World {
    store: MemoryTaskStore,
    process: Stopping,
    /// `None` between two processes.
    wire: Option<LineClient>,
    running: Running,
    ids: Vec<String>,
    /// The first end that was seen of each task.
    ends: HashMap<String, TaskStatus>,
    lives: Vec<Life>,
}

impl World {
    fn new(mut lives: Vec<Life>) -> Self {
        let store = MemoryTaskStore::new().clock(|| sim::Sim.now());
        let (process, wire, running) = start(&store, lives.pop());
        Self {
            store,
            process,
            wire: Some(wire),
            running,
            ids: Vec::new(),
            ends: HashMap::new(),
            lives,
        }
    }

    /// Sends a request. Without an answer the process has stopped.
    fn ask(&mut self, method: &str, params: &str) -> Option<String> {
        let wire = self.wire.as_mut()?;
        let sent = wire.send(method, params);
        for _ in 0..3 {
            sim::settle();
            if let Some(answer) = wire.answer(sent) {
                return Some(answer);
            }
        }
        None
    }

    fn about(&mut self, method: &str, task: usize, more: &str) {
        let Some(known) = task.checked_rem(self.ids.len()) else {
            return;
        };
        let id = &self.ids[known];
        let params = format!(r#"{{"taskId":"{id}"{more}}}"#);
        self.ask(method, &params);
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Create { steps, ask } => {
                let params =
                    format!(r#"{{"name":"job","arguments":{{"steps":{steps},"ask":{ask}}}}}"#);
                if let Some(created) = self.ask("tools/call", &params) {
                    self.ids.push(text(&created, &["result", "taskId"]));
                }
            }
            Step::Update { task, key } => {
                let answer = accept(&format!("q{key}"), "yes");
                self.about(
                    "tasks/update",
                    *task,
                    &format!(r#","inputResponses":{{{answer}}}"#),
                );
            }
            Step::Cancel { task } => self.about("tasks/cancel", *task, ""),
            Step::Get { task } => self.about("tasks/get", *task, ""),
            Step::Wait { millis } => pass(*millis),
        }
        sim::settle();
        if self.process.process().has_stopped {
            self.restart();
        }
        self.look();
    }

    fn restart(&mut self) {
        assert_eq!(self.process.process().torn, [""; 0]);
        sim::end();
        self.wire = None;
        // What the end of the process has spawned runs nowhere.
        sim::end();
        let (process, wire, running) = start(&self.store, self.lives.pop());
        (self.process, self.wire, self.running) = (process, Some(wire), running);
    }

    /// An end that was seen stays.
    fn look(&mut self) {
        for record in all(&self.store) {
            let status = record.status();
            if status.is_terminal() {
                let end = self.ends.entry(record.id().to_owned()).or_insert(status);
                assert_eq!(*end, status);
            }
        }
    }

    fn end(mut self) {
        self.lives.clear();
        self.restart();
        // The lease of the process before, and two sweeps.
        for _ in 0..5 {
            pass(500);
            self.look();
        }
        // Those whose time was over were forgotten, perhaps before a look at their end.
        for record in all(&self.store) {
            assert!(record.status().is_terminal(), "{record:?}");
        }
        assert_eq!(self.process.process().torn, [""; 0]);
        assert_eq!(self.running.get(), 0);
        for id in core::mem::take(&mut self.ids) {
            let params = format!(r#"{{"taskId":"{id}"}}"#);
            let got = self.ask("tasks/get", &params).expect("an answer");
            match (self.ends.get(&id), &*member(&got, &["error", "code"])) {
                (Some(end), "") => {
                    let status = text(&got, &["result", "status"]);
                    assert_eq!(format!("{end:?}").to_lowercase(), status);
                }
                // It was forgotten, perhaps before a look at its end.
                (_, code) => assert_eq!(code, "-32602", "{got}"),
            }
        }
        (0..12).for_each(|_| pass(500));
        assert!(self.store.is_empty());
        drop(self.wire);
        sim::end();
    }
}

fn start(store: &MemoryTaskStore, life: Option<Life>) -> (Stopping, LineClient, Running) {
    let life = life.unwrap_or(Life {
        calls: usize::MAX / 2,
        is_done: true,
    });
    let process = Stopping::new(store, life.calls, life.is_done);
    let tasks = Tasks::new()
        .store(process.clone())
        .ttl(Some(Duration::from_secs(3)))
        .lease(Duration::from_millis(1500));
    let (server, running) = server(tasks);
    let mut wire = client(&server);
    // A server in memory looks after a store since its first call.
    let sent = wire.send("tools/list", "{}");
    assert!(wire.answer(sent).is_some());
    (process, wire, running)
}

fn all(store: &MemoryTaskStore) -> Vec<TaskRecord> {
    sim::done(store.expired(u64::MAX, usize::MAX)).unwrap()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..3_u8, 0..3_u8).prop_map(|(steps, ask)| Step::Create { steps, ask }),
        (any::<usize>(), 1..3_u8).prop_map(|(task, key)| Step::Update { task, key }),
        any::<usize>().prop_map(|task| Step::Cancel { task }),
        any::<usize>().prop_map(|task| Step::Get { task }),
        (0..1200_u64).prop_map(|millis| Step::Wait { millis }),
    ];
    prop::collection::vec(step, 1..24)
}

fn lives() -> impl Strategy<Value = Vec<Life>> {
    let life = (0..80_usize, any::<bool>()).prop_map(|(calls, is_done)| Life { calls, is_done });
    prop::collection::vec(life, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(128)
    })]

    /// TK-08, TK-42, TK-51, TK-60, TK-61: tasks are created, answered, cancelled, and expire in any
    /// order, and the process stops at any call of the store, which is done or not. Each task has one
    /// end, which every later reader sees.
    #[test]
    fn a_task_has_one_end_wherever_its_process_stops(steps in steps(), lives in lives()) {
        sim::end();
        let mut world = World::new(lives);
        for step in &steps {
            world.step(step);
        }
        world.end();
    }
}

/// TK-61: the same steps, with an end of the process at every call.
#[test]
fn a_process_may_stop_at_each_call_of_the_store() {
    let steps = [
        Step::Create { steps: 1, ask: 1 },
        Step::Create { steps: 9, ask: 0 },
        Step::Get { task: 0 },
        Step::Wait { millis: 150 },
        Step::Update { task: 0, key: 1 },
        Step::Cancel { task: 1 },
        Step::Create { steps: 0, ask: 1 },
        Step::Wait { millis: 600 },
        Step::Get { task: 2 },
        Step::Wait { millis: 3000 },
        Step::Wait { millis: 2500 },
    ];
    for calls in 0.. {
        let mut has_stopped = false;
        for is_done in [false, true] {
            let mut world = World::new(vec![Life { calls, is_done }]);
            for step in &steps {
                world.step(step);
            }
            has_stopped = world.lives.is_empty() && world.process.process().left > calls;
            world.end();
        }
        if !has_stopped {
            assert!(calls > 30, "{calls}");
            return;
        }
    }
}
