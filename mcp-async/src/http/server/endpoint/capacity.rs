//! The places of legacy sessions.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, Weak};

use mcp_proto::Instant;

use super::session::Session;
use crate::shares::{CallerId, Share, Shares};
use crate::sync::Lock;

/// The number of sessions that may be open at a time, in all tables of an endpoint together.
///
/// Sessions whose client was not heard of after `initialize` make room for others: the oldest first, after a
/// minute, or at once if every place is taken and the new caller has none.
pub(super) struct Capacity {
    shares: Arc<Shares<CallerId>>,
    /// Sessions that may make room, in the order in which they began.
    unconfirmed: Lock<BTreeMap<u64, Unconfirmed>>,
    next: AtomicU64,
}

/// A session that may make room.
struct Unconfirmed {
    since: Instant,
    session: Weak<Session>,
    held: Weak<Held>,
}

/// A place for one more session; given back when it is dropped.
pub(in crate::http::server) struct Place {
    capacity: Arc<Capacity>,
    number: u64,
    held: Arc<Held>,
}

/// The place, until the session has made room.
type Held = Lock<Option<Share<CallerId>>>;

impl Capacity {
    /// So many places.
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            shares: Shares::new(limit),
            unconfirmed: Lock::default(),
            next: AtomicU64::new(0),
        })
    }

    /// Takes a place; `None` if this caller cannot have one.
    pub(super) fn place(
        self: &Arc<Self>,
        caller: Option<&CallerId>,
        now: Instant,
    ) -> Option<Place> {
        loop {
            if let Some(share) = self.shares.take(caller.cloned()) {
                return Some(Place {
                    capacity: Arc::clone(self),
                    number: self.next.fetch_add(1, Ordering::Relaxed),
                    held: Arc::new(Lock::new(Some(share))),
                });
            }
            if !self.make_room(caller, now) {
                return None;
            }
        }
    }

    /// Ends the oldest session that makes room for this caller; false if no session does.
    fn make_room(&self, caller: Option<&CallerId>, now: Instant) -> bool {
        loop {
            // No other lock is taken while this one is held.
            let Some((number, oldest)) = self.unconfirmed().pop_first() else {
                return false;
            };
            let (Some(session), Some(held)) = (oldest.session.upgrade(), oldest.held.upgrade())
            else {
                continue;
            };
            if session.is_confirmed() {
                continue;
            }
            if oldest.since + CONFIRMATION > now && !self.shares.would_take_freed(caller) {
                self.unconfirmed().insert(number, oldest);
                return false;
            }
            session.delete();
            held.lock().take();
            return true;
        }
    }

    fn unconfirmed(&self) -> MutexGuard<'_, BTreeMap<u64, Unconfirmed>> {
        self.unconfirmed.lock()
    }
}

impl Place {
    /// From now on this session has the place, and may make room until its client is heard of.
    pub(in crate::http::server) fn belongs_to(&self, session: &Arc<Session>) {
        let unconfirmed = Unconfirmed {
            since: session.shared.now(),
            session: Arc::downgrade(session),
            held: Arc::downgrade(&self.held),
        };
        self.capacity.unconfirmed().insert(self.number, unconfirmed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.capacity.unconfirmed().remove(&self.number);
    }
}

/// The time that a client may take from `initialize` to its next message before its session makes room.
const CONFIRMATION: Duration = Duration::from_secs(60);
