//! The differences between the revisions of the protocol, as tables.
//!
//! Code that depends on the revision asks [`Revision`] for a fact, such as
//! [`allows_batches`](Revision::allows_batches), and does not compare revisions. [`fields`] lists the
//! members that some revisions lack, [`messages`] states who may send which method. A further table
//! holds the facts of each method, one row per method.

pub mod fields;
pub mod messages;
pub(crate) mod methods;

mod facts;
mod set;

use core::{error, fmt, str};

use crate::json::Str;
use facts::Facts;

pub use facts::{Elicitation, Era, Http, Structured, Tasks};
pub use set::{RevisionSet, Revisions};

/// A revision of the protocol that this crate speaks.
///
/// There is no order on purpose: what a revision has is a question with a name of its own.
///
/// ```
/// use mcp_proto::revision::{Era, Revision};
///
/// let revision: Revision = "2025-03-26".parse().unwrap();
/// assert!(revision.allows_batches());
/// assert_eq!(revision.era(), Era::Legacy);
/// assert!(!Revision::V2026_07_28.allows_batches());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// `2024-11-05`, the first one.
    V2024_11_05,
    /// `2025-03-26`, the only one with JSON-RPC batches.
    V2025_03_26,
    /// `2025-06-18`, which added structured content, elicitation and resource links.
    V2025_06_18,
    /// `2025-11-25`, the last one that opens with a handshake.
    V2025_11_25,
    /// `DRAFT-2026-v1`: 2025-11-25 with mirrored headers, never published. It is spoken by
    /// configuration only and belongs to no default set.
    DraftV1,
    /// `2026-07-28`: stateless, each request says its own revision.
    V2026_07_28,
}

impl Revision {
    /// Every revision, the oldest first and the draft before its successor.
    pub const ALL: [Self; 6] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::DraftV1,
        Self::V2026_07_28,
    ];

    /// The revision of a request over HTTP that names none, from a client older than the header
    /// (SH-32).
    pub const WITHOUT_HEADER: Self = Self::V2025_03_26;

    /// The revision that a version string names; `None` for one that this crate does not know.
    /// Version strings are opaque: they are compared whole and case-sensitively.
    ///
    /// ```
    /// use mcp_proto::revision::Revision;
    ///
    /// assert_eq!(Revision::parse("2026-07-28"), Some(Revision::V2026_07_28));
    /// assert_eq!(Revision::parse("2026-07-29"), None);
    /// ```
    pub fn parse(version: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == version)
    }

    /// The revision that a version string of a message names, escaped or not.
    pub(crate) fn read(version: Str<'_>) -> Option<Self> {
        match version.as_plain() {
            Some(plain) => Self::parse(plain),
            None => Self::parse(version.decode_exact(&mut [0; 32]).ok()?),
        }
    }

    /// The string that names this revision on the wire.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert_eq!(Revision::V2025_11_25.as_str(), "2025-11-25");
    /// ```
    pub const fn as_str(self) -> &'static str {
        self.facts().name
    }

    /// Whether it opens with a handshake or describes itself on each request.
    ///
    /// ```
    /// use mcp_proto::{Era, Revision};
    ///
    /// assert_eq!(Revision::V2024_11_05.era(), Era::Legacy);
    /// assert_eq!(Revision::V2026_07_28.era(), Era::Modern);
    /// ```
    pub const fn era(self) -> Era {
        self.facts().era
    }

    /// Whether it is of the [legacy](Era::Legacy) era.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_11_25.is_legacy());
    /// assert!(!Revision::V2026_07_28.is_legacy());
    /// ```
    pub const fn is_legacy(self) -> bool {
        matches!(self.era(), Era::Legacy)
    }

    /// Whether it is of the [modern](Era::Modern) era.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.is_modern());
    /// assert!(!Revision::V2025_11_25.is_modern());
    /// ```
    pub const fn is_modern(self) -> bool {
        matches!(self.era(), Era::Modern)
    }

    /// Whether an array of messages is a message (JR-15); elsewhere it is one error (JR-19).
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_03_26.allows_batches());
    /// assert!(!Revision::V2025_06_18.allows_batches());
    /// ```
    pub const fn allows_batches(self) -> bool {
        self.facts().batches
    }

    /// Whether progress notifications carry a `message`.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_03_26.has_progress_message());
    /// assert!(!Revision::V2024_11_05.has_progress_message());
    /// ```
    pub const fn has_progress_message(self) -> bool {
        self.facts().progress_message
    }

    /// Whether `completion/complete` needs the capability `completions` (CP-08 where it does not).
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_03_26.gates_completions());
    /// assert!(!Revision::V2024_11_05.gates_completions());
    /// ```
    pub const fn gates_completions(self) -> bool {
        self.facts().completions_gate
    }

    /// The code that says that a resource does not exist: -32002, and -32602 in 2026-07-28,
    /// where -32002 MUST NOT be sent (JR-24).
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert_eq!(Revision::V2025_11_25.resource_not_found_code(), -32002);
    /// assert_eq!(Revision::V2026_07_28.resource_not_found_code(), -32602);
    /// ```
    pub const fn resource_not_found_code(self) -> i64 {
        self.facts().resource_not_found_code
    }

    /// Whether error -32042 may ask for URL elicitations; elsewhere it MUST NOT be sent (JR-24).
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_11_25.has_url_elicitation_error());
    /// assert!(!Revision::V2026_07_28.has_url_elicitation_error());
    /// ```
    pub const fn has_url_elicitation_error(self) -> bool {
        self.facts().url_elicitation_error
    }

    /// Whether each request names its revision, its client and the client's capabilities in
    /// `_meta` (VR-01); elsewhere the session knows them.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.describes_requests());
    /// assert!(!Revision::V2025_11_25.describes_requests());
    /// ```
    pub const fn describes_requests(self) -> bool {
        self.facts().request_meta
    }

    /// Whether each request names the log messages that it wants (LG-05); elsewhere a session is
    /// told by `logging/setLevel`.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.has_log_level_of_request());
    /// assert!(!Revision::V2025_11_25.has_log_level_of_request());
    /// ```
    pub const fn has_log_level_of_request(self) -> bool {
        self.facts().log_level_of_request
    }

    /// Whether `$/cancelRequest`, a method of the Language Server Protocol, may cancel a request.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_11_25.allows_cancel_alias());
    /// assert!(!Revision::V2026_07_28.allows_cancel_alias());
    /// ```
    pub const fn allows_cancel_alias(self) -> bool {
        self.facts().cancel_alias
    }

    /// Whether the specification allocates the codes from -32020 to -32099, so that no other errors
    /// have one of them (JR-23).
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.reserves_error_codes());
    /// assert!(!Revision::V2025_11_25.reserves_error_codes());
    /// ```
    pub const fn reserves_error_codes(self) -> bool {
        self.facts().reserved_codes
    }

    /// Whether an error without an id may say so by `"id":null`.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2024_11_05.allows_null_error_id());
    /// assert!(!Revision::V2025_11_25.allows_null_error_id());
    /// ```
    pub const fn allows_null_error_id(self) -> bool {
        self.facts().null_error_id
    }

    /// Whether every result names its `resultType` (JR-20).
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.requires_result_type());
    /// assert!(!Revision::V2025_11_25.requires_result_type());
    /// ```
    pub const fn requires_result_type(self) -> bool {
        self.facts().result_type
    }

    /// Whether the cacheable results carry `ttlMs` and `cacheScope` (CH-01).
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.requires_cache_hints());
    /// assert!(!Revision::V2025_11_25.requires_cache_hints());
    /// ```
    pub const fn requires_cache_hints(self) -> bool {
        self.facts().cache_hints
    }

    /// Whether a result may be `input_required` and its request be made again with the answers;
    /// elsewhere the server asks by requests of its own.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.has_input_required());
    /// assert!(!Revision::V2025_11_25.has_input_required());
    /// ```
    pub const fn has_input_required(self) -> bool {
        self.facts().input_required
    }

    /// What the `structuredContent` of a tool's result may be, and the root of `outputSchema`.
    ///
    /// ```
    /// use mcp_proto::revision::{Structured, Revision};
    ///
    /// assert_eq!(Revision::V2025_06_18.structured_content(), Structured::Object);
    /// assert_eq!(Revision::V2026_07_28.structured_content(), Structured::Any);
    /// ```
    pub const fn structured_content(self) -> Structured {
        self.facts().structured_content
    }

    /// Whether content blocks may be audio.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_03_26.has_audio());
    /// assert!(!Revision::V2024_11_05.has_audio());
    /// ```
    pub const fn has_audio(self) -> bool {
        self.facts().audio
    }

    /// Whether content blocks may be links to resources.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_06_18.has_resource_links());
    /// assert!(!Revision::V2025_03_26.has_resource_links());
    /// ```
    pub const fn has_resource_links(self) -> bool {
        self.facts().resource_links
    }

    /// Whether sampling knows tools: `tools`, `toolChoice`, the blocks of a tool's use and
    /// result, and several blocks in one message.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_11_25.has_sampling_tools());
    /// assert!(!Revision::V2025_06_18.has_sampling_tools());
    /// ```
    pub const fn has_sampling_tools(self) -> bool {
        self.facts().sampling_tools
    }

    /// Which modes of elicitation there are.
    ///
    /// ```
    /// use mcp_proto::revision::{Elicitation, Revision};
    ///
    /// assert_eq!(Revision::V2025_06_18.elicitation(), Elicitation::Form);
    /// assert_eq!(Revision::V2026_07_28.elicitation(), Elicitation::FormAndUrl);
    /// ```
    pub const fn elicitation(self) -> Elicitation {
        self.facts().elicitation
    }

    /// Which kind of tasks there is.
    ///
    /// ```
    /// use mcp_proto::revision::{Tasks, Revision};
    ///
    /// assert_eq!(Revision::V2025_11_25.tasks(), Tasks::Core);
    /// assert_eq!(Revision::V2026_07_28.tasks(), Tasks::Extension);
    /// ```
    pub const fn tasks(self) -> Tasks {
        self.facts().tasks
    }

    /// Whether a tool says by a result with `isError` that its arguments are wrong, so that a
    /// model can correct itself; elsewhere by error -32602.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_11_25.reports_bad_arguments_as_result());
    /// assert!(!Revision::V2025_06_18.reports_bad_arguments_as_result());
    /// ```
    pub const fn reports_bad_arguments_as_result(self) -> bool {
        self.facts().bad_arguments_as_result
    }

    /// Whether a client that hangs up an HTTP exchange cancels its request.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.hang_up_cancels());
    /// assert!(!Revision::V2025_11_25.hang_up_cancels());
    /// ```
    pub const fn hang_up_cancels(self) -> bool {
        self.facts().hang_up_cancels
    }

    /// How it travels over HTTP.
    ///
    /// ```
    /// use mcp_proto::revision::{Http, Revision};
    ///
    /// assert_eq!(Revision::V2024_11_05.http(), Http::TwoEndpoints);
    /// assert_eq!(Revision::V2026_07_28.http(), Http::PostOnly);
    /// ```
    pub const fn http(self) -> Http {
        self.facts().http
    }

    /// Whether requests over HTTP carry `MCP-Protocol-Version` (LC-10), in the legacy era
    /// after the handshake.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_06_18.has_version_header());
    /// assert!(!Revision::V2025_03_26.has_version_header());
    /// ```
    pub const fn has_version_header(self) -> bool {
        self.facts().version_header
    }

    /// Whether headers mirror method, name and annotated arguments of the body.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.has_mirrored_headers());
    /// assert!(!Revision::V2025_11_25.has_mirrored_headers());
    /// ```
    pub const fn has_mirrored_headers(self) -> bool {
        self.facts().header_mismatch_code.is_some()
    }

    /// The code that says that header and body differ, where headers mirror the body.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert_eq!(Revision::V2026_07_28.header_mismatch_code(), Some(-32020));
    /// assert_eq!(Revision::V2025_11_25.header_mismatch_code(), None);
    /// ```
    pub const fn header_mismatch_code(self) -> Option<i64> {
        self.facts().header_mismatch_code
    }

    /// Whether an event stream starts with a priming event and may be closed by the server, to
    /// be polled.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_11_25.has_event_polling());
    /// assert!(!Revision::V2025_06_18.has_event_polling());
    /// ```
    pub const fn has_event_polling(self) -> bool {
        self.facts().event_polling
    }

    /// Whether a server may ask over HTTP on behalf of no request, on a stream of its own.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2025_11_25.allows_questions_of_session());
    /// assert!(!Revision::DraftV1.allows_questions_of_session());
    /// ```
    pub const fn allows_questions_of_session(self) -> bool {
        self.facts().session_questions
    }

    /// Whether errors of the protocol decide the HTTP status of their exchange (SH-36, SH-46);
    /// elsewhere it is 200.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.has_error_statuses());
    /// assert!(!Revision::V2025_11_25.has_error_statuses());
    /// ```
    pub const fn has_error_statuses(self) -> bool {
        self.facts().error_statuses
    }

    /// The revision whose rules for HTTP a session of this one is held to; `draft` if the
    /// transports draft is to be spoken in all of them.
    pub(crate) const fn over_http(self, draft: bool) -> Self {
        match self.era() {
            Era::Legacy if draft => Self::DraftV1,
            _ => self,
        }
    }

    const fn facts(self) -> &'static Facts {
        match self {
            Self::V2024_11_05 => &facts::V2024_11_05,
            Self::V2025_03_26 => &facts::V2025_03_26,
            Self::V2025_06_18 => &facts::V2025_06_18,
            Self::V2025_11_25 => &facts::V2025_11_25,
            Self::DraftV1 => &facts::DRAFT_V1,
            Self::V2026_07_28 => &facts::V2026_07_28,
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl str::FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(version: &str) -> Result<Self, UnknownRevision> {
        Self::parse(version).ok_or(UnknownRevision)
    }
}

/// A version string that names no revision of this crate.
///
/// ```
/// use mcp_proto::Revision;
/// use mcp_proto::revision::UnknownRevision;
///
/// assert_eq!("1.0".parse::<Revision>(), Err(UnknownRevision));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRevision;

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown protocol revision")
    }
}

impl error::Error for UnknownRevision {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        }
        for unknown in ["", "2025-11-2", "2025-11-255", "draft-2026-v1", "1.0"] {
            assert_eq!(unknown.parse::<Revision>(), Err(UnknownRevision));
        }
    }
}
