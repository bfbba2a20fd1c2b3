//! The configuration of a client: identity, capabilities, accepted revisions, timeouts.

use core::time::Duration;

use super::reply;
use super::storage::Storage;
use crate::config_error::ConfigError;
use crate::custom_method::{CustomMethod, ResultType};
use crate::features::{Declare as _, ExtensionRevisions};
use crate::json::Writer;
use crate::limits::Limits;
use crate::model::{ClientCapabilities, ClientFeatures, Implementation, write_request_meta};
use crate::ping::PingPolicy;
use crate::prepared_config::{Config, PreparedConfig, config};
use crate::revision::{Revision, RevisionSet};
use crate::texts::BorrowedTexts;

config! {
    /// The settings of a [`Client`](super::Client). It borrows its texts.
    ///
    /// Begin with [`new`](Self::new) and name the fields that differ: a minor version may add settings.
    struct ClientConfig<'c>;
    texts {
        /// Name and version.
        info: Implementation<'c> = Implementation::new("", ""),
        /// The capabilities of this client, which servers may use (LC-17, VR-06). They are written for
        /// each revision without those that the revision does not have.
        capabilities: ClientCapabilities<'c> = ClientFeatures::NONE.capabilities(),
        /// The revisions in which an extension of [`capabilities`](Self::capabilities) is declared. One
        /// that is not named here is declared since 2026-07-28, and one that a legacy revision has in
        /// its set also in the parameters of `initialize` (EX-02).
        extension_revisions: &'c [(&'c str, RevisionSet)] = &[],
        /// Values of `resultType` beyond the core's, which extensions of this client define, at most
        /// 32; any other makes a response invalid (JR-22, EX-09).
        result_types: &'c [ResultType<'c>] = &[],
        /// Requests and notifications of servers beyond the protocol that the application handles, and
        /// requests of its own whose [subject](CustomMethod::subject) a header repeats. A server sends
        /// requests in a legacy session only (EX-16). The application may call every method, whether it
        /// is named here or not.
        methods: &'c [CustomMethod<'c>] = &[],
    }
    others {
        /// True if a modern request names the client (VR-02); the handshake always does (LC-01).
        identify: bool = true,
        /// The revisions that this client speaks. With both eras among them it finds out which one
        /// the server is of.
        revisions: RevisionSet = RevisionSet::all(),
        /// The first request of a client that accepts both eras.
        negotiation: Negotiation = Negotiation::Probe,
        /// The timeouts.
        timeouts: Timeouts = Timeouts::DEFAULT,
        /// True if progress of a call restarts its timeout (LC-19); its maximum duration stays.
        progress_extends: bool = true,
        /// The regular pings that check whether a legacy server is alive (LC-22); off by default.
        ping: Option<PingPolicy> = None,
        /// True if `$/cancelRequest`, which some legacy servers took over from the Language Server
        /// Protocol, is understood as a cancellation.
        cancel_alias: bool = true,
        /// The most subscriptions of 2026-07-28 at a time, 512 otherwise. Each is a request in flight for
        /// as long as it lasts. They take half of the requests in flight at most, but one in any case; the
        /// rest is for other requests.
        max_subscriptions: usize = 512,
        /// The bounds of the connection, which a [`Link`](crate::Link) gives its buffers. Give buffers of your own the same.
        limits: Limits = Limits::DEFAULT,
    }
}

/// The first request of a client that accepts both eras to a server that it does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Negotiation {
    /// `server/discover` first, and `initialize` when that leads to nothing (VR-12).
    #[default]
    Probe,
    /// `initialize` at once: for a server known to be legacy (VR-17), or one that hung up on
    /// the probe.
    Handshake,
}

/// The timeouts of a client. All are settings of the client; a call may override its own two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the answer that opens the connection, to `server/discover` or to `initialize`; 60 s by default.
    pub connect: Duration,
    /// For the answer of a request (LC-18), the acknowledgement of a subscription (SB-12) included; 60 s by default. Progress restarts
    /// it, unless [`ClientConfig::progress_extends`] is false.
    pub request: Duration,
    /// The most that a request may take, however often its timeout began anew (LC-19); 10 minutes by default.
    pub max_duration: Duration,
    /// For the answer to `server/discover` before `initialize` is tried as well (VR-13); 5 s by default. A client without legacy
    /// revisions waits for `connect` instead.
    pub probe: Duration,
}

impl<'c> ClientConfig<'c> {
    /// A client of this name and version that accepts every published revision, has no
    /// capabilities and the default timeouts.
    pub const fn new(name: &'c str, version: &'c str) -> Self {
        Self {
            info: Implementation::new(name, version),
            ..Self::unnamed()
        }
    }

    /// The most subscriptions, of so many requests in flight: one at least, if there are to be any.
    pub(super) fn most_subscriptions(&self, in_flight: usize) -> usize {
        let half = (in_flight / 2).max(1);
        self.max_subscriptions.min(half)
    }
}

impl<'c> Config for ClientConfig<'c> {
    type Settings = Self;
    type Capabilities = ClientCapabilities<'c>;
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    type Unborrowed = ClientConfig<'static>;

    #[inline(always)]
    fn settings(&self) -> &Self {
        self
    }

    fn settings_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }

    #[inline(always)]
    fn limits(&self) -> &Limits {
        &self.limits
    }

    #[inline(always)]
    fn texts(&self) -> BorrowedTexts<'_, ClientCapabilities<'c>> {
        BorrowedTexts {
            info: &self.info,
            capabilities: &self.capabilities,
            instructions: None,
            methods: self.methods,
            filters: &[],
            result_types: self.result_types,
            extension_revisions: self.extension_revisions,
        }
    }

    fn write_request_meta(&self, revision: Revision, w: &mut Writer<'_>) {
        if revision.describes_requests() {
            write_request_meta(revision, w, |w| {
                let extensions = ExtensionRevisions(self.extension_revisions);
                self.capabilities.write(revision, &extensions, w);
            });
        }
    }

    fn declared_bits(&self) -> u16 {
        ClientFeatures::from(&self.capabilities).to_bits()
    }

    fn reserve(_: &PreparedConfig<Self>) -> usize {
        reply::reserve(0)
    }

    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    fn without_texts(&self) -> ClientConfig<'static> {
        self.others()
    }
}

impl PreparedConfig<ClientConfig<'_>> {
    /// The features that the capabilities declare.
    pub(crate) fn declared(&self) -> ClientFeatures {
        ClientFeatures::of_bits(self.declared_bits())
    }

    /// Checks that a client with this storage can be made of it.
    ///
    /// # Errors
    ///
    /// See [`ConfigError`]. The least output is [`Client::MIN_OUTPUT`](super::Client::MIN_OUTPUT).
    pub fn check<S: Storage>(&self) -> Result<(), ConfigError> {
        if let Some(mistake) = self.mistake() {
            return Err(mistake);
        }
        if self.revisions.is_empty() {
            return Err(ConfigError::NoRevision);
        }
        let is_asked = self.revisions.has_legacy();
        if is_asked && self.declared().intersects(S::LACKS) {
            return Err(ConfigError::NoRoomForQuestions);
        }
        let needed = self.least_output(S::ID_ECHO);
        if self.limits.output < needed {
            return Err(ConfigError::OutputTooSmall { needed });
        }
        Ok(())
    }
}

impl Timeouts {
    /// The default timeouts, as a constant: 60 s for the connection, 60 s for a request, which ends after 10 minutes at the latest, and 5 s
    /// for the probe.
    pub const DEFAULT: Self = Self {
        connect: Duration::from_secs(60),
        request: Duration::from_secs(60),
        max_duration: Duration::from_secs(10 * 60),
        probe: Duration::from_secs(5),
    };
}

impl Default for Timeouts {
    /// Returns [`DEFAULT`](Self::DEFAULT).
    fn default() -> Self {
        Self::DEFAULT
    }
}
