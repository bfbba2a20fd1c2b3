//! Calls that are gathered to leave as one array (JR-16).

use core::fmt;

use crate::action::SendError;
use crate::store::Store;

/// Calls, gathered: `[{..},{..}` without the end, or nothing.
pub(super) struct Gathered<B> {
    pub(super) store: B,
    /// Bytes gathered, at most the store's length.
    pub(super) len: usize,
    pub(super) calls: usize,
    pub(super) open: bool,
}

impl<B: Store<u8>> Gathered<B> {
    pub(super) const fn new(store: B) -> Self {
        Self {
            store,
            len: 0,
            calls: 0,
            open: false,
        }
    }

    /// Appends what `write` writes, or nothing.
    pub(super) fn put(
        &mut self,
        calls: usize,
        bytes: usize,
        mut write: impl FnMut(&mut [u8]) -> Result<usize, SendError>,
    ) -> Result<Pending, SendError> {
        if self.calls >= calls {
            return Err(SendError::TableFull);
        }
        loop {
            let end = self.store.as_ref().len().min(bytes);
            let mut nowhere = [];
            let free = match self.store.as_mut().get_mut(self.len..end) {
                Some(free) => free,
                None => &mut nowhere,
            };
            let needed = match free.split_first_mut() {
                Some((separator, free)) => {
                    *separator = if self.calls == 0 { b'[' } else { b',' };
                    match write(free) {
                        Ok(len) => return Ok(Pending(len + 1)),
                        Err(SendError::BufferFull { needed }) => needed + 1,
                        Err(other) => return Err(other),
                    }
                }
                None => match write(&mut []) {
                    Err(SendError::BufferFull { needed }) => needed + 1,
                    Err(other) => return Err(other),
                    Ok(_) => return Err(SendError::Encode),
                },
            };
            let wanted = self.len.saturating_add(needed);
            if wanted > bytes || wanted <= end || !self.store.grow(wanted) {
                // Another batch is of use only to a call that is not the first of this one.
                return Err(match self.calls {
                    0 => SendError::TooLarge { needed: wanted },
                    _ => SendError::TableFull,
                });
            }
        }
    }

    /// Keeps what was put.
    pub(super) fn commit(&mut self, pending: Pending) {
        self.len += pending.0;
        self.calls += 1;
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.calls = 0;
        self.open = false;
    }
}

/// Without the bytes: arguments are not for logs.
impl<B> fmt::Debug for Gathered<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gathered")
            .field("len", &self.len)
            .field("calls", &self.calls)
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

/// Bytes put and not yet kept.
#[must_use]
#[derive(Debug)]
pub(super) struct Pending(usize);
