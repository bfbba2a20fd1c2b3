//! Requests that another process has forwarded: the side of the owner.

use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http_body::Body;

use super::super::answer::{self, Answer};
use super::super::body::HttpBody;
use super::super::endpoint::HttpEndpoint;
use super::message::{Message, RequestLine, StatusLine};
use super::{Processes, WINDOW};
use crate::connection::register;
use crate::net::time::race;
use crate::runtime::Runtime;
use crate::server::Principal;

/// A request of another process that is under way here.
#[derive(Default)]
pub(super) struct Serving(Mutex<State>);

#[derive(Default)]
struct State {
    cancelled: bool,
    /// How many parts the client has read.
    read: u64,
    wakers: Vec<Waker>,
}

impl Serving {
    /// The client is gone, or the process that it is connected to.
    pub(super) fn cancel(&self) {
        self.change(|state| state.cancelled = true);
    }

    pub(super) fn read(&self, parts: u64) {
        self.change(|state| state.read = state.read.max(parts));
    }

    async fn cancelled(&self) {
        self.wait(|state| state.cancelled).await;
    }

    /// Waits until another part may be sent, after so many.
    async fn room(&self, sent: u64) {
        self.wait(|state| sent < state.read.saturating_add(WINDOW))
            .await;
    }

    async fn wait(&self, until: impl Fn(&State) -> bool) {
        poll_fn(|cx| {
            let mut state = self.state();
            if until(&state) {
                return Poll::Ready(());
            }
            register(&mut state.wakers, cx);
            Poll::Pending
        })
        .await;
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let wakers = {
            let mut state = self.state();
            change(&mut state);
            core::mem::take(&mut state.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Processes {
    /// Registers a request of another process; `None` if it has arrived before.
    pub(super) fn accept(&self, from: &str, number: u64) -> Option<Arc<Serving>> {
        let mut requests = self.serving();
        let last = requests.last.entry(from.to_owned()).or_default();
        // Requests that are sent at the same time may overtake each other.
        if number.saturating_add(REORDERED) <= *last {
            return None;
        }
        *last = number.max(*last);
        match requests.running.entry((from.to_owned(), number)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(Arc::clone(place.insert(Arc::default()))),
        }
    }

    pub(super) fn served(&self, from: &str, number: u64) -> Option<Arc<Serving>> {
        let key = (from.to_owned(), number);
        self.serving().running.get(&key).cloned()
    }

    fn forget(&self, from: String, number: u64) {
        self.serving().running.remove(&(from, number));
    }
}

impl<R: Runtime> HttpEndpoint<R> {
    /// Serves a request of another process, and sends it the response.
    pub(super) async fn serve_forwarded(
        self: Arc<Self>,
        processes: Arc<Processes>,
        (from, number): (String, u64),
        (head, body): (RequestLine, Vec<u8>),
    ) {
        let Some(serving) = processes.accept(&from, number) else {
            return;
        };
        let respond = async {
            let response = self.answer_forwarded(&head, &body).await;
            send_response(&processes, &serving, (&from, number), response).await;
        };
        // What has not been sent when the client is gone is dropped.
        race(pin!(respond), pin!(serving.cancelled())).await;
        processes.forget(from, number);
    }

    async fn answer_forwarded(&self, head: &RequestLine, body: &[u8]) -> Answer {
        let Some(mut request) = head.request(body) else {
            return answer::busy("another process sent no request");
        };
        // An endpoint that verifies senders itself replaces it.
        if let Some(name) = &head.principal {
            let principal = Principal::new(name.as_str());
            request.extensions_mut().insert(principal);
        }
        self.serve(request).await
    }
}

/// Sends a response in parts, until the response ends or the forwarding process stops reading.
async fn send_response(
    processes: &Processes,
    serving: &Serving,
    (from, number): (&str, u64),
    response: Answer,
) {
    let mut head = Some(StatusLine::of(&response));
    let mut body = response.into_body();
    let mut part = 0;
    loop {
        let began = head.is_none();
        let (bytes, end) = poll_fn(|cx| poll_part(&mut body, began, cx)).await;
        serving.room(part).await;
        let message = match head.take() {
            Some(head) => Message::Response { number, head, end },
            None => Message::Part { number, part, end },
        };
        if !processes.send(from, &message, &bytes).await || end {
            return;
        }
        part += 1;
    }
}

/// What there is of a body, and whether it has ended. Before it began, there may be nothing.
fn poll_part(body: &mut HttpBody, began: bool, cx: &mut Context<'_>) -> Poll<(Vec<u8>, bool)> {
    let mut part = Vec::new();
    while part.len() < MAX_PART {
        match Pin::new(&mut *body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    part.extend_from_slice(&data);
                }
            }
            Poll::Ready(None) => return Poll::Ready((part, true)),
            Poll::Pending if part.is_empty() && began => return Poll::Pending,
            Poll::Pending => break,
        }
    }
    let end = body.is_end_stream();
    Poll::Ready((part, end))
}

/// A part is sent when it is so long.
const MAX_PART: usize = 64 << 10;

/// How many requests of one process may be under way to this one at a time.
const REORDERED: u64 = 4096;
