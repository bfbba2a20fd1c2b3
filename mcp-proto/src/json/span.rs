//! The place of a value in its text.

#[cfg(feature = "alloc")]
use super::{Raw, form::Form};

/// The place of a value in its text: what a [`Raw`] says, without a borrow of the text.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: usize,
    len: usize,
    form: Form,
}

#[cfg(feature = "alloc")]
impl Span {
    /// The place of a value in this text; `None` if the value is not a part of it.
    pub(crate) fn of(raw: Raw<'_>, text: &[u8]) -> Option<Self> {
        let value = raw.as_bytes();
        let start = offset(value, text)?;
        let form = raw.form();
        let end = start.checked_add(value.len())?;
        (!value.is_empty() && end <= text.len()).then_some(Self {
            start,
            len: value.len(),
            form,
        })
    }

    /// The value in the text that [`of`](Self::of) was given; null in a text that is too short.
    pub(crate) fn raw(self, text: &[u8]) -> Raw<'_> {
        let bytes = text.get(self.start..).and_then(|rest| rest.get(..self.len));
        bytes.map_or(Raw::NULL, |bytes| Raw::scanned(bytes, self.form))
    }
}

/// The number of bytes before `part` in `whole`, of which it is a part; `None` if it begins before `whole`.
pub(crate) fn offset(part: &[u8], whole: &[u8]) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)
}
