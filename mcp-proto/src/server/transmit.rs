//! Messages that follow from state, and their destinations: over HTTP each exchange is a channel, which
//! ends with its last answer.

use super::in_flight::Stage;
use super::reply::{Reply, ReplyKind};
use super::respond::write_replacement;
use super::subscriptions::Owner;
use super::{Event, Server, Storage};
use crate::action::{Action, BufferFull, Channel, SendError, Transmit};
use crate::json::Writer;
use crate::rpc::{ErrorObject, Method, code, envelope};
use crate::slots::{Key, Queue};
use crate::source::Place;
use crate::time::Instant;

impl<S: Storage> Server<'_, S> {
    /// Returns true if a message is waiting to be sent.
    pub(super) fn has_output(&self) -> bool {
        if self.is_closed() {
            return false;
        }
        self.requests.first(Queue::Transmit).is_some()
            || self.questions.has_output()
            || self.arrays.batch.is_ready()
            || self.session_has_output()
    }

    /// Returns true if the legacy session itself has a notification to send: a changed list or an
    /// updated resource.
    pub(super) fn session_has_output(&self) -> bool {
        self.session.is_ready()
            && (!self.session.changed.is_empty() || self.first_dirty(Owner::Session).is_some())
    }

    /// The next message. Answers come first, because they are awaited.
    pub(super) fn transmit(
        &mut self,
        now: Instant,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        if self.is_closed() {
            return Ok(None);
        }
        let on = S::Place::of(on).channel();
        while let Some(token) = self.next_request(on) {
            match self.requests.get(token).map(|request| request.stage) {
                Some(Stage::Refused) => return self.transmit_refusal(token, out).map(Some),
                Some(Stage::Running) => match self.flush_progress_at(now, token, out) {
                    Ok(None) => {
                        self.requests.unmark(Queue::Transmit, token);
                        continue;
                    }
                    Err(SendError::BufferFull { needed }) => return Err(BufferFull { needed }),
                    Ok(sent) => return Ok(sent),
                    Err(_) => continue,
                },
                Some(Stage::Silent) => {
                    if let Some(end) = self.transmit_silence(token) {
                        return Ok(Some(end));
                    }
                    continue;
                }
                _ => {}
            }
            match self.transmit_listen(token, out) {
                Ok(Some(transmit)) => return Ok(Some(transmit)),
                Ok(None) => self.requests.unmark(Queue::Transmit, token),
                Err(SendError::BufferFull { needed }) => return Err(BufferFull { needed }),
                Err(_) => self.requests.unmark(Queue::Transmit, token),
            }
        }
        if let Some(array) = self.arrays.ready()
            && array == on
        {
            let len = self.arrays.batch.write(out)?;
            return Ok(Some(Transmit {
                end: self.is_over(on),
                ..Transmit::on(on, len)
            }));
        }
        if let Some(transmit) = self.transmit_question(now, on, out)? {
            return Ok(Some(transmit));
        }
        if on != Channel::PIPE {
            return Ok(None);
        }
        self.transmit_session(out)
    }

    /// Questions that were given up, and the ping.
    fn transmit_question(
        &mut self,
        now: Instant,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        if let Some(len) = self.questions.write_cancellation_on(on, out)? {
            return Ok(Some(Transmit {
                end: self.is_over(on),
                ..Transmit::on(on, len)
            }));
        }
        if on != Channel::PIPE {
            return Ok(None);
        }
        Ok(self.questions.write_ping(now, out)?.map(Transmit::pipe))
    }

    /// Changes that the client of the legacy session was not told of; they wait until it is
    /// ready (LC-26).
    fn transmit_session(&mut self, out: &mut [u8]) -> Result<Option<Transmit>, BufferFull> {
        if !self.session.is_ready() {
            return Ok(None);
        }
        let mut w = Writer::new(out);
        if let Some(kind) = self.session.changed.first() {
            envelope::bare_notification(&mut w, kind.notification());
            let len = w.finish()?;
            self.session.changed = self.session.changed.without(kind);
            return Ok(Some(Transmit::pipe(len)));
        }
        let Some((place, uri)) = self.first_dirty(Owner::Session) else {
            return Ok(None);
        };
        let _ = envelope::notification(&mut w, Method::ResourcesUpdated, |w| {
            w.literal(r#"{"uri":"#);
            w.string(uri);
            w.literal("}");
            Ok::<(), core::convert::Infallible>(())
        });
        let len = w.finish()?;
        self.subscriptions.told(place);
        Ok(Some(Transmit::pipe(len)))
    }

    /// The one answer to a request that was cancelled by the alias.
    fn transmit_refusal(&mut self, token: Key, out: &mut [u8]) -> Result<Transmit, BufferFull> {
        let Self {
            requests,
            arrays,
            max_message,
            ..
        } = self;
        let Some(request) = requests.get(token) else {
            return Ok(Transmit::pipe(0));
        };
        let write =
            |out: &mut [u8]| write_replacement(Some(request.id()), &CANCELLED, *max_message, out);
        let gathered = request.batched && arrays.batch.gather(write).unwrap_or(false);
        let len = match gathered {
            true => 0,
            false => match write(out) {
                Ok(len) => len,
                Err(SendError::BufferFull { needed }) => return Err(BufferFull { needed }),
                // It can never fit: it must not block the following messages.
                Err(_) => 0,
            },
        };
        let channel = self.channel_of(Some(token));
        self.release(token);
        Ok(Transmit {
            end: !gathered && self.is_over(channel),
            is_error: len > 0,
            ..Transmit::on(channel, len)
        })
    }

    /// The channel for messages on behalf of a request, or of none.
    pub(super) fn channel_of(&self, request: Option<Key>) -> Channel {
        let request = request.and_then(|token| self.requests.get(token));
        request.map_or(Channel::PIPE, |request| request.place.channel())
    }

    /// The next request in the queue of those that have something to say on this channel.
    pub(super) fn next_request(&self, on: Channel) -> Option<Key> {
        let on = S::Place::of(on);
        let mut marked = self.requests.marked(Queue::Transmit);
        marked
            .find(|(_, request)| request.place == on)
            .map(|(token, _)| token)
    }

    /// Returns true if the channel is an exchange on which nothing more is sent (SH-14).
    pub(super) fn is_over(&self, channel: Channel) -> bool {
        let place = S::Place::of(channel);
        if !place.is_exchange() {
            return false;
        }
        !self.arrays.occupies(channel)
            && self.requests.values().all(|it| it.place != place)
            && !self.questions.occupy(channel)
    }

    /// An array was read to its end. If its answers left one by one, the last one may have left
    /// before it was known to be the last: then the end of its exchange follows now, whatever waits to be read.
    pub(super) fn end_array<'b>(&mut self) -> Action<Event<'b>, Reply<'b>> {
        match self.arrays.end() {
            Some(channel) if self.is_over(channel) => Action::Reply(Reply {
                machine: Some(self.id),
                channel,
                end: true,
                ..Reply::to(None, ReplyKind::BatchEnd)
            }),
            _ => Action::Done,
        }
    }

    /// Takes out a request that has no answer: over HTTP its channel is still to end.
    pub(super) fn retire(&mut self, token: Key) {
        if self.is_closed() {
            return self.release(token);
        }
        self.detach(token);
        let request = self.requests.get_mut(token);
        match request.filter(|request| request.place.is_exchange()) {
            Some(request) => {
                request.stage = Stage::Silent;
                request.batched = false;
                request.asked = false;
                request.traits.subscribes = false;
                self.requests.arm(token, None);
                self.requests.unmark(Queue::Event, token);
                self.requests.mark(Queue::Transmit, token);
            }
            None => {
                self.requests.remove(token);
            }
        }
    }

    /// The end of an exchange whose request has no answer, unless others came with it.
    pub(super) fn transmit_silence(&mut self, token: Key) -> Option<Transmit> {
        let channel = self.channel_of(Some(token));
        self.requests.remove(token);
        self.is_over(channel).then(|| Transmit::end_of(channel))
    }
}

const CANCELLED: ErrorObject<'static> = ErrorObject {
    code: code::REQUEST_CANCELLED,
    message: crate::json::Str::new("request cancelled"),
    data: None,
};
