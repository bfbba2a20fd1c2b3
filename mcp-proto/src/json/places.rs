//! The places of members in a text, noted while it is scanned.

use core::fmt;

/// The places of the members of an object, and of those of its `_meta`.
///
/// A reader that has them finds each member at once, however long the values before it are.
/// Of an object with more members, or whose members were not noted, it walks the text.
#[derive(Clone, Copy)]
pub(crate) struct MemberPlaces {
    /// In the order of the text: those of `_meta` follow it.
    keys: [Place; Self::MOST],
    /// The number of keys; more than there is room for if they are not known.
    len: u8,
}

/// The place of a key: the offset of its opening quote in the text of the object, the length of its
/// content, and a bit that tells a key of `_meta`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place(u32);

impl MemberPlaces {
    /// The places of an object that was not scanned for them.
    pub(crate) const UNKNOWN: Self = Self {
        keys: [Place(0); Self::MOST],
        len: u8::MAX,
    };

    /// True if keys are noted. Firmware has neither the memory nor the flash, and its messages are
    /// short.
    pub(super) const IS_NOTED: bool = cfg!(feature = "alloc");
    /// So many keys are noted.
    const MOST: usize = if Self::IS_NOTED { 11 } else { 0 };

    /// Those of an object whose first key follows.
    #[inline]
    pub(super) const fn begin(&mut self) {
        self.len = 0;
    }

    /// Notes a key of the object, or of its `_meta`.
    #[inline(always)]
    pub(super) fn note(&mut self, is_in_meta: bool, at: usize, len: usize) {
        let place = Place::new(is_in_meta, at, len);
        let slot = self.keys.get_mut(usize::from(self.len));
        self.len = match (slot, place) {
            (Some(slot), Some(place)) => {
                *slot = place;
                self.len.wrapping_add(1)
            }
            _ => u8::MAX,
        };
    }

    /// The keys, if they are known.
    pub(super) fn known(&self) -> Option<&[Place]> {
        if Self::IS_NOTED {
            self.keys.get(..self.len.into())
        } else {
            None
        }
    }
}

impl Place {
    #[inline(always)]
    pub(super) fn new(is_in_meta: bool, at: usize, len: usize) -> Option<Self> {
        if at < 1 << 23 && len < 1 << 8 {
            Some(Self(
                (at as u32) << 9 | (len as u32) << 1 | u32::from(is_in_meta),
            ))
        } else {
            None
        }
    }

    /// The offset of the opening quote.
    #[inline]
    pub(super) const fn at(self) -> usize {
        (self.0 >> 9) as usize
    }

    /// The bytes between the quotes.
    #[inline]
    pub(super) const fn len(self) -> usize {
        (self.0 >> 1 & 0xFF) as usize
    }

    /// Returns true for a key of `_meta`.
    #[inline]
    pub(super) const fn is_in_meta(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Default for MemberPlaces {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

/// Without the places: a message is shown as it reads.
impl fmt::Debug for MemberPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemberPlaces")
    }
}
