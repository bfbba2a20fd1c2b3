//! The answers of one array, gathered until the array can leave (JR-15, JR-18).

use crate::action::{BufferFull, Channel, SendError};
use crate::array_buf::ArrayBuf;
use crate::source::Place;
use crate::store::Store;

/// At most one array is gathered at a time; a second one that arrives meanwhile is answered
/// singly, and so is an answer that has no room.
///
/// ```text
///            elements arrive          all answered          written
///  idle ──────► gathering ──────────────► ready ──────────────► idle
/// ```
#[derive(Debug)]
pub(crate) struct Batch<S, P> {
    answers: ArrayBuf<S>,
    open: usize,
    /// The place of the array whose answers are being gathered.
    gathered_for: P,
    reading: Reading,
    /// The place of the array that is being read.
    read_from: P,
    elements: usize,
    complained: bool,
}

/// The treatment of the elements of the array that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// No array is being read.
    Outside,
    /// Its answers are gathered.
    Gathered,
    /// Its answers leave one by one.
    Singly,
    /// It was refused as a whole (JR-19).
    Refused,
}

impl<S: Store<u8>, P: Place> Batch<S, P> {
    pub(crate) fn new(store: S, limit: usize) -> Self {
        Self {
            answers: ArrayBuf::new(store, limit),
            open: 0,
            gathered_for: P::of(Channel::PIPE),
            reading: Reading::Outside,
            read_from: P::of(Channel::PIPE),
            elements: 0,
            complained: false,
        }
    }

    /// Sets the bytes that an array may take.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.answers.set_limit(limit);
    }

    /// Returns true if there is a buffer for answers; without one, arrays are refused.
    pub(crate) fn has_room(&self) -> bool {
        self.answers.has_room()
    }

    /// An array begins, which came from this place.
    pub(crate) fn start(&mut self, allowed: bool, from: P) {
        self.elements = 0;
        self.complained = false;
        self.read_from = from;
        self.reading = if !allowed {
            Reading::Refused
        } else if self.is_gathering() {
            Reading::Singly
        } else {
            self.gathered_for = from;
            Reading::Gathered
        };
    }

    /// Ends the array that is being read. Returns its place, if the array is answered.
    pub(crate) fn end(&mut self) -> Option<P> {
        let has_answers = self.elements > 0 || self.complained;
        let is_answered = has_answers && !self.is_refused();
        self.reading = Reading::Outside;
        is_answered.then_some(self.read_from)
    }

    /// Returns true while an array is read whose answers are gathered.
    pub(crate) fn takes_answers(&self) -> bool {
        self.reading == Reading::Gathered && self.has_room()
    }

    /// Returns true while an array is being read.
    pub(crate) fn is_reading(&self) -> bool {
        self.reading != Reading::Outside
    }

    /// Returns true if the array that is being read was refused as a whole.
    pub(crate) fn is_refused(&self) -> bool {
        self.reading == Reading::Refused
    }

    /// Counts an element that wants an answer, up to `most`; what exceeds it gets one error.
    pub(crate) fn count(&mut self, most: usize) -> Counted {
        if self.elements < most {
            self.elements += 1;
            Counted::Served
        } else if self.complained {
            Counted::Silent
        } else {
            self.complained = true;
            Counted::Refused
        }
    }

    /// An element was taken back, and comes again.
    pub(crate) fn uncount(&mut self) {
        self.elements = self.elements.saturating_sub(1);
    }

    /// An element of the gathered array is under way.
    pub(crate) fn open(&mut self) {
        self.open += 1;
    }

    /// It has its answer, or will have none.
    pub(crate) fn close(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// Puts an answer behind those that are there, and says whether it had room.
    pub(crate) fn gather(
        &mut self,
        write: impl Fn(&mut [u8]) -> Result<usize, SendError>,
    ) -> Result<bool, SendError> {
        if !self.has_room() {
            return Ok(false);
        }
        match self.answers.put(write) {
            Ok(put) => {
                self.answers.keep(put);
                Ok(true)
            }
            Err(SendError::TooLarge { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns true if an array is still being read from this place, or its answers are still to be sent there.
    pub(crate) fn occupies(&self, place: P) -> bool {
        (self.gathered_for == place && self.is_gathering())
            || (self.read_from == place && self.is_reading())
    }

    /// Returns true from the start of an array whose answers are gathered until they are written, if there are any.
    fn is_gathering(&self) -> bool {
        self.reading == Reading::Gathered || self.open > 0 || !self.answers.is_empty()
    }

    /// Returns the place of the gathered answers, if they are complete and can be sent.
    pub(crate) fn ready(&self) -> Option<P> {
        let is_ready =
            self.reading != Reading::Gathered && self.open == 0 && !self.answers.is_empty();
        is_ready.then_some(self.gathered_for)
    }

    /// Writes the whole array; afterwards the next one can be gathered.
    pub(crate) fn write(&mut self, out: &mut [u8]) -> Result<usize, BufferFull> {
        self.answers.write(out)
    }

    /// The connection ended.
    pub(crate) fn clear(&mut self) {
        self.answers.clear();
        self.open = 0;
        self.reading = Reading::Outside;
    }
}

/// The treatment of an element, by the number of elements before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Served,
    Refused,
    Silent,
}
