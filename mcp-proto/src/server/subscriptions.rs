//! Subscriptions of the client: resources by URI, and listens.

use super::uris::{Full, Owner, Uris};
use crate::json::Str;
use crate::slots::Key;
use crate::store::Table;

/// The URIs of the session and of its listens, and how many listens there are.
pub(super) struct Subscriptions<S> {
    uris: Uris<S>,
    listens: usize,
}

impl<S: Table<u8>> Subscriptions<S> {
    pub(super) fn new(store: S, bytes: usize, most: usize) -> Self {
        Self {
            uris: Uris::new(store, bytes, most),
            listens: 0,
        }
    }

    /// Returns false if the table never holds a URI.
    pub(super) const fn has_room(&self) -> bool {
        S::HOLDS
    }

    pub(super) const fn listens(&self) -> usize {
        self.listens
    }

    pub(super) const fn begin_listen(&mut self) {
        self.listens = self.listens.saturating_add(1);
    }

    pub(super) const fn end_listen(&mut self) {
        self.listens = self.listens.saturating_sub(1);
    }

    /// Adds a URI, unless a notification about it could be longer than the longest message.
    pub(super) fn add(
        &mut self,
        owner: Owner,
        uri: Str<'_>,
        max_message: usize,
    ) -> Result<(), Full> {
        // Every byte may take six when it is escaped.
        let largest = uri.decoded_len().saturating_mul(6).saturating_add(UPDATE);
        if largest > max_message {
            return Err(Full);
        }
        self.uris.add(owner, uri)
    }

    /// The URI of a `resources/subscribe` belongs to the session now, once (RS-16).
    pub(super) fn confirm(&mut self, request: Key) {
        let pending = Owner::Request(request);
        let known = self
            .uris
            .of(pending)
            .any(|uri| self.uris.of(Owner::Session).any(|other| other == uri));
        if !known {
            self.uris.hand_over(pending, Owner::Session);
        }
    }

    /// Takes out a URI of the session, and of those requests that `of` names.
    pub(super) fn remove(&mut self, uri: Str<'_>, of: impl Fn(Key) -> bool) {
        self.uris.remove(uri, |owner| match owner {
            Owner::Session => true,
            Owner::Request(request) => of(request),
        });
    }

    /// Takes out all URIs of a request that is over.
    pub(super) fn remove_all(&mut self, request: Key) {
        self.uris.remove_all(Owner::Request(request));
    }

    /// Notes that a resource changed, or that any may have, and calls `listen` for each request that is to say
    /// so.
    pub(super) fn touch(&mut self, uri: Option<&str>, mut listen: impl FnMut(Key)) {
        self.uris.touch(uri, |owner| {
            if let Owner::Request(request) = owner {
                listen(request);
            }
        });
    }

    /// The first changed resource with a pending notification for this owner, and its place.
    pub(super) fn first_changed(&self, owner: Owner) -> Option<(usize, &str)> {
        self.uris.first_dirty(owner)
    }

    /// The owner was notified of the change at this place.
    pub(super) fn told(&mut self, place: usize) {
        self.uris.clean(place);
    }

    pub(super) fn of(&self, owner: Owner) -> impl Iterator<Item = &str> {
        self.uris.of(owner)
    }

    /// Returns whether this resource has subscribers.
    pub(super) fn covers(&self, uri: &str) -> bool {
        self.uris.covers(uri)
    }
}

/// The most bytes of `notifications/resources/updated` besides the URI, with the id of a listen.
const UPDATE: usize = 2048;
