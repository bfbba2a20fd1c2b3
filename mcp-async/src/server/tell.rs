//! What a handler tells on the way to its answer.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll, ready};

use mcp_proto::Payload;
use mcp_proto::model::LoggingLevel;
use mcp_proto::server::Progress;

use super::context::Context;

/// How far a call is: what [`Context::progress`] returns. It resolves when there was room for
/// the message.
///
/// ```
/// use mcp_async::server::Context;
///
/// async fn copy(cx: &Context, files: &[&str]) {
///     for (done, file) in files.iter().enumerate() {
///         cx.progress(done as f64 + 1.0)
///             .total(files.len() as f64)
///             .message(file)
///             .await;
///     }
/// }
/// ```
#[must_use = "nothing is told until the future is polled"]
pub struct ProgressUpdate<'a> {
    context: &'a Context,
    told: Progress<'a>,
}

/// A log message: what [`Context::log`] returns. It resolves when there was room for it.
///
/// ```
/// use mcp_async::server::Context;
/// use mcp_proto::model::LoggingLevel;
///
/// async fn warn(cx: &Context) {
///     cx.log(LoggingLevel::Warning, &"the disk is nearly full")
///         .logger("storage")
///         .await;
/// }
/// ```
#[must_use = "nothing is logged until the future is polled"]
pub struct LogMessage<'a> {
    context: &'a Context,
    level: LoggingLevel,
    logger: Option<&'a str>,
    data: &'a (dyn Payload + Sync),
}

impl<'a> ProgressUpdate<'a> {
    pub(super) const fn new(context: &'a Context, progress: f64) -> Self {
        let told = Progress::new(progress);
        Self { context, told }
    }

    /// Where it ends, in the same unit.
    pub const fn total(mut self, total: f64) -> Self {
        self.told.total = Some(total);
        self
    }

    /// What is happening, for people (PG-05). 2024-11-05 has no place for it.
    pub const fn message(mut self, message: &'a str) -> Self {
        self.told.message = Some(message);
        self
    }
}

impl Future for ProgressUpdate<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let Self { context, told } = *self;
        if context.wants_progress() {
            let shared = &context.shared;
            // What is not told (the call is over, the value does not grow) harms nobody.
            let _ = ready!(
                shared.poll_send(cx, context.arrived.channel, |machine, now, out| {
                    machine.progress(now, context.token, told, out)
                })
            );
        }
        Poll::Ready(())
    }
}

impl<'a> LogMessage<'a> {
    pub(super) const fn new(
        context: &'a Context,
        level: LoggingLevel,
        data: &'a (dyn Payload + Sync),
    ) -> Self {
        Self {
            context,
            level,
            logger: None,
            data,
        }
    }

    /// Which part of the program says it.
    pub const fn logger(mut self, name: &'a str) -> Self {
        self.logger = Some(name);
        self
    }
}

impl Future for LogMessage<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let this = &*self;
        let token = Some(this.context.token);
        let _ = ready!(this.context.shared.poll_log(
            cx,
            this.context.arrived.channel,
            |machine, now, out| {
                machine.log(now, token, this.level, this.logger, this.data, out)
            }
        ));
        Poll::Ready(())
    }
}

impl fmt::Debug for ProgressUpdate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressUpdate")
            .field("progress", &self.told.progress)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for LogMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogMessage")
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}
