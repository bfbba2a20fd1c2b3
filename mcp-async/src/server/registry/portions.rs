//! Many clients, a few at a time.

use core::future::poll_fn;
use core::task::Poll;
use std::vec;

use crate::server::Peer;

/// Calls `notify` for each of these clients: for the first [`PORTION`] at once, and for the others in a task of their runtime that lets other
/// tasks run after each portion. Outside of the runtime all of them are notified at once.
pub(super) fn in_portions(peers: Vec<Peer>, notify: impl FnMut(&Peer) + Send + 'static) {
    let mut rest = Rest {
        peers: peers.into_iter(),
        notify,
    };
    rest.notify(PORTION);
    let Some(next) = rest.peers.as_slice().first() else {
        return;
    };
    let runtime = next.shared.runtime.clone();
    if runtime.check().is_err() {
        // The others are notified as `rest` is dropped.
        return;
    }
    runtime.spawn(Box::pin(poll_fn(move |cx| {
        rest.notify(PORTION);
        if rest.peers.as_slice().is_empty() {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })));
}

/// Clients that are not notified yet. All of them are at the latest when this is dropped, with a runtime that ends say.
struct Rest<F: FnMut(&Peer)> {
    peers: vec::IntoIter<Peer>,
    notify: F,
}

impl<F: FnMut(&Peer)> Rest<F> {
    fn notify(&mut self, most: usize) {
        self.peers
            .by_ref()
            .take(most)
            .for_each(|peer| (self.notify)(&peer));
    }
}

impl<F: FnMut(&Peer)> Drop for Rest<F> {
    fn drop(&mut self) {
        self.notify(usize::MAX);
    }
}

/// The connections of so many clients stay in the cache of a processor between the notification and the write.
const PORTION: usize = 32;
