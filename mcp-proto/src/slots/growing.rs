//! An index in memory that grows.

use alloc::vec::Vec;

use super::index::{Bucket, Buckets};
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
