//! The configuration of a client: identity, capabilities, accepted revisions, timeouts.

use core::time::Duration;

use crate::custom_method::CustomMethod;
use crate::limits::Limits;
use crate::model::{ClientCapabilities, Implementation};
use crate::ping::PingPolicy;
use crate::result_type::ResultType;
use crate::revision::RevisionSet;

/// The settings of a [`Client`](super::Client), borrowed for its life.
#[derive(Clone, Copy, Debug)]
pub struct ClientConfig<'c> {
    /// Name and version.
    pub info: Implementation<'c>,
    /// True if a modern request names the client (VR-02); the handshake always does (LC-01).
    pub identify: bool,
    /// The capabilities of this client, which servers may use (LC-17, VR-06). They are written for
    /// each revision without those that the revision does not have.
    pub capabilities: ClientCapabilities<'c>,
    /// The revisions in which an extension of [`capabilities`](Self::capabilities) is declared. One
    /// that is not named here is declared since 2026-07-28, and one that a legacy revision has in
    /// its set also in the parameters of `initialize` (EX-02).
    pub extension_revisions: &'c [(&'c str, RevisionSet)],
    /// Values of `resultType` beyond the core's, which extensions of this client define, at most
    /// 32; any other makes a response invalid (JR-22, EX-09).
    pub result_types: &'c [ResultType<'c>],
    /// Requests and notifications of servers beyond the protocol that the application handles, and
    /// requests of its own whose [subject](CustomMethod::subject) a header repeats. A server sends
    /// requests in a legacy session only (EX-16). The application may call every method, whether it
    /// is named here or not.
    pub methods: &'c [CustomMethod<'c>],
    /// The revisions that this client speaks. With both eras among them it finds out which one
    /// the server is of.
    pub revisions: RevisionSet,
    /// The first request of a client that accepts both eras.
    pub negotiation: Negotiation,
    /// The timeouts.
    pub timeouts: Timeouts,
    /// True if progress of a call restarts its timeout (LC-19); its maximum duration stays.
    pub progress_extends: bool,
    /// The regular pings that check whether a legacy server is alive (LC-22); off by default.
    pub ping: Option<PingPolicy>,
    /// True if `$/cancelRequest`, which some legacy servers took over from the Language Server
    /// Protocol, is understood as a cancellation.
    pub cancel_alias: bool,
    /// The most subscriptions of 2026-07-28 at a time, 512 otherwise. Each is a request in flight for
    /// as long as it lasts. They take half of the requests in flight at most, but one in any case; the
    /// rest is for other requests.
    pub max_subscriptions: usize,
    /// The bounds of the connection, which a [`Link`](crate::Link) gives its buffers. Give buffers of your own the same.
    pub limits: Limits,
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
    /// For the answer that opens the connection, to `server/discover` or to `initialize`.
    pub connect: Duration,
    /// For the answer of a request (LC-18), the acknowledgement of a subscription (SB-12) included.
    pub request: Duration,
    /// The most that a request may take, however often its timeout began anew (LC-19).
    pub max_duration: Duration,
    /// For the answer to `server/discover` before `initialize` is tried as well (VR-13). A
    /// client without legacy revisions waits for `connect` instead.
    pub probe: Duration,
}

impl<'c> ClientConfig<'c> {
    /// A client of this name and version that accepts every published revision, has no
    /// capabilities and the default timeouts.
    pub fn new(name: &'c str, version: &'c str) -> Self {
        Self {
            info: Implementation::new(name, version),
            identify: true,
            capabilities: ClientCapabilities::default(),
            extension_revisions: &[],
            result_types: &[],
            methods: &[],
            revisions: RevisionSet::all(),
            negotiation: Negotiation::Probe,
            timeouts: Timeouts::default(),
            progress_extends: true,
            ping: None,
            cancel_alias: true,
            max_subscriptions: 512,
            limits: Limits::default(),
        }
    }
}

impl Default for Timeouts {
    /// 60 s for the connection, 60 s for a request, which ends after 10 minutes at the latest, and 5 s for the probe.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(60),
            request: Duration::from_secs(60),
            max_duration: Duration::from_secs(10 * 60),
            probe: Duration::from_secs(5),
        }
    }
}
