use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1};
use mcp_proto::Instant;

use super::origin::Origin;
use super::shared_connection::SharedConnection;
use crate::runtime::RuntimeHandle;
use crate::sync::Lock;

/// A connection to send a request on.
pub(super) enum PooledConnection {
    /// One exchange after the other.
    Http1(http1::SendRequest<Full<Bytes>>),
    /// All at once.
    Http2(SharedConnection),
}

impl PooledConnection {
    pub(super) const fn is_http2(&self) -> bool {
        matches!(self, Self::Http2(_))
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        match self {
            Self::Http1(sender) => sender.try_send_request(request).await,
            Self::Http2(sender) => sender.try_send_request(request).await,
        }
    }
}

/// The state of the exchange that a connection was last used for.
#[derive(Clone)]
pub(super) struct Use {
    /// The time at which the exchange ended, in milliseconds of the runtime's clock; [`RUNS`] before.
    ended: Arc<AtomicU64>,
    runtime: RuntimeHandle,
}

const RUNS: u64 = u64::MAX;

impl Use {
    pub(super) fn begin(runtime: &RuntimeHandle) -> Self {
        let ended = Arc::new(AtomicU64::new(RUNS));
        Self {
            ended,
            runtime: runtime.clone(),
        }
    }

    /// The response was read to its end.
    pub(super) fn end(&self) {
        if self.ended().is_some() {
            return;
        }
        let now = self.runtime.now().as_millis();
        self.ended.store(now, Ordering::Release);
    }

    fn ended(&self) -> Option<Instant> {
        match self.ended.load(Ordering::Acquire) {
            RUNS => None,
            millis => Some(Instant::from_millis(millis)),
        }
    }
}

/// The connections of a client, by server.
pub(super) struct Pool {
    servers: Lock<HashMap<Origin, Connections>>,
    idle_timeout: Duration,
    max_idle: usize,
}

#[derive(Default)]
struct Connections {
    shared: Option<SharedConnection>,
    /// In the order in which they were last used.
    single: Vec<(http1::SendRequest<Full<Bytes>>, Use)>,
    /// The time from which on all of them are looked at.
    look: Instant,
}

impl Pool {
    pub(super) fn new(idle_timeout: Duration, max_idle: usize) -> Self {
        Self {
            servers: Lock::default(),
            idle_timeout,
            max_idle,
        }
    }

    /// A connection that can be used, or will be in a moment: the response on it was read, so all
    /// that is missing is a turn of the task that drives it.
    pub(super) async fn take(&self, origin: &Origin, now: Instant) -> Option<PooledConnection> {
        loop {
            let mut sender = match self.take_ended(origin, now)? {
                PooledConnection::Http2(sender) => return Some(PooledConnection::Http2(sender)),
                PooledConnection::Http1(sender) => sender,
            };
            if sender.ready().await.is_ok() {
                return Some(PooledConnection::Http1(sender));
            }
        }
    }

    fn take_ended(&self, origin: &Origin, now: Instant) -> Option<PooledConnection> {
        let mut servers = self.servers();
        let connections = servers.get_mut(origin)?;
        self.prune(connections, now);
        if let Some(shared) = &connections.shared
            && !shared.is_closed()
        {
            return Some(PooledConnection::Http2(shared.clone()));
        }
        let single = &mut connections.single;
        let newest = single.iter().rposition(|it| self.is_idle(it, now));
        let Some(newest) = newest else {
            if single.is_empty() {
                servers.remove(origin);
            }
            return None;
        };
        Some(PooledConnection::Http1(single.remove(newest).0))
    }

    /// Returns true for a connection that another request may use.
    fn is_idle(
        &self,
        (sender, last): &(http1::SendRequest<Full<Bytes>>, Use),
        now: Instant,
    ) -> bool {
        let ended = last.ended();
        ended.is_some_and(|ended| now.saturating_since(ended) < self.idle_timeout)
            && !sender.is_closed()
    }

    /// Offers a connection that was just made to others at once, if it carries several requests.
    pub(super) fn share(&self, origin: &Origin, kept: &PooledConnection) {
        if let PooledConnection::Http2(sender) = kept {
            let mut servers = self.servers();
            let connections = servers.entry(origin.clone()).or_default();
            connections.shared = Some(sender.clone());
        }
    }

    /// Takes a connection back for when its response was read.
    pub(super) fn put(&self, origin: Origin, kept: PooledConnection, last: &Use) {
        if let PooledConnection::Http1(sender) = kept {
            let mut servers = self.servers();
            let connections = servers.entry(origin).or_default();
            self.prune(connections, last.runtime.now());
            connections.single.push((sender, last.clone()));
        }
    }

    /// Drops what is closed, what was idle too long, and what are too many: at once if there are so many, and once in a
    /// second otherwise, because each request would look at the connections of all others.
    fn prune(&self, connections: &mut Connections, now: Instant) {
        if connections.single.len() <= self.max_idle && now < connections.look {
            return;
        }
        connections.look = now + LOOK;
        connections.shared = connections
            .shared
            .take()
            .filter(|shared| !shared.is_closed());
        let single = &mut connections.single;
        single.retain(|(sender, last)| {
            let fresh = last
                .ended()
                .is_none_or(|ended| now.saturating_since(ended) < self.idle_timeout);
            fresh && !sender.is_closed()
        });
        let idle = single
            .iter()
            .filter(|(_, last)| last.ended().is_some())
            .count();
        let mut surplus = idle.saturating_sub(self.max_idle);
        single.retain(|(_, last)| {
            let drop = surplus > 0 && last.ended().is_some();
            surplus -= usize::from(drop);
            !drop
        });
    }

    fn servers(&self) -> MutexGuard<'_, HashMap<Origin, Connections>> {
        self.servers.lock()
    }
}

/// The time between two looks at all connections to a server.
const LOOK: Duration = Duration::from_secs(1);
