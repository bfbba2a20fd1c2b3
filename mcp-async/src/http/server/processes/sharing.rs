//! State of an endpoint that other processes share.

use core::fmt;
use std::sync::{Arc, OnceLock};

use http::Uri;
use http::header::HeaderName;
use mcp_proto::server::SessionSnapshot;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::route::DynForward;
use crate::http::store::DynSessionStore;
use crate::observe;
use crate::server::{Machine, Principal, SessionClient, StateKeys};

/// The settings for several processes as the builder collects them; some may be missing.
#[derive(Default)]
pub(in crate::http::server) struct Sharing {
    /// The store, and the client that forwards requests.
    pub(in crate::http::server) means: Option<Means>,
    /// The URL at which the others reach this process.
    pub(in crate::http::server) url: Option<String>,
    /// Fields of requests that owners receive, in addition to the usual ones.
    pub(in crate::http::server) headers: Vec<HeaderName>,
    claims: Vec<SharedClaims>,
}

/// The store of the sessions, and the client that forwards requests.
#[derive(Clone)]
pub(in crate::http::server) struct Means {
    pub(in crate::http::server) store: Arc<dyn DynSessionStore>,
    pub(in crate::http::server) forward: Arc<dyn DynForward>,
}

/// The settings of an endpoint that shares its sessions with other processes.
pub(in crate::http::server) struct ProcessSettings {
    pub(in crate::http::server) means: Means,
    /// The name of this process.
    pub(in crate::http::server) name: Arc<str>,
    /// The URL at which the others reach this process.
    pub(in crate::http::server) url: Uri,
    /// The keys of all processes.
    pub(in crate::http::server) keys: StateKeys,
    /// Fields of requests that owners receive, in addition to the usual ones.
    pub(in crate::http::server) headers: Vec<HeaderName>,
    claims: Vec<SharedClaims>,
    /// A principal had claims that are not shared.
    lacks_claims: OnceLock<()>,
}

/// Claims of the application that travel with the principal.
#[derive(Clone, Copy)]
struct SharedClaims {
    name: &'static str,
    /// As JSON.
    write: fn(&Principal) -> Option<String>,
    read: fn(Principal, &str) -> Option<Principal>,
}

impl Sharing {
    /// Lets claims of this type travel.
    pub(in crate::http::server) fn add_claims<T>(&mut self, name: &'static str)
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        self.claims.push(SharedClaims {
            name,
            write: |principal| serde_json::to_string(principal.claims::<T>()?).ok(),
            read: |principal, json| {
                let claims = serde_json::from_str::<T>(json).ok()?;
                Some(principal.with_claims(claims))
            },
        });
    }

    pub(in crate::http::server) fn has_claims(&self, name: &str) -> bool {
        self.claims.iter().any(|claims| claims.name == name)
    }

    /// Returns true if the program has set anything that only a shared endpoint needs.
    pub(in crate::http::server) fn is_used(&self) -> bool {
        self.url.is_some() || !self.headers.is_empty() || !self.claims.is_empty()
    }

    /// The settings of the process of this name, which others reach at this URL.
    pub(in crate::http::server) fn shared(
        &self,
        means: &Means,
        name: Arc<str>,
        url: Uri,
        keys: StateKeys,
    ) -> ProcessSettings {
        ProcessSettings {
            means: means.clone(),
            name,
            url,
            keys,
            headers: self.headers.clone(),
            claims: self.claims.clone(),
            lacks_claims: OnceLock::new(),
        }
    }
}

impl ProcessSettings {
    /// The claims of a principal that travel, by their names.
    pub(super) fn claims_of(&self, principal: &Principal) -> Vec<(&'static str, String)> {
        let claims = self.claims.iter().filter_map(|claims| {
            let json = (claims.write)(principal)?;
            Some((claims.name, json))
        });
        let claims: Vec<_> = claims.collect();
        if claims.len() < principal.claims_len() {
            self.lacks_claims.get_or_init(observe::claims_not_shared);
        }
        claims
    }

    /// The principal with claims of another process; `None` if one cannot be read.
    pub(in crate::http::server) fn with_claims(
        &self,
        principal: Principal,
        claims: &[(&str, String)],
    ) -> Option<Principal> {
        claims
            .iter()
            .try_fold(principal, |principal, (name, json)| {
                let known = self.claims.iter().find(|known| known.name == *name)?;
                (known.read)(principal, json)
            })
    }
}

/// A session as the store keeps it.
#[derive(Serialize, Deserialize)]
pub(in crate::http::server) struct Saved {
    /// The version of the record.
    pub(in crate::http::server) session: SessionSnapshot,
    /// The description that the client sent of itself.
    pub(in crate::http::server) client: SessionClient,
    /// Whose it is (SH-43).
    pub(in crate::http::server) principal: Option<String>,
    pub(in crate::http::server) subscriptions: Vec<String>,
}

impl Saved {
    /// Returns the record of a session; `None` before its handshake.
    pub(in crate::http::server) fn of(
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

    /// Returns true if the record contains all that the client may rely on.
    pub(in crate::http::server) fn is_complete(&self, machine: &Machine) -> bool {
        let Some(mut snapshot) = machine.snapshot() else {
            return true;
        };
        snapshot.next_id = self.session.next_id;
        snapshot == self.session
            && machine
                .subscriptions()
                .eq(self.subscriptions.iter().map(String::as_str))
    }

    /// Returns true if the record reserves enough ids. Half of a portion is left while the next one
    /// is on its way to the store.
    pub(in crate::http::server) fn reserves_ids(&self, machine: &Machine) -> bool {
        machine
            .snapshot()
            .is_none_or(|snapshot| snapshot.next_id.saturating_add(IDS / 2) < self.session.next_id)
    }

    /// The record of a session that another process saved, if it is one of this version.
    pub(in crate::http::server) fn read(record: &[u8]) -> Option<Self> {
        let Versioned { v, message } = serde_json::from_slice(record).ok()?;
        (v == RECORD_VERSION).then_some(message)
    }

    pub(in crate::http::server) fn write(&self) -> Vec<u8> {
        let versioned = Versioned {
            v: RECORD_VERSION,
            message: self,
        };
        serde_json::to_vec(&versioned).unwrap_or_default()
    }
}

/// A record with the version of its format. The session is a member, not flattened, so that it is read once and
/// straight into its type.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    v: u32,
    message: T,
}

impl fmt::Debug for ProcessSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessSettings")
            .field("url", &self.url)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// The version of records, which changes apart from that of messages: sessions outlive an upgrade that changes messages
/// alone. A process leaves records of other versions alone.
const RECORD_VERSION: u32 = 1;

/// The epoch of a session in the process where it began.
pub(in crate::http::server) const FIRST: u32 = 0;

/// Number of ids that a process reserves at a time in the record.
const IDS: u64 = 1024;
