//! The configuration of a server.

use core::time::Duration;

use crate::custom_method::CustomMethod;
use crate::limits::Limits;
use crate::model::{CacheScope, Implementation, LoggingLevel, ServerCapabilities, ServerFeatures};
use crate::ping::PingPolicy;
use crate::prepared_config::{Config, config};
use crate::revision::{Revision, RevisionSet};

config! {
    /// The settings of a server: its description, and its strictness.
    ///
    /// Begin with [`new`](Self::new) and name the fields that differ: a minor version may add settings.
    struct ServerConfig<'c>;
    texts {
        /// Name and version.
        info: Implementation<'c> = Implementation::new("", ""),
        /// Instructions for a model that uses this server.
        instructions: Option<&'c str> = None,
        /// The capabilities of the server: a request whose capability is not declared is answered with
        /// -32601 (LC-17), so declare what you handle.
        capabilities: ServerCapabilities<'c> = ServerFeatures::NONE.capabilities(),
        /// The revisions in which an extension of [`capabilities`](Self::capabilities) is declared. One
        /// that is not named here is declared since 2026-07-28, and one that a legacy revision has in
        /// its set also in the result of `initialize` (EX-02).
        extension_revisions: &'c [(&'c str, RevisionSet)] = &[],
        /// Requests and notifications beyond the protocol that the application handles.
        methods: &'c [CustomMethod<'c>] = &[],
        /// Keys that extensions add to the filter of `subscriptions/listen`, and that the application
        /// judges (EX-13): a listen whose filter has one is [held](super::Event::Listening) until the
        /// application [acknowledges](super::Server::acknowledge) it.
        filters: &'c [&'c str] = &[],
    }
    others {
        /// The revisions it accepts; a minimum is [`RevisionSet::at_least`].
        revisions: RevisionSet = RevisionSet::all(),
        /// The bounds of the connection, which a [`Link`](crate::Link) gives its buffers. Give buffers of your own the same.
        limits: Limits = Limits::DEFAULT,
        /// The regular pings that check whether a legacy client is still there. Off by default.
        ping: Option<PingPolicy> = None,
        /// The time between two progress notifications of a request that reports more often (PG-06):
        /// 32 of them leave at once, then one in each interval, with the newest value. Zero, the
        /// default, lets all of them leave, and so does a build without the feature `alloc`.
        progress_interval: Duration = Duration::ZERO,
        /// The time in milliseconds after which a request that the application has not answered is
        /// reported, once, by [`Event::Overdue`](super::Event::Overdue): a help against requests that are
        /// forgotten, such as one whose answer did not fit. 0, the default, reports none.
        overdue_after: u32 = 0,
        /// True if every result of 2026-07-28 names the server (VR-08).
        identify: bool = true,
        /// The time in milliseconds for which clients of 2026-07-28 may keep the answer to
        /// `server/discover`. Other cacheable results have their own time, or 0.
        discover_ttl: u32 = 0,
        /// The cache scope of the answer to `server/discover`: public if the answer is the same for all
        /// clients.
        discover_scope: CacheScope = CacheScope::Private,
        /// The least severe log message that is sent before the client of a legacy session chooses
        /// (LG-03).
        log_level: LoggingLevel = LoggingLevel::Info,
        /// True if `$/cancelRequest`, which is not of MCP, cancels in legacy sessions. The request is
        /// then answered once with -32800, which the peers that use this form wait for.
        cancel_alias: bool = true,
        /// True if an error about an unreadable message carries `"id":null` in 2024-11-05, as that
        /// revision's schema has no error without an id (JR-51). Otherwise such an error carries no id.
        null_ids: bool = false,
        /// True if legacy sessions over HTTP are held to the transports draft of spring 2026: their requests and notifications repeat
        /// their method in `Mcp-Method` and what they are about in `Mcp-Name`, or are refused with -32001, and no question goes to a
        /// GET stream. A session of [`Revision::DraftV1`](crate::Revision::DraftV1) is in any case; no set of revisions has that by
        /// default.
        draft_profile: bool = false,
    }
}

/// The configuration of any [`Server`](super::Server): a [`ServerConfig`] or a [`Constant`](super::Constant). It cannot be
/// implemented elsewhere.
///
/// Use it as the bound of a function that takes any server:
///
/// ```
/// use mcp_proto::server::{Fixed, Server, ServerConfig, ServerSettings, Storage};
///
/// fn is_idle<'c, S: Storage, C: ServerSettings<'c>>(server: &Server<'_, S, C>) -> bool {
///     server.in_flight() == 0
/// }
/// # let server = Server::new(ServerConfig::new("demo", "1.0"), Fixed::new())?;
/// # assert!(is_idle(&server));
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
pub trait ServerSettings<'c>: Config<Settings = ServerConfig<'c>> {}

impl<'c, C: Config<Settings = ServerConfig<'c>>> ServerSettings<'c> for C {}

impl<'c> ServerConfig<'c> {
    /// A server of this name and version that declares nothing yet and accepts every published
    /// revision.
    pub const fn new(name: &'c str, version: &'c str) -> Self {
        Self {
            info: Implementation::new(name, version),
            ..Self::unnamed()
        }
    }

    /// Returns the revision for a client that offers this one in `initialize`: the same if it is
    /// accepted, otherwise the newest that is (LC-04); `None` if no legacy revision is accepted.
    pub(super) fn negotiate(&self, offered: Option<Revision>) -> Option<Revision> {
        offered
            .filter(|revision| revision.is_legacy() && self.revisions.contains(*revision))
            .or_else(|| self.revisions.newest_legacy())
    }
}
