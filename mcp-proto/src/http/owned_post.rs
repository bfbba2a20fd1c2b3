//! The head of a POST, kept until its body is handled.

use alloc::boxed::Box;

use super::endpoint::{Post, Version};
use crate::revision::Revision;

/// The head of a POST, kept until its body is handled. `Debug` does not show the session.
pub struct OwnedPost {
    known: Option<Revision>,
    /// A version that is not a known revision.
    unknown: Option<Box<[u8]>>,
    session: Option<Box<[u8]>>,
    method: Option<Box<[u8]>>,
    name: Option<Box<[u8]>>,
}

impl OwnedPost {
    /// Copies a head.
    pub fn new(post: &Post<'_>) -> Self {
        let (known, unknown) = match post.version {
            Version::Absent => (None, None),
            Version::Known(revision) => (Some(revision), None),
            Version::Unknown(text) => (None, Some(text.into())),
        };
        Self {
            known,
            unknown,
            session: post.session.map(Box::from),
            method: post.method.map(Box::from),
            name: post.name.map(Box::from),
        }
    }

    /// The head.
    pub fn as_post(&self) -> Post<'_> {
        Post {
            version: match (self.known, &self.unknown) {
                (Some(revision), _) => Version::Known(revision),
                (None, Some(text)) => Version::Unknown(text),
                (None, None) => Version::Absent,
            },
            session: self.session.as_deref(),
            method: self.method.as_deref(),
            name: self.name.as_deref(),
        }
    }
}

impl core::fmt::Debug for OwnedPost {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_post().fmt(f)
    }
}
