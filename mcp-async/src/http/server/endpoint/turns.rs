//! Serializes the takeovers of a session.

use core::future::poll_fn;
use core::task::Poll;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::sync::{Lock, Waiters};

/// The sessions that this process is taking over, with those who wait to do the same: each
/// takeover displaces the owner before, which must not be this process itself.
#[derive(Default)]
pub(in crate::http::server) struct Turns(Lock<HashMap<Arc<str>, Waiters>>);

/// The permission to take a session over; dropping it gives it to the next.
pub(in crate::http::server) struct Turn<'a> {
    turns: &'a Turns,
    id: Arc<str>,
}

impl Turns {
    /// Waits until this session is taken over by no other request.
    pub(in crate::http::server) async fn wait(&self, id: &str) -> Turn<'_> {
        let id: Arc<str> = Arc::from(id);
        poll_fn(|cx| match self.0.lock().entry(Arc::clone(&id)) {
            Entry::Vacant(free) => {
                free.insert(Waiters::new());
                Poll::Ready(())
            }
            Entry::Occupied(mut taken) => {
                taken.get_mut().register(cx);
                Poll::Pending
            }
        })
        .await;
        Turn { turns: self, id }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let waiting = self.turns.0.lock().remove(&self.id);
        waiting.unwrap_or_default().wake();
    }
}
