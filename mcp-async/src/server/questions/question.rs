//! One question under a key that the handler chooses, in either era.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll, ready};
use core::time::Duration;

use mcp_proto::json::{DecodeError, Raw, RawBuf};
use mcp_proto::rpc::Method;
use mcp_proto::server::{AskOptions, check_question};
use mcp_proto::{Instant, SendError};

use super::answer::check_form;
use super::client_task::{created, follow, makes_tasks, with_task};
use crate::connection::PendingRequest;
use crate::server::call::call_host::CallState;
use crate::server::call::context::CallContext;
use crate::server::caller::Machine;
use crate::server::caller::ask::{AskError, not_in_revision, poll_ask};
use crate::server::rounds::Rounds;
use crate::server::rounds::round::{Answer, Asked, Round};

/// The answer to a question, when it comes: what [`CallContext::elicit`], [`CallContext::sample`] and
/// their neighbours return.
///
/// - In a legacy session it is a nested request of the server. Dropping the future takes it
///   back.
/// - In 2026-07-28 it is ready at once if the client has sent the answer along. Otherwise it
///   never is: after the handler's poll the call ends with every open question, the handler is
///   dropped, and it runs from its start when the client calls again with the answers.
///
/// Equal questions under one key have one answer, and are asked once. The parameters tell questions
/// apart, so take values that differ from run to run (a time, a random number) from
/// [`CallContext::once`]: a question that reads differently in the next round is asked again.
///
/// # Errors
/// - [`AskError::Refused`]: what the client did not declare, by the name of the capability; in
///   2026-07-28 a question outside `tools/call`, `resources/read` and `prompts/get`.
/// - [`AskError::NotInRevision`]: what the client's revision does not have.
/// - [`AskError::Invalid`]: what breaks a rule of the protocol; [`AskError::Form`]: a type that
///   no form asks for.
/// - [`AskError::Key`]: this run has used the key for another question.
/// - In a legacy session also [`AskError::Rejected`], [`AskError::Client`], [`AskError::Timeout`],
///   [`AskError::Cancelled`], [`AskError::Unusable`], [`AskError::Mismatch`] and
///   [`AskError::Decode`]. In 2026-07-28 an answer that does not fit is asked for again, and the end of the call is no error:
///   work in another task that has to end with the call watches [`CallContext::cancelled`].
///
/// ```
/// use core::time::Duration;
/// use mcp_async::server::{AskError, CallContext};
///
/// async fn has_roots(cx: &CallContext) -> Result<bool, AskError> {
///     let roots = cx.roots().timeout(Duration::from_secs(30)).await?;
///     Ok(roots.iter().next().is_some())
/// }
/// ```
#[must_use = "a question is asked when its future is polled"]
pub struct QuestionFuture<'a, T> {
    context: &'a CallContext,
    key: &'a str,
    /// The question, or the reason why it cannot be asked, until that is returned.
    asked: Result<Asked, Option<AskError>>,
    /// The parameters that a legacy session is sent, where they differ.
    nested: Option<RawBuf>,
    decode: fn(Raw<'_>) -> Result<T, DecodeError>,
    timeout: Duration,
    /// The deadline of a nested request, once it was made.
    deadline: Option<Instant>,
    /// True if the client of a legacy session may make a task of the question.
    may_be_task: bool,
    /// Follows the task that the client made of it.
    task: Option<Following<'a>>,
    /// Of a nested request, once there is one.
    pending: Option<PendingRequest<'static, Machine>>,
    stage: Stage,
}

/// Ready with the answer of a task.
type Following<'a> = Pin<Box<dyn Future<Output = Result<RawBuf, AskError>> + Send + 'a>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has happened yet.
    New,
    /// Waits for the answer, with this number.
    Waits(u64),
    /// Asks the client of a legacy session, on behalf of all who wait.
    Asks,
    /// Has ended, or waits for nothing any more.
    Done,
}

/// The results of looking for the answer in the memory of the call.
enum Found {
    Answer {
        result: RawBuf,
        /// One that does not fit is asked for again, with the call.
        repeats: bool,
    },
    Error(AskError),
    /// The task is woken when there is something new, or the call ends.
    Waits,
    /// It is this one's to ask.
    Asks,
}

impl<'a, T> QuestionFuture<'a, T> {
    pub(super) fn new(
        context: &'a CallContext,
        key: &'a str,
        method: Method<'static>,
        params: Result<RawBuf, AskError>,
        decode: fn(Raw<'_>) -> Result<T, DecodeError>,
    ) -> Self {
        Self {
            context,
            key,
            asked: params
                .map(|params| Asked::new(method, params))
                .map_err(Some),
            nested: None,
            decode,
            timeout: AskOptions::default().timeout,
            deadline: None,
            may_be_task: false,
            task: None,
            pending: None,
            stage: Stage::New,
        }
    }

    /// Waits so long for the answer of a legacy client; five minutes otherwise. In 2026-07-28
    /// the client has the [lifetime](crate::server::rounds::StateKeys::lifetime) of the state. In a task, of any
    /// revision, it has the lifetime of the task.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Lets a client of 2025-11-25 make a task of the question, if it declares that it does;
    /// nothing changes for other clients. The client answers with the task at once, is polled, and is
    /// asked for the answer when the task is over, so that no request stays open until a user
    /// answers. The [timeout](Self::timeout) bounds all of that, and is the lifetime of the task.
    /// Dropping the future cancels the task.
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_async::server::{AskError, CallContext};
    ///
    /// async fn approve(cx: &CallContext) -> Result<bool, AskError> {
    ///     let form = r#"{"type":"object","properties":{"ok":{"type":"boolean"}}}"#;
    ///     let form = form.parse().map_err(|_| AskError::Invalid("the form is not JSON"))?;
    ///     let question = cx.elicit_form("approve", "Ship it?", form).as_task();
    ///     let answer = question.timeout(Duration::from_secs(8 * 3600)).await?;
    ///     Ok(answer.content.is_some())
    /// }
    /// # let _ = approve;
    /// ```
    pub const fn as_task(mut self) -> Self {
        self.may_be_task = true;
        self
    }

    pub(super) fn with_nested(mut self, params: Option<RawBuf>) -> Self {
        self.nested = params;
        self
    }

    fn poll_answer(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<T, AskError>> {
        loop {
            if self.stage == Stage::Asks {
                return self.poll_nested(cx);
            }
            let (result, repeats) = match self.look(cx) {
                Found::Answer { result, repeats } => (result, repeats),
                Found::Error(error) => return Poll::Ready(Err(error)),
                Found::Waits => return Poll::Pending,
                Found::Asks => {
                    self.stage = Stage::Asks;
                    continue;
                }
            };
            match self.read(&result) {
                Ok(answer) => return Poll::Ready(Ok(answer)),
                Err(error) if !repeats => return Poll::Ready(Err(error)),
                // As if it were not there (MR-14): the next turn asks.
                Err(_) => {
                    self.context
                        .with_round(|round| round.carried.answers.remove(self.key));
                }
            }
        }
    }

    /// Decodes an answer, after the content of a form was checked against it (EL-09).
    fn read(&self, result: &RawBuf) -> Result<T, AskError> {
        if let Ok(asked) = &self.asked {
            let params = asked.params.as_raw();
            check_form(asked.method, params, result.as_raw()).map_err(AskError::Mismatch)?;
        }
        (self.decode)(result.as_raw()).map_err(AskError::Decode)
    }

    /// Looks for the answer in the memory of the call.
    fn look(&mut self, cx: &task::Context<'_>) -> Found {
        let asked = match &mut self.asked {
            Ok(asked) => asked,
            Err(error) => return Found::Error(error.take().unwrap_or(AskError::Cancelled)),
        };
        let (context, key, stage) = (self.context, self.key, &mut self.stage);
        let has_rounds = context.revision().has_input_required();
        let nested = &mut self.nested;
        // Wakers are dropped and woken outside of the lock: they are a user's.
        let (mut old, mut runner) = (None, None);
        let found = context.with_rounds(|rounds, state| {
            if state == CallState::Disconnected {
                return Found::Error(AskError::Closed);
            }
            let waits_live = rounds.waits_live();
            let legacy = !has_rounds && !waits_live;
            if !has_rounds
                && waits_live
                && let Some(params) = nested.take()
            {
                asked.params = params;
            }
            let live = state == CallState::Live;
            let Some(round) = live.then(|| rounds.round(context.token)).flatten() else {
                if legacy {
                    return Found::Error(AskError::Cancelled);
                }
                // Handlers that treat an error as a refusal would run their side effects in this round.
                rounds.orphan(cx);
                return Found::Waits;
            };
            round.accept(key, asked.fingerprint);
            let answers = &mut round.carried.answers;
            match answers.get_mut(key) {
                Some(answer) if answer.question == asked.fingerprint => {
                    answer.used = true;
                    return Found::Answer {
                        result: answer.result.clone(),
                        repeats: !legacy && !waits_live,
                    };
                }
                Some(answer) if answer.used || waits_live => return Found::Error(AskError::Key),
                // It answers what was asked in an earlier round and reads differently now.
                Some(_) => drop(answers.remove(key)),
                None => {}
            }
            if let Stage::Waits(_) = *stage
                && let Some(error) = round.refusal(key, asked.fingerprint)
            {
                return Found::Error(AskError::of_client(error.clone()));
            }
            let number = match *stage {
                Stage::Waits(number) => number,
                _ => round.number(),
            };
            let opened = match round.find_open(key) {
                Some(open) if open.asked.fingerprint != asked.fingerprint => {
                    return Found::Error(AskError::Key);
                }
                Some(_) => false,
                None if legacy => {
                    round.ask(key, asked.clone(), true);
                    return Found::Asks;
                }
                None => {
                    if let Err(error) = context.check(asked, waits_live) {
                        return Found::Error(error);
                    }
                    // The client may still answer what was withdrawn (TK-39).
                    if waits_live && round.is_key_of_another(key, asked.fingerprint) {
                        return Found::Error(AskError::Key);
                    }
                    round.ask(key, asked.clone(), false);
                    true
                }
            };
            let open = round.find_open(key);
            old = open.and_then(|open| open.waiting.join(number, cx));
            *stage = Stage::Waits(number);
            // A request from another task wakes the runner; in its own poll it looks anyway.
            let waits = rounds.runner(context.token);
            runner = waits.filter(|runner| opened && !runner.is(cx)).cloned();
            Found::Waits
        });
        drop(old);
        runner.unwrap_or_default().wake();
        found.unwrap_or(Found::Error(AskError::Closed))
    }

    /// A request of a legacy session, on behalf of all who ask this.
    fn poll_nested(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<T, AskError>> {
        let Ok(asked) = &self.asked else {
            return Poll::Ready(Err(AskError::Cancelled));
        };
        let begun = || self.context.now() + self.timeout;
        let deadline = *self.deadline.get_or_insert_with(begun);
        if self.pending.is_none()
            && self.may_be_task
            && makes_tasks(self.context.client(), asked.method)
        {
            let params = self.nested.as_ref().unwrap_or(&asked.params);
            self.nested = with_task(params, self.timeout).or(self.nested.take());
        }
        let answer = loop {
            if let Some(task) = &mut self.task {
                break ready!(task.as_mut().poll(cx));
            }
            let question = mcp_proto::Question {
                method: asked.method,
                params: self.nested.as_ref().unwrap_or(&asked.params),
            };
            let options = AskOptions {
                timeout: self.timeout,
                max_duration: self.timeout,
                ..AskOptions::default()
            };
            let asking = (Some(self.context.token), question, options, 0);
            let revision = Some(self.context.revision());
            let pending = self.pending.get_or_insert_with(|| self.context.pending());
            let answer = ready!(poll_ask(pending, cx, revision, asking));
            let task = match &answer {
                Ok(answer) if self.may_be_task => created(answer),
                _ => None,
            };
            match task {
                Some(Ok(task)) => {
                    self.task = Some(Box::pin(follow(self.context, task, deadline)));
                }
                Some(Err(error)) => break Err(AskError::Decode(error)),
                None => break answer,
            }
        };
        self.task = None;
        let answer = answer.and_then(|result| Ok((self.read(&result)?, result)));
        self.stage = Stage::Done;
        let waiting = self.context.with_round(|round| {
            if let Ok((_, result)) = &answer {
                let answer = Answer {
                    question: asked.fingerprint,
                    result: result.clone(),
                    used: true,
                };
                round.carried.answers.insert(self.key.to_owned(), answer);
            }
            round.close(self.key)
        });
        waiting.unwrap_or_default().wake();
        Poll::Ready(answer.map(|(answer, _)| answer))
    }
}

impl<T> Future for QuestionFuture<'_, T> {
    type Output = Result<T, AskError>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_answer(cx)
    }
}

/// Nothing in it is pinned; the answer has not come yet.
impl<T> Unpin for QuestionFuture<'_, T> {}

impl<T> Drop for QuestionFuture<'_, T> {
    fn drop(&mut self) {
        let left = self.context.with_existing_round(|round| match self.stage {
            Stage::Waits(number) => (round.leave(self.key, number), None),
            Stage::Asks => (None, Some(round.close(self.key))),
            Stage::New | Stage::Done => (None, None),
        });
        let Some((waker, waiting)) = left else {
            return;
        };
        drop(waker);
        waiting.unwrap_or_default().wake();
    }
}

impl<T> fmt::Debug for QuestionFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuestionFuture")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl CallContext {
    /// Looks at the questions of all calls, under the lock that they have in common.
    pub(super) fn with_rounds<T>(
        &self,
        look: impl FnOnce(&mut Rounds, CallState) -> T,
    ) -> Option<T> {
        let (mut look, mut looked) = (Some(look), None);
        self.host.look_at_rounds(self.token, &mut |rounds, state| {
            looked = look.take().map(|look| look(rounds, state));
        });
        looked
    }

    /// Looks at the memory of the call, as long as it runs.
    pub(super) fn with_round<T>(&self, look: impl FnOnce(&mut Round) -> T) -> Option<T> {
        let looked = self.with_rounds(|rounds, state| {
            let live = state == CallState::Live;
            live.then(|| rounds.round(self.token)).flatten().map(look)
        });
        looked.flatten()
    }

    /// Looks at the memory of the call, if there is any yet.
    pub(super) fn with_existing_round<T>(&self, look: impl FnOnce(&mut Round) -> T) -> Option<T> {
        let looked = self.with_rounds(|rounds, _| rounds.existing(self.token).map(look));
        looked.flatten()
    }

    /// Fails if the client of a modern call may not be asked this.
    fn check(&self, asked: &Asked, waits_live: bool) -> Result<(), AskError> {
        let params = asked.params.as_raw().object();
        let params = params.ok_or(AskError::Refused(SendError::Encode))?;
        match check_question(asked.method, params, self.client(), self.revision()) {
            // If the revision allows the question, the call was begun so that it can ask it.
            Ok(()) if self.suspends || waits_live => Ok(()),
            Ok(()) => Err(AskError::Refused(SendError::NotInRevision)),
            Err(SendError::NotInRevision) => Err(not_in_revision(asked.method, self.revision())),
            Err(error) => Err(AskError::Refused(error)),
        }
    }
}
