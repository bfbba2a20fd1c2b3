//! The connection for commands, which is made when a command needs it and made again when it has ended.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, PushKind, Value};

use crate::error::Failure;
use crate::target::{Connection, Push, Target};
use crate::time::within;

/// Commands of many calls share a connection.
pub(crate) struct Link {
    target: Target,
    limit: Duration,
    state: Arc<Mutex<State>>,
    /// Held by the call that makes the connection.
    connecting: async_lock::Mutex<()>,
}

#[derive(Default)]
struct State {
    connection: Option<Connection>,
    /// The number of the connection, which the next one exceeds.
    number: u64,
    /// The failure of the last attempt, and the time before which there is no other attempt. A connection
    /// removes it.
    failure: Option<(Failure, Instant)>,
    /// The wait after it.
    backoff: Duration,
}

impl Link {
    /// A connection on which each command has this time, that for the connection included.
    pub(crate) fn new(target: Target, limit: Duration) -> Self {
        Self {
            target,
            limit,
            state: Arc::default(),
            connecting: async_lock::Mutex::new(()),
        }
    }

    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) const fn limit(&self) -> Duration {
        self.limit
    }

    /// The moment until which a call that begins now may take.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.limit
    }

    /// The reply to a command, which is sent once: one without a reply may have had its effect.
    pub(crate) async fn call(&self, command: &Cmd, deadline: Instant) -> Result<Value, Failure> {
        let (number, mut connection) = self.connection(deadline).await?;
        let reply = within(left(deadline), connection.send(command, self.limit)).await;
        let failure = match reply {
            Some(Ok(value)) => return Ok(value),
            Some(Err(error)) => Failure::of(&error, self.limit),
            None => Failure::Timeout(self.limit),
        };
        if failure.ends_connection() {
            lost(&self.state, number);
        }
        Err(failure)
    }

    /// A connection of its own to the server that has this channel.
    pub(crate) async fn connect_apart(
        &self,
        push: Push,
        channel: &str,
        deadline: Instant,
    ) -> Result<MultiplexedConnection, Failure> {
        let connected = self.target.connect_one(self.limit, push, channel);
        let connected = within(left(deadline), connected).await;
        connected.unwrap_or(Err(Failure::Timeout(self.limit)))
    }

    async fn connection(&self, deadline: Instant) -> Result<(u64, Connection), Failure> {
        if let Some(current) = self.current()? {
            return Ok(current);
        }
        let _turn = match self.connecting.try_lock() {
            Some(turn) => turn,
            None => {
                if let Some((failure, _)) = &self.lock().failure {
                    // Another call finds out for all whether the store is back.
                    return Err(failure.clone());
                }
                let turn = within(left(deadline), self.connecting.lock()).await;
                turn.ok_or(Failure::Timeout(self.limit))?
            }
        };
        if let Some(current) = self.current()? {
            return Ok(current);
        }
        let number = {
            let mut state = self.lock();
            state.number += 1;
            state.number
        };
        // It ends before the call does, which says then why.
        let limit = left(deadline).min(self.limit * 2 / 3);
        let connected = within(limit, self.target.connect(self.limit, self.watch(number))).await;
        let connected = connected.unwrap_or(Err(Failure::Timeout(self.limit)));
        let mut state = self.lock();
        match connected {
            Ok(connection) => {
                state.connection = Some(connection.clone());
                (state.failure, state.backoff) = (None, Duration::ZERO);
                Ok((number, connection))
            }
            Err(failure) => {
                state.backoff = (state.backoff * 2).clamp(MIN_BACKOFF, MAX_BACKOFF);
                state.failure = Some((failure.clone(), Instant::now() + state.backoff));
                Err(failure)
            }
        }
    }

    /// The connection, if there is one; and why not, if it is too early for another attempt.
    fn current(&self) -> Result<Option<(u64, Connection)>, Failure> {
        let state = self.lock();
        match (&state.connection, &state.failure) {
            (Some(connection), _) => Ok(Some((state.number, connection.clone()))),
            (None, Some((failure, until))) if Instant::now() < *until => Err(failure.clone()),
            _ => Ok(None),
        }
    }

    /// Forgets the connection of this number when it ends.
    fn watch(&self, number: u64) -> Push {
        let state: Weak<_> = Arc::downgrade(&self.state);
        Arc::new(move |info| {
            if info.kind == PushKind::Disconnection
                && let Some(state) = state.upgrade()
            {
                lost(&state, number);
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Takes a lock, also if a thread has panicked that held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The connection of this number is of no use any more.
fn lost(state: &Mutex<State>, number: u64) {
    let ended = {
        let mut state = lock(state);
        match state.number == number {
            true => state.connection.take(),
            false => None,
        }
    };
    drop(ended);
}

/// The time until then.
pub(crate) fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// The first wait after an attempt that failed; each further one is twice as long.
const MIN_BACKOFF: Duration = Duration::from_millis(50);

/// The longest one.
const MAX_BACKOFF: Duration = Duration::from_secs(1);
