//! A call, from the first attempt to send it to its answer.

use core::fmt;
use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use mcp_proto::Payload;
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::Method;
use serde::de::DeserializeOwned;

use super::exchange::{Exchange, Options, ROUNDS, Rounds, Terms};
use super::handler::Handler;
use crate::client::Machine;
use crate::connection::PendingRequest;
use crate::connection::Progress;
use crate::error::CallError;
use crate::payload;
use crate::trace_context::TraceContext;

/// A request to the server and its answer; see [`Peer::call`](crate::client::Peer::call).
///
/// It borrows name and parameters and encodes them when it is polled, in every round of input
/// again. The answer is decoded in the task that awaits it. Dropping it cancels the request:
/// the server is notified, and the answer is discarded.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::client::{CallError, Peer, Progress};
/// use mcp_async::json::RawBuf;
/// use mcp_async::Method;
///
/// async fn slow(peer: &Peer) -> Result<RawBuf, CallError> {
///     peer.call(Method::ToolsList, None)
///         .timeout(Duration::from_secs(5))
///         .on_progress(|so_far: Progress<'_>| eprintln!("{}", so_far.progress))
///         .await
/// }
/// ```
#[must_use = "a request is sent when its future is polled"]
pub struct Call<'a, T, H = fn(Progress<'_>)> {
    exchange: Exchange<'a>,
    handler: &'a dyn Handler,
    method: Method<'a>,
    params: Option<&'a (dyn Payload + Sync)>,
    options: Options<'a>,
    tag: u64,
    on_progress: Option<H>,
    answer: PhantomData<fn() -> T>,
}

impl<'a, T> Call<'a, T> {
    pub(in crate::client) fn new(
        pending: PendingRequest<'a, Machine>,
        handler: &'a dyn Handler,
        method: Method<'a>,
        params: Option<&'a (dyn Payload + Sync)>,
    ) -> Self {
        Self {
            exchange: Exchange::new(pending),
            handler,
            method,
            params,
            options: Options::default(),
            tag: 0,
            on_progress: None,
            answer: PhantomData,
        }
    }

    /// Asks for progress, and hands it to the closure: in the order of the wire, before the answer,
    /// and inside the poll of this future. Of the progress that the future is too late for, all but
    /// the newest is discarded.
    pub fn on_progress<H: FnMut(Progress<'_>)>(self, on_progress: H) -> Call<'a, T, H> {
        Call {
            exchange: self.exchange,
            handler: self.handler,
            method: self.method,
            params: self.params,
            options: self.options,
            tag: self.tag,
            on_progress: Some(on_progress),
            answer: PhantomData,
        }
    }
}

impl<'a, H: FnMut(Progress<'_>)> Call<'a, RawBuf, H> {
    /// Hands the result over in the buffer that it came in, without the one copy that decoding
    /// into a [`RawBuf`] makes: for large ones. From 64 KiB on those are the bytes that were read.
    ///
    /// # Errors
    /// The future's are those of the call.
    pub async fn whole(mut self) -> Result<RawBuf, CallError> {
        let buffer = poll_fn(|cx| self.poll_buffer(cx)).await?;
        // The place gets another one when it needs it.
        self.exchange.leave(RawBuf::new());
        Ok(buffer)
    }
}

impl<'a, T, H> Call<'a, T, H> {
    /// Waits so long for the answer, instead of the configured time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Waits so long at most, however often progress begins the timeout anew.
    pub fn max_duration(mut self, max_duration: Duration) -> Self {
        self.options.max_duration = Some(max_duration);
        self
    }

    /// Asks for log messages from this severity on: `info`, say. For 2026-07-28, where each
    /// request says it.
    pub fn with_logs(mut self, level: &'a str) -> Self {
        self.options.log_level = Some(level);
        self
    }

    /// Declares only these of the client's extensions on the call. For 2026-07-28: a legacy
    /// session declares them once.
    pub fn with_extensions(mut self, extensions: &'a [&'a str]) -> Self {
        self.options.extensions = Some(extensions);
        self
    }

    /// Tells the server which trace the call belongs to, in place of what
    /// [`Handler::trace`] says.
    pub fn trace(mut self, trace: &'a TraceContext) -> Self {
        self.options.trace = Some(trace);
        self
    }

    /// Gives the call a number of the caller's choice, which the notifications of a
    /// subscription carry.
    pub fn tag(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }
}

impl<T, H: FnMut(Progress<'_>)> Call<'_, T, H> {
    /// Ready with the buffer that the result came in.
    fn poll_buffer(&mut self, cx: &mut Context<'_>) -> Poll<Result<RawBuf, CallError>> {
        let terms = Terms {
            method: self.method,
            params: self.params.map(|params| -> &dyn Payload { params }),
            options: self.options,
            progress: self.on_progress.is_some(),
            subject: None,
            tag: self.tag,
            handler: self.handler,
            rounds: Rounds::Asked(ROUNDS),
        };
        let on_progress = &mut |progress: Progress<'_>| {
            if let Some(on_progress) = &mut self.on_progress {
                on_progress(progress);
            }
        };
        self.exchange.poll(cx, &terms, on_progress)
    }
}

impl<T: DeserializeOwned, H: FnMut(Progress<'_>)> Future for Call<'_, T, H> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let buffer = ready!(this.poll_buffer(cx))?;
        let answer = payload::decode(buffer.as_raw()).map_err(CallError::Decode);
        this.exchange.leave(buffer);
        Poll::Ready(answer)
    }
}

/// The closure is called through `&mut` and never pinned.
impl<T, H> Unpin for Call<'_, T, H> {}

impl<T, H> fmt::Debug for Call<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}
