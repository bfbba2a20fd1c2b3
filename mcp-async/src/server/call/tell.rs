//! Progress and log messages of a handler.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll, ready};

use mcp_proto::model::LoggingLevel;
use mcp_proto::server::ProgressReport;
use mcp_proto::{Payload, Receipt};

use super::call_host::Log;
use super::context::CallContext;

/// A report of the progress of a call, which [`CallContext::progress`] returns. It resolves when
/// there was room for the message, and an event store has it, if there is one.
#[must_use = "no progress is sent until the future is polled"]
pub struct ProgressUpdate<'a> {
    context: &'a CallContext,
    told: ProgressReport<'a>,
    receipt: Option<Receipt>,
    /// The update left nothing to wait for, and the other futures had their turn since.
    has_yielded: bool,
}

/// A log message, which [`CallContext::log`] returns. It resolves when there was room for it, and a
/// [store](crate::http::SessionStore) has it, if there is one.
#[must_use = "nothing is logged until the future is polled"]
pub struct LogMessage<'a, T> {
    context: &'a CallContext,
    level: LoggingLevel,
    logger: Option<&'a str>,
    data: T,
    receipt: Option<Receipt>,
}

impl CallContext {
    /// Reports the progress of the call: `progress` increases with every report, in any unit.
    ///
    /// The future sends the report, and never fails: it drops updates that the client did not
    /// request, that do not increase, or that arrive after completion. Of many reports in a
    /// short time the client receives the newest, and always the last: see
    /// `progress_interval` of the [`Server`](crate::Server).
    ///
    /// ```
    /// # async fn example(cx: mcp_async::server::CallContext) {
    /// cx.progress(0.5).await;
    /// cx.progress(3.0).total(4.0).message("nearly there").await;
    /// # }
    /// ```
    pub const fn progress(&self, progress: f64) -> ProgressUpdate<'_> {
        ProgressUpdate::new(self, progress)
    }

    /// Logs to the client, if it wants any as severe as this; `data` is what there is to say: often a
    /// string, else any value that serializes, by value or by reference, and no secret.
    ///
    /// The future never fails: messages that the client does not want, that come too late, or
    /// that a server without declared logging sends are dropped.
    ///
    /// ```
    /// use mcp_async::model::LoggingLevel;
    ///
    /// # async fn example(cx: mcp_async::server::CallContext) {
    /// cx.log(LoggingLevel::Info, "started").logger("forecast").await;
    /// cx.log(LoggingLevel::Warning, format!("{} of {}", 3, 4)).await;
    /// # }
    /// ```
    pub const fn log<T: Payload + Sync>(&self, level: LoggingLevel, data: T) -> LogMessage<'_, T> {
        LogMessage {
            context: self,
            level,
            logger: None,
            data,
            receipt: None,
        }
    }
}

impl<'a> ProgressUpdate<'a> {
    const fn new(context: &'a CallContext, progress: f64) -> Self {
        Self {
            context,
            told: ProgressReport::new(progress),
            receipt: None,
            has_yielded: false,
        }
    }

    /// Sets the value of the progress at the end, in the same unit.
    pub const fn total(mut self, total: f64) -> Self {
        self.told.total = Some(total);
        self
    }

    /// Sets a message about the progress, for people. 2024-11-05 has no place for it.
    pub const fn message(mut self, message: &'a str) -> Self {
        self.told.message = Some(message);
        self
    }
}

impl Future for ProgressUpdate<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let Self {
            context,
            told,
            receipt,
            has_yielded,
        } = self.get_mut();
        if !context.wants_progress() || *has_yielded {
            return Poll::Ready(());
        }
        // An update that cannot be sent (the call is over, the value does not grow) is dropped.
        let sent = context
            .host
            .poll_progress(cx, receipt, context.call(), *told);
        if ready!(sent) {
            return Poll::Ready(());
        }
        // A handler that only reports would never let its cancellation be read.
        *has_yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<'a, T> LogMessage<'a, T> {
    /// Sets the name of the logger: the part of the program that logs.
    pub const fn logger(mut self, name: &'a str) -> Self {
        self.logger = Some(name);
        self
    }
}

/// The data is never pinned.
impl<T> Unpin for LogMessage<'_, T> {}

impl<T: Payload + Sync> Future for LogMessage<'_, T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let Self {
            context,
            level,
            logger,
            data,
            receipt,
        } = self.get_mut();
        let message = Log {
            level: *level,
            logger: *logger,
            data,
        };
        context.host.poll_log(cx, receipt, context.call(), message)
    }
}

impl fmt::Debug for ProgressUpdate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressUpdate")
            .field("progress", &self.told.progress)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for LogMessage<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogMessage")
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}
