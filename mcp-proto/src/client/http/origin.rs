//! The state of one URL.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::tools::Tools;
use crate::client::ClientConfig;
use crate::http::annotation::BadAnnotation;
use crate::json::Str;
use crate::prepared_config::PreparedConfig;
use crate::revision::Revision;

/// The state of the server at one URL, for all exchanges with it.
#[derive(Default)]
pub struct Origin {
    /// Sessions so far: an exchange knows the one that it was sent in.
    pub(super) epoch: u64,
    /// `Mcp-Session-Id` (SC-09).
    pub(super) session: Option<Box<str>>,
    /// That of the legacy session, or of the requests of a client that needs no handshake.
    pub(super) revision: Option<Revision>,
    /// The two endpoints of 2024-11-05.
    pub(super) two_endpoints: bool,
    /// True if sessions are held to the transports draft.
    pub(super) draft: bool,
    pub(super) tools: Tools,
    /// Methods beyond the protocol, and the parameter of each that `Mcp-Name` repeats.
    subjects: Vec<(Box<str>, Box<str>)>,
}

impl Origin {
    /// Creates the state for a server that was not contacted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The handshake, or the discovery, settled on this revision, which later requests name (SC-15).
    pub const fn set_revision(&mut self, revision: Revision) {
        self.revision = Some(revision);
    }

    /// The server has the two endpoints of 2024-11-05: answers come on the stream of the first,
    /// messages go to the second, which it named (HS-02).
    pub const fn set_two_endpoints(&mut self) {
        self.two_endpoints = true;
    }

    /// Holds every legacy session to the transports draft of spring 2026, and not only those of
    /// [`Revision::DraftV1`]: requests and notifications repeat their method and what they are
    /// about in headers, from the handshake on, and the server's own stream has no questions.
    pub const fn hold_to_draft(&mut self) {
        self.draft = true;
    }

    /// From now on requests of the methods of this client
    /// ([`ClientConfig::methods`](crate::client::ClientConfig::methods)) repeat their
    /// [subject](crate::CustomMethod::subject) in the header `Mcp-Name` (EX-15).
    pub fn set_methods(&mut self, config: &PreparedConfig<ClientConfig<'_>>) {
        self.subjects.clear();
        for method in config.texts().methods() {
            if let Some(subject) = method.subject {
                self.subjects.push((method.name.into(), subject.into()));
            }
        }
    }

    /// The parameter that `Mcp-Name` repeats of a method beyond the protocol.
    pub(super) fn subject_of(&self, method: Str<'_>) -> Option<&str> {
        let mut subjects = self.subjects.iter();
        subjects
            .find(|(name, _)| method == **name)
            .map(|(_, subject)| &**subject)
    }

    /// Returns the number of sessions so far. Messages that were sent in an earlier session have no
    /// meaning in a later one.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Tools that were taken out of a list because of their annotations, since the last
    /// call; log a warning that names them (XH-07).
    pub fn take_dropped(&mut self) -> Vec<(String, BadAnnotation)> {
        self.tools.take_dropped()
    }

    /// The session of this epoch is gone; `false` if that is known.
    pub(super) fn lose(&mut self, epoch: u64) -> bool {
        if epoch != self.epoch {
            return false;
        }
        self.epoch += 1;
        self.session = None;
        self.revision = None;
        self.tools.clear();
        true
    }
}

/// Without the session's id, which is a secret.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin")
            .field("epoch", &self.epoch)
            .field("session", &self.session.is_some())
            .field("revision", &self.revision)
            .field("two_endpoints", &self.two_endpoints)
            .field("draft", &self.draft)
            .finish_non_exhaustive()
    }
}
