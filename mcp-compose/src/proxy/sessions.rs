//! Sessions with one server, by what they declare.

mod followed;

use core::future::Future;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::Arc;

use mcp_async::client::ConnectError;
use mcp_async::model::{ClientFeatures, LoggingLevel, ServerFeatures};
use mcp_async::runtime::{RuntimeHandle, within};
use mcp_async::server::{CallContext, HandlerError};
use mcp_async::tasks::EXTENSION;
use mcp_async::{Client, Revision};
use mcp_proto::Instant;

use self::followed::Followed;
use super::bridge::Bridge;
use super::places::{CallerName, Place};
use crate::watch::Watch;

/// A session with a server.
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) revision: Revision,
    pub(super) bridge: Arc<Bridge>,
    /// The one caller whom the session is for, by the name of its principal.
    pub(super) caller: CallerName,
    /// True if the server declares that it logs.
    has_logs: bool,
    /// True if the server makes tasks of 2026-07-28.
    makes_tasks: bool,
    /// The log level that the server was told.
    level: Watch<Option<LoggingLevel>>,
    /// The resources whose changes are reported.
    pub(super) followed: Followed,
    was_used: AtomicBool,
    /// The time until which it is kept for tasks that were made in it, in milliseconds.
    kept_until: AtomicU64,
    /// True once no further request may be sent in it.
    is_over: AtomicBool,
    /// `None` once it is over.
    place: Watch<Option<Place>>,
    /// True once the session was dropped.
    is_gone: Arc<Watch<bool>>,
}

impl Session {
    pub(super) fn new(client: Client, bridge: Arc<Bridge>, place: Place) -> Self {
        let info = client.info();
        Self {
            revision: info.revision,
            has_logs: info.features.contains(ServerFeatures::LOGGING),
            makes_tasks: info.revision.is_modern() && info.extension(EXTENSION).is_some(),
            client,
            bridge,
            caller: place.caller(),
            level: Watch::default(),
            followed: Followed::default(),
            was_used: AtomicBool::new(false),
            kept_until: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            place: Watch::new(Some(place)),
            is_gone: Arc::default(),
        }
    }

    /// Returns a future that waits until the session was dropped, and does not keep it.
    pub(super) fn gone(&self) -> impl Future<Output = ()> + use<> {
        let is_gone = Arc::clone(&self.is_gone);
        async move { is_gone.find(|is_gone| is_gone.then_some(())).await }
    }

    /// Returns true the first time.
    pub(super) fn is_new(&self) -> bool {
        !self.was_used.swap(true, Ordering::Relaxed)
    }

    /// Returns true if the server has log messages for this call.
    pub(super) fn logs(&self, cx: &CallContext) -> bool {
        // A task is asked for in the session that callers share, and may live only where it was made.
        let is_task = self.makes_tasks && cx.has_client_extension(EXTENSION);
        self.has_logs && !is_task && cx.log_level().is_some()
    }

    /// Returns true if no call can be sent any more.
    pub(super) fn is_closed(&self) -> bool {
        self.is_over.load(Ordering::Acquire) || self.client.is_closed()
    }

    /// Lets no further call use the session, which ends with the last one that does.
    pub(super) fn retire(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Ends the session: its running calls fail.
    pub(super) fn end(&self, runtime: &RuntimeHandle) {
        self.is_over.store(true, Ordering::Release);
        let place = self.place.change(Option::take);
        drop(place);
        let client = self.client.clone();
        runtime.spawn(Box::pin(async move {
            // How it ended is of no interest any more.
            let _ = client.close().await;
        }));
    }

    /// Keeps the session until this time although it is idle, because the server has made a task in it.
    pub(super) fn keep(&self, until: Instant) {
        self.kept_until
            .fetch_max(until.as_millis(), Ordering::AcqRel);
    }

    /// Returns true if the session is kept for a task.
    pub(super) fn is_kept(&self, now: Instant) -> bool {
        now.as_millis() < self.kept_until.load(Ordering::Acquire)
    }

    /// Returns true if the caller has a log level that the server was not told.
    pub(super) fn has_other_level(&self, level: Option<LoggingLevel>) -> bool {
        self.has_logs && level.is_some() && self.level.read(|known| *known != level)
    }

    /// Tells a legacy server the log level of the caller.
    pub(super) async fn set_level(&self, level: Option<LoggingLevel>) {
        let Some(level) = level else { return };
        self.level.change(|known| *known = Some(level));
        // The server may know other levels.
        let _ = self.client.set_log_level(level).await;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.is_gone.change(|is_gone| *is_gone = true);
    }
}

/// A key of a session.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) server: Arc<str>,
    /// The capabilities that the client declares.
    pub(super) features: ClientFeatures,
    /// The one caller whom the session is for, by the name of its principal.
    pub(super) caller: Option<Arc<str>>,
}

/// Sessions that belong to one caller, or to all.
///
/// A session is opened when it is asked for first, and again when it has ended.
#[derive(Default)]
pub(super) struct Sessions(Watch<HashMap<Key, Slot>>);

enum Slot {
    /// The session, and when it was used last.
    Ready(Arc<Session>, Instant),
    Opening,
}

/// A reason for which there is no session.
pub(super) enum OpenError {
    /// The bound of sessions is reached.
    Full,
    /// The caller has no principal, and the server is for those who have one.
    Unverified,
    /// The rule for callers has refused this one.
    Refused(HandlerError),
    Failed(ConnectError),
}

impl Sessions {
    /// Returns the session of this key, which `open` opens if there is none.
    pub(super) async fn get<F>(
        &self,
        key: &Key,
        runtime: &RuntimeHandle,
        open: impl FnOnce() -> F,
    ) -> Result<Arc<Session>, OpenError>
    where
        F: Future<Output = Result<Arc<Session>, OpenError>>,
    {
        loop {
            let now = runtime.now();
            let found = self.0.change(|slots| match slots.get_mut(key) {
                Some(Slot::Ready(session, used)) if !session.is_closed() => {
                    *used = now;
                    Some(Some(Arc::clone(session)))
                }
                Some(Slot::Opening) => None,
                _ => {
                    slots.insert(key.clone(), Slot::Opening);
                    Some(None)
                }
            });
            match found {
                Some(Some(session)) => return Ok(session),
                Some(None) => break,
                None => {
                    let is_settled = |slots: &HashMap<Key, Slot>| {
                        (!matches!(slots.get(key), Some(Slot::Opening))).then_some(())
                    };
                    self.0.find(is_settled).await;
                }
            }
        }
        let mut opening = Opening {
            sessions: self,
            key,
            is_over: false,
        };
        let session = open().await?;
        let ready = Slot::Ready(Arc::clone(&session), runtime.now());
        self.0.change(|slots| slots.insert(key.clone(), ready));
        opening.is_over = true;
        Ok(session)
    }

    /// Ends the sessions that no call has used since this time and that are not kept for a task now; forgets those that are closed.
    pub(super) fn end_idle(&self, since: Instant, now: Instant) {
        let ended: Vec<_> = self.0.change(|slots| {
            let is_idle = |_: &Key, slot: &mut Slot| match slot {
                Slot::Ready(session, used) => {
                    let is_used = Arc::strong_count(session) > 1;
                    let is_needed = is_used || session.is_kept(now);
                    session.is_closed() || (!is_needed && *used < since)
                }
                Slot::Opening => false,
            };
            slots.extract_if(is_idle).collect()
        });
        drop(ended);
    }
}

/// A session that is being opened. If that is given up, the next who asks opens it.
struct Opening<'a> {
    sessions: &'a Sessions,
    key: &'a Key,
    is_over: bool,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.sessions.0.change(|slots| slots.remove(self.key));
        }
    }
}

/// Sessions of callers of 2026-07-28 with legacy servers, each for one call at a time.
#[derive(Default)]
pub(super) struct Leases(Watch<HashMap<Key, Leased>>);

#[derive(Default)]
struct Leased {
    free: Vec<Free>,
    /// The sessions that calls have now.
    in_use: usize,
}

struct Free {
    session: Arc<Session>,
    since: Instant,
}

/// A session, for one call if it is leased.
pub(super) struct Lease {
    pub(super) session: Arc<Session>,
    /// Where it returns to.
    returns: Option<Return>,
}

/// The place of a session that a call has.
struct Return {
    leases: Arc<Leases>,
    key: Key,
    runtime: RuntimeHandle,
    session: Option<Arc<Session>>,
}

impl Leases {
    /// Returns a free session of this key, or one that `open` opens. Where a bound is reached, it waits for one that is in use.
    pub(super) async fn get<F>(
        self: &Arc<Self>,
        key: &Key,
        runtime: &RuntimeHandle,
        open: impl Fn() -> F,
    ) -> Result<Lease, OpenError>
    where
        F: Future<Output = Result<Arc<Session>, OpenError>>,
    {
        let mut place = Return {
            leases: Arc::clone(self),
            key: key.clone(),
            runtime: runtime.clone(),
            session: None,
        };
        let session = match self.enter(key) {
            Some(free) => free,
            None => match open().await {
                Ok(session) => session,
                Err(OpenError::Full) => match self.wait(key, runtime).await {
                    Some(left) => left,
                    None => open().await?,
                },
                Err(error) => return Err(error),
            },
        };
        place.session = Some(Arc::clone(&session));
        Ok(Lease {
            session,
            returns: Some(place),
        })
    }

    /// Counts a call, and returns a free session for it.
    fn enter(&self, key: &Key) -> Option<Arc<Session>> {
        self.0.change(|all| {
            let leased = all.entry(key.clone()).or_default();
            leased.in_use += 1;
            leased.take()
        })
    }

    /// Returns a session that another call leaves; `None` if none does for long, or there is no other call.
    async fn wait(&self, key: &Key, runtime: &RuntimeHandle) -> Option<Arc<Session>> {
        let left = self.0.take(|all| {
            let leased = all.get_mut(key)?;
            match leased.take() {
                None if leased.in_use > 1 => None,
                found => Some(found),
            }
        });
        within(runtime, PATIENCE, left).await.flatten()
    }

    /// Ends the sessions that have been free since this time.
    pub(super) fn end_idle(&self, since: Instant) {
        let ended = self.0.change(|all| {
            let mut ended = Vec::new();
            all.retain(|_, leased| {
                ended.extend(leased.free.extract_if(.., |free| free.since < since));
                leased.in_use > 0 || !leased.free.is_empty()
            });
            ended
        });
        drop(ended);
    }
}

impl Leased {
    fn take(&mut self) -> Option<Arc<Session>> {
        let free = core::mem::take(&mut self.free);
        let mut alive = free.into_iter().filter(|free| !free.session.is_closed());
        let found = alive.next().map(|free| free.session);
        self.free = alive.collect();
        found
    }
}

impl Lease {
    /// A session that other calls may use at the same time.
    pub(super) const fn shared(session: Arc<Session>) -> Self {
        Self {
            session,
            returns: None,
        }
    }

    /// Returns true if the session is for one call.
    pub(super) const fn is_own(&self) -> bool {
        self.returns.is_some()
    }
}

impl Drop for Return {
    fn drop(&mut self) {
        let since = self.runtime.now();
        // What a server still asks and logs for a call that was given up is not for the next one.
        let session = self
            .session
            .take()
            .filter(|session| !session.is_closed() && !session.bridge.is_busy());
        if let Some(session) = &session {
            session.bridge.forget_events();
        }
        self.leases.0.change(|all| {
            let leased = all.entry(self.key.clone()).or_default();
            leased.in_use = leased.in_use.saturating_sub(1);
            leased
                .free
                .extend(session.map(|session| Free { session, since }));
        });
    }
}

/// The time that a call waits for a session that others have.
const PATIENCE: Duration = Duration::from_secs(30);
