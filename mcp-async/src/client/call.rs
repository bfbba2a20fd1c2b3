//! A call, from the first attempt to send it to its answer.

use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use mcp_proto::client::{Call as Request, Failure, Round};
use mcp_proto::json::{DecodeError, RawBuf};
use mcp_proto::rpc::Method;
use mcp_proto::{Payload, SendError};
use serde::de::DeserializeOwned;

use super::handler::Handler;
use super::round::Inputs;
use super::{Machine, Peer};
use crate::error::ErrorReply;
use crate::places::Arrival;
use crate::seat::Seat;

/// A request to the server and its answer; see [`Peer::call`].
///
/// It borrows name and parameters and encodes them when it is polled, in every round of input
/// again. The answer is decoded in the task that awaits it. Dropping it takes the request back:
/// the server is told, and nothing is heard of it any more.
#[must_use = "a request is sent when its future is polled"]
pub struct Call<'a, T> {
    seat: Seat<'a, Machine>,
    handler: &'a dyn Handler,
    method: Method<'a>,
    params: Option<&'a (dyn Payload + Sync)>,
    timeout: Option<Duration>,
    cap: Option<Duration>,
    progress: bool,
    log_level: Option<&'a str>,
    tag: u64,
    stage: Stage,
    /// What the server wants back in the next round (MR-11).
    state: Option<RawBuf>,
    answer: PhantomData<fn() -> T>,
}

/// ```text
///                input_required         all answered
///   Sending --> Waiting ------> Asking ------> Retrying
///                  | ^  `-------- Again ---------^ |
///                  |  `----------------------------'
///                  v
///               the end, from any stage
/// ```
enum Stage {
    Sending,
    Waiting,
    Asking(Inputs),
    Retrying(Option<Inputs>),
}

/// Why a call has no result.
///
/// Only [`Server`](Self::Server) is the peer's word; everything else is a fact of this side
/// (JR-29).
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    Server(ErrorReply),
    /// The call was not sent: this server does not have it, the table is full, or the parameters
    /// are no object.
    Refused(SendError),
    /// It ended without an answer that can be used.
    Failed(Failure),
    /// The result is not of the type that was asked for.
    Decode(DecodeError),
    /// The server asked for input, and a callback of this client refused it (MR-15).
    Input(ErrorReply),
}

impl<'a, T> Call<'a, T> {
    pub(super) fn new(
        peer: &'a Peer,
        method: Method<'a>,
        params: Option<&'a (dyn Payload + Sync)>,
    ) -> Self {
        Self {
            seat: Seat::new(&peer.shared),
            handler: &*peer.about.handler,
            method,
            params,
            timeout: None,
            cap: None,
            progress: false,
            log_level: None,
            tag: 0,
            stage: Stage::Sending,
            state: None,
            answer: PhantomData,
        }
    }

    /// Waits so long for the answer, instead of the configured time (LC-18).
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Waits so long at most, however often progress begins the timeout anew (LC-19).
    pub const fn cap(mut self, cap: Duration) -> Self {
        self.cap = Some(cap);
        self
    }

    /// Asks for progress, which [`Handler::progress`] hears.
    pub const fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Asks for log messages from this severity on: `info`, say. For 2026-07-28, where each
    /// request says it (LG-05).
    pub const fn with_logs(mut self, level: &'a str) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Gives the call a number of the caller's choice, which its progress and its
    /// notifications carry.
    pub const fn tag(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }

    fn poll_stage(&mut self, cx: &mut Context<'_>) -> Poll<Result<RawBuf, CallError>> {
        loop {
            let acted = match &mut self.stage {
                Stage::Sending | Stage::Retrying(_) => self.poll_send(cx)?,
                Stage::Waiting => Poll::Pending,
                Stage::Asking(inputs) => inputs.poll_answers(cx).map_err(CallError::Input)?,
            };
            if acted.is_ready() {
                if let Stage::Asking(_) = self.stage {
                    let asked = core::mem::replace(&mut self.stage, Stage::Waiting);
                    if let Stage::Asking(inputs) = asked {
                        self.stage = Stage::Retrying(Some(inputs));
                    }
                }
                continue;
            }
            // Whatever it waits for, the call may end meanwhile.
            if let Stage::Sending = self.stage {
                return Poll::Pending;
            }
            let Some((arrival, buffer)) = ready!(self.seat.poll_arrival(cx)) else {
                return Poll::Ready(Err(CallError::Failed(Failure::Closed)));
            };
            match arrival {
                Arrival::Result => return Poll::Ready(Ok(buffer)),
                Arrival::Error(error) => {
                    self.seat.leave(Some(buffer));
                    return Poll::Ready(Err(CallError::Server(error)));
                }
                Arrival::Failed(failure) => {
                    self.seat.leave(Some(buffer));
                    return Poll::Ready(Err(CallError::Failed(failure)));
                }
                Arrival::Input { asks, state } => {
                    self.state = state;
                    // Without questions the core says when to try again (MR-16).
                    if asks {
                        self.stage = Stage::Asking(Inputs::ask(buffer, self.handler));
                    }
                }
                Arrival::Again => self.stage = Stage::Retrying(None),
            }
        }
    }

    /// Sends the first round or a further one.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        let params = self.params.map(|params| -> &dyn Payload { params });
        let call = |cookie| Request {
            params,
            timeout: self.timeout,
            cap: self.cap,
            progress: self.progress,
            log_level: self.log_level,
            cookie,
            ..Request::new(self.method)
        };
        let sent = match (&self.stage, self.seat.token()) {
            (Stage::Retrying(inputs), Some(token)) => {
                let round = Round {
                    responses: inputs.as_ref().map(|inputs| -> &dyn Payload { inputs }),
                    state: self.state.as_ref().map(RawBuf::as_raw),
                };
                self.seat
                    .poll_send(cx, self.tag, |machine, now, cookie, out| {
                        let transmit = machine.retry(now, token, &call(cookie), round, out)?;
                        Ok((token, transmit))
                    })
            }
            _ => self
                .seat
                .poll_send(cx, self.tag, |machine, now, cookie, out| {
                    machine.call(now, &call(cookie), out)
                }),
        };
        match ready!(sent) {
            Ok(()) => {
                self.stage = Stage::Waiting;
                self.state = None;
                Poll::Ready(Ok(()))
            }
            // The handshake is not over: the task is woken when it is.
            Err(SendError::NotReady) => Poll::Pending,
            // An event of the call says why it is over, if it is not the whole connection.
            Err(SendError::Stale) => {
                self.stage = Stage::Waiting;
                Poll::Ready(Ok(()))
            }
            Err(SendError::Closed) => Poll::Ready(Err(CallError::Failed(Failure::Closed))),
            Err(error) => Poll::Ready(Err(CallError::Refused(error))),
        }
    }
}

impl<T: DeserializeOwned> Future for Call<'_, T> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let buffer = ready!(this.poll_stage(cx))?;
        let answer = buffer.as_raw().decode(&mut []).map_err(CallError::Decode);
        this.seat.leave(Some(buffer));
        Poll::Ready(answer)
    }
}

impl<T> Unpin for Call<'_, T> {}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(error) => write!(f, "the server answered: {error}"),
            Self::Refused(error) => write!(f, "the call was not sent: {error}"),
            Self::Failed(failure) => failure.fmt(f),
            Self::Decode(error) => write!(f, "the server's result is of another type: {error}"),
            Self::Input(error) => write!(f, "the input that the server wants is refused: {error}"),
        }
    }
}

impl core::error::Error for CallError {}
