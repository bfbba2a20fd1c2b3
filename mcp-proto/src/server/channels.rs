//! Destinations of messages: over HTTP each exchange is a channel, which ends with its last answer.

use super::in_flight::Stage;
use super::{Server, Storage};
use crate::action::{Channel, Transmit};
use crate::slots::{Key, Queue};
use crate::source::Place;

impl<S: Storage> Server<'_, S> {
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

    /// Whether nothing more comes for an exchange (SH-14).
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
    /// before it was known to be the last.
    pub(super) fn end_array(&mut self) {
        if let Some(channel) = self.arrays.end()
            && self.is_over(channel)
        {
            self.arrays.set_ended(channel);
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
