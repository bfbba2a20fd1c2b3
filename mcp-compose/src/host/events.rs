//! What happens at the servers of a host, as a stream.

use core::fmt;
use core::ops::Bound;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};

use mcp_async::model::LoggingMessageParams;

use super::state::ServerState;
use crate::catalog::ListError;
use crate::watch::Watch;

/// An event of a [`Host`](super::Host), with its server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HostEvent {
    /// The server is in another state.
    State(Arc<str>, ServerState),
    /// The server sent a log message.
    Log(Arc<str>, LoggingMessageParams),
    /// A list of the server could not be read. Its items stay as they were.
    ListError(Arc<str>, Arc<ListError>),
}

/// The events of a [`Host`](super::Host), as a stream that ends with the host.
///
/// Events wait in a queue of their server: of a server that sends more than the reader takes, the oldest log messages
/// are dropped beyond 256 events or 1 MiB, and others are not delayed by it.
pub struct HostEvents {
    queues: Arc<Watch<Queues>>,
}

/// The events that a reader has not taken.
#[derive(Default)]
pub(super) struct Queues {
    servers: BTreeMap<Arc<str>, Queue>,
    /// The server of the last event.
    last: Arc<str>,
    dropped: u64,
    ended: bool,
}

#[derive(Default)]
struct Queue {
    events: VecDeque<HostEvent>,
    bytes: usize,
}

/// Those who read the events of a host.
#[derive(Default)]
pub(super) struct Readers(Watch<Vec<Weak<Watch<Queues>>>>);

impl HostEvent {
    /// Returns the server.
    pub const fn server(&self) -> &Arc<str> {
        match self {
            Self::State(server, _) | Self::Log(server, _) | Self::ListError(server, _) => server,
        }
    }

    /// Returns the bytes that the server chose the number of.
    fn bytes(&self) -> usize {
        match self {
            Self::Log(_, message) => {
                let logger = message.logger.as_ref().map_or(0, String::len);
                logger + message.data.as_raw().as_bytes().len()
            }
            Self::State(..) | Self::ListError(..) => 0,
        }
    }
}

impl HostEvents {
    /// Returns the next event; `None` when the host is closed.
    pub async fn next(&mut self) -> Option<HostEvent> {
        self.queues
            .take(|queues| {
                let next = queues.pop();
                (next.is_some() || queues.ended).then_some(next)
            })
            .await
    }

    /// Returns how many log messages were dropped because the queue of their server was full.
    pub fn dropped(&self) -> u64 {
        self.queues.read(|queues| queues.dropped)
    }
}

impl Queues {
    fn push(&mut self, event: HostEvent) {
        let queue = self.servers.entry(Arc::clone(event.server())).or_default();
        queue.bytes += event.bytes();
        queue.events.push_back(event);
        while queue.events.len() > EVENTS || queue.bytes > BYTES {
            let is_log = |event: &HostEvent| matches!(event, HostEvent::Log(..));
            let oldest = queue.events.iter().position(is_log).unwrap_or(0);
            let Some(dropped) = queue.events.remove(oldest) else {
                break;
            };
            queue.bytes -= dropped.bytes();
            self.dropped += 1;
        }
    }

    /// Takes an event of the server after that of the last one.
    fn pop(&mut self) -> Option<HostEvent> {
        let after = (Bound::Excluded(&self.last), Bound::Unbounded);
        let next = self.servers.range::<Arc<str>, _>(after).next();
        let server = Arc::clone(next.or_else(|| self.servers.iter().next())?.0);
        let queue = self.servers.get_mut(&server)?;
        let event = queue.events.pop_front()?;
        queue.bytes -= event.bytes();
        if queue.events.is_empty() {
            self.servers.remove(&server);
        }
        self.last = server;
        Some(event)
    }
}

impl Readers {
    pub(super) fn add(&self) -> HostEvents {
        let queues = Arc::new(Watch::default());
        self.0.change(|readers| {
            readers.retain(|reader| reader.strong_count() > 0);
            readers.push(Arc::downgrade(&queues));
        });
        HostEvents { queues }
    }

    pub(super) fn send(&self, event: &HostEvent) {
        self.each(|queues| queues.push(event.clone()));
    }

    pub(super) fn end(&self) {
        self.each(|queues| queues.ended = true);
    }

    fn each(&self, act: impl Fn(&mut Queues)) {
        let readers = self.0.read(Clone::clone);
        for reader in readers.iter().filter_map(Weak::upgrade) {
            reader.change(&act);
        }
    }
}

impl fmt::Debug for HostEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostEvents")
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}

const EVENTS: usize = 256;
const BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use mcp_async::json::RawBuf;

    use super::*;

    fn log(server: &str, bytes: usize) -> HostEvent {
        let text = format!("{{\"level\":\"info\",\"data\":\"{}\"}}", "x".repeat(bytes));
        HostEvent::Log(
            server.into(),
            RawBuf::parse(text).unwrap().decode().unwrap(),
        )
    }

    #[test]
    fn a_server_that_floods_loses_its_own_messages() {
        let mut queues = Queues::default();
        queues.push(HostEvent::State("bad".into(), ServerState::Ready));
        (0..1_000).for_each(|_| queues.push(log("bad", 1)));
        queues.push(log("good", 1));
        (0..9).for_each(|_| queues.push(log("large", 300_000)));
        let order: Vec<_> = core::iter::from_fn(|| queues.pop()).collect();
        let servers: Vec<_> = order
            .iter()
            .take(4)
            .map(|event| &**event.server())
            .collect();
        assert_eq!(servers, ["bad", "good", "large", "bad"]);
        assert!(matches!(&order[0], HostEvent::State(..)), "{:?}", order[0]);
        assert_eq!(
            (order.len(), queues.dropped),
            (EVENTS + 1 + 3, 1_001 - 256 + 6)
        );
        assert!(queues.servers.is_empty());
    }
}
