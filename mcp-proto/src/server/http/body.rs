//! The complete body of a POST, and the position of the next message.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{ExchangeId, ServerId};
use crate::action::{ACCEPTED, Channel};
use crate::http::{Post, Version};
use crate::revision::Revision;
use crate::rpc::{Incoming, Place, message_at};

/// The head of a POST, kept until its body is there.
pub(super) struct OwnedPost {
    known: Option<Revision>,
    /// A version that is not a known revision.
    unknown: Option<Box<[u8]>>,
    session: Option<Box<[u8]>>,
    method: Option<Box<[u8]>>,
    name: Option<Box<[u8]>>,
}

impl OwnedPost {
    pub(super) fn new(post: &Post<'_>) -> Self {
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

    pub(super) fn head(&self) -> Post<'_> {
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

/// A body whose messages go to a machine.
pub(super) struct Body {
    pub(super) exchange: ExchangeId,
    pub(super) machine: ServerId,
    pub(super) channel: Channel,
    pub(super) post: OwnedPost,
    pub(super) text: Vec<u8>,
    place: Place,
    /// Whether an answer follows, or has been given already.
    answered: bool,
    array: bool,
    status: Option<u16>,
}

impl Body {
    pub(super) const fn new(
        exchange: ExchangeId,
        machine: ServerId,
        channel: Channel,
        post: OwnedPost,
        text: Vec<u8>,
    ) -> Self {
        Self {
            exchange,
            machine,
            channel,
            post,
            text,
            place: Place::Start,
            answered: false,
            array: false,
            status: None,
        }
    }

    /// The next message, the head that it came with, and where its status is noted.
    pub(super) fn next(&mut self, depth: u8) -> Option<(Incoming<'_>, Post<'_>, Statuses<'_>)> {
        let message = message_at(&self.text, depth, &mut self.place)?;
        self.array |= matches!(message, Incoming::BatchStart);
        let statuses = Statuses {
            answered: &mut self.answered,
            status: &mut self.status,
        };
        Some((message, self.post.head(), statuses))
    }

    /// Whether its last message was handed out.
    pub(super) fn is_read(&self) -> bool {
        self.place == Place::End
    }

    /// The status of the response if there is no answer in it.
    pub(super) fn status(&self) -> Option<u16> {
        match (self.answered, self.array) {
            (true, _) => None,
            (false, true) => Some(ACCEPTED),
            (false, false) => self.status,
        }
    }
}

/// What the machine made of the messages of a body.
pub(super) struct Statuses<'s> {
    answered: &'s mut bool,
    status: &'s mut Option<u16>,
}

impl Statuses<'_> {
    /// See [`Action::http_status`](crate::Action::http_status).
    pub(super) fn note(self, status: Option<u16>) {
        match status {
            Some(status) => *self.status = Some(status),
            None => *self.answered = true,
        }
    }
}
