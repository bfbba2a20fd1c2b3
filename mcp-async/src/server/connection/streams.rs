//! The messages of a server that leave in exchanges, and the tasks that wait for them.

use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::http::{PostStatus, Refusal};
use mcp_proto::rpc::OwnedMessages;
use mcp_proto::server::http::streams::{
    Append, Delivery, StreamLimits, StreamRead, StreamReader, StreamResponse, Streams,
};
use mcp_proto::{Channel, Outgoing, Receipt, SentToken, Transmit};

use crate::connection::{Outbound, Text};
use crate::shares::{CallerId, Share, UnreadBytes};
use crate::sync::Waiters;

/// The streams of a session, or of a request without one, with those who read them.
pub(crate) struct ServerStreams {
    streams: Streams,
    /// The tasks that wait for an event of a stream, by streams.
    waiting: BTreeMap<u32, Waker>,
    /// The tasks that wait until a store has their event, by streams and events.
    sending: BTreeMap<(u32, u64), Waker>,
    /// Those of both who need not wait any more, and were not woken yet.
    woken: Waiters,
    /// The places of POSTs whose requests are not answered yet.
    places: BTreeMap<u32, Share<CallerId>>,
    /// Counts the unread bytes of all streams, for the caller that has opened them.
    counter: UnreadBytes,
    /// True if there was no room for the last message: handlers wait until their streams were read.
    is_crowded: bool,
    /// True if it was crowded since the last look, and is not any more.
    has_eased: bool,
    over: bool,
}

impl ServerStreams {
    /// The last epoch with numbers for its streams.
    pub(crate) const LAST_EPOCH: u32 = u32::MAX / NUMBERS;

    pub(crate) fn new(delivery: Delivery, limits: StreamLimits, counter: UnreadBytes) -> Self {
        Self::of(Streams::new(delivery, limits), counter)
    }

    /// Those of a session with a store that takes events before they are read.
    pub(crate) fn stored(limits: StreamLimits, counter: UnreadBytes) -> Self {
        Self::of(Streams::new(Delivery::Resumable, limits).stored(), counter)
    }

    const fn of(streams: Streams, counter: UnreadBytes) -> Self {
        Self {
            streams,
            waiting: BTreeMap::new(),
            sending: BTreeMap::new(),
            woken: Waiters::new(),
            places: BTreeMap::new(),
            counter,
            is_crowded: false,
            has_eased: false,
            over: false,
        }
    }

    /// Returns true if a store takes events before they are read, so that the session's task has to look at them.
    pub(crate) const fn is_stored(&self) -> bool {
        self.streams.is_stored()
    }

    /// Continues after the processes that had the session before: `times` of them, counting
    /// this one; `last` is the last event of its own stream.
    pub(crate) fn carry_on(&mut self, times: u32, last: u64) {
        self.streams.number_from(times.saturating_mul(NUMBERS));
        self.streams
            .restore(Channel::PIPE, last.saturating_add(1), [], false);
    }

    /// See [`Streams::named`].
    pub(crate) fn named(&self, last_event_id: &[u8]) -> Result<(Channel, u64), Refusal> {
        self.streams.named(last_event_id)
    }

    /// Puts back what a store has of a stream.
    pub(crate) fn restore<'e>(
        &mut self,
        channel: Channel,
        first: u64,
        messages: impl Iterator<Item = &'e [u8]>,
    ) {
        // A stream that is unknown here is not continued here.
        self.streams.restore(channel, first, messages, true);
    }

    /// See [`Streams::poll_append`].
    pub(crate) fn poll_append(&mut self) -> Option<Append<'_>> {
        self.streams.poll_append()
    }

    /// The store has this event, or never will.
    pub(crate) fn settle(&mut self, channel: Channel, sequence: u64) {
        self.streams.settle(channel, sequence);
        self.count();
        self.wake(channel);
        self.woken
            .extend(self.sending.remove(&(channel.number(), sequence)));
    }

    /// Returns true while a store does not have every event yet.
    pub(crate) fn awaits_store(&self) -> bool {
        self.streams.has_unsettled()
    }

    /// The stream of a new POST.
    pub(crate) fn open(&mut self) -> Result<StreamReader, Refusal> {
        self.streams.open()
    }

    /// See [`Streams::open_for`].
    pub(crate) fn open_for(&mut self, body: &OwnedMessages<Text>) -> Result<StreamReader, Refusal> {
        self.streams.open_for(body)
    }

    /// Keeps the places of a POST until its requests are answered.
    pub(crate) fn hold(&mut self, post: &StreamReader, places: Share<CallerId>) {
        self.places.insert(post.channel().number(), places);
    }

    /// The messages of this POST have no answer.
    pub(crate) fn release(&mut self, post: Channel) {
        self.places.remove(&post.number());
    }

    /// A reader of the session's own stream, or of the one that this event belongs to. The
    /// previous reader is woken and sees the end.
    pub(crate) fn attach(&mut self, last_event_id: Option<&[u8]>) -> Result<StreamReader, Refusal> {
        let reader = self.streams.attach(last_event_id)?;
        self.count();
        self.wake(reader.channel());
        Ok(reader)
    }

    pub(crate) fn detach(&mut self, reader: &StreamReader) {
        self.streams.detach(reader);
        self.count();
        let number = reader.channel().number();
        if !self.streams.is_read(reader.channel()) {
            self.waiting.remove(&number);
        }
        // A stream that cannot be resumed is gone, and its events were never stored.
        let gone = self.sending.range((number, 0)..=(number, u64::MAX));
        let gone: Vec<_> = gone
            .map(|(key, _)| *key)
            .filter(|(_, sequence)| self.streams.is_settled(reader.channel(), *sequence))
            .collect();
        for key in gone {
            self.woken.extend(self.sending.remove(&key));
        }
    }

    /// The machine has had the messages of a POST: see [`Streams::handled`].
    pub(crate) fn handled(&mut self, post: Channel, status: PostStatus) {
        if status.get().is_some() {
            self.release(post);
        }
        self.streams.handled(post, status);
        self.wake(post);
    }

    /// See [`Streams::refuse`].
    pub(crate) fn refuse(&mut self, post: Channel, refusal: Refusal) {
        self.release(post);
        self.streams.refuse(post, refusal);
        self.wake(post);
    }

    /// See [`Streams::response`].
    pub(crate) fn response(&mut self, post: &StreamReader, begins: bool) -> StreamResponse {
        let response = self.streams.response(post, begins);
        match response {
            StreamResponse::Pending | StreamResponse::Events => {}
            StreamResponse::Message { .. } => self.count(),
            // Its stream is gone, with events for which handlers may wait.
            _ => self.detach(post),
        }
        response
    }

    pub(crate) fn prime(&mut self, post: &StreamReader) {
        self.streams.prime(post.channel());
    }

    /// Appends events to a portion of a response.
    pub(crate) fn read(&mut self, reader: &StreamReader, out: &mut Vec<u8>) -> StreamRead {
        let read = self.streams.read(reader, out, CHUNK);
        self.count();
        read
    }

    /// Returns true if there is room again for streams that waited for other bytes of the caller to be read.
    pub(crate) const fn take_eased(&mut self) -> bool {
        core::mem::replace(&mut self.has_eased, false)
    }

    /// Wakes the task when there is something new on the reader's stream.
    pub(crate) fn watch(&mut self, reader: &StreamReader, cx: &Context<'_>) {
        match self.waiting.get_mut(&reader.channel().number()) {
            Some(waker) => waker.clone_from(cx.waker()),
            None => {
                let waker = cx.waker().clone();
                self.waiting.insert(reader.channel().number(), waker);
            }
        }
    }

    /// The store holds the session up: readers end after what they can read.
    pub(crate) fn interrupt_readers(&mut self) {
        let Self {
            streams,
            waiting,
            woken,
            ..
        } = self;
        streams.interrupt_readers(|channel| woken.extend(waiting.remove(&channel.number())));
    }

    /// The session is over: every reader ends after what there is. Returns those to wake.
    pub(crate) fn finish(&mut self) -> Waiters {
        self.over = true;
        self.places.clear();
        self.streams.finish();
        let mut waiting = self.woken.take();
        waiting.extend(core::mem::take(&mut self.waiting).into_values());
        waiting.extend(core::mem::take(&mut self.sending).into_values());
        waiting
    }

    /// Returns whether nothing more comes on the reader's stream than what is there.
    pub(crate) fn has_ended(&self, reader: &StreamReader) -> bool {
        self.streams.has_ended(reader.channel())
    }

    pub(crate) fn has_readers(&self) -> bool {
        self.streams.has_readers()
    }

    /// Those to wake because of what is new.
    pub(crate) fn take_woken(&mut self, woken: &mut Waiters) {
        woken.append(&mut self.woken);
    }

    /// Counts the bytes that readers have not read yet.
    fn count(&mut self) {
        let unread = self.streams.unread_by_readers();
        let has_room = self.counter.grow_to(unread);
        self.counter.set(unread);
        let is_crowded = !has_room || self.is_crowded && !self.counter.fits();
        self.has_eased |= self.is_crowded && !is_crowded;
        self.is_crowded = is_crowded;
    }

    fn wake(&mut self, channel: Channel) {
        self.woken.extend(self.waiting.remove(&channel.number()));
    }
}

impl Outgoing for ServerStreams {
    fn has_room(&self, on: Channel) -> bool {
        // A slow reader does not hold up the other streams of its session, and one without a reader loses its oldest.
        self.streams.has_room(on) && !(self.is_crowded && self.streams.unread(on) > 0)
    }

    fn take(
        &mut self,
        transmit: Transmit,
        question: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt> {
        let channel = transmit.channel;
        let receipt = self.streams.take(transmit, question, message);
        if transmit.end {
            self.release(channel);
        }
        self.count();
        self.wake(channel);
        receipt
    }
}

impl Outbound for ServerStreams {
    fn is_read(&self, on: Channel) -> bool {
        self.streams.is_read(on)
    }

    fn poll_stored(&mut self, cx: &Context<'_>, receipt: Receipt) -> Poll<()> {
        let Receipt { channel, sequence } = receipt;
        if self.over || self.streams.is_settled(channel, sequence) {
            return Poll::Ready(());
        }
        self.sending
            .entry((channel.number(), sequence))
            .or_insert_with(|| Waker::noop().clone())
            .clone_from(cx.waker());
        Poll::Pending
    }

    fn answered(&mut self, question: SentToken) {
        self.streams.answered(question);
        self.count();
    }

    fn disconnect(&mut self, on: Channel, retry: Duration) -> bool {
        let possible = self.streams.disconnect(on, Some(retry));
        self.wake(on);
        possible
    }
}

/// A portion of a stream that leaves in one frame.
const CHUNK: usize = 64 << 10;

/// The number of streams that a process may open before it reaches the numbers of the next. A session
/// lives shorter, or the streams that would be confused are long forgotten.
const NUMBERS: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::UnreadBudget;

    fn part(budget: &UnreadBudget) -> UnreadBytes {
        budget.part(Some(CallerId::Principal("ada".into())))
    }

    #[test]
    fn handlers_wait_while_the_caller_has_too_much_unread() {
        let budget = UnreadBudget::new(30_000);
        let limits = StreamLimits {
            unread: 1 << 20,
            ..StreamLimits::default()
        };
        let streams = || {
            let mut streams = ServerStreams::new(Delivery::Once, limits, part(&budget));
            let reader = streams.open().unwrap();
            (streams, reader)
        };
        let (mut first, one) = streams();
        let (mut second, other) = streams();
        let message = vec![b'x'; 16_000];
        let take = |streams: &mut ServerStreams, reader: &StreamReader| {
            let mut transmit = Transmit::pipe(message.len());
            transmit.channel = reader.channel();
            streams.take(transmit, None, &message);
            streams.has_room(reader.channel())
        };
        let mut out = Vec::new();
        let mut read = |streams: &mut ServerStreams, reader: &StreamReader| {
            assert_eq!(streams.read(reader, &mut out), StreamRead::Pending);
            out.len()
        };
        assert!(take(&mut first, &one));
        assert!(!take(&mut second, &other));
        // It continues when its own message was read, although those of the other were not.
        read(&mut second, &other);
        assert!(second.has_room(other.channel()));
        assert!(!take(&mut second, &other));
        read(&mut first, &one);
        read(&mut second, &other);
        let len = read(&mut second, &other);
        assert!(take(&mut first, &one) && len > 48_000);
    }

    #[test]
    fn streams_go_on_when_their_reader_has_left_or_the_caller_has_room_again() {
        let budget = UnreadBudget::new(30_000);
        let limits = StreamLimits::default();
        let mut other = part(&budget);
        let mut streams = ServerStreams::new(Delivery::Resumable, limits, part(&budget));
        let [slow, quick] = [(); 2].map(|()| streams.open().unwrap());
        let message = vec![b'x'; 12_000];
        let mut transmit = Transmit::pipe(message.len());
        transmit.channel = slow.channel();
        other.set(20_000);
        streams.take(transmit, None, &message);
        assert!(!streams.has_room(slow.channel()) && streams.has_room(quick.channel()));
        // The other bytes were read, which the next look at any stream finds.
        drop(other);
        let _ = streams.read(&quick, &mut Vec::new());
        assert!(streams.has_room(slow.channel()));
        assert!(streams.take_eased() && !streams.take_eased());
        let mut full = budget.part(None);
        assert!(full.grow_to(20_000));
        streams.take(transmit, None, &message);
        assert!(!streams.has_room(slow.channel()));
        streams.detach(&slow);
        assert!(streams.has_room(slow.channel()));
    }
}
