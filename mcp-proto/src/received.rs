//! Requests of the peer that wait for an answer of this side: requests at a server, questions at a client.

use crate::action::{BufferFull, SendError};
use crate::batch::{Batch, Counted};
use crate::id_buf::IdStorage;
use crate::json::Writer;
use crate::rpc::{ErrorObject, Id, code, envelope};
use crate::slots::{Full, Key, Queue, SlotStore, Slots};
use crate::source::Place;
use crate::store::Store;
use crate::token::{MachineId, Token};

/// The part of a received request that is alike in both roles.
#[derive(Clone, Debug)]
pub(crate) struct Received<L, P> {
    id: L,
    /// The place that the request came from, and that every message about it goes to.
    place: P,
    /// Others came with it, in an array: the channel ends with the last of them.
    accompanied: bool,
    /// Its answer belongs into the array that is being gathered.
    batched: bool,
    stage: Stage,
}

/// The stage of a received request.
///
/// ```text
///            answered                        gone
/// Running ────────────────────────────────► (removed)
///    │  $/cancelRequest      answered -32800    ▲
///    ├───────────────► Refused ─────────────────┤
///    │  hang_up               polled            │
///    ├───────────────► Ended ───────────────────┤
///    │  cancelled, over HTTP  channel ended     │
///    └───────────────► Silent ──────────────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The application works on it.
    Running,
    /// Cancelled by the alias, whose sender waits for one -32800.
    Refused,
    /// Over; the application must still be notified.
    Ended,
    /// Over without an answer, and its channel is still to end.
    Silent,
}

impl<L: IdStorage, P: Place> Received<L, P> {
    /// A request as it arrived; `None` if its id is too long to be kept.
    pub(crate) fn new(id: Id<'_>, place: P) -> Option<Self> {
        Some(Self {
            id: L::new(id)?,
            place,
            accompanied: false,
            batched: false,
            stage: Stage::Running,
        })
    }

    pub(crate) fn id(&self) -> Id<'_> {
        self.id.id()
    }

    pub(crate) fn place(&self) -> P {
        self.place
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// Returns true if the request came with others, in an array.
    pub(crate) fn is_accompanied(&self) -> bool {
        self.accompanied
    }
}

/// An entry of the table of a role.
pub(crate) trait ReceivedRequest {
    type Id: IdStorage;
    type Place: Place;

    /// The message of the error that takes the place of an answer which can never fit.
    const TOO_LARGE: &'static str;

    fn received(&self) -> &Received<Self::Id, Self::Place>;

    fn received_mut(&mut self) -> &mut Received<Self::Id, Self::Place>;
}

/// The table of a role's received requests, the arrays in which they come, and the answers to those that are gathered (JR-15).
#[derive(Debug)]
pub(crate) struct ReceivedRequests<T: ReceivedRequest, S, B> {
    pub(crate) table: Slots<T, S>,
    /// The array that is being read, and the answers that are gathered.
    pub(crate) batch: Batch<B, T::Place>,
    batch_bytes: usize,
    /// The longest message that the output can ever hold.
    max_message: usize,
    machine: MachineId,
}

/// An answer that was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    /// Its bytes in the output.
    pub(crate) len: usize,
    /// True if it waits in the array for the answers to the other elements.
    pub(crate) is_gathered: bool,
    /// True if an error took the place of an answer for which there will never be room.
    pub(crate) is_replaced: bool,
}

impl<T: ReceivedRequest, S: SlotStore<T>, B: Store<u8>> ReceivedRequests<T, S, B> {
    /// An empty table of this machine, for messages of up to `max_message` bytes and arrays of up to `batch_bytes`.
    pub(crate) fn new(
        (store, limit): (S, usize),
        (batch, batch_bytes): (B, usize),
        max_message: usize,
        machine: MachineId,
    ) -> Self {
        Self {
            table: Slots::new(store, limit),
            // An array that no outbox could ever hold must not be gathered.
            batch: Batch::new(batch, batch_bytes.min(max_message)),
            batch_bytes,
            max_message,
            machine,
        }
    }

    pub(crate) const fn machine(&self) -> MachineId {
        self.machine
    }

    /// The name of a request for the application.
    pub(crate) const fn token(&self, key: Key) -> Token {
        Token::new(key, self.machine)
    }

    /// The place of a request in the table.
    pub(crate) fn key(&self, token: Token) -> Result<Key, SendError> {
        token.key_in(self.machine).ok_or(SendError::Stale)
    }

    pub(crate) const fn max_message(&self) -> usize {
        self.max_message
    }

    /// Sets the longest message that the output can ever hold.
    pub(crate) fn set_max_message(&mut self, len: usize) {
        if len != self.max_message {
            self.max_message = len;
            self.batch.set_limit(self.batch_bytes.min(len));
        }
    }

    /// Tells what no outbox could ever hold from what only has to wait.
    pub(crate) fn bounded<W, E: Into<SendError>>(
        &self,
        written: Result<W, E>,
    ) -> Result<W, SendError> {
        written.map_err(|error| error.into().within(self.max_message))
    }

    /// The request of this id, unless it is over.
    pub(crate) fn find(&self, id: Id<'_>) -> Option<Key> {
        self.table.find(id.hash32(), |request| {
            let request = request.received();
            request.id.matches(id) && !matches!(request.stage, Stage::Ended | Stage::Silent)
        })
    }

    /// The request of this key, if the application may still answer it.
    pub(crate) fn running(&self, key: Key) -> Result<&T, SendError> {
        let request = self.table.get(key);
        request
            .filter(|request| request.received().stage == Stage::Running)
            .ok_or(SendError::Stale)
    }

    /// Takes in a request, as an element of the array that is being read, if there is one.
    pub(crate) fn insert(&mut self, mut request: T) -> Result<Key, Full> {
        let received = request.received_mut();
        received.batched = self.batch.takes_answers();
        received.accompanied = self.batch.is_reading();
        let (hash, batched) = (received.id().hash32(), received.batched);
        let key = self.table.insert(hash, request)?;
        if batched {
            self.batch.open();
        }
        Ok(key)
    }

    /// Takes out a request that is over.
    pub(crate) fn remove(&mut self, key: Key) -> bool {
        self.close(key);
        self.table.remove(key).is_some()
    }

    /// Counts a request out of its array: its answer is there, or will never be.
    pub(crate) fn close(&mut self, key: Key) {
        // Looked at where it is: a slot is large, and moving it out would copy it.
        let request = self.table.get_mut(key).map(T::received_mut);
        if request.is_some_and(|request| core::mem::take(&mut request.batched)) {
            self.batch.close();
        }
    }

    /// Counts a request out of the array that is being read: the same message comes again.
    pub(crate) fn uncount_element(&mut self) {
        if self.batch.is_reading() {
            self.batch.uncount();
        }
    }

    /// Refuses a request that the peer gave up, and for which it waits for an error.
    pub(crate) fn refuse(&mut self, key: Key) {
        self.stop(key, Stage::Refused);
    }

    /// Ends a request without an answer: the application is still to be notified.
    pub(crate) fn end(&mut self, key: Key) {
        self.close(key);
        self.stop(key, Stage::Ended);
    }

    /// Takes out a request that has no answer: over HTTP its channel is still to end.
    pub(crate) fn retire(&mut self, key: Key) {
        let place = self.table.get(key).map(|request| request.received().place);
        if !place.is_some_and(Place::is_exchange) {
            self.remove(key);
            return;
        }
        self.close(key);
        self.stop(key, Stage::Silent);
    }

    /// Moves a request into a stage in which it does not run: either the application or the peer is still to be notified.
    fn stop(&mut self, key: Key, stage: Stage) {
        let (left, done) = match stage {
            Stage::Ended => (Queue::Event, Queue::Transmit),
            _ => (Queue::Transmit, Queue::Event),
        };
        if let Some(request) = self.table.get_mut(key) {
            request.received_mut().stage = stage;
        }
        self.table.arm(key, None);
        self.table.unmark(done, key);
        self.table.mark(left, key);
    }

    /// Writes an answer of the application: into its array, or to `out`.
    ///
    /// # Errors
    ///
    /// Those of `write`, and [`SendError::TooLarge`] if there will be no room even for an error.
    pub(crate) fn answer(
        &mut self,
        key: Key,
        out: &mut [u8],
        write: &WriteFor<'_, T>,
    ) -> Result<Written, SendError> {
        let Some(request) = self.table.get(key) else {
            return Err(SendError::Stale);
        };
        let received = request.received();
        let batch = received.batched.then_some(&mut self.batch);
        put::<T, B>(
            batch,
            self.max_message,
            Some(received.id()),
            out,
            &|out: &mut [u8]| write(request, out),
        )
    }

    /// Writes an answer of the core: into the array that is gathered if it is `batched`, or to `out`.
    ///
    /// # Errors
    ///
    /// [`BufferFull`] if `out` has no room; nothing has changed then.
    pub(crate) fn reply(
        &mut self,
        batched: bool,
        id: Option<Id<'_>>,
        out: &mut [u8],
        write: impl Fn(&mut [u8]) -> Result<usize, BufferFull>,
    ) -> Result<Written, BufferFull> {
        let batch = batched.then_some(&mut self.batch);
        let write = |out: &mut [u8]| Ok(write(out)?);
        put::<T, B>(batch, self.max_message, id, out, &write).or_else(without_payload)
    }

    /// Writes the one answer to a request that was cancelled by the alias.
    ///
    /// # Errors
    ///
    /// [`BufferFull`] if `out` has no room; nothing has changed then.
    pub(crate) fn write_refusal(
        &mut self,
        key: Key,
        out: &mut [u8],
    ) -> Result<Written, BufferFull> {
        let max_message = self.max_message;
        let written = self.answer(key, out, &|request, out| {
            let id = Some(request.received().id());
            write_error(
                id,
                code::REQUEST_CANCELLED,
                "request cancelled",
                max_message,
                out,
            )
        });
        match written {
            Err(SendError::BufferFull { needed }) => Err(BufferFull { needed }),
            // It can never fit: it must not block the following messages.
            written => Ok(written.unwrap_or_default()),
        }
    }

    /// The first request with something to send from this place.
    pub(crate) fn next_marked(&self, place: T::Place) -> Option<Key> {
        let mut marked = self.table.marked(Queue::Transmit);
        let first = marked.find(|(_, request)| request.received().place == place);
        first.map(|(key, _)| key)
    }

    /// Returns true if an answer is still to be sent to this place.
    pub(crate) fn occupy(&self, place: T::Place) -> bool {
        let mut requests = self.table.values();
        self.batch.occupies(place) || requests.any(|request| request.received().place == place)
    }

    /// Counts an element that wants an answer, up to `most` in an array.
    pub(crate) fn count_element(&mut self, most: usize) -> Counted {
        if self.batch.is_reading() {
            self.batch.count(most)
        } else {
            Counted::Served
        }
    }
}

/// Writes the answer to a request. It is called indirectly, so that the code around it exists once.
type WriteFor<'w, T> = dyn Fn(&T, &mut [u8]) -> Result<usize, SendError> + 'w;

/// Writes an answer: into the array, if it belongs into one that has room for it, otherwise to `out`, and an error in its place if
/// there will never be room for it.
fn put<T: ReceivedRequest, B: Store<u8>>(
    batch: Option<&mut Batch<B, T::Place>>,
    max_message: usize,
    id: Option<Id<'_>>,
    out: &mut [u8],
    write: &dyn Fn(&mut [u8]) -> Result<usize, SendError>,
) -> Result<Written, SendError> {
    let mut is_replaced = false;
    let is_gathered = match batch {
        Some(batch) => batch.gather(write)?,
        None => false,
    };
    let len = if is_gathered {
        0
    } else {
        match write(out) {
            Err(SendError::BufferFull { needed }) if needed > max_message => {
                is_replaced = true;
                write_error(id, code::INTERNAL_ERROR, T::TOO_LARGE, max_message, out)?
            }
            written => written?,
        }
    };
    Ok(Written {
        len,
        is_gathered,
        is_replaced,
    })
}

/// Writes an error of the core's own, with its id if that fits.
fn write_error(
    id: Option<Id<'_>>,
    code: i64,
    message: &'static str,
    max_message: usize,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let mut w = Writer::new(out);
    envelope::error(&mut w, id, &ErrorObject::new(code, message));
    match (w.finish(), id) {
        (Err(full), Some(_)) if full.needed > max_message => {
            write_error(None, code, message, max_message, out)
        }
        (Err(full), None) => Err(SendError::from(full).within(max_message)),
        (written, _) => Ok(written?),
    }
}

/// An answer without a payload, which cannot fail but for the buffer.
fn without_payload(error: SendError) -> Result<Written, BufferFull> {
    match error {
        SendError::BufferFull { needed } | SendError::TooLarge { needed } => {
            Err(BufferFull { needed })
        }
        _ => Ok(Written::default()),
    }
}
