//! Settings of a client that follows tasks.

use core::time::Duration;

use super::EXTENSION;
use crate::client::Client;

/// Settings of a client that follows tasks, for
/// [`ClientBuilder::tasks`](crate::client::ClientBuilder::tasks).
///
/// ```
/// use mcp_async::client::ClientBuilder;
/// use mcp_async::tasks::client::TaskOptions;
///
/// fn patient(builder: ClientBuilder) -> ClientBuilder {
///     builder.tasks(TaskOptions::default().listen(true))
/// }
/// # let _ = patient;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOptions {
    pub(super) listen: bool,
    pub(super) longest_pause: Duration,
    pub(super) ttl: Option<Duration>,
    pub(super) questions: usize,
    pub(super) longest_question: Duration,
}

impl TaskOptions {
    /// Sets whether to subscribe to the changes of each task; off by default. While the
    /// server tells of them, a task is polled after each [longest pause](Self::longest_pause)
    /// only. A server that does not offer it is polled as usual, and so is one whose subscription
    /// ends, and a task for which there is [no subscription left].
    ///
    /// [no subscription left]: crate::client::ClientBuilder::max_subscriptions
    #[must_use]
    pub const fn listen(mut self, listen: bool) -> Self {
        self.listen = listen;
        self
    }

    /// Sets the longest pause between two polls of a task that does not change, 30 seconds by
    /// default. An interval of the server that is longer is kept to, up to an hour.
    #[must_use]
    pub const fn longest_pause(mut self, pause: Duration) -> Self {
        self.longest_pause = pause;
        self
    }

    /// Sets how long a server of 2025-11-25 is asked to keep each task from its creation; it decides
    /// by itself otherwise, and in any case.
    #[must_use]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets how many questions of a server of 2025-11-25 may be tasks at a time, 0 by default: then
    /// the client declares none, and each question is answered in its exchange. Such a task lives
    /// until its time is over or the connection ends.
    ///
    /// ```
    /// use mcp_async::client::ClientBuilder;
    /// use mcp_async::model::ElicitResult;
    /// use mcp_async::tasks::client::TaskOptions;
    ///
    /// fn asked(builder: ClientBuilder) -> ClientBuilder {
    ///     let builder = builder.on_elicitation(|_, _| async { Ok(ElicitResult::decline()) });
    ///     builder.tasks(TaskOptions::default().questions(16))
    /// }
    /// # let _ = asked;
    /// ```
    #[must_use]
    pub const fn questions(mut self, max: usize) -> Self {
        self.questions = max;
        self
    }

    /// Sets how long the task of a [question](Self::questions) is kept from its creation, one hour
    /// by default; a server may ask for less.
    #[must_use]
    pub const fn longest_question(mut self, ttl: Duration) -> Self {
        self.longest_question = ttl;
        self
    }
}

/// The options of a client, which are those of
/// [`ClientBuilder::tasks`](crate::client::ClientBuilder::tasks).
pub(super) fn options(client: &Client) -> TaskOptions {
    client
        .extension_data::<TaskOptions>(EXTENSION)
        .cloned()
        .unwrap_or_default()
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self {
            listen: false,
            longest_pause: Duration::from_secs(30),
            ttl: None,
            questions: 0,
            longest_question: Duration::from_secs(3600),
        }
    }
}
