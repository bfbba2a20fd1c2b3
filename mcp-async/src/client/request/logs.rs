//! Log messages of a server, as a stream.

use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use futures_core::Stream;

use crate::client::state::LogQueue;
use crate::client::state::inner::Inner;
use crate::client::state::queue::Queue;
use crate::model::LoggingMessageParams;

/// The log messages of the server, from the moment on when [`Client::logs`](crate::client::Client::logs)
/// was called, as a stream that ends with the client.
///
/// A reader that is slow loses the oldest of 1,024 messages; [`dropped`](Self::dropped) says how
/// many. To read all of them on the spot there is
/// [`on_log`](crate::client::ClientBuilder::on_log).
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::client::CallError;
/// use mcp_async::model::LoggingLevel;
///
/// async fn watch(client: &Client) -> Result<(), CallError> {
///     let mut logs = client.logs();
///     client.set_log_level(LoggingLevel::Warning).await?;
///     while let Some(message) = logs.next().await {
///         eprintln!("{}: {:?}", message.level, message.data);
///     }
///     Ok(())
/// }
/// ```
pub struct Logs {
    queue: Arc<LogQueue>,
}

impl Logs {
    pub(in crate::client) fn new(inner: &Inner) -> Self {
        let queue = Arc::new(Queue::new(KEPT));
        inner.client_state.add_logs(&queue);
        // Looked at afterwards: the end may come in between, and comes once.
        if inner.is_closed() {
            queue.end();
        }
        Self { queue }
    }

    /// The next message; `None` when the client is closed.
    pub async fn next(&mut self) -> Option<LoggingMessageParams> {
        poll_fn(|cx| self.queue.poll_next(cx)).await
    }

    /// Returns how many messages were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }
}

impl Stream for Logs {
    type Item = LoggingMessageParams;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queue.poll_next(cx)
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs")
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}

/// Some seconds of a talkative server.
const KEPT: usize = 1024;
