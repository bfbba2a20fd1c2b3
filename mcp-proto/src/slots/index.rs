//! The index of a table: its slots by the hashes of their ids.
//!
//! It is a hash table with open addressing and linear probing, of which at most half of the buckets are taken:
//!
//! ```text
//! home of hash     x   y,z
//! bucket       0   1   2   3   4   5
//!              -   x   y   z   -   -       z was put in after y
//! ```
//!
//! An entry lies at its home or after it, with no free bucket between. So the first free bucket ends a search, and no slot of another
//! hash is looked at. As half of the buckets are free, every search ends.

use super::NONE;

/// A bucket of the index: the slot [`NONE`] if it is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    hash: u32,
    slot: u32,
}

/// The buckets that the index has for each slot.
pub(crate) type Buckets = [Bucket; 2];

impl Bucket {
    /// A free bucket.
    pub(crate) const FREE: Self = Self {
        hash: 0,
        slot: NONE,
    };
}

#[cfg(feature = "alloc")]
pub(super) mod growing {
    use alloc::vec::Vec;

    use super::{Bucket, Buckets};
    use crate::store::Store;

    /// Buckets in memory that grows. Those of one slot, which is all that an exchange over HTTP has, are in the
    /// table itself.
    #[derive(Clone, Debug)]
    pub(crate) enum GrowingBuckets {
        One([Buckets; 1]),
        More(Vec<Buckets>),
    }

    impl Default for GrowingBuckets {
        fn default() -> Self {
            Self::One([[Bucket::FREE; 2]])
        }
    }

    impl AsRef<[Buckets]> for GrowingBuckets {
        fn as_ref(&self) -> &[Buckets] {
            match self {
                Self::One(one) => one,
                Self::More(more) => more,
            }
        }
    }

    impl AsMut<[Buckets]> for GrowingBuckets {
        fn as_mut(&mut self) -> &mut [Buckets] {
            match self {
                Self::One(one) => one,
                Self::More(more) => more,
            }
        }
    }

    /// Growing makes the index empty: all slots are filed anew.
    impl Store<Buckets> for GrowingBuckets {
        fn grow(&mut self, len: usize) -> bool {
            if len > self.as_ref().len() {
                let mut more = Vec::new();
                if !more.grow(len) {
                    return false;
                }
                *self = Self::More(more);
            }
            true
        }

        fn max_len(&self) -> usize {
            usize::MAX
        }
    }
}

impl Default for Bucket {
    fn default() -> Self {
        Self::FREE
    }
}

/// Returns the slot that is filed under this hash and for which `is` returns true.
pub(super) fn find(buckets: &[Bucket], hash: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
    let mut at = home(hash, buckets.len());
    while let Some(bucket) = buckets.get(at)
        && bucket.slot != NONE
    {
        if bucket.hash == hash && is(bucket.slot) {
            return Some(bucket.slot);
        }
        at = next(at, buckets.len());
    }
    None
}

/// Inserts a slot that the index does not hold.
pub(super) fn insert(buckets: &mut [Bucket], hash: u32, slot: u32) {
    let free = position(buckets, hash, NONE);
    set(buckets, free, Bucket { hash, slot });
}

/// Removes a slot, and moves back the entries after it that a search would no longer reach (backward
/// shift deletion).
pub(super) fn remove(buckets: &mut [Bucket], hash: u32, slot: u32) {
    let len = buckets.len();
    let mut gap = position(buckets, hash, slot);
    let mut at = next(gap, len);
    while let Some(&bucket) = buckets.get(at)
        && bucket.slot != NONE
    {
        if distance(home(bucket.hash, len), at, len) >= distance(gap, at, len) {
            set(buckets, gap, bucket);
            gap = at;
        }
        at = next(at, len);
    }
    set(buckets, gap, Bucket::FREE);
}

/// Returns the bucket of a slot of this hash, or the free one that ends the search.
fn position(buckets: &[Bucket], hash: u32, slot: u32) -> usize {
    let mut at = home(hash, buckets.len());
    while let Some(bucket) = buckets.get(at)
        && bucket.slot != slot
        && bucket.slot != NONE
    {
        at = next(at, buckets.len());
    }
    at
}

fn set(buckets: &mut [Bucket], at: usize, bucket: Bucket) {
    if let Some(old) = buckets.get_mut(at) {
        *old = bucket;
    }
}

/// Returns the bucket at which the search for a hash begins (Fibonacci hashing): 2^32 divided by the
/// golden ratio spreads consecutive numbers, which hashes may be.
fn home(hash: u32, len: usize) -> usize {
    let spread = hash.wrapping_mul(0x9e37_79b9);
    ((u64::from(spread) * len as u64) >> 32) as usize
}

/// Returns the bucket after one of `len`, in a circle.
fn next(at: usize, len: usize) -> usize {
    if at + 1 < len { at + 1 } else { 0 }
}

/// Returns the number of steps from a bucket to another, in a circle.
fn distance(from: usize, to: usize, len: usize) -> usize {
    if from <= to {
        to - from
    } else {
        to + len - from
    }
}
