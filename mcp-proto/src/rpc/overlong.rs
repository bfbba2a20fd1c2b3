//! A message over the limit, while it passes.

use super::Salvage;

/// The kind of a message that is too long to be kept, and its id if that has at most `ID` bytes.
pub(crate) struct Overlong<const ID: usize> {
    pub(crate) salvage: Salvage,
    id: [u8; ID],
    /// May count beyond the array.
    id_len: usize,
}

impl<const ID: usize> Overlong<ID> {
    pub(crate) const fn new() -> Self {
        Self {
            salvage: Salvage::new(),
            id: [0; ID],
            id_len: 0,
        }
    }

    pub(crate) fn feed(&mut self, piece: &[u8]) {
        let Self {
            salvage,
            id,
            id_len,
        } = self;
        salvage.feed(piece, |byte| {
            if let Some(place) = id.get_mut(*id_len) {
                *place = byte;
            }
            *id_len = id_len.saturating_add(1);
        });
    }

    /// The JSON text of its id; `None` without exactly one, or if that is longer.
    pub(crate) fn id(&self) -> Option<&[u8]> {
        let id = self.id.get(..self.id_len);
        id.filter(|_| self.salvage.has_one_id())
    }
}
