//! The answers of one array, gathered until the array can leave (JR-15, JR-18).

use core::fmt;

use crate::action::{BufferFull, SendError};
use crate::store::{self, Table};

/// At most one array is gathered at a time; a second one that arrives meanwhile is answered
/// singly, and so is an answer that has no room.
///
/// ```text
///            elements arrive          all answered          written
///  idle ──────► gathering ──────────────► ready ──────────────► idle
/// ```
///
/// `used + 1 <= limit`: there is always room for the closing bracket.
pub(crate) struct Batch<S> {
    store: S,
    limit: usize,
    used: usize,
    open: usize,
    gathering: bool,
    reading: Reading,
    elements: usize,
    complained: bool,
}

/// What becomes of the elements of the array that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// No array is being read.
    Outside,
    /// Its answers are gathered.
    Gathered,
    /// Its answers leave one by one.
    Singly,
    /// It was refused as a whole (JR-19).
    Refused,
}

impl<S: Table<u8>> Batch<S> {
    pub(crate) fn new(store: S, limit: usize) -> Self {
        Self {
            store,
            limit,
            used: 0,
            open: 0,
            gathering: false,
            reading: Reading::Outside,
            elements: 0,
            complained: false,
        }
    }

    /// Sets the bytes that an array may take.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Whether there is a buffer at all; without one, arrays are refused.
    pub(crate) fn has_room(&mut self) -> bool {
        self.limit > BRACKETS
            && (self.store.grow(self.limit.min(SMALLEST)) || self.store.as_ref().len() > BRACKETS)
    }

    /// An array begins.
    pub(crate) fn start(&mut self, allowed: bool) {
        self.elements = 0;
        self.complained = false;
        self.reading = if !allowed {
            Reading::Refused
        } else if self.gathering {
            Reading::Singly
        } else {
            self.gathering = true;
            Reading::Gathered
        };
    }

    /// An array ends.
    pub(crate) fn end(&mut self) {
        self.reading = Reading::Outside;
        if self.open == 0 && self.used == 0 {
            // Only notifications: no answer at all.
            self.gathering = false;
        }
    }

    pub(crate) fn reading(&self) -> Reading {
        self.reading
    }

    /// Returns true while an array is read whose answers are gathered.
    pub(crate) fn takes_answers(&self) -> bool {
        S::HOLDS && self.reading == Reading::Gathered
    }

    /// Whether an array is being read.
    pub(crate) fn is_reading(&self) -> bool {
        self.reading != Reading::Outside
    }

    /// Whether the array that is being read was refused as a whole.
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
        if !S::HOLDS {
            return;
        }
        self.open = self.open.saturating_sub(1);
        if self.open == 0 && self.used == 0 && self.reading != Reading::Gathered {
            self.gathering = false;
        }
    }

    /// Puts an answer behind those that are there, and says whether it had room.
    pub(crate) fn gather(
        &mut self,
        write: impl Fn(&mut [u8]) -> Result<usize, SendError>,
    ) -> Result<bool, SendError> {
        if !S::HOLDS {
            return Ok(false);
        }
        let start = self.used + 1;
        loop {
            let end = self.store.as_ref().len().min(self.limit).saturating_sub(1);
            let room = self.store.as_mut().get_mut(start..end);
            match write(room.unwrap_or_default()) {
                Ok(len) => {
                    let separator = if self.used == 0 { b'[' } else { b',' };
                    if let Some(place) = self.store.as_mut().get_mut(self.used) {
                        *place = separator;
                    }
                    self.used = start.saturating_add(len);
                    return Ok(true);
                }
                Err(SendError::BufferFull { needed }) => {
                    let wanted = start.saturating_add(needed).saturating_add(1);
                    let length = self.store.as_ref().len();
                    let larger = length
                        .saturating_mul(2)
                        .clamp(wanted, self.limit.max(wanted));
                    if wanted > self.limit
                        || wanted <= length
                        || !store::enlarge(&mut self.store, wanted, larger)
                    {
                        return Ok(false);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether an answer is gathered, or may still be.
    pub(crate) fn holds(&self) -> bool {
        S::HOLDS
            && self.gathering
            && (self.open > 0 || self.used > 0 || self.reading == Reading::Gathered)
    }

    /// Whether the array that was read last has an element that wants an answer.
    pub(crate) fn is_counted(&self) -> bool {
        self.elements > 0 || self.complained
    }

    /// Whether the array can leave.
    pub(crate) fn is_ready(&self) -> bool {
        S::HOLDS
            && self.gathering
            && self.open == 0
            && self.used > 0
            && self.reading != Reading::Gathered
    }

    /// Writes the whole array; afterwards the next one can be gathered.
    pub(crate) fn write(&mut self, out: &mut [u8]) -> Result<usize, BufferFull> {
        let needed = self.used.saturating_add(1);
        let (Some(place), Some(answers)) =
            (out.get_mut(..needed), self.store.as_ref().get(..self.used))
        else {
            return Err(BufferFull { needed });
        };
        if let Some((last, rest)) = place.split_last_mut() {
            rest.copy_from_slice(answers);
            *last = b']';
        }
        self.used = 0;
        self.gathering = false;
        Ok(needed)
    }

    /// The connection ended.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        self.open = 0;
        self.gathering = false;
        self.reading = Reading::Outside;
    }
}

/// Without the answers: results are not for logs.
impl<S> fmt::Debug for Batch<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("used", &self.used)
            .field("open", &self.open)
            .field("gathering", &self.gathering)
            .field("reading", &self.reading)
            .field("elements", &self.elements)
            .field("complained", &self.complained)
            .finish_non_exhaustive()
    }
}

/// What counting an element said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Served,
    Refused,
    Silent,
}

const SMALLEST: usize = 256;
const BRACKETS: usize = 2;
