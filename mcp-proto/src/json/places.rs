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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

    /// Adds a key of the object, or of its `_meta`.
    #[inline(always)]
    pub(super) fn add(&mut self, is_in_meta: bool, at: usize, len: usize) {
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

    /// Returns true if a key may be `_meta`: its length is 5, or with escapes at least 10. True if the places are unknown.
    pub(crate) fn may_have_meta(&self) -> bool {
        let may_be_meta = |key: &Place| matches!(key.len(), 5 | 10..);
        self.known().is_none_or(|keys| keys.iter().any(may_be_meta))
    }

    /// Returns true if the object was not scanned for them, or has too many.
    #[cfg(test)]
    pub(crate) fn is_unknown(&self) -> bool {
        self.known().is_none()
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

/// Notes where members lie, while a container is scanned.
pub(crate) trait Notes {
    /// False if nothing is noted.
    const ARE_TAKEN: bool;

    /// Begins with a container. Returns 1 if its members are noted, otherwise 0.
    fn begin(&mut self, container: &[u8]) -> u8;

    /// Notes a key in the container at this depth. Returns the number of containers whose members are
    /// noted from here on.
    fn note(&mut self, open: u8, at: usize, content: &[u8], len: usize) -> u8;

    /// Passes the value of the `_meta` that was noted last, if it begins the rest and is known; `at` is its offset in the container.
    #[inline(always)]
    fn pass_meta<'b>(&mut self, _rest: &'b [u8], _at: usize) -> Option<&'b [u8]> {
        None
    }
}

/// Notes whose places can be looked up.
pub(crate) trait NotePlaces: Notes {
    fn places(&mut self) -> &mut MemberPlaces;
}

impl Notes for MemberPlaces {
    const ARE_TAKEN: bool = Self::IS_NOTED;

    #[inline(always)]
    fn begin(&mut self, container: &[u8]) -> u8 {
        let is_object = container.starts_with(b"{");
        if is_object {
            self.len = 0;
        }
        u8::from(is_object)
    }

    #[inline(always)]
    fn note(&mut self, open: u8, at: usize, content: &[u8], len: usize) -> u8 {
        self.add(open > 1, at, len);
        match len {
            _ if open > 1 => 2,
            5 if content.starts_with(b"_meta") => 2,
            _ => 1,
        }
    }
}

impl NotePlaces for MemberPlaces {
    #[inline(always)]
    fn places(&mut self) -> &mut MemberPlaces {
        self
    }
}

/// Notes nothing.
pub(super) struct NoPlaces;

impl Notes for NoPlaces {
    const ARE_TAKEN: bool = false;

    #[inline(always)]
    fn begin(&mut self, _: &[u8]) -> u8 {
        0
    }

    #[inline(always)]
    fn note(&mut self, _: u8, _: usize, _: &[u8], _: usize) -> u8 {
        0
    }
}

/// Without the places: a message is shown as it reads.
impl fmt::Debug for MemberPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemberPlaces")
    }
}
