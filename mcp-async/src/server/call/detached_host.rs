//! The environment of a call that runs apart from its exchange.

use core::mem;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, OnceLock};

use mcp_proto::json::RawBuf;
use mcp_proto::server::ProgressReport;
use mcp_proto::{Channel, Outcome, Receipt, Revision, Token};

use super::call_host::{CallHost, CallState, Log};
use crate::call_outcome::CallOutcome;
use crate::connection::Answered;
use crate::error::ErrorReply;
use crate::payload::encode;
use crate::server::CallContext;
use crate::server::caller::peer::Peer;
use crate::server::rounds::Rounds;
use crate::shrink::shrink;
use crate::sync::{Lock, Waiter, Waiters};

/// The time at which a call leaves its exchange: see [`Call::detach`](crate::server::Call::detach).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detach {
    /// Before its handler runs.
    Now,
    /// Before its handler runs, and also if the service answers the call at once, with the result
    /// for arguments that do not fit the tool for instance. A call that the service refuses at once
    /// with an error ends in its exchange.
    Always,
    /// When its handler calls [`CallContext::begin_task`](crate::server::CallContext::begin_task). Until then it is an ordinary call, which
    /// may also end in its exchange.
    OnRequest,
}

/// Serves the contexts of one call: by the connection at first, and by itself once the call has
/// left its exchange.
pub(super) struct DetachedHost {
    origin: Arc<dyn CallHost>,
    pub(super) call: Token,
    revision: Revision,
    when: Detach,
    may_leave: MayLeave,
    /// The condition under which the effects of the call count once it has left its exchange.
    counts: OnceLock<Condition>,
    state: Lock<State>,
}

/// The condition under which a call may leave its exchange.
pub(crate) type MayLeave = Condition;

type Condition = Box<dyn Fn() -> bool + Send + Sync>;

pub(in crate::server) struct State {
    pub(in crate::server) stage: Stage,
    pub(in crate::server) rounds: Rounds,
    /// The newest status message that was not taken.
    pub(in crate::server) status: Option<String>,
    /// The answer of the handler, until it is taken.
    pub(in crate::server) outcome: Option<Result<RawBuf, ErrorReply>>,
    /// Something is new for the task that drives the call.
    pub(in crate::server) changed: bool,
    /// The keys of the questions that this task knows.
    pub(super) reported: Vec<String>,
    /// The task that drives the call.
    pub(in crate::server) runner: Waiter,
    /// Tasks that wait for the departure of the call from its exchange.
    waiting: Waiters,
    /// Futures that wait for the end of the call, by their numbers.
    watching: HashMap<u64, Watch>,
    /// The newest number of them.
    watches: u64,
}

/// A future that waits for the end of the call.
struct Watch {
    waker: Waker,
    /// Its number at the origin of the call, once it has one there.
    at_origin: Option<u64>,
}

/// The place at which a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Stage {
    /// In its exchange.
    Attached,
    /// In its exchange, and its handler has asked to leave it.
    Asked,
    /// Apart from its exchange.
    Detached,
    /// At none: the call is over.
    Over,
}

impl DetachedHost {
    pub(super) fn new(context: &CallContext, when: Detach, may_leave: MayLeave) -> Self {
        Self {
            origin: Arc::clone(&context.host),
            call: context.token,
            revision: context.revision(),
            when,
            may_leave,
            counts: OnceLock::new(),
            state: Lock::new(State {
                stage: Stage::Attached,
                rounds: Rounds::default(),
                status: None,
                outcome: None,
                changed: false,
                reported: Vec::new(),
                runner: Waiter::new(),
                waiting: Waiters::new(),
                watching: HashMap::new(),
                watches: 0,
            }),
        }
    }

    /// From its departure on, what the call does counts as long as this says so.
    pub(super) fn counts_while(&self, condition: Condition) {
        let _ = self.counts.set(condition);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The call leaves its exchange, with what it has asked and computed so far.
    pub(super) fn detach(&self) {
        let (mut waiting, watching) = {
            let state = &mut *self.lock();
            if !state.is_attached() {
                return;
            }
            let mut round = None;
            self.origin
                .look_at_rounds(self.call, &mut |rounds, _| round = rounds.take(self.call));
            state.rounds = Rounds::live(self.call, round);
            state.stage = Stage::Detached;
            state.take_waiting()
        };
        waiting.extend(self.leave_origin(watching));
        waiting.wake();
    }

    /// The handler has ended; without an answer it has panicked.
    pub(super) fn end(&self) {
        let state = &mut *self.lock();
        if state.outcome.is_none() {
            state.outcome = Some(Err(ErrorReply::internal()));
        }
        state.changed = true;
    }

    /// The call is over. Returns the tasks that wait for something of it.
    pub(super) fn stop(&self) -> Waiters {
        let (mut waiting, watching) = {
            let state = &mut *self.lock();
            state.stage = Stage::Over;
            let (mut waiting, watching) = state.take_waiting();
            mem::take(&mut state.rounds).end(&mut waiting);
            (waiting, watching)
        };
        waiting.extend(self.leave_origin(watching));
        waiting
    }

    /// These futures no longer wait at the origin of the call. Returns their wakers.
    fn leave_origin(
        &self,
        watching: impl IntoIterator<Item = Watch>,
    ) -> impl Iterator<Item = Waker> {
        watching.into_iter().map(|watch| {
            if let Some(number) = watch.at_origin {
                self.origin.leave_over(number);
            }
            watch.waker
        })
    }

    fn is_attached(&self) -> bool {
        self.lock().is_attached()
    }

    /// Something is new.
    fn report(&self, change: impl FnOnce(&mut State)) {
        let runner = {
            let state = &mut *self.lock();
            change(state);
            state.changed = true;
            state.runner.clone()
        };
        runner.wake();
    }

    fn outcome(&self, outcome: Outcome<'_>) -> Result<RawBuf, ErrorReply> {
        match outcome {
            Outcome::Result(result) => encode(result, self.revision)
                .ok()
                .filter(|raw| raw.as_raw().object().is_some())
                .ok_or(ErrorReply::internal()),
            Outcome::Error(error) => Err(ErrorReply::received(&error)),
            // Its rounds are those of an exchange.
            Outcome::Input(_) => Err(ErrorReply::internal()),
        }
    }
}

impl State {
    const fn is_attached(&self) -> bool {
        matches!(self.stage, Stage::Attached | Stage::Asked)
    }

    /// Notes the waker of a future that waits for the end of the call. Returns the number of that future at the
    /// origin of the call, and its waker of before, if that is another one.
    fn watch(&mut self, number: u64, waker: &Waker) -> (Option<u64>, Option<Waker>) {
        let Some(watch) = self.watching.get_mut(&number) else {
            let (waker, at_origin) = (waker.clone(), None);
            self.watching.insert(number, Watch { waker, at_origin });
            return (None, None);
        };
        let replaced = match watch.waker.will_wake(waker) {
            true => None,
            false => Some(mem::replace(&mut watch.waker, waker.clone())),
        };
        (watch.at_origin, replaced)
    }

    /// Returns the wakers of those that wait for the departure of the call, and those that wait for its end.
    fn take_waiting(&mut self) -> (Waiters, Vec<Watch>) {
        let watching = mem::take(&mut self.watching).into_values();
        (self.waiting.take(), watching.collect())
    }

    /// Returns true if the open questions differ from those that were reported.
    pub(super) fn has_news(&mut self, call: Token) -> bool {
        let open = self.rounds.open(call).map(|(key, ..)| key);
        !open.eq(self.reported.iter().map(String::as_str))
    }
}

impl CallHost for DetachedHost {
    fn peer(self: Arc<Self>) -> Peer {
        Arc::clone(&self.origin).peer()
    }

    fn now(&self) -> mcp_proto::Instant {
        self.origin.now()
    }

    #[cfg(feature = "tracing")]
    fn transport(&self) -> crate::observe::Transport {
        self.origin.transport()
    }

    #[cfg(feature = "tracing")]
    fn request_id(&self, call: Token) -> Option<String> {
        self.origin.request_id(call)
    }

    fn is_held_to_draft(&self) -> bool {
        self.origin.is_held_to_draft()
    }

    fn is_live(&self, call: Token) -> bool {
        match self.lock().stage {
            Stage::Attached | Stage::Asked => self.origin.is_live(call),
            Stage::Detached => true,
            Stage::Over => false,
        }
    }

    fn is_current(&self, call: Token) -> bool {
        let stage = self.lock().stage;
        match stage {
            Stage::Attached | Stage::Asked => self.origin.is_current(call),
            Stage::Detached => self.counts.get().is_none_or(|counts| counts()),
            Stage::Over => false,
        }
    }

    fn poll_over(&self, cx: &Context<'_>, call: Token, number: &mut Option<u64>) -> Poll<()> {
        let (number, is_attached, mut at_origin, _replaced) = {
            let state = &mut *self.lock();
            if state.stage == Stage::Over {
                return Poll::Ready(());
            }
            let number = *number.get_or_insert_with(|| {
                state.watches = state.watches.wrapping_add(1);
                state.watches
            });
            let (at_origin, replaced) = state.watch(number, cx.waker());
            (number, state.is_attached(), at_origin, replaced)
        };
        if !is_attached {
            return Poll::Pending;
        }
        // The end of the exchange wakes the task, which then asks again.
        let is_over = self.origin.poll_over(cx, call, &mut at_origin).is_ready();
        let left = {
            let state = &mut *self.lock();
            match state.watching.get_mut(&number) {
                Some(watch) => {
                    watch.at_origin = at_origin;
                    None
                }
                // The call has left its exchange meanwhile, or is over: the future was woken.
                None => at_origin,
            }
        };
        if let Some(left) = left {
            self.origin.leave_over(left);
        }
        match is_over && self.is_attached() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    fn leave_over(&self, number: u64) {
        let watch = {
            let watching = &mut self.lock().watching;
            let watch = watching.remove(&number);
            shrink(watching);
            watch
        };
        self.leave_origin(watch).for_each(drop);
    }

    fn poll_progress(
        &self,
        cx: &mut Context<'_>,
        receipt: &mut Option<Receipt>,
        call: (Token, Channel),
        progress: ProgressReport<'_>,
    ) -> Poll<bool> {
        if self.is_attached() {
            return self.origin.poll_progress(cx, receipt, call, progress);
        }
        if let Some(message) = progress.message {
            self.report(|state| state.status = Some(message.to_owned()));
        }
        // The handler yields once, so that the task can tell it.
        Poll::Ready(false)
    }

    fn poll_log(
        &self,
        cx: &mut Context<'_>,
        receipt: &mut Option<Receipt>,
        call: (Token, Channel),
        message: Log<'_>,
    ) -> Poll<()> {
        match self.is_attached() {
            true => self.origin.poll_log(cx, receipt, call, message),
            false => Poll::Ready(()),
        }
    }

    fn disconnect(&self, on: Channel, retry: Duration) -> bool {
        self.is_attached() && self.origin.disconnect(on, retry)
    }

    fn poll_respond(
        &self,
        cx: &mut Context<'_>,
        call: (Token, Channel),
        reports: bool,
        outcome: Outcome<'_>,
    ) -> Poll<Answered> {
        let stage = self.lock().stage;
        let end = match stage {
            Stage::Attached | Stage::Asked => {
                return self.origin.poll_respond(cx, call, reports, outcome);
            }
            Stage::Over => CallOutcome::Cancelled,
            Stage::Detached => {
                let outcome = self.outcome(outcome);
                let end = match &outcome {
                    Ok(_) => CallOutcome::Result,
                    Err(error) => CallOutcome::of(&Outcome::Error(error.as_object())),
                };
                self.report(|state| state.outcome = Some(outcome));
                end
            }
        };
        Poll::Ready(Answered::new(call.0, end))
    }

    fn forget(&self, call: Token) {
        if self.is_attached() {
            self.origin.forget(call);
        }
    }

    fn poll_detach(&self, cx: &mut Context<'_>) -> Poll<bool> {
        let runner = {
            let state = &mut *self.lock();
            match (state.stage, self.when) {
                (Stage::Detached, _) => return Poll::Ready(true),
                (Stage::Over, _) => return Poll::Ready(false),
                (_, Detach::Now | Detach::Always) => {}
                (Stage::Attached, Detach::OnRequest) if !(self.may_leave)() => {
                    return Poll::Ready(false);
                }
                (_, Detach::OnRequest) => state.stage = Stage::Asked,
            }
            state.waiting.register(cx);
            state.runner.clone()
        };
        runner.wake();
        Poll::Pending
    }

    fn may_detach(&self) -> bool {
        true
    }

    fn has_detached(&self) -> bool {
        !self.is_attached()
    }

    fn look_at_rounds(&self, call: Token, look: &mut dyn FnMut(&mut Rounds, CallState)) {
        let runner = {
            let state = &mut *self.lock();
            match state.stage {
                Stage::Attached | Stage::Asked => {
                    self.origin.look_at_rounds(call, look);
                    None
                }
                Stage::Detached => {
                    look(&mut state.rounds, CallState::Live);
                    // Another task of the runtime may have asked, or dropped its question.
                    state.has_news(self.call).then(|| state.runner.clone())
                }
                Stage::Over => {
                    look(&mut state.rounds, CallState::Over);
                    None
                }
            }
        };
        runner.unwrap_or_default().wake();
    }
}
