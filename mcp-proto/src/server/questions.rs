//! The questions that wait for an answer of the client.

use core::time::Duration;

use super::event::{Answer, Event};
use super::reply::Reply;
use crate::action::{Action, BufferFull, Channel, IgnoreReason};
use crate::json::Object;
use crate::ping::Missed;
use crate::rpc::{Id, Invalid, Reason, Response};
use crate::sent::{Cancellation, Sent, SentRequest, SentRequests};
use crate::slots::{Key, Queue, SlotStore};
use crate::time::Instant;

/// The options of a question.
#[derive(Clone, Copy, Debug)]
pub struct AskOptions {
    /// The time to wait for the answer (LC-18).
    pub timeout: Duration,
    /// The longest wait that progress can stretch this to (LC-19).
    pub max_duration: Duration,
    /// True to ask the client for progress; each progress notification starts the timeout anew.
    pub progress: bool,
    /// A number of the caller's choice, which comes back with the answer.
    pub cookie: u64,
}

impl Default for AskOptions {
    /// Five minutes, because a person may have to answer, and ten with progress.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(300),
            max_duration: Duration::from_secs(600),
            progress: false,
            cookie: 0,
        }
    }
}

/// A question in a server's table.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(super) sent: Sent<Ended>,
    pub(super) parent: Option<Key>,
    /// The channel of the question, and of its cancellation.
    pub(super) channel: Channel,
}

impl SentRequest for Pending {
    type End = Ended;

    fn sent(&self) -> &Sent<Ended> {
        &self.sent
    }

    fn sent_mut(&mut self) -> &mut Sent<Ended> {
        &mut self.sent
    }
}

/// The reasons for which a question ends without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Timeout,
    Cancelled,
    Closed,
}

impl From<Ended> for Answer<'static> {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Timeout => Self::Timeout,
            Ended::Cancelled => Self::Cancelled,
            Ended::Closed => Self::Closed,
        }
    }
}

/// The table of questions.
pub(super) type Questions<S> = SentRequests<Pending, S>;

impl<S: SlotStore<Pending>> Questions<S> {
    /// Ends what was asked on behalf of a request that is over.
    pub(super) fn end_children(&mut self, parent: Key) {
        if self.table.is_empty() {
            return;
        }
        let mut at = 0;
        while let Some(key) = self.table.next_key(&mut at) {
            let question = self.table.get(key);
            if question.is_some_and(|question| question.parent == Some(parent)) {
                self.end(key, Cancellation::Owed, Ended::Cancelled);
            }
        }
    }

    /// Ends the questions whose time is over, and returns the ping that was missed.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Option<Missed> {
        while let Some(key) = self.table.pop_due(now) {
            self.end(key, Cancellation::Owed, Ended::Timeout);
        }
        self.take_missed_ping(now)
    }

    /// Returns true if the cancellation of a question is to be sent, or a ping.
    pub(super) fn has_output(&self) -> bool {
        self.next_cancelled().is_some() || self.is_ping_due()
    }

    /// The channels of these notifications.
    pub(super) fn cancelled_on(&self) -> impl Iterator<Item = Channel> {
        let marked = self.table.marked(Queue::Transmit);
        marked.map(|(_, question)| question.channel)
    }

    /// Writes the first cancellation that is to be sent on this channel.
    pub(super) fn write_cancellation_on(
        &mut self,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<usize>, BufferFull> {
        let mut marked = self.table.marked(Queue::Transmit);
        let Some((key, _)) = marked.find(|(_, question)| question.channel == on) else {
            return Ok(None);
        };
        drop(marked);
        self.write_cancellation(key, out).map(Some)
    }

    /// Returns true if the cancellation of a question is still to be sent on this channel.
    pub(super) fn occupy(&self, channel: Channel) -> bool {
        let mut questions = self.table.values();
        questions.any(|it| it.channel == channel && it.sent.is_cancellation_owed())
    }

    /// An answer to a question of ours, or to a ping.
    pub(super) fn take_response<'b>(
        &mut self,
        now: Instant,
        response: Response<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let Some(number) = response.id.and_then(Id::to_u64) else {
            return Action::Ignore(IgnoreReason::LateResponse);
        };
        let answer = match response.outcome {
            Ok(result) if result.object().is_some() => Answer::Result(result),
            Ok(_) => Answer::Unusable(Reason::Members),
            Err(error) => Answer::Error(error),
        };
        self.take_answer(now, number, answer)
    }

    /// A broken response may still name a question, which it ends (JR-32). So does one that broke
    /// off before its result, as long as nothing says that it is a request.
    pub(super) fn take_unusable<'b>(
        &mut self,
        now: Instant,
        invalid: Invalid<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        match invalid.answered_id() {
            Some(number) => self.take_answer(now, number, Answer::Unusable(invalid.reason)),
            None => Action::Ignore(IgnoreReason::Malformed),
        }
    }

    /// However wrong an answer is, that to a ping is a sign of life.
    fn take_answer<'b>(
        &mut self,
        now: Instant,
        number: u64,
        answer: Answer<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if self.take_pong(now, number) {
            return Action::Done;
        }
        let question = self
            .find(number)
            .and_then(|key| Some((key, self.remove(key)?)));
        let Some((key, question)) = question else {
            return Action::Ignore(IgnoreReason::LateResponse);
        };
        Action::Event(Event::Answer {
            token: self.token(key),
            cookie: question.sent.cookie,
            answer,
        })
    }

    /// Takes a progress notification for a question of ours, which starts its timeout anew (PG-04,
    /// PG-09).
    pub(super) fn take_progress<'b>(
        &mut self,
        now: Instant,
        params: Object<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let (key, cookie, progress) = match self.progressed(params) {
            Ok(taken) => taken,
            Err(reason) => return Action::Ignore(reason),
        };
        self.extend(now, key);
        Action::Event(Event::Progress {
            token: self.token(key),
            cookie,
            progress: progress.value,
            total: progress.total,
            message: progress.message,
        })
    }

    /// The next question that ended without an answer.
    pub(super) fn next_answer(&mut self) -> Option<Event<'static>> {
        let (key, cookie, why) = self.next_event()?;
        Some(Event::Answer {
            token: self.token(key),
            cookie,
            answer: why?.into(),
        })
    }
}
