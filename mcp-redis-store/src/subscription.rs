//! Messages for all processes.

use core::fmt;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use redis::aio::MultiplexedConnection;
use redis::{PushInfo, PushKind, Value, cmd};

use crate::RedisStore;
use crate::error::Failure;
use crate::link::{left, lock};
use crate::scripts::LAYOUT;
use crate::time::within;
use mcp_async::http::{StoreError, StoreSubscription};

/// Receives what the processes publish in a [`RedisStore`], on a connection of its own.
///
/// A connection may have ended without notice, and a replica may have become the primary. So if nothing
/// has arrived for a while, it publishes something itself: an echo that does not arrive is a loss.
pub struct RedisSubscription {
    store: RedisStore,
    queue: Arc<Mutex<Queue>>,
    /// The time at which the last message arrived, or the echo was published.
    since: Instant,
    /// The echo was published.
    echoes: bool,
    _connection: MultiplexedConnection,
}

/// Messages and echoes that have arrived and were not taken yet.
#[derive(Default)]
struct Queue {
    arrived: VecDeque<Arrived>,
    /// The failure that ended the subscription.
    ended: Option<Failure>,
    waker: Option<Waker>,
}

enum Arrived {
    Message(Vec<u8>),
    Echo,
}

impl RedisStore {
    pub(crate) fn channel(&self) -> String {
        let database = self.link.target().database();
        format!("{}{{messages:{LAYOUT}:{database}}}", self.settings.prefix)
    }

    pub(crate) async fn publish_to(&self, channel: &str, message: &[u8]) -> Result<(), Failure> {
        let mut command = cmd("PUBLISH");
        command.arg(channel).arg(message);
        self.command(&command, self.link.deadline()).await?;
        Ok(())
    }

    pub(crate) async fn begin_subscription(&self) -> Result<RedisSubscription, Failure> {
        let deadline = self.link.deadline();
        let queue = Arc::<Mutex<Queue>>::default();
        let channel = self.channel();
        let channels = [channel.clone(), echo(&channel)];
        let push = {
            let (queue, channel) = (Arc::clone(&queue), channel.clone());
            Arc::new(move |info| receive(&queue, &channel, info))
        };
        let mut connection = self.link.connect_apart(push, &channel, deadline).await?;
        let subscribed = within(left(deadline), connection.subscribe(&channels)).await;
        subscribed
            .ok_or(Failure::Timeout(self.link.limit()))?
            .map_err(|error| Failure::of(&error, self.link.limit()))?;
        Ok(RedisSubscription {
            store: self.clone(),
            queue,
            since: Instant::now(),
            echoes: false,
            _connection: connection,
        })
    }
}

impl RedisSubscription {
    /// Waits for what arrives.
    async fn arrived(&self) -> Result<Arrived, Failure> {
        poll_fn(|cx| {
            let mut queue = lock(&self.queue);
            match (queue.arrived.pop_front(), &queue.ended) {
                (Some(arrived), _) => Poll::Ready(Ok(arrived)),
                (None, Some(failure)) => Poll::Ready(Err(failure.clone())),
                (None, None) => {
                    queue.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl StoreSubscription for RedisSubscription {
    async fn next(&mut self) -> Result<Vec<u8>, StoreError> {
        let limit = self.store.link.limit();
        loop {
            let arrived = within(left(self.since + limit), self.arrived()).await;
            match arrived {
                Some(Ok(arrived)) => {
                    (self.since, self.echoes) = (Instant::now(), false);
                    if let Arrived::Message(message) = arrived {
                        return Ok(message);
                    }
                }
                Some(Err(failure)) => return Err(failure.into()),
                None if self.echoes => return Err(Failure::Timeout(limit).into()),
                None => {
                    let channel = echo(&self.store.channel());
                    self.store.publish_to(&channel, b"").await?;
                    (self.since, self.echoes) = (Instant::now(), true);
                }
            }
        }
    }
}

impl fmt::Debug for RedisSubscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSubscription").finish_non_exhaustive()
    }
}

/// Takes a message that the server has pushed to the connection.
fn receive(queue: &Mutex<Queue>, channel: &str, info: PushInfo) {
    let mut queue = lock(queue);
    match info.kind {
        PushKind::Disconnection => {
            let failure = Failure::Unreachable("the connection was closed".into());
            queue.ended.get_or_insert(failure);
        }
        PushKind::Message => {
            let mut data = info.data.into_iter();
            let arrived = match (data.next(), data.next()) {
                (Some(Value::BulkString(on)), Some(Value::BulkString(message)))
                    if on == channel.as_bytes() =>
                {
                    Arrived::Message(message)
                }
                _ => Arrived::Echo,
            };
            match queue.ended.is_none() && queue.arrived.len() < MAX_MESSAGES {
                true => queue.arrived.push_back(arrived),
                false => {
                    let failure = Failure::Unreachable("messages were not read in time".into());
                    queue.ended.get_or_insert(failure);
                }
            }
        }
        _ => return,
    }
    let waker = queue.waker.take();
    drop(queue);
    if let Some(waker) = waker {
        waker.wake();
    }
}

fn echo(channel: &str) -> String {
    format!("{channel}:echo")
}

/// Messages that may wait in a subscription.
const MAX_MESSAGES: usize = 4096;
