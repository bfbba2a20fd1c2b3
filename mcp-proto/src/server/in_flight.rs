//! A request of the client while it is in flight.

use super::context::Asked;
use super::listen::Listen;
use super::pace::Pace;
use crate::id_buf::IdStorage;
use crate::model::{ClientFeatures, LoggingLevel};
use crate::received::{Received, ReceivedRequest, Stage};
use crate::revision::Revision;
use crate::rpc::{Id, Method};
use crate::source::Place;

/// A request in a server's table.
#[derive(Clone, Debug)]
pub(crate) struct InFlight<L: IdStorage, P> {
    received: Received<L, P>,
    progress_token: Option<L::Token>,
    /// The last value that was sent; the next one exceeds it (PG-04).
    pub(super) progress: f64,
    /// The rate limit of its progress notifications, the total and the text of the one that is held
    /// back (its value is `progress`), and the deadline after which the request is overdue.
    pub(super) pace: Pace,
    pub(super) revision: Revision,
    pub(super) features: ClientFeatures,
    pub(super) log_level: Option<LoggingLevel>,
    pub(super) traits: Traits,
    /// Questions were asked on its behalf: only then are they looked for when it ends.
    pub(super) asked: bool,
    /// Present if the request is a `subscriptions/listen`.
    pub(super) listen: Option<Listen>,
}

/// The properties of the answer of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits {
    /// The result carries cache hints (CH-01).
    pub(super) cacheable: bool,
    /// The answer may be `input_required` (MR-01, MR-02).
    pub(super) asks_back: bool,
    /// An answer other than an error makes a subscription of it (RS-10).
    pub(super) subscribes: bool,
}

impl<L: IdStorage, P: Place> InFlight<L, P> {
    /// A request as it arrived; `None` if its id is too long to be kept.
    pub(super) fn new(id: Id<'_>, method: Method<'_>, asked: &Asked<'_>, place: P) -> Option<Self> {
        Some(Self {
            received: Received::new(id, place)?,
            // A token that is too long to keep gets no progress, which it need not (PG-02).
            progress_token: asked.progress_token.and_then(L::Token::new),
            progress: f64::NEG_INFINITY,
            pace: Pace::NEW,
            revision: asked.context.revision,
            features: asked.context.features,
            log_level: asked.context.log_level,
            traits: Traits::of(method),
            asked: false,
            listen: None,
        })
    }

    pub(super) fn id(&self) -> Id<'_> {
        self.received.id()
    }

    pub(super) fn place(&self) -> P {
        self.received.place()
    }

    pub(super) fn progress_token(&self) -> Option<Id<'_>> {
        self.progress_token.as_ref().map(IdStorage::id)
    }

    /// Returns true if the application may still answer the request with a result.
    pub(super) fn is_running(&self) -> bool {
        self.received.stage() == Stage::Running && self.listen.is_none()
    }

    /// Returns the listen, unless it is over.
    pub(super) fn listen(&self) -> Option<Listen> {
        self.listen
            .filter(|_| self.received.stage() == Stage::Running)
    }
}

impl<L: IdStorage, P: Place> ReceivedRequest for InFlight<L, P> {
    type Id = L;
    type Place = P;

    const TOO_LARGE: &'static str = "limit reached: bytes of output";

    fn received(&self) -> &Received<L, P> {
        &self.received
    }

    fn received_mut(&mut self) -> &mut Received<L, P> {
        &mut self.received
    }
}

impl Traits {
    fn of(method: Method<'_>) -> Self {
        let answer = method.facts().answer();
        Self {
            cacheable: answer.is_cacheable,
            asks_back: answer.may_require_input,
            subscribes: answer.subscribes,
        }
    }
}
