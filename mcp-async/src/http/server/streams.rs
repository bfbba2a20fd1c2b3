//! The outgoing streams of a legacy session, and the tasks that wait for them.

use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::http::Refusal;
use mcp_proto::server::http::streams::{
    Append, Delivery, StreamLimits, StreamRead, StreamReader, Streams, TooManyStreams,
};
use mcp_proto::{Channel, SentToken, Transmit};

use super::caller::CallerId;
use crate::connection::{Core, Outbound, Receipt};
use crate::http::Replay;
use crate::server::Machine;
use crate::shares::Share;

/// The streams of one session, with those who read them.
pub(super) struct SessionStreams {
    streams: Streams,
    /// Who waits for something on a stream.
    waiting: BTreeMap<u32, Waker>,
    /// Streams with something new on them, whose readers were not woken yet.
    news: Vec<Channel>,
    /// The outcomes of POSTs that were not told yet.
    handled: BTreeMap<u32, Verdict>,
    /// Who waits for a store to have an event of theirs.
    sending: BTreeMap<(u32, u64), Waker>,
    /// Those of them who need not wait any more, and were not woken yet.
    sent: Vec<Waker>,
    /// The places of POSTs whose requests are not answered yet.
    places: BTreeMap<u32, Share<CallerId>>,
    /// Statuses of answers that are not 200.
    statuses: BTreeMap<u32, u16>,
    /// Whether a store takes events before they are read.
    stored: bool,
    over: bool,
}

/// The outcome of the messages of a POST.
pub(super) enum Verdict {
    /// The machine has had them; the status, if that is all that is said to them.
    Handled(Option<u16>),
    /// Nothing: the lease has ended.
    Unserved,
    /// The machine has had them, and the store has not taken what they have changed.
    Unsaved,
}

impl SessionStreams {
    /// The last epoch with numbers for its streams.
    pub(super) const LAST_EPOCH: u32 = u32::MAX / NUMBERS;

    /// Those of this connection; `None` if it is no session.
    pub(super) fn of(core: &mut Core<Machine>) -> Option<&mut Self> {
        core.outbound.downcast_mut()
    }

    pub(super) fn new(delivery: Delivery, limits: StreamLimits) -> Self {
        Self {
            streams: Streams::new(delivery, limits),
            stored: false,
            waiting: BTreeMap::new(),
            news: Vec::new(),
            handled: BTreeMap::new(),
            sending: BTreeMap::new(),
            sent: Vec::new(),
            places: BTreeMap::new(),
            statuses: BTreeMap::new(),
            over: false,
        }
    }

    /// The same with a store that takes events before they are read.
    pub(super) fn stored(self) -> Self {
        Self {
            streams: self.streams.stored(),
            stored: true,
            ..self
        }
    }

    /// Whether the session's task has to look at what is new before it can be read.
    pub(super) const fn is_stored(&self) -> bool {
        self.stored
    }

    /// Continues after the processes that had the session before: `times` of them, counting
    /// this one; `last` is the last event of its own stream.
    pub(super) fn carry_on(&mut self, times: u32, last: u64) {
        self.streams.number_from(times.saturating_mul(NUMBERS));
        self.streams
            .restore(Channel::PIPE, last.saturating_add(1), [], false);
    }

    /// See [`Streams::named`].
    pub(super) fn named(&self, last_event_id: &[u8]) -> Result<(Channel, u64), Refusal> {
        self.streams.named(last_event_id)
    }

    /// Puts back what a store has of a stream.
    pub(super) fn restore(&mut self, channel: Channel, first: u64, replay: &Replay) {
        // A stream that is unknown here is not continued here.
        self.streams
            .restore(channel, first, replay.messages(), true);
    }

    /// See [`Streams::poll_append`].
    pub(super) fn poll_append(&mut self) -> Option<Append<'_>> {
        self.streams.poll_append()
    }

    /// The store has this event, or never will.
    pub(super) fn settle(&mut self, channel: Channel, sequence: u64) {
        self.streams.settle(channel, sequence);
        self.news.push(channel);
        self.sent
            .extend(self.sending.remove(&(channel.number(), sequence)));
    }

    /// The stream of a new POST.
    pub(super) fn open(&mut self) -> Result<StreamReader, TooManyStreams> {
        self.streams.open()
    }

    /// Keeps the place of a POST until its requests are answered.
    pub(super) fn hold(&mut self, post: &StreamReader, place: Option<Share<CallerId>>) {
        let number = post.channel().number();
        self.places.extend(place.map(|place| (number, place)));
    }

    /// The messages of this POST have no answer.
    pub(super) fn release(&mut self, post: Channel) {
        self.places.remove(&post.number());
    }

    /// A reader of the session's own stream, or of the one that this event belongs to. The
    /// previous reader is woken and sees the end.
    pub(super) fn attach(&mut self, last_event_id: Option<&[u8]>) -> Result<StreamReader, Refusal> {
        let reader = match last_event_id {
            Some(id) => self.streams.resume(id)?,
            None => {
                let reader = self.streams.listen();
                // Those that were answered were forgotten.
                self.streams.reopen(|_| true);
                reader
            }
        };
        self.news.push(reader.channel());
        Ok(reader)
    }

    pub(super) fn detach(&mut self, reader: &StreamReader) {
        self.streams.detach(reader);
        let number = reader.channel().number();
        if !self.streams.is_read(reader.channel()) {
            self.waiting.remove(&number);
        }
        self.handled.remove(&number);
        self.statuses.remove(&number);
        // A stream that cannot be resumed is gone, and its events were never stored.
        let gone = self.sending.range((number, 0)..=(number, u64::MAX));
        let gone: Vec<_> = gone
            .map(|(key, _)| *key)
            .filter(|(_, sequence)| self.streams.is_settled(reader.channel(), *sequence))
            .collect();
        for key in gone {
            self.sent.extend(self.sending.remove(&key));
        }
    }

    /// The outcome of a POST is known.
    pub(super) fn judge(&mut self, post: Channel, verdict: Verdict) {
        if !matches!(verdict, Verdict::Handled(None)) {
            self.release(post);
        }
        if self.streams.is_read(post) {
            self.handled.insert(post.number(), verdict);
            self.news.push(post);
        }
    }

    /// The outcome of this POST, once it is known.
    pub(super) fn verdict(&mut self, post: &StreamReader) -> Option<Verdict> {
        self.handled.remove(&post.channel().number())
    }

    /// The whole answer and its status, if there is no more to it.
    pub(super) fn single(&mut self, post: &StreamReader) -> Option<(u16, Vec<u8>)> {
        let message = self.streams.single(post)?;
        let status = self.statuses.remove(&post.channel().number());
        Some((status.unwrap_or(200), message))
    }

    pub(super) fn prime(&mut self, post: &StreamReader) {
        self.streams.prime(post.channel());
    }

    pub(super) fn read(&mut self, reader: &StreamReader, out: &mut Vec<u8>) -> StreamRead {
        self.streams.read(reader, out, CHUNK)
    }

    /// Wakes the task when there is something new on the reader's stream.
    pub(super) fn watch(&mut self, reader: &StreamReader, cx: &Context<'_>) {
        match self.waiting.get_mut(&reader.channel().number()) {
            Some(waker) => waker.clone_from(cx.waker()),
            None => {
                let waker = cx.waker().clone();
                self.waiting.insert(reader.channel().number(), waker);
            }
        }
    }

    /// The store holds the session up: readers end after what they can read.
    pub(super) fn interrupt_readers(&mut self) {
        let Self { streams, news, .. } = self;
        streams.interrupt_readers(|channel| news.push(channel));
    }

    /// The session is over: every reader ends behind what there is.
    pub(super) fn finish(&mut self) -> Vec<Waker> {
        self.over = true;
        self.places.clear();
        self.streams.finish();
        self.news.clear();
        let mut waiting = core::mem::take(&mut self.sent);
        waiting.extend(core::mem::take(&mut self.waiting).into_values());
        waiting.extend(core::mem::take(&mut self.sending).into_values());
        waiting
    }

    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn has_readers(&self) -> bool {
        self.streams.has_readers()
    }

    /// Those to wake because of what is new.
    pub(super) fn take_woken(&mut self, woken: &mut Vec<Waker>) {
        for channel in self.news.drain(..) {
            woken.extend(self.waiting.remove(&channel.number()));
        }
        woken.append(&mut self.sent);
    }
}

impl Outbound for SessionStreams {
    fn has_room(&self, on: Channel) -> bool {
        self.streams.has_room(on)
    }

    fn is_read(&self, on: Channel) -> bool {
        self.streams.is_read(on)
    }

    fn take(
        &mut self,
        transmit: Transmit,
        question: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt> {
        let Transmit {
            channel,
            end,
            status,
            ..
        } = transmit;
        let sequence = self.streams.push(channel, message, question, end);
        if end {
            self.release(channel);
        }
        if status != 200 && self.streams.is_read(channel) {
            self.statuses.entry(channel.number()).or_insert(status);
        }
        if self.news.last() != Some(&channel) {
            self.news.push(channel);
        }
        let sequence = sequence.filter(|_| self.stored)?;
        Some(Receipt { channel, sequence })
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

    fn awaits_store(&self) -> bool {
        self.streams.has_unsettled()
    }

    fn answered(&mut self, question: SentToken) {
        self.streams.answered(question);
    }

    fn disconnect(&mut self, on: Channel, retry: Duration) -> bool {
        let possible = self.streams.disconnect(on, Some(retry));
        self.news.push(on);
        possible
    }
}

/// A portion of a stream that leaves in one frame.
const CHUNK: usize = 64 << 10;

/// How many streams a process may open before it reaches the numbers of the next. A session
/// lives shorter, or the streams that would be confused are long forgotten.
const NUMBERS: u32 = 1 << 20;
