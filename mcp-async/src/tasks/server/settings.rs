//! The tasks of a server.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use std::time::SystemTime;

use super::super::store::{DynTaskStore, MemoryTaskStore, TaskStore};
use super::time::ReadTime;

/// Settings and bounds of the tasks of a server: see
/// [`ServerBuilder::tasks`](crate::server::ServerBuilder::tasks).
///
/// ```
/// use core::time::Duration;
///
/// use mcp_async::tasks::server::Tasks;
///
/// let tasks = Tasks::new()
///     .ttl(Some(Duration::from_secs(3600)))
///     .poll_interval(Duration::from_millis(500));
/// # let _ = tasks;
/// ```
#[derive(Clone)]
pub struct Tasks {
    pub(super) store: Arc<dyn DynTaskStore>,
    pub(super) ttl: Option<Duration>,
    pub(super) poll_interval: Duration,
    pub(super) max: usize,
    pub(super) max_running: usize,
    pub(super) max_per_owner: usize,
    pub(super) max_polls: Option<u32>,
    pub(super) max_questions: usize,
    pub(super) max_bytes: usize,
    pub(super) max_total_bytes: usize,
    pub(super) store_timeout: Duration,
    lease: Option<Duration>,
    pub(super) core: bool,
    pub(super) time: ReadTime,
}

impl Tasks {
    /// Tasks in the memory of the process, with the default settings.
    pub fn new() -> Self {
        Self {
            store: Arc::new(MemoryTaskStore::new()),
            ttl: Some(DAY),
            poll_interval: Duration::from_secs(1),
            max: 10_000,
            max_running: 1_000,
            max_per_owner: 250,
            max_polls: None,
            max_questions: 64,
            max_bytes: 4 << 20,
            max_total_bytes: 256 << 20,
            store_timeout: Duration::from_secs(5),
            lease: None,
            core: false,
            time: Arc::new(SystemTime::now),
        }
    }

    /// Keeps tasks in this store.
    #[must_use]
    pub fn store(mut self, store: impl TaskStore + 'static) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sets how long a task is kept from its creation; one day otherwise. A handler that runs longer
    /// is stopped, and its task fails. With `None` tasks are kept without limit, and only their
    /// number is limited.
    #[must_use]
    pub const fn ttl(mut self, ttl: Option<Duration>) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets how often clients should look at a task; once a second otherwise.
    #[must_use]
    pub const fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// Sets how often clients may look at a task over HTTP: so many times in each
    /// [poll interval](Self::poll_interval). Further requests are answered with -32603 until the next interval, in
    /// 2026-07-28 with HTTP status 429 and `Retry-After`, without a question to the store. Without it all of them
    /// are answered, as they are over pipes in any case. Polls are counted per principal. At most
    /// 65536 ids are counted at a time; polls of further ids are answered.
    ///
    /// Clients may look a few times more often than the interval says: a reasonable value is 20 or more.
    #[cfg(feature = "http-server")]
    #[must_use]
    pub const fn max_polls_per_interval(mut self, polls: u32) -> Self {
        self.max_polls = Some(polls);
        self
    }

    /// Sets how many tasks this process keeps, running and ended ones; 10,000 otherwise. A further one
    /// takes the place of the oldest task that has ended, first of one of the same principal; its
    /// result is lost. If none has ended, the call runs in its exchange if its tool has
    /// [`task(TaskPolicy::Optional)`](crate::server::Tool::task), and is refused with -32603
    /// otherwise, over HTTP with status 503 and `Retry-After`. A call of 2025-11-25 with the parameter
    /// `task` is refused as well, and so is one of two calls that arrive together for the last place.
    #[must_use]
    pub const fn max(mut self, tasks: usize) -> Self {
        self.max = tasks;
        self
    }

    /// Sets how many tasks may run at a time; 1,000 otherwise. A further call runs in its exchange or
    /// is refused, as at [`max`](Self::max).
    #[must_use]
    pub const fn max_running(mut self, tasks: usize) -> Self {
        self.max_running = tasks;
        self
    }

    /// Sets how many tasks of one principal are kept; 250 otherwise. A further one takes the place
    /// of the oldest task of the principal that has ended.
    /// If none has, the call runs in its exchange or is refused as there, with HTTP status 429. It
    /// should be well below [`max_running`](Self::max_running): else one principal may take all of that.
    #[must_use]
    pub const fn max_per_owner(mut self, tasks: usize) -> Self {
        self.max_per_owner = tasks;
        self
    }

    /// Sets how many questions a task may ask at the same time; 64 otherwise. A task that asks more
    /// fails.
    #[must_use]
    pub const fn max_questions(mut self, questions: usize) -> Self {
        self.max_questions = questions;
        self
    }

    /// Sets how many bytes the record of a task may have, with its questions, answers and result;
    /// 4 MiB otherwise. A task that exceeds it fails. Answers that exceed it are refused with -32603,
    /// and all answers that a task has received count.
    #[must_use]
    pub const fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets how many bytes the records of all tasks of this process that have ended may have together;
    /// 256 MiB otherwise. While they have more, the oldest ones of the principal who has the most bytes are
    /// removed, and their results are lost; tasks without a principal count as those of one. The task that has ended
    /// last stays.
    #[must_use]
    pub const fn max_total_bytes(mut self, bytes: usize) -> Self {
        self.max_total_bytes = bytes;
        self
    }

    /// Sets how long a call waits for the store; five seconds otherwise. Then it is answered with
    /// -32603.
    #[must_use]
    pub const fn store_timeout(mut self, timeout: Duration) -> Self {
        self.store_timeout = timeout;
        self
    }

    /// Sets how long other processes take this process for alive after it has
    /// [renewed](TaskStore::renew) its lease; three times the [store timeout](Self::store_timeout) and
    /// 500 ms otherwise, which is 16.5 seconds by default. The process renews it after a third of
    /// that time, and looks every 500 ms. When it is over, other processes mark the tasks of this
    /// process as failed.
    ///
    /// A shorter lease reports the tasks of a killed process sooner, and needs a store that answers
    /// within it.
    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// Serves sessions of 2025-11-25 the tasks of that revision, which calls them experimental. One
    /// set of tools, one store and one set of bounds serve both kinds of tasks; a client sees those
    /// of its own kind.
    ///
    /// Sessions are offered that by the capability `tasks`, and by `execution.taskSupport` of tools
    /// with a [policy](crate::server::Tool::task). A call becomes a task if it has the parameter
    /// `task`; then it becomes one at once, also where the tool
    /// [defers](crate::server::Tool::deferred_task) it. The lifetime that a client asks for counts
    /// up to [`ttl`](Self::ttl). Questions of a task are asked while the client waits for its result
    /// in `tasks/result`; a client that does not is asked by its session, after two poll intervals
    /// and two seconds at least. `tasks/list` is served where callers are verified, over HTTP with
    /// authorization.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Tool;
    /// use mcp_async::tasks::server::{TaskPolicy, Tasks};
    ///
    /// let render = Tool::new("render")
    ///     .task(TaskPolicy::Optional)
    ///     .handler(|(): (), _| async { Ok("rendered") });
    /// let server = Server::builder("studio", "1.0")
    ///     .with(render)
    ///     .tasks(Tasks::new().core_2025_11_25())
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<(), mcp_async::server::BuildError>(())
    /// ```
    #[must_use]
    pub const fn core_2025_11_25(mut self) -> Self {
        self.core = true;
        self
    }

    pub(super) fn effective_lease(&self) -> Duration {
        let derived = || {
            INTERVAL
                .saturating_add(self.store_timeout)
                .saturating_mul(3)
        };
        self.lease.unwrap_or_else(derived)
    }

    /// Reads the time of day from this function; from the clock of the system otherwise. It is read
    /// once; the monotonic clock counts the times of tasks from then on.
    #[must_use]
    pub fn time_of_day(mut self, time: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.time = Arc::new(time);
        self
    }
}

impl Default for Tasks {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("ttl", &self.ttl)
            .field("poll_interval", &self.poll_interval)
            .finish_non_exhaustive()
    }
}

/// Longer than handlers usually run.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The interval at which the store is swept, and the lease of the process is checked for renewal.
pub(super) const INTERVAL: Duration = Duration::from_millis(500);
