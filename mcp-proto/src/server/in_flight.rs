//! A request of the client while it is in flight.

use super::context::Asked;
use super::listen::Listen;
use super::pace::{Pace, TimeLimit};
use crate::id_buf::{IdBuf, IdStorage};
use crate::model::{ClientFeatures, LoggingLevel};
use crate::received::{Received, ReceivedRequest, Stage};
use crate::revision::Revision;
use crate::rpc::{Id, Method};
use crate::source::Place;

/// A request in a server's table.
#[derive(Clone, Debug)]
pub(crate) struct InFlight<L: IdStorage, P> {
    received: Received<L, P>,
    progress: Option<L::Boxed<Progress>>,
    pub(super) time_limit: TimeLimit,
    pub(super) revision: Revision,
    pub(super) features: ClientFeatures,
    pub(super) log_level: Option<LoggingLevel>,
    pub(super) traits: Traits,
    /// Questions were asked on its behalf: only then are they looked for when it ends.
    pub(super) asked: bool,
    /// Present if the request is a `subscriptions/listen`.
    pub(super) listen: Option<Listen>,
}

/// The progress of a request, if the client asked for it.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    token: IdBuf<TOKEN>,
    /// The last value that was sent or held back; the next one exceeds it (PG-04).
    pub(super) last: f64,
    pub(super) pace: Pace,
}

/// The longest progress token that is stored. Most are the id again, or a UUID.
const TOKEN: usize = 64;

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
            progress: asked.progress_token.and_then(Progress::new).map(Into::into),
            time_limit: TimeLimit::NONE,
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

    pub(super) fn progress(&self) -> Option<&Progress> {
        self.progress.as_deref()
    }

    pub(super) fn progress_mut(&mut self) -> Option<&mut Progress> {
        self.progress.as_deref_mut()
    }

    /// Drops the report of progress that is held back.
    pub(super) fn drop_held(&mut self) {
        if let Some(progress) = self.progress_mut() {
            progress.pace.clear();
        }
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

impl Progress {
    /// Returns the state of a request without reports. `None` if the token is too long to be stored: no progress is sent then, which
    /// the specification permits (PG-02).
    fn new(token: Id<'_>) -> Option<Self> {
        Some(Self {
            token: IdBuf::new(token)?,
            last: f64::NEG_INFINITY,
            pace: Pace::NEW,
        })
    }

    pub(super) fn token(&self) -> Id<'_> {
        self.token.id()
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
