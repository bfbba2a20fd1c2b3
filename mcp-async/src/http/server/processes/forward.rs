//! Requests that another process answers: the side that received them.

use core::future::poll_fn;
use core::marker::PhantomData;
use core::sync::atomic::Ordering;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;

use super::super::answer::{self, Answer};
use super::super::body::{Events, HttpBody};
use super::inbound::{Head, Inbound};
use super::message::{Message, RequestLine, WINDOW};
use super::this_process::Processes;
use crate::net::time::{RuntimeSleep, timeout};
use crate::runtime::Runtime;

/// The registration of a request that another process answers. Dropping it cancels the request there,
/// unless it has ended.
struct Registered<R: Runtime> {
    processes: Arc<Processes>,
    inbound: Arc<Inbound>,
    number: u64,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Runtime> Registered<R> {
    fn new(processes: &Arc<Processes>, owner: &str) -> Self {
        let number = processes.next.fetch_add(1, Ordering::Relaxed);
        let inbound = Arc::new(Inbound::new(owner));
        processes.pending().insert(number, Arc::clone(&inbound));
        Self {
            processes: Arc::clone(processes),
            inbound,
            number,
            runtime: PhantomData,
        }
    }

    /// Sends a message to the owner, in a task of its own.
    fn tell(&self, message: Message) {
        let (processes, owner) = (Arc::clone(&self.processes), self.inbound.owner().to_owned());
        R::spawn(Box::pin(async move {
            processes.send(&owner, &message, &[]).await;
        }));
    }
}

impl<R: Runtime> Drop for Registered<R> {
    fn drop(&mut self) {
        self.processes.pending().remove(&self.number);
        let ended = self.inbound.state().ended;
        if !ended {
            self.tell(Message::Cancel {
                from: self.processes.name.to_string(),
                number: self.number,
            });
        }
    }
}

impl Processes {
    /// Lets another process answer a request; `None` if that process is dead, or does not own the session. An event stream in the
    /// response is kept alive by comments at these intervals.
    pub(in crate::http::server) async fn forward<R: Runtime>(
        self: &Arc<Self>,
        owner: &str,
        parts: &Parts,
        body: &[u8],
        keep_alive: Duration,
    ) -> Option<Answer> {
        let registered = Registered::<R>::new(self, owner);
        let message = Message::Request {
            from: self.name.to_string(),
            number: registered.number,
            head: RequestLine::of(parts),
        };
        match self.relay.send(owner, &message.encode(body)).await {
            Ok(true) => {}
            Ok(false) => {
                registered.inbound.state().ended = true;
                return None;
            }
            Err(error) => {
                crate::observe::store_failed(&error);
                return Some(answer::busy(
                    "the process that has the session cannot be reached",
                ));
            }
        }
        let head = poll_fn(|cx| registered.inbound.poll_head(cx));
        let (line, whole) = match timeout::<R, _>(HEAD_TIMEOUT, head).await {
            Some(Head::Arrived { line, whole }) => (line, whole),
            Some(Head::Moved) => return None,
            Some(Head::Failed) | None => {
                return Some(answer::busy(
                    "the process that has the session did not answer",
                ));
            }
        };
        let body = match whole {
            true => HttpBody::full(registered.inbound.whole().into()),
            false => {
                let patience = keep_alive * 2 + self.lease;
                HttpBody::events(ForwardedEvents {
                    registered,
                    read: 0,
                    reported: 0,
                    patience,
                    silent: RuntimeSleep::<R>::after(patience),
                })
            }
        };
        let answer = line.response(body);
        Some(answer.unwrap_or_else(|| answer::busy("another process sent no response")))
    }
}

/// The body of a response that comes from another process.
struct ForwardedEvents<R: Runtime> {
    registered: Registered<R>,
    /// How many parts the client has read, and how many the owner knows of.
    read: u64,
    reported: u64,
    /// How long the owner may be silent: it sends comments more often.
    patience: Duration,
    silent: RuntimeSleep<R>,
}

impl<R: Runtime> Events for ForwardedEvents<R> {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let inbound = &self.registered.inbound;
        let part = inbound.poll_part(cx);
        if part.is_pending() {
            if self.silent.poll_done(cx).is_pending() {
                return Poll::Pending;
            }
            inbound.fail();
            return Poll::Ready(None);
        }
        self.silent = RuntimeSleep::after(self.patience);
        let (count, ended) = {
            let state = inbound.state();
            (state.count - state.parts.len() as u64, state.ended)
        };
        self.read = count;
        if !ended && self.read >= self.reported + WINDOW / 2 {
            self.reported = self.read;
            self.registered.tell(Message::Read {
                from: self.registered.processes.name.to_string(),
                number: self.registered.number,
                parts: self.read,
            });
        }
        part
    }
}

/// How long a response may take to begin. A request of a session is answered with an event stream at
/// once, unless it is answered at once.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
