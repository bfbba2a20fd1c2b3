use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::Arc;

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
    /// All at once; each has a reference.
    Http2(SharedConnection, Arc<()>),
}

impl PooledConnection {
    pub(super) const fn is_http2(&self) -> bool {
        matches!(self, Self::Http2(..))
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        match self {
            Self::Http1(sender) => sender.try_send_request(request).await,
            Self::Http2(sender, _) => sender.try_send_request(request).await,
        }
    }
}

/// The state of the exchange that a connection was last used for.
#[derive(Clone)]
pub(super) struct Use {
    /// The time at which the exchange ended, in milliseconds of the runtime's clock; [`RUNS`] before.
    ended: Arc<AtomicU64>,
    runtime: RuntimeHandle,
    /// The reference to a connection that requests share.
    _shared: Option<Arc<()>>,
}

const RUNS: u64 = u64::MAX;

impl Use {
    pub(super) fn begin(runtime: &RuntimeHandle, connection: &PooledConnection) -> Self {
        let ended = Arc::new(AtomicU64::new(RUNS));
        Self {
            ended,
            runtime: runtime.clone(),
            _shared: match connection {
                PooledConnection::Http1(_) => None,
                PooledConnection::Http2(_, requests) => Some(Arc::clone(requests)),
            },
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
    kept: Lock<Kept>,
    idle_timeout: Duration,
    max_idle: usize,
}

#[derive(Default)]
struct Kept {
    servers: HashMap<Origin, Connections>,
    /// The time from which on all of them are looked at.
    look: Instant,
}

impl Pool {
    pub(super) fn new(idle_timeout: Duration, max_idle: usize) -> Self {
        Self {
            kept: Lock::default(),
            idle_timeout,
            max_idle,
        }
    }

    /// A connection that can be used, or will be in a moment: the response on it was read, so all
    /// that is missing is a turn of the task that drives it.
    pub(super) async fn take(&self, origin: &Origin, now: Instant) -> Option<PooledConnection> {
        loop {
            let mut sender = match self.take_ended(origin, now)? {
                PooledConnection::Http1(sender) => sender,
                shared => return Some(shared),
            };
            if sender.ready().await.is_ok() {
                return Some(PooledConnection::Http1(sender));
            }
        }
    }

    fn take_ended(&self, origin: &Origin, now: Instant) -> Option<PooledConnection> {
        let kept = &mut *self.kept.lock();
        self.look(kept, now);
        let connections = kept.servers.get_mut(origin)?;
        connections.take(now, self.idle_timeout)
    }

    /// Offers a connection that was just made to others at once, if it carries several requests.
    pub(super) fn share(&self, origin: &Origin, made: &PooledConnection, now: Instant) {
        if let PooledConnection::Http2(sender, requests) = made
            && self.max_idle > 0
        {
            let kept = &mut *self.kept.lock();
            self.look(kept, now);
            let connections = kept.servers.entry(origin.clone()).or_default();
            connections.shared = Some(Shared {
                sender: sender.clone(),
                requests: Arc::clone(requests),
                used: now,
            });
        }
    }

    /// Takes a connection back for when its response was read.
    pub(super) fn put(&self, origin: Origin, used: PooledConnection, last: &Use) {
        if let PooledConnection::Http1(sender) = used
            && self.max_idle > 0
        {
            let kept = &mut *self.kept.lock();
            let now = last.runtime.now();
            self.look(kept, now);
            let connections = kept.servers.entry(origin).or_default();
            if connections.single.len() > self.max_idle {
                connections.prune(now, self.idle_timeout, self.max_idle);
            }
            connections.single.push((sender, last.clone()));
        }
    }

    /// Drops what is closed, what was idle too long, and what are too many, of all servers: at once if there are so many,
    /// and once in a while otherwise, because each request would look at the connections of all others.
    fn look(&self, kept: &mut Kept, now: Instant) {
        let most = self.max_idle.max(MOST_IDLE);
        if kept.servers.len() <= most && now < kept.look {
            return;
        }
        kept.look = now + self.idle_timeout.min(LOOK);
        let mut idle = Vec::new();
        for connections in kept.servers.values_mut() {
            connections.prune(now, self.idle_timeout, self.max_idle);
            idle.extend(connections.idle_since());
        }
        if let Some(last) = idle.len().saturating_sub(most).checked_sub(1) {
            let (_, last, _) = idle.select_nth_unstable(last);
            for connections in kept.servers.values_mut() {
                connections.drop_idle_since(*last);
            }
        }
        kept.servers
            .retain(|_, connections| !connections.is_empty());
    }
}

/// The connections to one server.
#[derive(Default)]
struct Connections {
    shared: Option<Shared>,
    /// In the order in which they were last used.
    single: Vec<(http1::SendRequest<Full<Bytes>>, Use)>,
}

struct Shared {
    sender: SharedConnection,
    /// Each request on the connection has a reference.
    requests: Arc<()>,
    /// The time at which it was last seen with a request.
    used: Instant,
}

impl Shared {
    fn idle_since(&self) -> Option<Instant> {
        (Arc::strong_count(&self.requests) == 1).then_some(self.used)
    }
}

impl Connections {
    fn take(&mut self, now: Instant, idle_timeout: Duration) -> Option<PooledConnection> {
        if let Some(shared) = &mut self.shared
            && !shared.sender.is_closed()
        {
            shared.used = now;
            let (sender, requests) = (shared.sender.clone(), Arc::clone(&shared.requests));
            return Some(PooledConnection::Http2(sender, requests));
        }
        let newest = self.single.iter().rposition(|(sender, last)| {
            let ended = last.ended();
            ended.is_some_and(|ended| now.saturating_since(ended) < idle_timeout)
                && !sender.is_closed()
        });
        Some(PooledConnection::Http1(self.single.remove(newest?).0))
    }

    /// Drops what is closed, what was idle too long, and what are too many.
    fn prune(&mut self, now: Instant, idle_timeout: Duration, max_idle: usize) {
        let is_fresh = |since: Option<Instant>| {
            since.is_none_or(|since| now.saturating_since(since) < idle_timeout)
        };
        self.shared.take_if(|shared| {
            if shared.idle_since().is_none() {
                shared.used = now;
            }
            shared.sender.is_closed() || !is_fresh(shared.idle_since())
        });
        self.single
            .retain(|(sender, last)| is_fresh(last.ended()) && !sender.is_closed());
        let idle = self
            .single
            .iter()
            .filter(|(_, last)| last.ended().is_some())
            .count();
        let mut surplus = idle.saturating_sub(max_idle);
        self.single.retain(|(_, last)| {
            let drop = surplus > 0 && last.ended().is_some();
            surplus -= usize::from(drop);
            !drop
        });
    }

    /// The times from which on the idle ones are idle.
    fn idle_since(&self) -> impl Iterator<Item = Instant> {
        let single = self.single.iter().filter_map(|(_, last)| last.ended());
        let shared = self.shared.as_ref().and_then(Shared::idle_since);
        single.chain(shared)
    }

    /// Drops those that are idle since then, or for longer.
    fn drop_idle_since(&mut self, last: Instant) {
        let is_later = |since: Option<Instant>| since.is_none_or(|since| since > last);
        self.shared.take_if(|shared| !is_later(shared.idle_since()));
        self.single.retain(|(_, last)| is_later(last.ended()));
    }

    const fn is_empty(&self) -> bool {
        self.shared.is_none() && self.single.is_empty()
    }
}

/// The time between two looks at all connections, unless none may be idle for so long.
const LOOK: Duration = Duration::from_secs(1);

/// Idle connections to all servers together, unless more may be idle to one of them.
const MOST_IDLE: usize = 512;

#[cfg(test)]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};

    use super::*;
    use crate::net::io::Io;
    use crate::runtime::{Duplex, ManualRuntime, Runtime as _, duplex};

    const IDLE: Duration = Duration::from_secs(60);

    /// A pool, and a runtime whose tasks are the connections that are open.
    struct Tested {
        pool: Pool,
        runtime: ManualRuntime,
        handle: RuntimeHandle,
        servers: Vec<Duplex>,
    }

    impl Tested {
        fn new(max_idle: usize) -> Self {
            let runtime = ManualRuntime::default();
            Self {
                pool: Pool::new(IDLE, max_idle),
                handle: runtime.clone().into(),
                runtime,
                servers: Vec::new(),
            }
        }

        fn io(&mut self) -> Io<Duplex> {
            let (client, server) = duplex(1 << 10);
            self.servers.push(server);
            Io::new(&self.handle, client, false, IDLE)
        }

        /// Puts a connection back whose response was read.
        fn put(&mut self, host: &str) {
            let in_use = self.put_in_use(host);
            in_use.end();
        }

        fn put_in_use(&mut self, host: &str) -> Use {
            let (sender, connection) = now(http1::Builder::new().handshake(self.io())).unwrap();
            self.runtime
                .spawn(Box::pin(async move { drop(connection.await) }));
            let connection = PooledConnection::Http1(sender);
            let in_use = Use::begin(&self.handle, &connection);
            self.pool.put(origin(host), connection, &in_use);
            in_use
        }

        fn has(&self, host: &str) -> bool {
            self.runtime.run();
            now(self.pool.take(&origin(host), self.runtime.now())).is_some()
        }

        #[track_caller]
        fn has_open(&self, expected: usize) {
            assert_eq!(self.runtime.run(), expected);
        }
    }

    fn origin(host: &str) -> Origin {
        Origin::of(&format!("http://{host}/").parse().unwrap()).unwrap()
    }

    /// The output of a future that need not wait.
    #[track_caller]
    fn now<F: Future>(future: F) -> F::Output {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn connections_to_a_server_that_is_not_contacted_again_are_closed() {
        let mut tested = Tested::new(8);
        tested.put("a.example");
        tested.put("b.example");
        let reading = tested.put_in_use("c.example");
        tested.has_open(3);
        tested.runtime.advance(IDLE);
        assert!(!tested.has("d.example"));
        tested.has_open(1);
        reading.end();
        tested.put("d.example");
        tested.has_open(2);
        tested.runtime.advance(IDLE);
        tested.put("e.example");
        tested.has_open(1);
    }

    #[test]
    fn the_connections_that_were_used_last_are_kept_of_too_many() {
        let mut tested = Tested::new(8);
        for server in 0..2 * MOST_IDLE {
            tested.put(&format!("{server}.example"));
            tested.runtime.advance(Duration::from_millis(1));
        }
        tested.runtime.advance(LOOK);
        assert!(!tested.has("0.example"));
        tested.has_open(MOST_IDLE);
        assert!(tested.has(&format!("{}.example", 2 * MOST_IDLE - 1)));
    }

    #[test]
    fn none_is_kept_where_none_may_be_idle() {
        let mut tested = Tested::new(0);
        tested.put("a.example");
        tested.has_open(0);
    }

    #[cfg(feature = "http2")]
    #[test]
    fn a_shared_connection_is_closed_when_it_has_no_requests() {
        use hyper::client::conn::http2;

        use crate::net::time::Hyper;

        let mut tested = Tested::new(8);
        let builder = http2::Builder::new(Hyper(tested.handle.clone()));
        let (sender, connection) = now(builder.handshake(tested.io())).unwrap();
        tested
            .runtime
            .spawn(Box::pin(async move { drop(connection.await) }));
        let made = PooledConnection::Http2(sender, Arc::default());
        let reading = Use::begin(&tested.handle, &made);
        tested
            .pool
            .share(&origin("a.example"), &made, tested.runtime.now());
        drop(made);
        let open = tested.runtime.run();
        for _ in 0..3 {
            tested.runtime.advance(IDLE);
            assert!(!tested.has("b.example"));
            tested.has_open(open);
        }
        drop(reading);
        assert!(tested.has("a.example"));
        tested.runtime.advance(IDLE);
        assert!(!tested.has("b.example"));
        tested.has_open(0);
    }
}
