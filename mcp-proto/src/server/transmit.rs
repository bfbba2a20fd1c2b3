//! Messages that follow from state, and their destinations: over HTTP each exchange is a channel, which
//! ends with its last answer.

use super::config::ServerSettings;
use super::reply::{Reply, ReplyKind};
use super::subscriptions::Owner;
use super::{Event, Server, Storage};
use crate::action::{Action, BufferFull, Channel, SendError, Transmit};
use crate::json::Writer;
use crate::received::{ReceivedRequest, Stage};
use crate::rpc::{Method, envelope};
use crate::slots::{Key, Queue};
use crate::source::Place;
use crate::time::Instant;

impl<'c, S: Storage, C: ServerSettings<'c>> Server<'_, S, C> {
    /// Returns true if a message is waiting to be sent.
    pub(super) fn has_output(&self) -> bool {
        if self.is_closed() {
            return false;
        }
        self.requests.table.first(Queue::Transmit).is_some()
            || self.questions.has_output()
            || self.requests.batch.ready().is_some()
            || self.session_has_output()
    }

    /// Returns true if the legacy session itself has a notification to send: a changed list or an
    /// updated resource.
    pub(super) fn session_has_output(&self) -> bool {
        self.session.next_change().is_some() || self.session_update().is_some()
    }

    /// The next resource whose change the client of the legacy session is to be told; it waits until it is ready (LC-26).
    fn session_update(&self) -> Option<(usize, &str)> {
        self.session
            .ready_revision()
            .and_then(|_| self.subscriptions.first_changed(Owner::Session))
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
        while let Some(key) = self.requests.next_marked(S::Place::of(on)) {
            let Some(request) = self.requests.table.get(key) else {
                break;
            };
            let sent = match (request.received().stage(), request.listen) {
                (Stage::Refused, _) => return self.transmit_refusal(key, out).map(Some),
                (Stage::Silent, _) => match self.transmit_silence(key) {
                    Some(end) => return Ok(Some(end)),
                    None => continue,
                },
                (Stage::Running, None) => self.flush_progress_at(now, key, out),
                _ => self.transmit_listen(key, out).map_err(SendError::from),
            };
            match sent {
                Ok(Some(transmit)) => return Ok(Some(transmit)),
                Err(SendError::BufferFull { needed }) => return Err(BufferFull { needed }),
                Ok(None) | Err(_) => self.requests.table.unmark(Queue::Transmit, key),
            }
        }
        if let Some(array) = self.requests.batch.ready()
            && array.channel() == on
        {
            let len = self.requests.batch.write(out)?;
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

    /// Changes that the client of the legacy session was not told of.
    fn transmit_session(&mut self, out: &mut [u8]) -> Result<Option<Transmit>, BufferFull> {
        let mut w = Writer::new(out);
        if let Some(kind) = self.session.next_change() {
            envelope::bare_notification(&mut w, kind.notification());
            let len = w.finish()?;
            self.session.forget_change(kind);
            return Ok(Some(Transmit::pipe(len)));
        }
        let Some((place, uri)) = self.session_update() else {
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
    fn transmit_refusal(&mut self, key: Key, out: &mut [u8]) -> Result<Transmit, BufferFull> {
        let written = self.requests.write_refusal(key, out)?;
        let channel = self.channel_of(Some(key));
        self.release(key);
        Ok(Transmit {
            end: !written.is_gathered && self.is_over(channel),
            is_error: written.len > 0,
            ..Transmit::on(channel, written.len)
        })
    }

    /// Writes what a listen is owed next, if anything, and takes it off.
    fn transmit_listen(
        &mut self,
        key: Key,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        let Some(request) = self.requests.table.get(key) else {
            return Ok(None);
        };
        let Some(listen) = request.listen().filter(|_| S::LISTENS) else {
            return Ok(None);
        };
        let channel = request.place().channel();
        let (id, revision) = (request.id(), request.revision);
        let mut w = Writer::new(out);
        let next = listen.write_next(key, id, revision, &self.subscriptions, &mut w);
        let Some((next, told)) = next else {
            return Ok(None);
        };
        let len = w.finish()?;
        if let Some(place) = told {
            self.subscriptions.told(place);
        }
        // The result ends an exchange; on a pipe something has to be said (CN-17).
        let last = match channel.is_exchange() {
            true => next.is_answered(),
            false => listen.is_answered(),
        };
        if last {
            self.release(key);
        } else if let Some(request) = self.requests.table.get_mut(key) {
            request.listen = Some(next);
        }
        Ok(Some(Transmit {
            end: last && channel.is_exchange(),
            ..Transmit::on(channel, len)
        }))
    }

    /// The channel for messages on behalf of a request, or of none.
    pub(super) fn channel_of(&self, request: Option<Key>) -> Channel {
        let request = request.and_then(|token| self.requests.table.get(token));
        request.map_or(Channel::PIPE, |request| request.place().channel())
    }

    /// Returns true if the channel is an exchange on which nothing more is sent (SH-14).
    pub(super) fn is_over(&self, channel: Channel) -> bool {
        let place = S::Place::of(channel);
        place.is_exchange() && !self.requests.occupy(place) && !self.questions.occupy(channel)
    }

    /// An array was read to its end. If its answers left one by one, the last one may have left
    /// before it was known to be the last: then the end of its exchange follows now, whatever waits to be read.
    pub(super) fn end_array<'b>(&mut self) -> Action<Event<'b>, Reply<'b>> {
        match self.requests.batch.end().map(Place::channel) {
            Some(channel) if self.is_over(channel) => Action::Reply(Reply {
                machine: Some(self.requests.machine()),
                channel,
                end: true,
                ..Reply::to(None, ReplyKind::BatchEnd)
            }),
            _ => Action::Done,
        }
    }

    /// The end of an exchange whose request has no answer, unless others came with it.
    pub(super) fn transmit_silence(&mut self, token: Key) -> Option<Transmit> {
        let channel = self.channel_of(Some(token));
        self.requests.remove(token);
        self.is_over(channel).then(|| Transmit::end_of(channel))
    }
}
