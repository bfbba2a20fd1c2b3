//! State of an endpoint that other processes share.

use core::fmt;
use std::sync::Arc;

use mcp_proto::server::SessionSnapshot;
use serde::{Deserialize, Serialize};

use crate::http::{EventStore, Relay, SessionStore};
use crate::observe;
use crate::server::{Machine, SessionClient};

/// The stores of an endpoint, if it has any.
#[derive(Clone, Default)]
pub(super) struct Sharing {
    pub(super) sessions: Option<Arc<dyn SessionStore>>,
    pub(super) events: Option<Arc<dyn EventStore>>,
    pub(super) relay: Option<Arc<dyn Relay>>,
}

/// A session as the store keeps it.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) session: SessionSnapshot,
    /// What the client said of itself. Records of earlier versions lack it.
    #[serde(default)]
    pub(super) client: SessionClient,
    /// Whose it is (SH-43).
    pub(super) principal: Option<String>,
    pub(super) subscriptions: Vec<String>,
}

/// What this process has of a session in the stores.
pub(super) struct Owned {
    /// The epoch in which it owns the session.
    pub(super) epoch: u32,
    /// What the store has of it by now.
    pub(super) saved: Option<Saved>,
}

impl Owned {
    /// A session that begins here.
    pub(super) const fn first(saved: Option<Saved>) -> Self {
        Self {
            epoch: FIRST,
            saved,
        }
    }
}

impl Saved {
    /// What is to be known of a session; `None` before its handshake.
    pub(super) fn of(
        machine: &Machine,
        client: &SessionClient,
        principal: Option<&str>,
    ) -> Option<Self> {
        let mut session = machine.snapshot()?;
        // Ids of questions are reserved in portions: not each of them is worth a record.
        session.next_id = session.next_id.saturating_add(IDS);
        Some(Self {
            session,
            client: client.clone(),
            principal: principal.map(str::to_owned),
            subscriptions: machine.subscriptions().map(str::to_owned).collect(),
        })
    }

    /// Whether it still says what is to be known.
    pub(super) fn is_current(&self, machine: &Machine) -> bool {
        let Some(mut snapshot) = machine.snapshot() else {
            return true;
        };
        // Half of a portion is left while the next one is on its way to the store.
        let reserved = snapshot.next_id.saturating_add(IDS / 2) < self.session.next_id;
        snapshot.next_id = self.session.next_id;
        reserved
            && snapshot == self.session
            && machine
                .subscriptions()
                .eq(self.subscriptions.iter().map(String::as_str))
    }

    /// The record of a session that another process saved, if it is one of ours.
    pub(super) fn read(record: &[u8]) -> Option<Self> {
        serde_json::from_slice(record).ok()
    }

    pub(super) fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Sharing {
    /// Ends the session of this id everywhere. Returns whether no process can find it any more.
    pub(super) async fn forget(self, id: Arc<str>) -> bool {
        let mut forgotten = true;
        if let Some(store) = &self.sessions
            && let Err(error) = store.remove(&id).await
        {
            observe::store_failed(&error);
            forgotten = false;
        }
        if let Some(store) = &self.events
            && let Err(error) = store.remove(&id).await
        {
            observe::store_failed(&error);
        }
        forgotten
    }
}

impl fmt::Debug for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharing")
            .field("sessions", &self.sessions.is_some())
            .field("events", &self.events.is_some())
            .field("relay", &self.relay.is_some())
            .finish()
    }
}

/// The epoch of a session in the process where it began.
pub(super) const FIRST: u32 = 0;

/// How many ids a process may use before it says so.
const IDS: u64 = 1024;
