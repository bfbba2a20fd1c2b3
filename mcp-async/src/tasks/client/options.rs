//! Settings of a client that follows tasks.

use core::time::Duration;

/// How a client follows tasks, for [`ClientBuilder::tasks`](crate::client::ClientBuilder::tasks).
///
/// ```
/// use mcp_async::client::ClientBuilder;
/// use mcp_async::tasks::client::TaskOptions;
///
/// fn patient<R>(builder: ClientBuilder<R>) -> ClientBuilder<R> {
///     builder.tasks(TaskOptions::default().listen(true))
/// }
/// # let _ = patient::<()>;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOptions {
    pub(super) listen: bool,
    pub(super) longest_pause: Duration,
}

impl TaskOptions {
    /// Sets whether to subscribe to the changes of each task (TK-45); off by default. While the
    /// server tells of them, a task is polled after each [longest pause](Self::longest_pause)
    /// only. A server that does not offer it is polled as usual, and so is one whose subscription
    /// ends.
    #[must_use]
    pub const fn listen(mut self, listen: bool) -> Self {
        self.listen = listen;
        self
    }

    /// Sets the longest pause between two polls of a task that does not change, 30 seconds by
    /// default. An interval of the server that is longer is kept to.
    #[must_use]
    pub const fn longest_pause(mut self, pause: Duration) -> Self {
        self.longest_pause = pause;
        self
    }
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self {
            listen: false,
            longest_pause: Duration::from_secs(30),
        }
    }
}
