//! Storage that the caller brings.

/// A slice that may know how to become longer.
///
/// Every table and buffer of the core lives in one: an array or a borrowed slice keeps its
/// length, a `Vec` (feature `alloc`) grows when asked. How far it may grow is the limit of
/// the table that asks, never of the store.
///
/// ```
/// use mcp_proto::Store;
///
/// let mut fixed = [0u8; 16];
/// assert!(!Store::<u8>::grow(&mut fixed, 32), "an array cannot grow");
/// assert_eq!(fixed.as_ref().len(), 16);
/// ```
pub trait Store<T>: AsRef<[T]> + AsMut<[T]> {
    /// Makes the slice at least `len` long, keeping what it holds, and says whether it did.
    /// By default the answer is no.
    fn grow(&mut self, len: usize) -> bool {
        len <= self.as_ref().len()
    }
}

impl<T, const N: usize> Store<T> for [T; N] {}

impl<T> Store<T> for &mut [T] {}

#[cfg(feature = "alloc")]
impl<T: Default> Store<T> for alloc::vec::Vec<T> {
    fn grow(&mut self, len: usize) -> bool {
        if len > self.len() {
            if self.try_reserve(len - self.len()).is_err() {
                return false;
            }
            self.resize_with(len, T::default);
        }
        true
    }
}

/// Moves `bytes[start..end]` to the front.
pub(crate) fn shift(bytes: &mut [u8], start: usize, end: usize) {
    // Always so; said here, the copy has no panic path left.
    if start <= end && end <= bytes.len() {
        bytes.copy_within(start..end, 0);
    }
}
