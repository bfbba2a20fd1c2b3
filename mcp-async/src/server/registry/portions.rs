//! Many clients, a few at a time.

use core::future::poll_fn;
use core::task::Poll;

use crate::server::Peer;

/// Calls `notify` for each of these clients: for the first [`PORTION`] at once, and for the others in a task of their runtime that lets other
/// tasks run after each portion. Outside of the runtime all of them are notified at once.
pub(super) fn in_portions(peers: Vec<Peer>, mut notify: impl FnMut(&Peer) + Send + 'static) {
    let mut rest = peers.into_iter();
    rest.by_ref().take(PORTION).for_each(|peer| notify(&peer));
    let Some(next) = rest.as_slice().first() else {
        return;
    };
    let runtime = next.shared.runtime.clone();
    if runtime.check().is_err() {
        return rest.for_each(|peer| notify(&peer));
    }
    runtime.spawn(Box::pin(poll_fn(move |cx| {
        rest.by_ref().take(PORTION).for_each(|peer| notify(&peer));
        if rest.as_slice().is_empty() {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })));
}

/// The connections of so many clients stay in the cache of a processor between the notification and the write.
const PORTION: usize = 32;
