//! Stores in Redis or Valkey, which the processes of one server share.
//!
//! A [`RedisStore`] keeps [sessions](crate::http::SessionStore) and their
//! [events](crate::http::EventStore), [tasks](crate::tasks::store::TaskStore), and
//! [relays](crate::http::Relay) messages between the processes.
//!
//! ```text
//! <prefix>session:<id>    hash   the record, its epoch, its owner
//! <prefix>meta:<id>       hash   the epoch, and of each stream how far it is
//! <prefix>events:<id>     hash   the messages
//! <prefix>order:<id>      list   the events in the order of their arrival
//! <prefix>removed:<id>    text   a session that has ended
//! <prefix>processes       set    the processes that live, by the ends of their leases
//! <prefix>inbox:<id>      list   messages for a process
//! <prefix>task:<id>       hash   the record of a task, and its version
//! <prefix>tasks:..        sets   the tasks of an owner, of a process, those that expire; the processes
//! ```
//!
//! All keys expire, apart from those of tasks without a time to live and the sets of tasks. Writes are scripts, so that an epoch is compared and a write done in one step. The
//! scripts of a session use several keys, so a Redis Cluster cannot hold them; one primary with
//! replicas can. Redis 7.0 or later, or Valkey.
//!
//! Two connections are made, one for commands and one for the inbox. They are made when they are needed
//! and again when they broke, after a wait of at most one second. While the store is gone each call
//! fails at once, with the reason; no call takes longer than its time limit. The `redis` crate
//! contributes commands and values. The connections are those of this crate's
//! [`Network`], so the store works on every runtime and links no other one.

mod connection;
mod error;
mod events;
mod frame;
mod queue;
mod relay;
mod scripts;
mod sessions;
mod target;
mod tasks;

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use redis::{Cmd, Value};

pub use self::error::RedisUrlError;

use self::connection::Connection;
use self::error::Failure;
use self::scripts::StoredScript;
use self::target::Target;
use crate::http::StoreError;
use crate::net::Network;

/// Sessions, events, tasks and messages between processes in Redis or Valkey.
///
/// Clones share their connections.
///
/// ```no_run
/// use core::time::Duration;
///
/// use mcp_async::Server;
/// use mcp_async::net::Network;
/// use mcp_async::redis::RedisStore;
///
/// /// The same in each process of the server.
/// async fn serve<R: Network>(server: Server<R>) -> Result<(), Box<dyn core::error::Error>> {
///     let store = RedisStore::<R>::new("redis://127.0.0.1:6379")?.timeout(Duration::from_secs(1));
///     server.http().share(store).serve("127.0.0.1:8000").await?;
///     Ok(())
/// }
/// ```
pub struct RedisStore<R> {
    commands: Arc<Connection<R>>,
    /// Its commands wait in the store.
    inbox: Arc<Connection<R>>,
    target: Arc<Target>,
    settings: Settings,
}

#[derive(Clone, Debug)]
struct Settings {
    prefix: Arc<str>,
    timeout: Duration,
    max_events: usize,
    max_bytes: usize,
    retention: Duration,
}

impl<R: Network> RedisStore<R> {
    /// Creates a store at a URL: `redis://[name:password@]host[:port][/database]`. The first
    /// connection is made when it is needed.
    ///
    /// # Errors
    /// The text is no such URL.
    pub fn new(url: &str) -> Result<Self, RedisUrlError> {
        let target = Arc::new(Target::parse(url)?);
        let settings = Settings {
            prefix: "mcp:".into(),
            timeout: Duration::from_secs(2),
            max_events: 1_000,
            max_bytes: 4 << 20,
            retention: Duration::from_secs(3600),
        };
        Ok(Self {
            commands: Arc::new(Connection::new(&target, settings.timeout)),
            inbox: Arc::new(Connection::new(&target, settings.timeout)),
            target,
            settings,
        })
    }

    /// Sets what the names of all keys begin with; `mcp:` otherwise. Servers that are different share
    /// a store under different prefixes.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// Sets how long one command may take, a connection that has to be made included; two seconds
    /// otherwise. The command fails then, and requests that need it are answered with 503.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self.commands = Arc::new(Connection::new(&self.target, timeout));
        self.inbox = Arc::new(Connection::new(&self.target, timeout));
        self
    }

    /// Sets how many events of a session are kept, and how many bytes of them; 1 000 and 4 MiB
    /// otherwise. The oldest ones are removed first.
    #[must_use]
    pub fn max_events(mut self, events: usize, bytes: usize) -> Self {
        (self.settings.max_events, self.settings.max_bytes) = (events, bytes);
        self
    }

    /// Sets how long events are kept after the last one of their session, and how long the id of a
    /// session that ended is remembered; one hour otherwise. It should be at least as long as sessions
    /// may be [idle](crate::http::Http::idle_timeout).
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.settings.retention = retention;
        self
    }

    fn key(&self, kind: &str, id: &str) -> String {
        format!("{}{kind}:{id}", self.settings.prefix)
    }

    fn removed(&self, session: &str) -> String {
        self.key("removed", session)
    }

    async fn command(&self, command: &Cmd) -> Result<Value, Failure> {
        self.commands.call(command, self.settings.timeout).await
    }

    /// Runs a script with these keys and arguments.
    async fn run(
        &self,
        script: &StoredScript,
        keys: &[&str],
        arguments: &[&[u8]],
    ) -> Result<Value, Failure> {
        let add = |mut command: Cmd| {
            for argument in arguments {
                command.arg(*argument);
            }
            command
        };
        match self.command(&add(script.by_hash(keys))).await {
            Err(Failure::NoScript) => self.command(&add(script.by_text(keys))).await,
            reply => reply,
        }
    }

    /// Forgets a session and its events.
    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        let keys = [
            self.removed(session),
            self.key("session", session),
            self.key("meta", session),
            self.key("events", session),
            self.key("order", session),
        ];
        let keys = keys.each_ref().map(String::as_str);
        let keep = milliseconds(self.settings.retention);
        written(self.run(&scripts::REMOVE, &keys, &[&keep]).await?)
    }
}

/// What a script says of a write.
fn written(reply: Value) -> Result<(), StoreError> {
    match reply {
        Value::BulkString(text) if text == b"ok" => Ok(()),
        Value::BulkString(text) if text == b"conflict" => Err(StoreError::Conflict),
        Value::BulkString(text) if text == b"gone" => Err(StoreError::Gone),
        _ => Err(Failure::Unexpected.into()),
    }
}

/// An argument that is a time: keys live for one millisecond at least.
fn milliseconds(time: Duration) -> Vec<u8> {
    time.as_millis().clamp(1, MAX_TIME).to_string().into_bytes()
}

fn decimal(number: impl fmt::Display) -> Vec<u8> {
    number.to_string().into_bytes()
}

/// A hundred years.
const MAX_TIME: u128 = 100 * 365 * 24 * 3_600_000;

impl<R> Clone for RedisStore<R> {
    fn clone(&self) -> Self {
        Self {
            commands: Arc::clone(&self.commands),
            inbox: Arc::clone(&self.inbox),
            target: Arc::clone(&self.target),
            settings: self.settings.clone(),
        }
    }
}

impl<R> fmt::Debug for RedisStore<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
