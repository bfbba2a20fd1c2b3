//! Serializes the takeovers of a session.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, MutexGuard};

use crate::connection::register;
use crate::sync::Lock;

/// The sessions that this process is taking over, with those who wait to do the same: each
/// takeover displaces the owner before, which must not be this process itself.
#[derive(Default)]
pub(in crate::http::server) struct Turns(Lock<HashMap<Arc<str>, Vec<Waker>>>);

/// The permission to take a session over; dropping it gives it to the next.
pub(in crate::http::server) struct Turn<'a> {
    turns: &'a Turns,
    id: Arc<str>,
}

impl Turns {
    /// Waits until this session is taken over by no other request.
    pub(in crate::http::server) async fn wait(&self, id: &str) -> Turn<'_> {
        let id: Arc<str> = Arc::from(id);
        poll_fn(|cx| match self.lock().entry(Arc::clone(&id)) {
            Entry::Vacant(free) => {
                free.insert(Vec::new());
                Poll::Ready(())
            }
            Entry::Occupied(mut taken) => {
                register(taken.get_mut(), cx);
                Poll::Pending
            }
        })
        .await;
        Turn { turns: self, id }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Waker>>> {
        self.0.lock()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let waiting = self.turns.lock().remove(&self.id);
        waiting.into_iter().flatten().for_each(Waker::wake);
    }
}
