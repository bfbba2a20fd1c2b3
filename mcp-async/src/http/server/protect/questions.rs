//! The order of questions about opaque tokens.

use std::sync::Arc;

use crate::server::layers::{Permit, Semaphore};
use crate::shares::{CallerId, Share, Shares};

/// Bounds the questions that are under way. Those about tokens that were valid lately do not wait for those about
/// unknown ones, which anyone can invent; their users take turns. Of unknown ones one sender has a share.
pub(in crate::http::server) struct Questions {
    known: Arc<Semaphore<User>>,
    unknown: Arc<Semaphore<User>>,
    /// For unknown tokens, those that wait included.
    senders: Arc<Shares<CallerId>>,
}

/// Whose token it is, as far as that is known.
type User = Option<Arc<str>>;

/// The permission to ask, given back when it is dropped.
pub(super) struct Permission {
    _permit: Permit<User>,
    _share: Option<Share<CallerId>>,
}

impl Questions {
    /// So many of each kind at a time.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            known: Semaphore::new(limit),
            unknown: Semaphore::new(limit),
            senders: Shares::new(limit.saturating_mul(ROUNDS)),
        }
    }

    /// Waits for the permission to ask about a token, which was valid lately if its user is known; `None` if the
    /// sender waits for too many already.
    pub(super) fn permit(
        &self,
        user: User,
        sender: Option<&CallerId>,
    ) -> Option<impl Future<Output = Permission> + use<>> {
        let (semaphore, share) = match user {
            Some(_) => (&self.known, None),
            None => {
                let share = self.senders.take(sender.cloned())?;
                (&self.unknown, Some(share))
            }
        };
        let permit = Arc::clone(semaphore).acquire(user);
        Some(async move {
            Permission {
                _permit: permit.await,
                _share: share,
            }
        })
    }
}

/// The ratio of the questions that may wait to those that may be under way. One sender has half of
/// them, so that the question of another waits for two answers at most.
const ROUNDS: usize = 4;
