//! Stores for servers of the Model Context Protocol in Redis or Valkey, which the processes of one server share.
//!
//! A [`RedisStore`] keeps [sessions](mcp_async::http::SessionStore) and [tasks](mcp_async::tasks::store::TaskStore),
//! in one server, in one with replicas that Sentinel watches, or in a cluster.
//!
//! ```text
//! <prefix>session:<id>           hash     layout, record, owner, epoch; the events and how far each stream is
//! <prefix>processes:1            hash     the processes that live, their leases and announcements
//! <prefix>{messages:1:<db>}      channel  messages for all processes
//! <prefix>{messages:1:<db>}:echo channel  how a subscription finds out whether it is still connected
//! <prefix>task:<id>              hash     layout, record of a task, and its version
//! <prefix>tasks:2:..             sets     the tasks of an owner, of a process, those that expire
//! <prefix>tasks:2:boots          hash     the processes with tasks, and their leases
//! ```
//!
//! The 1 and the 2 in them are the numbers of the layouts. A session or task of another layout is an error, and is
//! left alone, so that two versions of a server can share a store.
//!
//! Writes are scripts that compare and write in one step. Each of them uses one key, so the keys may be on
//! any nodes of a cluster. A session is one key, which expires: its events are never kept for longer than
//! its record, and it is removed also while the store is full. Redis 7.0 or later, or Valkey, which
//! needs `maxmemory-policy noeviction`: with another policy sessions and tasks disappear when it is full.
//! A user of the store needs `~<prefix>* &<prefix>* +@all -@admin +role`, or less.
//!
//! # Connections
//! Commands share a connection, or one to each node of a cluster, made when it is needed and again
//! when it has ended. While the store is away, one call at a time tries to reach it, at least once a
//! second as long as there are calls, and the others fail at once with the reason. No call takes longer
//! than its [time limit](RedisStore::timeout). A command is sent once: if its reply is lost, the call fails and may
//! have had its effect. Each subscription has a connection of its own. If it ends, or if nothing that is
//! published arrives for a time limit, the subscription fails.
//!
//! # Losses
//! Redis replicates after it has replied, so what was written last may be lost when a replica becomes
//! the primary: a session that was created, the last events and records, a takeover. A process then
//! writes in an epoch that the store has forgotten, which is a conflict. The settings
//! `min-replicas-to-write` and `min-replicas-max-lag` of Redis bound how much that is; with a primary
//! alone, `appendfsync always` keeps all of it.
//!
//! # Features
//! Programs enable the feature `redis` of `mcp-tokio` or `mcp-smol`, which re-export [`RedisStore`].
//!
//! | Feature | Default | Adds |
//! |---|---|---|
//! | `tokio` | yes | connections and timers on tokio |
//! | `smol` | no | connections and timers on smol |
//!
//! At least one of them is needed. With both a store runs on tokio inside of a runtime of tokio, and on smol elsewhere.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(any(feature = "tokio", feature = "smol")))]
compile_error!("mcp-redis-store needs a runtime: enable its feature `tokio` or `smol`");

mod error;
mod link;
mod processes;
mod scripts;
mod sessions;
mod subscription;
mod target;
mod tasks;
mod time;

use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use redis::{ClientTlsConfig, Cmd, TlsCertificates, Value};

pub use self::error::RedisConfigError;
pub use self::subscription::RedisSubscription;

use self::error::Failure;
use self::link::Link;
use self::scripts::StoredScript;
use self::target::Target;

/// Sessions, tasks, and messages between processes in Redis or Valkey.
///
/// It runs on tokio or on smol: inside of a runtime of tokio on that one, if both are linked. Clones
/// share their connections.
///
/// ```no_run
/// use core::time::Duration;
///
/// use mcp_async::Server;
/// use mcp_async::net::HttpListener;
/// use mcp_redis_store::RedisStore;
///
/// /// Serves in each process of the server, all of which have the same `state_keys`.
/// async fn serve(server: Server, listen: HttpListener) -> Result<(), Box<dyn core::error::Error>> {
///     let store = RedisStore::new("redis://127.0.0.1:6379")?.timeout(Duration::from_secs(1));
///     server.http().share(store).serve(listen).await?;
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct RedisStore {
    link: Arc<Link>,
    settings: Settings,
}

#[derive(Clone, Debug)]
struct Settings {
    prefix: Arc<str>,
    max_events: usize,
    max_bytes: usize,
}

impl RedisStore {
    /// Creates a store at an address: `redis://[[user]:password@]host[:port][/database]`, or
    /// `rediss://..` for TLS, or `unix:///path[?db=..&user=..&pass=..]`. Characters that a URL cannot
    /// have are percent-encoded. The first connection is made when it is needed.
    ///
    /// # Errors
    /// The text is no such URL.
    pub fn new(url: &str) -> Result<Self, RedisConfigError> {
        Target::one(url).map(Self::at)
    }

    /// Creates a store in the primary that Sentinels at these URLs know. `primary` is a URL as in
    /// [`new`](Self::new) whose host is the name of the primary, such as
    /// `rediss://user:password@mymaster/0`; users, passwords and TLS of Sentinels are in their URLs.
    ///
    /// ```
    /// use mcp_redis_store::RedisStore;
    ///
    /// let sentinels = ["redis://10.0.0.1:26379", "redis://10.0.0.2:26379", "redis://10.0.0.3:26379"];
    /// RedisStore::sentinel(&sentinels, "redis://user:password@mymaster")?;
    /// # Ok::<(), mcp_redis_store::RedisConfigError>(())
    /// ```
    ///
    /// # Errors
    /// There is no URL, or one that is no such URL.
    pub fn sentinel(sentinels: &[&str], primary: &str) -> Result<Self, RedisConfigError> {
        Target::sentinel(sentinels, primary).map(Self::at)
    }

    /// Creates a store in a cluster with nodes at these URLs, which are as in [`new`](Self::new) and
    /// differ by host and port only. The other nodes are found through any of them.
    ///
    /// # Errors
    /// There is no URL, or one that is no such URL, names a database or is different from the others.
    pub fn cluster(nodes: &[&str]) -> Result<Self, RedisConfigError> {
        Target::cluster(nodes).map(Self::at)
    }

    fn at(target: Target) -> Self {
        Self {
            link: Arc::new(Link::new(target, Duration::from_secs(2))),
            settings: Settings {
                prefix: "mcp:".into(),
                max_events: 1_000,
                max_bytes: 4 << 20,
            },
        }
    }

    /// Trusts these certificates instead of those of the system for `rediss://`: one or several in PEM.
    ///
    /// # Errors
    /// They are not PEM, or there is no address with TLS.
    pub fn roots(self, certificates: &[u8]) -> Result<Self, RedisConfigError> {
        self.certified(certificates, None)
    }

    /// Trusts these certificates like [`roots`](Self::roots), and shows a certificate and its chain,
    /// with its key, to stores that ask for one. All are PEM.
    ///
    /// # Errors
    /// They are not PEM, or there is no address with TLS.
    pub fn roots_and_identity(
        self,
        certificates: &[u8],
        chain: &[u8],
        key: &[u8],
    ) -> Result<Self, RedisConfigError> {
        let identity = ClientTlsConfig {
            client_cert: chain.to_vec(),
            client_key: key.to_vec(),
        };
        self.certified(certificates, Some(identity))
    }

    fn certified(
        mut self,
        roots: &[u8],
        client_tls: Option<ClientTlsConfig>,
    ) -> Result<Self, RedisConfigError> {
        let begin = b"-----BEGIN CERTIFICATE-----";
        if !roots.windows(begin.len()).any(|part| part == begin) {
            return Err(RedisConfigError("the certificates are not PEM"));
        }
        let mut target = self.link.target().clone();
        target.certify(&TlsCertificates {
            client_tls,
            root_cert: Some(roots.to_vec()),
        })?;
        self.link = Arc::new(Link::new(target, self.link.limit()));
        Ok(self)
    }

    /// Sets what the names of all keys begin with; `mcp:` otherwise. Servers that are different share
    /// a store under different prefixes.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// Sets how long one call may take, a connection that has to be made included; two seconds
    /// otherwise, one hour at most. The call fails then, and requests that need it are answered with 503.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        let target = self.link.target().clone();
        self.link = Arc::new(Link::new(target, timeout.min(MAX_TIMEOUT)));
        self
    }

    /// Sets how many events of a session are kept, and how many bytes of them; 1,000 and 4 MiB
    /// otherwise. The oldest ones are removed first.
    #[must_use]
    pub fn max_events(mut self, events: usize, bytes: usize) -> Self {
        (self.settings.max_events, self.settings.max_bytes) = (events, bytes);
        self
    }

    fn key(&self, kind: &str, id: &str) -> String {
        format!("{}{kind}:{id}", self.settings.prefix)
    }

    async fn command(&self, command: &Cmd, deadline: Instant) -> Result<Value, Failure> {
        self.link.call(command, deadline).await
    }

    /// Runs a script on a key.
    async fn run(
        &self,
        script: &StoredScript,
        key: &str,
        arguments: &[&[u8]],
    ) -> Result<Value, Failure> {
        self.run_until(script, key, arguments, self.link.deadline())
            .await
    }

    /// Runs one of several scripts that share a deadline.
    async fn run_until(
        &self,
        script: &StoredScript,
        key: &str,
        arguments: &[&[u8]],
        deadline: Instant,
    ) -> Result<Value, Failure> {
        match self
            .command(&script.by_hash(key, arguments), deadline)
            .await
        {
            Err(Failure::NoScript) => {
                self.command(&script.by_text(key, arguments), deadline)
                    .await
            }
            reply => reply,
        }
    }
}

/// An argument that is a time: keys live for one millisecond at least.
fn milliseconds(time: Duration) -> Vec<u8> {
    time.as_millis().clamp(1, MAX_TIME).to_string().into_bytes()
}

fn decimal(number: impl fmt::Display) -> Vec<u8> {
    number.to_string().into_bytes()
}

/// The number that a reply is, as text or as such.
fn number(value: &Value) -> Result<u64, Failure> {
    let number = match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::BulkString(text) => core::str::from_utf8(text)
            .ok()
            .and_then(|it| it.parse().ok()),
        _ => None,
    };
    number.ok_or(Failure::Unexpected)
}

fn text(value: Value) -> Result<String, Failure> {
    match value {
        Value::BulkString(text) => String::from_utf8(text).map_err(|_| Failure::Unexpected),
        _ => Err(Failure::Unexpected),
    }
}

fn bytes(value: Value) -> Result<Vec<u8>, Failure> {
    match value {
        Value::BulkString(bytes) => Ok(bytes),
        _ => Err(Failure::Unexpected),
    }
}

fn list(value: Value) -> Result<Vec<Value>, Failure> {
    match value {
        Value::Array(values) => Ok(values),
        _ => Err(Failure::Unexpected),
    }
}

/// The parts of a reply that has so many.
fn parts<const N: usize>(value: Value) -> Result<[Value; N], Failure> {
    list(value)?.try_into().map_err(|_| Failure::Unexpected)
}

/// A hundred years.
const MAX_TIME: u128 = 100 * 365 * 24 * 3_600_000;

const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("settings", &self.settings)
            .field("timeout", &self.link.limit())
            .finish_non_exhaustive()
    }
}

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
