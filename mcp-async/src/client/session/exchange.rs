//! One request through all its rounds.

use core::task::{Context, Poll, ready};
use core::time::Duration;

use mcp_proto::client::{Call as Request, Failure, Round, Trace};
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::rpc::Method;
use mcp_proto::{Payload, SendError};

use super::handler::Handler;
use super::round::Inputs;
use crate::client::Machine;
use crate::connection::Progress;
use crate::connection::{Arrival, PendingRequest};
use crate::error::CallError;
#[cfg(feature = "tracing")]
use crate::observe;
use crate::observe::CallSpan;
use crate::runtime::Sleep;
use crate::trace_context::TraceContext;

/// A request on its way; what it says is handed in with each poll, so that it is encoded from
/// the caller's own values in every round.
pub(in crate::client) struct Exchange<'a> {
    pending: PendingRequest<'a, Machine>,
    stage: Stage,
    /// The timer of a request that waits to be sent.
    send_timer: Option<Box<Sleep>>,
    /// True if the request waits for room in the output, and false if it waits for the handshake.
    waits_for_room: bool,
    /// The `requestState` to send back in the next round.
    state: Option<RawBuf>,
    /// Rounds that the server has asked for.
    rounds: u8,
    /// The `requestState` beside questions that are returned to the caller.
    returned: Option<Option<RawBuf>>,
    sent: bool,
    /// The server's error is that head and body differ.
    mismatched: bool,
    /// The trace that the application is in, asked for once and told in every round.
    trace: Option<TraceContext>,
    span: CallSpan,
}

/// The content of a request, and the handler that answers the questions of the server.
pub(in crate::client) struct Terms<'t> {
    pub(in crate::client) method: Method<'t>,
    pub(in crate::client) params: Option<&'t dyn Payload>,
    pub(in crate::client) options: Options<'t>,
    /// True if the request asks for progress.
    pub(in crate::client) progress: bool,
    /// The name or URI that it is info, for its span.
    pub(in crate::client) subject: Option<&'t str>,
    pub(in crate::client) tag: u64,
    pub(in crate::client) handler: &'t dyn Handler,
    pub(in crate::client) rounds: Rounds,
}

/// What happens to the questions of the server.
#[derive(Clone, Copy)]
pub(in crate::client) enum Rounds {
    /// The handler is asked, in so many rounds, at most the core's own limit.
    Asked(u8),
    /// They are returned to the caller.
    Returned,
}

/// Options that a caller may set for each call.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::client) struct Options<'t> {
    pub(in crate::client) timeout: Option<Duration>,
    pub(in crate::client) max_duration: Option<Duration>,
    pub(in crate::client) log_level: Option<&'t str>,
    pub(in crate::client) extensions: Option<&'t [&'t str]>,
    pub(in crate::client) trace: Option<&'t TraceContext>,
    /// True if the request joins the batch that is open.
    pub(in crate::client) batched: bool,
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

impl<'a> Exchange<'a> {
    pub(in crate::client) const fn new(pending: PendingRequest<'a, Machine>) -> Self {
        Self {
            pending,
            stage: Stage::Sending,
            send_timer: None,
            waits_for_room: false,
            state: None,
            rounds: 0,
            returned: None,
            sent: false,
            mismatched: false,
            trace: None,
            span: CallSpan::new(),
        }
    }

    /// Ready with the result; give the buffer [back](Self::leave) when it is decoded.
    pub(in crate::client) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        terms: &Terms<'_>,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Poll<Result<RawBuf, CallError>> {
        let mut span = core::mem::take(&mut self.span);
        let transport = self.pending.transport();
        let polled = span.within(terms.method, terms.subject, transport, |begins| {
            if begins && terms.options.trace.is_none() {
                self.trace = terms.handler.trace(terms.method);
            }
            self.poll_rounds(cx, terms, on_progress)
        });
        match &polled {
            Poll::Pending => {}
            Poll::Ready(Ok(_)) => span.end(None::<&CallError>),
            Poll::Ready(Err(error)) => span.end(Some(error)),
        }
        self.span = span;
        polled
    }

    fn poll_rounds(
        &mut self,
        cx: &mut Context<'_>,
        terms: &Terms<'_>,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Poll<Result<RawBuf, CallError>> {
        loop {
            let acted = match &mut self.stage {
                Stage::Sending | Stage::Retrying(_) => self.poll_send(cx, terms)?,
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
                return self.poll_send_timeout(cx, terms);
            }
            let polled = self.pending.poll_arrival(cx);
            self.pending.tell(on_progress);
            let Some((arrival, buffer)) = ready!(polled) else {
                return Poll::Ready(Err(CallError::Closed));
            };
            let error = match arrival {
                Arrival::Result => return Poll::Ready(Ok(buffer)),
                Arrival::Input { asks, state } if let Rounds::Returned = terms.rounds => {
                    self.returned = Some(state);
                    let none = || RawBuf::from(Raw::EMPTY_OBJECT);
                    let questions = asks.then_some(buffer);
                    return Poll::Ready(Ok(questions.unwrap_or_else(none)));
                }
                Arrival::Input { .. } if !self.has_rounds_left(terms) => {
                    CallError::Failed(Failure::Rounds)
                }
                Arrival::Input { asks, state } => {
                    self.rounds += 1;
                    self.state = state;
                    // Without questions the core says when to try again (MR-16).
                    if asks {
                        let Some(revision) = self.pending.lock().machine.revision() else {
                            return Poll::Ready(Err(CallError::Closed));
                        };
                        self.stage = Stage::Asking(Inputs::ask(buffer, revision, terms.handler));
                    }
                    continue;
                }
                Arrival::Again => {
                    self.stage = Stage::Retrying(None);
                    continue;
                }
                Arrival::Error(error) => CallError::Server(error),
                Arrival::Mismatched(error) => {
                    self.mismatched = true;
                    CallError::Server(error)
                }
                Arrival::Failed(failure) => failure.into(),
                Arrival::Denied(error) => CallError::Authorization(error),
            };
            self.leave(buffer);
            return Poll::Ready(Err(error));
        }
    }

    /// Ready with `Timeout` when the request could not be sent in time. A request that waits for the handshake has a limit only if the
    /// caller has set a timeout.
    fn poll_send_timeout(
        &mut self,
        cx: &mut Context<'_>,
        terms: &Terms<'_>,
    ) -> Poll<Result<RawBuf, CallError>> {
        if !self.waits_for_room && terms.options.timeout.is_none() {
            self.send_timer = None;
            return Poll::Pending;
        }
        let timer = match &mut self.send_timer {
            Some(timer) => timer,
            none => {
                let runtime = self.pending.runtime();
                let usual = || self.pending.lock().machine.config().timeouts.request;
                let timeout = terms.options.timeout.unwrap_or_else(usual);
                none.insert(Box::new(Sleep::after(runtime, timeout)))
            }
        };
        timer.poll_done(cx).map(|()| Err(CallError::Timeout))
    }

    fn has_rounds_left(&self, terms: &Terms<'_>) -> bool {
        matches!(terms.rounds, Rounds::Asked(granted) if self.rounds < granted)
    }

    /// Returns the `requestState` beside the questions in the buffer, if the buffer has questions that are returned to the caller.
    pub(in crate::client) const fn take_returned(&mut self) -> Option<Option<RawBuf>> {
        self.returned.take()
    }

    /// Gives the place back, with the buffer that the result came in.
    pub(in crate::client) fn leave(&mut self, buffer: RawBuf) {
        self.pending.leave(Some(buffer));
    }

    /// Returns true if the request was sent.
    pub(in crate::client) const fn was_sent(&self) -> bool {
        self.sent
    }

    /// Returns true if the server's error states that the head of the request does not repeat its
    /// body, and does not merely have a code that could mean it.
    pub(in crate::client) const fn is_mismatched(&self) -> bool {
        self.mismatched
    }

    /// Returns true if the server asked for input before it answered (MR-18).
    pub(in crate::client) const fn was_retried(&self) -> bool {
        self.rounds > 0
    }

    /// Sends the first round or a further one.
    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        terms: &Terms<'_>,
    ) -> Poll<Result<(), CallError>> {
        let trace = terms.options.trace.or(self.trace.as_ref());
        let parent = trace.map(TraceContext::parent);
        let trace = trace.zip(parent.as_ref()).map(|(trace, parent)| Trace {
            parent: parent.as_str(),
            state: trace.state(),
            baggage: trace.baggage(),
        });
        let call = |cookie| Request {
            trace,
            params: terms.params,
            timeout: terms.options.timeout,
            max_duration: terms.options.max_duration,
            progress: terms.progress,
            log_level: terms.options.log_level,
            extensions: terms.options.extensions,
            batched: terms.options.batched,
            cookie,
            ..Request::new(terms.method)
        };
        // Its result may create a task of 2025-11-25, which is known by its method only.
        self.pending.mark(matches!(terms.method, Method::ToolsCall));
        let sent = match (&self.stage, self.pending.token()) {
            (Stage::Retrying(inputs), Some(token)) => {
                let round = Round {
                    responses: inputs.as_ref().map(|inputs| -> &dyn Payload { inputs }),
                    state: self.state.as_ref().map(RawBuf::as_raw),
                };
                self.pending
                    .poll_send(cx, terms.tag, |machine, now, cookie, out| {
                        let transmit = machine.retry(now, token, &call(cookie), round, out)?;
                        Ok((token, transmit))
                    })
            }
            _ => self
                .pending
                .poll_send(cx, terms.tag, |machine, now, cookie, out| {
                    machine.call(now, &call(cookie), out)
                }),
        };
        self.waits_for_room = sent.is_pending();
        match ready!(sent) {
            Ok(()) => {
                self.stage = Stage::Waiting;
                self.send_timer = None;
                self.state = None;
                self.sent = true;
                Poll::Ready(Ok(()))
            }
            // The handshake is not over: the task is woken when it is.
            Err(SendError::NotReady) => Poll::Pending,
            // Too long for an array, which does not mean for a message.
            Err(SendError::TooLarge { .. }) if terms.options.batched => Poll::Pending,
            // An event of the call says why it is over, if it is not the whole connection.
            Err(SendError::Stale) => {
                self.stage = Stage::Waiting;
                Poll::Ready(Ok(()))
            }
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

/// The failure that the span of a call records for an error.
#[cfg(feature = "tracing")]
impl observe::CallFailure for CallError {
    fn failure(&self) -> observe::Failure {
        match self {
            Self::Server(error) | Self::Input(error) => observe::Failure::Code(error.code),
            Self::Timeout => observe::Failure::PeerTimeout,
            _ => observe::Failure::Here,
        }
    }
}

/// The core grants no more (MR-16).
pub(in crate::client) const ROUNDS: u8 = 16;
