//! The state of a legacy session.

use super::lists::Lists;
use crate::model::{ClientFeatures, LoggingLevel};
use crate::revision::Revision;

/// ```text
///        initialize answered          initialized, or a request
/// Fresh ─────────────────────► Answered ─────────────────────► Ready
/// ```
///
/// Modern requests are served in every phase (VR-19).
#[derive(Debug)]
pub(super) struct Session {
    pub(super) phase: Phase,
    pub(super) features: ClientFeatures,
    pub(super) log_level: LoggingLevel,
    /// Lists whose change was not told yet.
    pub(super) changed: Lists,
    /// It is one of exchanges over HTTP, and not a pipe.
    pub(super) by_exchanges: bool,
    /// The application is still to hear that the session is open.
    pub(super) announce: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No handshake yet.
    Fresh,
    /// `initialize` was answered: requests are served, but ours wait (LC-08, LC-14).
    Answered(Revision),
    /// Both sides may speak.
    Ready(Revision),
}

impl Session {
    pub(super) const fn new(log_level: LoggingLevel) -> Self {
        Self {
            phase: Phase::Fresh,
            features: ClientFeatures::NONE,
            log_level,
            changed: Lists::NONE,
            by_exchanges: false,
            announce: false,
        }
    }

    /// The negotiated revision.
    pub(super) const fn revision(&self) -> Option<Revision> {
        match self.phase {
            Phase::Fresh => None,
            Phase::Answered(revision) | Phase::Ready(revision) => Some(revision),
        }
    }

    pub(super) const fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready(_))
    }

    /// The client is ready, and whether that is news.
    pub(super) fn ready(&mut self) -> bool {
        let Phase::Answered(revision) = self.phase else {
            return false;
        };
        self.phase = Phase::Ready(revision);
        true
    }
}
