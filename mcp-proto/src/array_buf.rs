//! One array of messages that is put together before it leaves (JR-15, JR-16).

use core::fmt;

use crate::action::{BufferFull, SendError};
use crate::store::{self, Store};

/// The elements so far: `[{..},{..}` without the end, or nothing.
///
/// An element is put only where the closing bracket has room, too.
pub(crate) struct ArrayBuf<S> {
    store: S,
    limit: usize,
    used: usize,
}

/// An element that was put and is not yet kept: the bytes with it.
#[must_use]
#[derive(Debug)]
pub(crate) struct Put(usize);

impl<S: Store<u8>> ArrayBuf<S> {
    /// An empty array that may take `limit` bytes.
    pub(crate) const fn new(store: S, limit: usize) -> Self {
        Self {
            store,
            limit,
            used: 0,
        }
    }

    /// Sets the bytes that an array may take.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Returns true if there can be room for more than the brackets.
    pub(crate) fn has_room(&self) -> bool {
        self.store.max_len().min(self.limit) > BRACKETS
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.elements().is_empty()
    }

    fn elements(&self) -> &[u8] {
        self.store.as_ref().get(..self.used).unwrap_or_default()
    }

    /// Puts what `write` writes after the elements that are there.
    ///
    /// # Errors
    /// Those of `write`; [`SendError::TooLarge`] if the element has no room.
    pub(crate) fn put(
        &mut self,
        mut write: impl FnMut(&mut [u8]) -> Result<usize, SendError>,
    ) -> Result<Put, SendError> {
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
                    return Ok(Put(start.saturating_add(len)));
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
                        return Err(SendError::TooLarge { needed: wanted });
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Keeps the element that was put last.
    pub(crate) fn keep(&mut self, put: Put) {
        self.used = put.0;
    }

    /// Writes the whole array, and nothing for one without elements (JR-18). Afterwards it is empty.
    pub(crate) fn write(&mut self, out: &mut [u8]) -> Result<usize, BufferFull> {
        let elements = self.elements();
        if elements.is_empty() {
            return Ok(0);
        }
        let needed = elements.len().saturating_add(1);
        let Some(place) = out.get_mut(..needed) else {
            return Err(BufferFull { needed });
        };
        if let Some((last, rest)) = place.split_last_mut() {
            store::copy(elements, rest);
            *last = b']';
        }
        self.used = 0;
        Ok(needed)
    }

    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }
}

/// Without the bytes: arguments and results are not for logs.
impl<S> fmt::Debug for ArrayBuf<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayBuf")
            .field("used", &self.used)
            .finish_non_exhaustive()
    }
}

const BRACKETS: usize = 2;
