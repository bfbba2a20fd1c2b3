//! Follows a task to its end.

use core::future::poll_fn;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use mcp_proto::Instant;
use mcp_proto::client::Failure;
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::revision::Tasks;
use serde::Deserialize;

use super::asked_keys::AskedKeys;
use super::event::{TaskEvent, TaskState};
use super::followed_task::{FollowedTask, Polled, invalid};
use super::options::{TaskOptions, options};
use super::questions::{Questions, Unanswered, encoded};
use super::{EXTENSION, End, detailed};
use crate::client::{CallError, Client, ListenFilter, Subscription, Update};
use crate::error::{ErrorReply, TaskError};
use crate::model::{DetailedTask, Task, TaskStatus};
use crate::runtime::BoxFuture;

/// A task, its questions, and the source of its changes.
///
/// ```text
///   Polling ---- a subscription is acknowledged ----> Listening
///      ^                                                 |
///      `------------- it ends, or is refused ------------'
/// ```
///
/// A task of 2025-11-25 is polled. Its result is the answer to a request of its own, during which
/// the server asks its questions (TK-11):
///
/// ```text
///   Polling ---- it needs input, or is over ----> Polling, and waiting for its result
///      ^                                                 |
///      `-------------- the request failed ---------------'
/// ```
pub(super) struct Follower {
    task: FollowedTask,
    /// A task of 2025-11-25.
    is_core: bool,
    /// The time of the last poll.
    polled: Option<Instant>,
    /// A notification has arrived since.
    is_notified: bool,
    /// The time until which acknowledgements are waited for after the end.
    lingers: Option<Instant>,
    asked: AskedKeys,
    questions: Vec<Questions>,
    /// The server did not take an answer: the task may be over, which the next poll says.
    unsent: Option<CallError>,
    source: Source,
    fetching: Option<Fetching>,
    /// The number of requests for the result that have failed.
    failed_fetches: u32,
}

/// The request for the result of a task of 2025-11-25.
struct Fetching {
    result: BoxFuture<'static, Result<RawBuf, CallError>>,
    /// The time until which the result is waited for, once the task is over.
    until: Option<Instant>,
}

/// The source of the changes of a task.
enum Source {
    Polls,
    Opening(BoxFuture<'static, Result<Subscription, CallError>>),
    Subscription(Box<Subscription>),
}

impl Follower {
    /// Follows a task that the server has just created: of 2025-11-25 if `is_core`, otherwise of the
    /// extension.
    pub(super) fn created(
        client: Client,
        task: &DetailedTask,
        timeout: Option<Duration>,
        is_core: bool,
    ) -> Self {
        let options = options(&client);
        let followed = FollowedTask::new(client, task.task_id.clone(), timeout, &options);
        Self::new(followed.in_state(TaskState::of(task)), &options, is_core)
    }

    /// Follows a task of which nothing is known but its id.
    pub(super) fn resumed(client: Client, id: String) -> Self {
        let options = options(&client);
        let is_core = client.info().revision.tasks() == Tasks::Core;
        let followed = FollowedTask::new(client, id, None, &options);
        Self::new(followed, &options, is_core)
    }

    fn new(task: FollowedTask, options: &TaskOptions, is_core: bool) -> Self {
        Self {
            source: match options.listen && !is_core {
                true => Source::Opening(open(&task.requests.client, task.id())),
                false => Source::Polls,
            },
            task,
            is_core,
            fetching: None,
            failed_fetches: 0,
            polled: None,
            is_notified: false,
            lingers: None,
            asked: AskedKeys::default(),
            questions: Vec::new(),
            unsent: None,
        }
    }

    pub(super) const fn task(&self) -> &FollowedTask {
        &self.task
    }

    pub(super) const fn task_mut(&mut self) -> &mut FollowedTask {
        &mut self.task
    }

    /// Waits for the outcome, so long at most.
    pub(super) async fn end_within(mut self: Box<Self>, max_duration: Option<Duration>) -> End {
        self.task.deadline = max_duration.map(|duration| self.task.now() + duration);
        self.end().await
    }

    /// Waits for the outcome; once.
    pub(super) async fn end(&mut self) -> End {
        poll_fn(|cx| {
            loop {
                let polled = self.poll_event(cx);
                if let Some(end) = self.task.take_end() {
                    return Poll::Ready(end);
                }
                if polled.is_pending() {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// The next change; `None` when the task is over.
    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<TaskEvent>> {
        loop {
            if self.task.is_over() {
                self.stop();
            }
            if let Some(event) = self.task.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if self.task.is_over() {
                return self.poll_linger(cx);
            }
            let polled = [
                self.poll_questions(cx),
                self.poll_source(cx),
                self.poll_fetch(cx),
                self.poll_get(cx),
            ];
            if polled.iter().all(Poll::is_pending) {
                return Poll::Pending;
            }
        }
    }

    /// Stops asking and listening.
    fn stop(&mut self) {
        if self.lingers.is_none() {
            self.lingers = Some(self.task.now() + LINGER);
            self.questions.retain(Questions::is_on_the_wire);
            self.source = Source::Polls;
            self.fetching = None;
        }
    }

    /// Ready after the end: the last acknowledgements of answers may come after it, as they come
    /// on another way.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<Option<TaskEvent>> {
        let (requests, events) = (&self.task.requests, &mut self.task.events);
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
        if let Some(event) = self.task.events.pop_front() {
            return Poll::Ready(Some(event));
        }
        match self.lingers {
            Some(until) if !self.questions.is_empty() => {
                self.task.sleep.reset(until);
                self.task.sleep.poll_done(cx).map(|()| None)
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
            let Poll::Ready(answered) = questions.poll(&self.task.requests, cx) else {
                continue;
            };
            match answered {
                Ok(()) => {
                    let answered = self.questions.swap_remove(index);
                    self.task
                        .events
                        .push_back(TaskEvent::Answered(answered.keys));
                    self.task.pace.changed();
                    self.schedule();
                }
                Err(Unanswered::Refused(error)) => self.task.fail(error),
                // TK-35: an acknowledgement of another type says nothing that could be relied on.
                Err(Unanswered::Sending(
                    error @ CallError::Failed(Failure::Result | Failure::ResultType),
                )) => {
                    self.questions.swap_remove(index);
                    self.task.fail(error);
                }
                Err(Unanswered::Sending(error)) => {
                    self.questions.swap_remove(index);
                    self.unsent = Some(error);
                    self.task.due = self.task.now();
                }
                // After the next poll, if the task still waits for them.
                Err(Unanswered::Unsent) => {
                    let pause = self.task.pace.failed().unwrap_or_default();
                    let again = self.task.now() + pause;
                    self.task.due = self.task.requests.client.earliest(again);
                }
            }
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Ready when the subscription brought something, or is over.
    fn poll_source(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.task.is_over() {
            return Poll::Ready(());
        }
        match &mut self.source {
            Source::Polls => return Poll::Pending,
            Source::Opening(opening) => {
                let Poll::Ready(opened) = opening.as_mut().poll(cx) else {
                    return Poll::Pending;
                };
                self.source = match opened {
                    Ok(subscription) if accepts(&subscription, self.task.id()) => {
                        // Changes before it are not notified.
                        self.task.due = self.task.now();
                        Source::Subscription(Box::new(subscription))
                    }
                    _ => Source::Polls,
                };
            }
            Source::Subscription(subscription) => {
                let was_told = accepts(subscription, self.task.id());
                let Poll::Ready(update) = subscription.poll_update(cx) else {
                    // A new connection has a new acknowledgement.
                    if was_told && !accepts(subscription, self.task.id()) {
                        self.task.due = self.task.due.min(self.task.now() + self.task.pace.pause());
                    }
                    return Poll::Pending;
                };
                match update {
                    Some(Update::Notification { method, params })
                        if method == "notifications/tasks" =>
                    {
                        self.notified(&params);
                    }
                    Some(Update::Reconnected) => self.task.due = self.task.now(),
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
            Ok(task) if task.task_id != self.task.id() || self.is_older(&task) => {}
            Ok(task) if task.check().is_ok() => {
                self.is_notified = true;
                self.accept(task);
            }
            _ => {
                let polled = self.polled.map(|polled| polled + self.task.pace.interval());
                self.task.due = self.task.due.min(polled.unwrap_or_else(|| self.task.now()));
            }
        }
    }

    /// Returns true if the server sent a newer state before, be it on another stream. Only times of
    /// one form can be compared.
    fn is_older(&self, task: &DetailedTask) -> bool {
        let last = self.task.state().map(|state| &*state.last_updated_at);
        let time = &*task.last_updated_at;
        last.is_some_and(|last| {
            last.len() == time.len() && last.ends_with('Z') && time.ends_with('Z') && time < last
        })
    }

    /// Ready when the request for the result is over.
    fn poll_fetch(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(fetching) = &mut self.fetching else {
            return Poll::Pending;
        };
        let answer = ready!(fetching.result.as_mut().poll(cx));
        self.fetching = None;
        match answer {
            // TK-12
            Ok(result) => self.task.finish(Ok(result)),
            Err(error @ CallError::Server(_)) => {
                // A task that waits for input is cancelled: nothing else would end it (TK-62).
                self.task.fail(match self.task.is_expired() {
                    true => CallError::Task(TaskError::Expired),
                    false => error,
                });
            }
            Err(error) => self.fetch_failed(error),
        }
        Poll::Ready(())
    }

    /// Asks for the result again later, unless that has failed too often: polls that succeed
    /// meanwhile do not count.
    fn fetch_failed(&mut self, error: CallError) {
        self.failed_fetches = self.failed_fetches.saturating_add(1);
        match self.failed_fetches {
            ..=FETCHES => self.task.retry(error),
            _ => self.task.fail(error),
        }
    }

    /// Returns the request for the result; a new one if none runs.
    fn fetch(&mut self) -> &mut Fetching {
        let requests = &self.task.requests;
        self.fetching.get_or_insert_with(|| Fetching {
            result: Box::pin(requests.clone().result(LONGEST)),
            until: None,
        })
    }

    /// Ready when a poll has an answer, or a time has come.
    fn poll_get(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let until = self.fetching.as_ref().and_then(|fetching| fetching.until);
        match ready!(self.task.poll_get(until, cx)) {
            Polled::Begun => {
                (self.polled, self.is_notified) = (Some(self.task.now()), false);
            }
            Polled::Answer(task) => self.received(&task),
            Polled::Elapsed => {
                self.fetching = None;
                self.fetch_failed(CallError::Timeout);
            }
            Polled::Failed => {}
        }
        Poll::Ready(())
    }

    fn received(&mut self, answer: &RawBuf) {
        let task = match self.is_core {
            true => answer.decode::<Task>().map(detailed),
            false => answer.decode(),
        };
        match task {
            Ok(task) if task.task_id != self.task.id() => {
                self.task.fail(invalid("it is about another task"));
            }
            // A notification that arrived meanwhile is newer.
            Ok(task) if self.is_notified && !task.status.is_terminal() && self.is_older(&task) => {
                self.task.pace.unchanged();
                self.schedule();
            }
            Ok(task) => match task.check() {
                Err(why) if !self.is_core => self.task.fail(invalid(why)),
                _ => self.accept(task),
            },
            Err(error) => self.task.fail(CallError::Decode(error)),
        }
    }

    /// Takes the state of the task that the server has sent, which does not contradict itself.
    fn accept(&mut self, task: DetailedTask) {
        self.task.note(TaskState::of(&task));
        match (task.status, task.result, task.error) {
            (TaskStatus::Completed | TaskStatus::Failed, ..) if self.is_core => {
                self.task.disown();
                let timeout = self.task.requests.timeout.unwrap_or(PATIENCE);
                self.fetch().until = Some(self.task.now() + timeout);
            }
            (TaskStatus::Completed, Some(result), _) => self.task.finish(Ok(result)),
            (TaskStatus::Failed, _, Some(error)) => self.task.finish(Err(match error.decode() {
                Ok(error) => CallError::Server(Error::into_reply(error)),
                Err(error) => CallError::Decode(error),
            })),
            (TaskStatus::Cancelled, ..) => {
                let cancelled = TaskError::Cancelled(task.status_message);
                self.task.finish(Err(CallError::Task(cancelled)));
            }
            _ => {
                let open = task
                    .input_requests
                    .filter(|_| task.status == TaskStatus::InputRequired);
                let asked = self.ask(open.as_ref().map_or(Raw::EMPTY_OBJECT, RawBuf::as_raw));
                if let Err(error) = asked {
                    self.task.fail(error);
                } else if let Some(error) = self.unsent.take() {
                    self.task.fail(error);
                } else if self.task.is_expired() {
                    self.task.fail(CallError::Task(TaskError::Expired));
                } else if self.is_core && task.status == TaskStatus::InputRequired {
                    self.fetch();
                }
                self.schedule();
            }
        }
    }

    /// Asks what was not asked before, and stops asking what the server does not ask any more.
    fn ask(&mut self, open: Raw<'_>) -> Result<(), CallError> {
        let open = open.object().unwrap_or_default();
        self.questions.retain(|questions| {
            let mut keys = questions.keys.iter();
            let stays = questions.is_on_the_wire() || keys.any(|key| open.get(key).is_some());
            if !stays {
                // The state may be an older one that comes late: then they come again.
                self.asked.forget(&questions.keys);
            }
            stays
        });
        let new = (self.asked)
            .select(open)
            .ok_or(invalid("it asks too much"))?;
        for questions in &mut self.questions {
            questions.retry(&self.task.requests);
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
        self.task.events.push_back(TaskEvent::Asked(keys.clone()));
        self.questions
            .push(Questions::ask(&self.task.requests, keys, new));
        Ok(())
    }

    /// Sets the time of the next poll.
    fn schedule(&mut self) {
        let pause = match &self.source {
            Source::Subscription(subscription) if accepts(subscription, self.task.id()) => {
                self.task.pace.pause_while_told()
            }
            _ => self.task.pace.pause(),
        };
        self.task.due = self.task.now() + pause;
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
fn open(client: &Client, id: &str) -> BoxFuture<'static, Result<Subscription, CallError>> {
    let client = client.clone();
    let filter = ListenFilter::default().member("taskIds", &[id]);
    Box::pin(async move {
        let filter = filter.map_err(|_| CallError::MissingExtension(EXTENSION.to_owned()))?;
        client.listen(filter).await
    })
}

/// Returns true if the server sends notifications about the changes of this task.
fn accepts(subscription: &Subscription, id: &str) -> bool {
    let ids = subscription.accepted("taskIds").and_then(Raw::array);
    ids.is_some_and(|ids| {
        let mut texts = ids.elements().filter_map(Raw::string);
        texts.any(|text| text == id)
    })
}

/// The number of requests for the result that may fail.
const FETCHES: u32 = 10;
/// The time for which the follower waits for the result of a task that waits for input: its
/// questions may take long.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// The time for which the follower waits for the result of a task that is over, unless the call has
/// a timeout.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most questions whose callbacks run at a time.
const PENDING: usize = 128;
/// The time for which the follower waits for an acknowledgement after the end.
const LINGER: Duration = Duration::from_secs(1);
