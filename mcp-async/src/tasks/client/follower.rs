//! Follows a task to its end.

use core::future::poll_fn;
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::VecDeque;

use mcp_proto::Instant;
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::rpc::code;
use serde::Deserialize;

use super::asked_keys::AskedKeys;
use super::event::{TaskEvent, TaskState};
use super::options::TaskOptions;
use super::pace::Pace;
use super::questions::{Questions, Unanswered, encoded};
use super::requests::Requests;
use super::{EXTENSION, End, created};
use crate::client::{Boxed, CallError, Client, Continuation, ListenFilter, Subscription, Update};
use crate::error::{ErrorReply, TaskError};
use crate::model::{DetailedTask, TaskStatus};
use crate::runtime::Timer;

/// A task, its questions, and what is known of it. Dropping it cancels the task, unless it is over
/// or no longer [owned](Self::disown).
///
/// ```text
///   Polling ---- a subscription is acknowledged ----> Listening
///      ^                                                 |
///      `------------- it ends, or is refused ------------'
/// ```
pub(super) struct Follower {
    requests: Requests,
    state: Option<TaskState>,
    end: Option<End>,
    events: VecDeque<TaskEvent>,
    is_owned: bool,
    timer: Box<dyn Timer>,
    /// When it is polled next.
    due: Instant,
    /// When it was polled last.
    polled: Option<Instant>,
    /// A notification has arrived since.
    is_notified: bool,
    /// When the server first sent its status: its age is at least the time since.
    known_since: Option<Instant>,
    expires: Option<Instant>,
    /// When the call ends without a result.
    deadline: Option<Instant>,
    /// Until when acknowledgements are waited for after the end.
    lingers: Option<Instant>,
    pace: Pace,
    getting: Option<Boxed<Result<RawBuf, CallError>>>,
    asked: AskedKeys,
    questions: Vec<Questions>,
    /// The server did not take an answer: the task may be over, which the next poll says.
    unsent: Option<CallError>,
    source: Source,
}

/// Where changes come from.
enum Source {
    Polls,
    Opening(Boxed<Result<Subscription, CallError>>),
    Subscription(Box<Subscription>),
}

/// Continues from the answer that created a task.
pub(super) async fn follow(continuation: Continuation, options: TaskOptions) -> End {
    let task = created(continuation.result())?;
    let client = continuation.client().clone();
    let mut follower = Follower::created(client, options, task, continuation.timeout());
    follower.deadline = continuation
        .max_duration()
        .map(|duration| follower.now() + duration);
    poll_fn(|cx| follower.poll_end(cx)).await
}

impl Follower {
    /// Follows a task that the server has just created.
    pub(super) fn created(
        client: Client<()>,
        options: TaskOptions,
        task: DetailedTask,
        timeout: Option<Duration>,
    ) -> Self {
        let mut follower = Self::new(client, options, task.task_id.clone(), timeout);
        follower.note(&task);
        follower.due = match task.status.is_terminal() {
            true => follower.now(),
            false => follower.now() + follower.pace.pause(),
        };
        follower
    }

    /// Follows a task of which nothing is known but its id.
    pub(super) fn resumed(client: Client<()>, options: TaskOptions, id: String) -> Self {
        Self::new(client, options, id, None)
    }

    fn new(
        client: Client<()>,
        options: TaskOptions,
        id: String,
        timeout: Option<Duration>,
    ) -> Self {
        let now = client.clock().now();
        let source = match options.listen {
            true => Source::Opening(open(&client, &id)),
            false => Source::Polls,
        };
        Self {
            timer: client.clock().boxed_timer(),
            pace: Pace::new(options.longest_pause),
            requests: Requests {
                client,
                id,
                timeout,
            },
            state: None,
            end: None,
            events: VecDeque::new(),
            is_owned: true,
            due: now,
            polled: None,
            is_notified: false,
            known_since: None,
            expires: None,
            deadline: None,
            lingers: None,
            getting: None,
            asked: AskedKeys::default(),
            questions: Vec::new(),
            unsent: None,
            source,
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.requests.id
    }

    pub(super) const fn state(&self) -> Option<&TaskState> {
        self.state.as_ref()
    }

    pub(super) const fn client(&self) -> &Client<()> {
        &self.requests.client
    }

    /// Dropping it leaves the task alone from now on.
    pub(super) const fn disown(&mut self) {
        self.is_owned = false;
    }

    /// Asks the server to cancel the task; it ends later.
    pub(super) async fn cancel(&mut self) -> Result<(), CallError> {
        if self.end.is_some() {
            return Ok(());
        }
        self.requests.clone().cancel().await?;
        self.disown();
        self.pace.changed();
        self.due = self.now();
        Ok(())
    }

    /// The next change; `None` when the task is over.
    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<TaskEvent>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if self.end.is_some() {
                return self.poll_linger(cx);
            }
            let polled = [
                self.poll_questions(cx),
                self.poll_source(cx),
                self.poll_get(cx),
            ];
            if polled.iter().all(Poll::is_pending) {
                return Poll::Pending;
            }
        }
    }

    /// The outcome; once.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        loop {
            let polled = self.poll_event(cx);
            if self.end.is_some() {
                let end = self.end.replace(Err(CallError::Closed));
                return Poll::Ready(end.unwrap_or(Err(CallError::Closed)));
            }
            if polled.is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// Ready after the end: the last acknowledgements of answers may come after it, as they come
    /// on another way.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<Option<TaskEvent>> {
        let (requests, events) = (&self.requests, &mut self.events);
        self.questions
            .retain_mut(|questions| match questions.poll(requests, cx) {
                Poll::Pending => true,
                Poll::Ready(Ok(())) => {
                    let keys = core::mem::take(&mut questions.keys);
                    events.push_back(TaskEvent::Answered(keys));
                    false
                }
                Poll::Ready(Err(_)) => false,
            });
        if let Some(event) = self.events.pop_front() {
            return Poll::Ready(Some(event));
        }
        match self.lingers {
            Some(until) if !self.questions.is_empty() => {
                self.timer.poll_until(until, cx).map(|()| None)
            }
            _ => Poll::Ready(None),
        }
    }

    /// Ready when something came of the questions.
    fn poll_questions(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for index in 0..self.questions.len() {
            let Some(questions) = self.questions.get_mut(index) else {
                break;
            };
            let Poll::Ready(answered) = questions.poll(&self.requests, cx) else {
                continue;
            };
            match answered {
                Ok(()) => {
                    let answered = self.questions.swap_remove(index);
                    self.events.push_back(TaskEvent::Answered(answered.keys));
                    self.pace.changed();
                    self.schedule();
                }
                Err(Unanswered::Refused(error)) => self.fail(error),
                Err(Unanswered::Sending(error)) => {
                    self.questions.swap_remove(index);
                    self.unsent = Some(error);
                    self.due = self.now();
                }
                // After the next poll, if the task still waits for them.
                Err(Unanswered::Unsent) => {
                    let pause = self.pace.failed().unwrap_or_default();
                    let again = self.now() + pause;
                    self.due = self.requests.client.earliest(again);
                }
            }
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Ready when the subscription brought something, or is over.
    fn poll_source(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.end.is_some() {
            return Poll::Ready(());
        }
        match &mut self.source {
            Source::Polls => return Poll::Pending,
            Source::Opening(opening) => {
                let Poll::Ready(opened) = opening.as_mut().poll(cx) else {
                    return Poll::Pending;
                };
                self.source = match opened {
                    Ok(subscription) if accepts(&subscription, &self.requests.id) => {
                        // Changes before it are not notified.
                        self.due = self.now();
                        Source::Subscription(Box::new(subscription))
                    }
                    _ => Source::Polls,
                };
            }
            Source::Subscription(subscription) => {
                let was_told = accepts(subscription, &self.requests.id);
                let Poll::Ready(update) = subscription.poll_update(cx) else {
                    // A new connection has a new acknowledgement.
                    if was_told && !accepts(subscription, &self.requests.id) {
                        self.due = self.due.min(self.now() + self.pace.pause());
                    }
                    return Poll::Pending;
                };
                match update {
                    Some(Update::Notification { method, params })
                        if method == "notifications/tasks" =>
                    {
                        self.notified(&params);
                    }
                    Some(Update::Reconnected) => self.due = self.now(),
                    Some(_) => {}
                    None => {
                        self.source = Source::Polls;
                        self.schedule();
                    }
                }
            }
        }
        Poll::Ready(())
    }

    /// A notification is a hint: one that cannot be read is answered by a poll, which is not sooner
    /// than the interval permits.
    fn notified(&mut self, params: &RawBuf) {
        match params.decode::<DetailedTask>() {
            Ok(task) if task.task_id != self.requests.id || self.is_older(&task) => {}
            Ok(task) if task.check().is_ok() => {
                self.is_notified = true;
                self.accept(task);
            }
            _ => {
                let polled = self.polled.map(|polled| polled + self.pace.interval());
                self.due = self.due.min(polled.unwrap_or_else(|| self.now()));
            }
        }
    }

    /// Whether the server said something newer before, be it on another stream. Only times of one
    /// form can be compared.
    fn is_older(&self, task: &DetailedTask) -> bool {
        let last = self.state.as_ref().map(|state| &*state.last_updated_at);
        let time = &*task.last_updated_at;
        last.is_some_and(|last| {
            last.len() == time.len() && last.ends_with('Z') && time.ends_with('Z') && time < last
        })
    }

    /// Ready when a poll has an answer, or a time has come.
    fn poll_get(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.end.is_some() {
            return Poll::Ready(());
        }
        let now = self.now();
        if let Some(getting) = &mut self.getting {
            if let Poll::Ready(answer) = getting.as_mut().poll(cx) {
                self.getting = None;
                match answer {
                    Ok(task) => self.received(&task),
                    Err(error) => self.poll_failed(error),
                }
                return Poll::Ready(());
            }
        } else if self.due <= now || is_due(self.expires, now) {
            self.getting = Some(Box::pin(self.requests.clone().get()));
            (self.polled, self.is_notified) = (Some(now), false);
            return Poll::Ready(());
        }
        if is_due(self.deadline, now) {
            self.fail(CallError::Timeout);
            return Poll::Ready(());
        }
        let get = [Some(self.due), self.expires].into_iter();
        let get = get.filter(|_| self.getting.is_none());
        let next = get.chain([self.deadline]).flatten().min();
        match next {
            Some(next) => self.timer.poll_until(next, cx),
            None => Poll::Pending,
        }
    }

    fn received(&mut self, answer: &RawBuf) {
        match answer.decode::<DetailedTask>() {
            Ok(task) if task.task_id != self.requests.id => {
                self.fail(invalid("it is about another task"));
            }
            // A notification that arrived meanwhile is newer.
            Ok(task) if self.is_notified && !task.status.is_terminal() && self.is_older(&task) => {
                self.pace.unchanged();
                self.schedule();
            }
            Ok(task) => match task.check() {
                Ok(()) => self.accept(task),
                Err(why) => self.fail(invalid(why)),
            },
            Err(error) => self.fail(CallError::Decode(error)),
        }
    }

    fn poll_failed(&mut self, error: CallError) {
        let now = self.now();
        if is_due(self.expires, now) {
            self.fail(CallError::Task(TaskError::Expired));
        } else if self.requests.may_succeed(&error)
            && let Some(pause) = self.pace.failed()
        {
            let client = &self.requests.client;
            self.due = client.earliest(now + pause);
        } else {
            // An unknown task cannot be cancelled.
            if matches!(&error, CallError::Server(error) if error.code == code::INVALID_PARAMS) {
                self.disown();
            }
            self.fail(error);
        }
    }

    /// What the server says of the task, if it does not contradict itself.
    fn accept(&mut self, task: DetailedTask) {
        if self.note(&task) {
            self.pace.changed();
        } else {
            self.pace.unchanged();
        }
        match (task.status, task.result, task.error) {
            (TaskStatus::Completed, Some(result), _) => self.finish(Ok(result)),
            (TaskStatus::Failed, _, Some(error)) => self.finish(Err(match error.decode() {
                Ok(error) => CallError::Server(Error::into_reply(error)),
                Err(error) => CallError::Decode(error),
            })),
            (TaskStatus::Cancelled, ..) => {
                let cancelled = TaskError::Cancelled(task.status_message);
                self.finish(Err(CallError::Task(cancelled)));
            }
            _ => {
                let open = task
                    .input_requests
                    .filter(|_| task.status == TaskStatus::InputRequired);
                let asked = self.ask(open.as_ref().map_or(Raw::EMPTY_OBJECT, RawBuf::as_raw));
                if let Err(error) = asked {
                    self.fail(error);
                } else if let Some(error) = self.unsent.take() {
                    self.fail(error);
                } else if is_due(self.expires, self.now()) {
                    self.fail(CallError::Task(TaskError::Expired));
                }
                self.schedule();
            }
        }
    }

    /// Notes the state; returns whether it is another one.
    fn note(&mut self, task: &DetailedTask) -> bool {
        let now = self.now();
        let state = TaskState::of(task);
        let since = *self.known_since.get_or_insert(now);
        // TK-65: a sum that is too large is the end of time.
        self.expires = state.ttl.map(|ttl| since + ttl);
        self.pace.set_interval(state.poll_interval);
        let last = self.state.as_ref();
        if !last.is_some_and(|last| last.is_like(&state)) {
            self.events.push_back(TaskEvent::State(state.clone()));
        }
        let changed = last != Some(&state);
        self.state = Some(state);
        changed
    }

    /// Asks what was not asked before, and stops asking what the server does not ask any more.
    fn ask(&mut self, open: Raw<'_>) -> Result<(), CallError> {
        let open = open.object().unwrap_or_default();
        let new = (self.asked)
            .select(open)
            .ok_or(invalid("it asks too much"))?;
        self.questions.retain(|questions| {
            let mut keys = questions.keys.iter();
            questions.is_on_the_wire() || keys.any(|key| open.get(key).is_some())
        });
        for questions in &mut self.questions {
            questions.retry(&self.requests);
        }
        if new.is_empty() {
            return Ok(());
        }
        let pending = self.questions.iter().map(Questions::pending);
        if pending.sum::<usize>() + new.len() > PENDING {
            return Err(invalid("it asks too much at a time"));
        }
        let Some((keys, new)) = encoded(new) else {
            return Ok(());
        };
        self.events.push_back(TaskEvent::Asked(keys.clone()));
        self.questions
            .push(Questions::ask(&self.requests, keys, new));
        Ok(())
    }

    /// Sets the time of the next poll.
    fn schedule(&mut self) {
        let pause = match &self.source {
            Source::Subscription(subscription) if accepts(subscription, &self.requests.id) => {
                self.pace.pause_while_told()
            }
            _ => self.pace.pause(),
        };
        self.due = self.now() + pause;
    }

    /// The task is over.
    fn finish(&mut self, end: End) {
        self.disown();
        self.fail_with(end);
    }

    /// The task is followed no longer, and cancelled where that is of use.
    fn fail(&mut self, error: CallError) {
        if let CallError::Task(TaskError::Expired) = error {
            self.disown();
        }
        self.fail_with(Err(error));
    }

    fn fail_with(&mut self, end: End) {
        if self.end.is_some() {
            return;
        }
        self.end = Some(end);
        self.abandon();
        self.getting = None;
        self.questions.retain(Questions::is_on_the_wire);
        self.lingers = Some(self.now() + LINGER);
        self.source = Source::Polls;
    }

    /// Sends the cancellation that is due, without waiting for its answer (TK-54).
    fn abandon(&mut self) {
        if core::mem::take(&mut self.is_owned) {
            let params = super::requests::Params {
                task_id: &self.requests.id,
            };
            self.requests.client.send_later("tasks/cancel", &params);
        }
    }

    fn now(&self) -> Instant {
        self.requests.client.clock().now()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.abandon();
        }
    }
}

/// The `error` of a task that failed.
#[derive(Deserialize)]
struct Error {
    code: i64,
    message: String,
    data: Option<RawBuf>,
}

impl Error {
    fn into_reply(self) -> ErrorReply {
        ErrorReply {
            data: self.data,
            ..ErrorReply::new(self.code, self.message)
        }
    }
}

/// Subscribes to the changes of a task (TK-45).
fn open(client: &Client<()>, id: &str) -> Boxed<Result<Subscription, CallError>> {
    let client = client.clone();
    let filter = ListenFilter::default().member("taskIds", &[id]);
    Box::pin(async move {
        let filter = filter.map_err(|_| CallError::MissingExtension(EXTENSION.to_owned()))?;
        client.listen(filter).await
    })
}

/// Whether the server tells of the changes of this task.
fn accepts(subscription: &Subscription, id: &str) -> bool {
    let ids = subscription.accepted("taskIds").and_then(Raw::array);
    ids.is_some_and(|ids| {
        let mut texts = ids.elements().filter_map(Raw::string);
        texts.any(|text| text == id)
    })
}

/// The most questions whose callbacks run at a time.
const PENDING: usize = 128;
/// How long an acknowledgement is waited for after the end.
const LINGER: Duration = Duration::from_secs(1);

fn is_due(time: Option<Instant>, now: Instant) -> bool {
    time.is_some_and(|time| time <= now)
}

const fn invalid(why: &'static str) -> CallError {
    CallError::Task(TaskError::Invalid(why))
}
