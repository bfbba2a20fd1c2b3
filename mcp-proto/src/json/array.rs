//! JSON arrays.

use core::fmt;

use super::string::Form;
use super::walk::Walk;
use super::{Kind, Raw};

/// The elements of a JSON array, in the order of the text.
#[derive(Clone, Copy)]
pub struct Array<'b> {
    bytes: &'b [u8],
    form: Form,
}

impl<'b> Array<'b> {
    /// The array without elements.
    pub const EMPTY: Array<'static> = Array {
        bytes: b"[]",
        form: Form::Plain,
    };

    pub(super) const fn scanned(bytes: &'b [u8], form: Form) -> Self {
        Self { bytes, form }
    }

    /// The whole array as a value.
    pub const fn as_raw(self) -> Raw<'b> {
        Raw::scanned(self.bytes, self.form)
    }

    /// The elements.
    pub fn elements(self) -> impl Iterator<Item = Raw<'b>> + Clone {
        Walk::inside(self.bytes, self.form)
    }

    /// The number of elements; they are counted by walking over them.
    pub fn len(self) -> usize {
        self.elements().count()
    }

    /// Returns true if the array has no element.
    pub fn is_empty(self) -> bool {
        self.elements().next().is_none()
    }
}

impl<'b> Raw<'b> {
    /// The value, if it is an array.
    #[inline]
    pub fn array(self) -> Option<Array<'b>> {
        (self.kind() == Kind::Array).then(|| Array::scanned(self.as_bytes(), self.form()))
    }
}

/// The empty one.
impl Default for Array<'_> {
    fn default() -> Self {
        Array::EMPTY
    }
}

impl<'b> From<Array<'b>> for Raw<'b> {
    fn from(value: Array<'b>) -> Self {
        value.as_raw()
    }
}

/// Two texts of one array may differ and mean the same: what is compared is the text.
impl PartialEq for Array<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_raw(), f)
    }
}
