//! Subscriptions of the client: listens, and resources by URI, in one bounded slice of bytes.

use crate::json::Str;
use crate::slots::Key;
use crate::store::{self, Store};

/// The URIs of the legacy session and of every listen, one behind the other, and how many listens
/// there are.
///
/// ```text
/// | slot u32 | generation u32 | length u32 | dirty u8 | URI, decoded | next entry ..
/// ```
///
/// They are walked from the front: subscriptions are few, and made and changed rarely beside
/// everything else. `dirty <= entries <= most`, and `used <= limit`.
#[derive(Debug)]
pub(super) struct Subscriptions<S> {
    store: S,
    limit: usize,
    used: usize,
    most: usize,
    entries: usize,
    dirty: usize,
    listens: usize,
}

/// The subscriber of a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The legacy session.
    Session,
    /// A listen, or a `resources/subscribe` that is not answered yet.
    Request(Key),
}

/// No room for another URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl<S: Store<u8>> Subscriptions<S> {
    /// Room for `limit` bytes, and for `most` URIs.
    pub(super) fn new(store: S, limit: usize, most: usize) -> Self {
        Self {
            store,
            limit,
            used: 0,
            most,
            entries: 0,
            dirty: 0,
            listens: 0,
        }
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

    /// Adds a URI, unless its owner has it already (RS-16), or a notification about it could be
    /// longer than the longest message.
    pub(super) fn add(
        &mut self,
        owner: Owner,
        uri: Str<'_>,
        max_message: usize,
    ) -> Result<(), Full> {
        let length = uri.decoded_len();
        // Every byte may take six when it is escaped.
        let largest = length.saturating_mul(6).saturating_add(UPDATE);
        if largest > max_message {
            return Err(Full);
        }
        let fields = fields(owner, length);
        if self.has(&fields, uri) {
            return Ok(());
        }
        if self.entries >= self.most {
            return Err(Full);
        }
        let end = self
            .used
            .checked_add(HEADER)
            .and_then(|start| start.checked_add(length))
            .filter(|end| *end <= self.limit)
            .ok_or(Full)?;
        if end > self.store.as_ref().len() {
            let wanted = end.saturating_mul(2).clamp(64, self.limit.max(64));
            if !store::enlarge(&mut self.store, end, wanted.min(self.limit)) {
                return Err(Full);
            }
        }
        let entry = self.store.as_mut().get_mut(self.used..end).ok_or(Full)?;
        let (header, text) = entry.split_at_mut_checked(HEADER).ok_or(Full)?;
        match uri.as_plain() {
            Some(plain) => store::copy(plain.as_bytes(), text),
            None => drop(uri.decode_exact(text).map_err(|_| Full)?),
        }
        for (place, field) in header.iter_mut().zip(fields.into_iter().chain([0])) {
            *place = field;
        }
        self.used = end;
        self.entries = self.entries.saturating_add(1);
        Ok(())
    }

    /// The URI of a `resources/subscribe` belongs to the session now, once (RS-16).
    pub(super) fn confirm(&mut self, request: Key) {
        let pending = Owner::Request(request);
        let known = self
            .of(pending)
            .any(|uri| self.of(Owner::Session).any(|other| other == uri));
        if !known {
            self.hand_over(pending, Owner::Session);
        }
    }

    /// Takes out a URI of the session, and of those requests that `of` names.
    pub(super) fn remove(&mut self, uri: Str<'_>, of: impl Fn(Key) -> bool) {
        self.retain(|entry| {
            let is_owned = match entry.owner {
                Owner::Session => true,
                Owner::Request(request) => of(request),
            };
            uri != entry.uri || !is_owned
        });
    }

    /// Takes out all URIs of a request that is over.
    pub(super) fn remove_all(&mut self, request: Key) {
        self.retain(|entry| entry.owner != Owner::Request(request));
    }

    /// Gives what one owner has to another.
    fn hand_over(&mut self, from: Owner, to: Owner) {
        let (slot, generation) = to.parts();
        let mut at = 0;
        while let Some(entry) = self.entry(at) {
            let (owner, next) = (entry.owner, entry.end);
            if owner == from
                && let Some(place) = self.store.as_mut().get_mut(at..at.saturating_add(8))
                && let Some((first, second)) = place.split_at_mut_checked(4)
            {
                store::copy(&slot.to_le_bytes(), first);
                store::copy(&generation.to_le_bytes(), second);
            }
            at = next;
        }
    }

    /// Notes a change of the resource at `uri` for the subscribers of it or of a parent of it
    /// (RS-10), and calls `listen` for each request among them; `None` is any resource.
    pub(super) fn touch(&mut self, uri: Option<&str>, mut listen: impl FnMut(Key)) {
        let mut at = 0;
        while let Some(entry) = self.entry(at) {
            let next = entry.end;
            if uri.is_none_or(|uri| covers(entry.uri, uri)) {
                if let Owner::Request(request) = entry.owner {
                    listen(request);
                }
                if !entry.dirty {
                    self.set_dirty(at, true);
                }
            }
            at = next;
        }
    }

    /// The first changed resource with a pending notification for this owner, and its place.
    pub(super) fn first_changed(&self, owner: Owner) -> Option<(usize, &str)> {
        if self.dirty == 0 {
            return None;
        }
        self.entries()
            .find(|entry| entry.dirty && entry.owner == owner)
            .map(|entry| (entry.start, entry.uri))
    }

    /// The owner was notified of the change at this place.
    pub(super) fn told(&mut self, place: usize) {
        if self.entry(place).is_some_and(|entry| entry.dirty) {
            self.set_dirty(place, false);
        }
    }

    /// The URIs of an owner.
    pub(super) fn of(&self, owner: Owner) -> impl Iterator<Item = &str> {
        self.entries()
            .filter(move |entry| entry.owner == owner)
            .map(|entry| entry.uri)
    }

    /// The URIs of all owners; one that several owners have stands there several times.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.entries().map(|entry| entry.uri)
    }

    /// Returns whether the resource at `uri` has subscribers.
    pub(super) fn covers(&self, uri: &str) -> bool {
        self.entries().any(|entry| covers(entry.uri, uri))
    }

    /// Returns true if there is an entry with these fields and this URI.
    ///
    /// Every URI of a listen is looked for among those before it, so another entry must cost next
    /// to nothing: only its fields are read.
    fn has(&self, fields: &[u8; FIELDS], uri: Str<'_>) -> bool {
        let mut rest = self.store.as_ref().get(..self.used).unwrap_or_default();
        while let Some((header, behind)) = rest.split_first_chunk::<HEADER>() {
            let [begin @ .., a, b, c, d, _] = header;
            let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
            let Some((text, next)) = behind.split_at_checked(length) else {
                return false;
            };
            let [wanted @ .., e, f, g, h] = fields;
            if begin == wanted && [a, b, c, d] == [e, f, g, h] && uri.is(text) {
                return true;
            }
            rest = next;
        }
        false
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut at = 0;
        core::iter::from_fn(move || {
            let entry = self.entry(at)?;
            at = entry.end;
            Some(entry)
        })
    }

    fn entry(&self, start: usize) -> Option<Entry<'_>> {
        let rest = self.store.as_ref().get(start..self.used)?;
        let (header, rest) = rest.split_at_checked(HEADER)?;
        let field = |at: usize| {
            let bytes = header.get(at..at + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        let length = field(8)? as usize;
        Some(Entry {
            start,
            end: start.checked_add(HEADER)?.checked_add(length)?,
            owner: Owner::from_parts(field(0)?, field(4)?),
            dirty: header.last() != Some(&0),
            uri: core::str::from_utf8(rest.get(..length)?).ok()?,
        })
    }

    fn set_dirty(&mut self, start: usize, dirty: bool) {
        let place = start.saturating_add(HEADER - 1);
        if let Some(flag) = self.store.as_mut().get_mut(place) {
            *flag = u8::from(dirty);
            self.dirty = if dirty {
                self.dirty.saturating_add(1)
            } else {
                self.dirty.saturating_sub(1)
            };
        }
    }

    /// One walk, in which what stays moves once: one listen can bring thousands of URIs, and
    /// each of them closing the gap behind it would cost their square.
    fn retain(&mut self, keep: impl Fn(&Entry<'_>) -> bool) {
        let (mut at, mut kept) = (0, 0);
        while let Some(entry) = self.entry(at) {
            let (start, end, dirty) = (entry.start, entry.end, entry.dirty);
            at = end;
            if !keep(&entry) {
                self.dirty = self.dirty.saturating_sub(usize::from(dirty));
                self.entries = self.entries.saturating_sub(1);
                continue;
            }
            let len = end.saturating_sub(start);
            let gap = start.saturating_sub(kept);
            if gap > 0
                && let Some(bytes) = self.store.as_mut().get_mut(kept..end)
            {
                store::shift(bytes, gap, gap.saturating_add(len));
            }
            kept = kept.saturating_add(len);
        }
        self.used = kept;
    }
}

struct Entry<'a> {
    start: usize,
    end: usize,
    owner: Owner,
    dirty: bool,
    uri: &'a str,
}

impl Owner {
    const fn parts(self) -> (u32, u32) {
        match self {
            Self::Session => (u32::MAX, u32::MAX),
            Self::Request(token) => (token.slot, token.generation),
        }
    }

    const fn from_parts(slot: u32, generation: u32) -> Self {
        match slot {
            // No slot has this number: it ends lists.
            u32::MAX => Self::Session,
            slot => Self::Request(Key { slot, generation }),
        }
    }
}

/// Returns the fields at the start of an entry: the owner, and the length of the URI.
fn fields(owner: Owner, length: usize) -> [u8; FIELDS] {
    let (slot, generation) = owner.parts();
    let mut fields = [0; FIELDS];
    for (place, field) in fields
        .chunks_exact_mut(4)
        .zip([slot, generation, length as u32])
    {
        store::copy(&field.to_le_bytes(), place);
    }
    fields
}

/// Returns true if a subscription to `subscribed` covers `uri`: `uri` is the same URI, or
/// `subscribed` is a parent of it.
fn covers(subscribed: &str, uri: &str) -> bool {
    uri.strip_prefix(subscribed).is_some_and(|rest| {
        rest.is_empty()
            || (!subscribed.is_empty() && (subscribed.ends_with('/') || rest.starts_with('/')))
    })
}

/// Slot, generation and length.
const FIELDS: usize = 12;
const HEADER: usize = FIELDS + 1;

/// The most bytes of `notifications/resources/updated` besides the URI, with the id of a listen.
const UPDATE: usize = 2048;

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    const fn key(slot: u32) -> Key {
        Key {
            slot,
            generation: 1,
        }
    }

    fn token(slot: u32) -> Owner {
        Owner::Request(key(slot))
    }

    #[test]
    fn duplicates_count_once_and_full_leaves_no_trace() {
        let mut uris = Subscriptions::new([0; 40], 40, 8);
        uris.add(Owner::Session, Str::from("a:b"), usize::MAX)
            .unwrap();
        uris.add(Owner::Session, Str::from("a:b"), usize::MAX)
            .unwrap();
        assert_eq!(uris.used, HEADER + 3);
        let long = "file:///a/long/way/from/home";
        assert_eq!(
            uris.add(Owner::Session, Str::from(long), usize::MAX),
            Err(Full)
        );
        uris.add(token(1), Str::from("a:b"), usize::MAX).unwrap();
        assert_eq!(uris.of(token(1)).collect::<Vec<_>>(), ["a:b"]);
        uris.remove(Str::from("a:b"), |_| false);
        assert_eq!(uris.of(Owner::Session).count(), 0);
        assert_eq!(uris.of(token(1)).count(), 1);
    }

    #[test]
    fn parents_hear_of_their_children() {
        let cases = [
            ("file:///a", "file:///a", true),
            ("file:///a", "file:///a/b", true),
            ("file:///a/", "file:///a/b", true),
            ("file:///a", "file:///ab", false),
            ("file:///a/b", "file:///a", false),
            ("", "file:///a", false),
        ];
        for (subscribed, uri, expected) in cases {
            assert_eq!(covers(subscribed, uri), expected, "{subscribed} {uri}");
        }
    }

    #[test]
    fn changes_are_told_once_to_each_owner() {
        let mut uris = Subscriptions::new([0; 200], 200, 8);
        uris.add(Owner::Session, Str::from("x:1"), usize::MAX)
            .unwrap();
        uris.add(token(2), Str::from("x:1"), usize::MAX).unwrap();
        uris.add(token(2), Str::from("x:2"), usize::MAX).unwrap();
        let mut told = Vec::new();
        uris.touch(Some("x:1"), |listen| told.push(listen));
        uris.touch(Some("x:1"), |_| {});
        assert_eq!(told, [key(2)]);
        let (place, uri) = uris.first_changed(token(2)).unwrap();
        assert_eq!(uri, "x:1");
        uris.told(place);
        assert_eq!(uris.first_changed(token(2)), None);
        assert!(uris.first_changed(Owner::Session).is_some());
        uris.remove(Str::from("x:1"), |_| false);
        assert_eq!(uris.first_changed(Owner::Session), None);
        uris.hand_over(token(2), Owner::Session);
        assert_eq!(uris.of(Owner::Session).collect::<Vec<_>>(), ["x:1", "x:2"]);
    }

    /// Bytes, and the number of times that they were borrowed for a change.
    struct Counted(Vec<u8>, usize);

    impl AsRef<[u8]> for Counted {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    impl AsMut<[u8]> for Counted {
        fn as_mut(&mut self) -> &mut [u8] {
            self.1 += 1;
            &mut self.0
        }
    }

    impl Store<u8> for Counted {}

    #[test]
    fn the_number_is_bounded_as_well_as_the_bytes() {
        let mut uris = Subscriptions::new([0; 200], 200, 2);
        uris.add(token(1), Str::from("a:1"), usize::MAX).unwrap();
        uris.add(token(1), Str::from("a:2"), usize::MAX).unwrap();
        assert_eq!(uris.add(token(1), Str::from("a:3"), usize::MAX), Err(Full));
        uris.add(token(1), Str::from("a:2"), usize::MAX).unwrap();
        uris.remove_all(key(1));
        uris.add(token(1), Str::from("a:3"), usize::MAX).unwrap();
    }

    #[test]
    fn what_stays_moves_once() {
        let mut uris = Subscriptions::new(Counted(std::vec![0; 4096], 0), 4096, 200);
        uris.add(Owner::Session, Str::from("first"), usize::MAX)
            .unwrap();
        for n in 0..100 {
            let uri = std::format!("a:{n}");
            uris.add(token(1), Str::from(uri.as_str()), usize::MAX)
                .unwrap();
        }
        uris.add(Owner::Session, Str::from("last"), usize::MAX)
            .unwrap();
        uris.touch(Some("last"), |_| {});
        uris.touch(Some("a:7"), |_| {});
        uris.store.1 = 0;
        uris.remove_all(key(1));
        assert_eq!(uris.store.1, 1);
        assert_eq!(
            uris.of(Owner::Session).collect::<Vec<_>>(),
            ["first", "last"]
        );
        assert_eq!((uris.dirty, uris.used), (1, 2 * HEADER + 9));
        assert_eq!(
            uris.first_changed(Owner::Session).map(|(_, uri)| uri),
            Some("last")
        );
    }
}
