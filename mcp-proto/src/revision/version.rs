//! The revisions that this crate speaks, and the facts of each.

use core::{error, fmt, str};

use super::facts::{self, Elicitation, Facts, Http, StructuredContent, Tasks};

/// A revision of the protocol that this crate speaks.
///
/// There is no order on purpose: what a revision has is a question with a name of its own.
///
/// ```
/// use mcp_proto::Revision;
///
/// let revision: Revision = "2025-03-26".parse().unwrap();
/// assert!(revision.has_progress_message());
/// assert!(revision.is_legacy());
/// assert!(Revision::V2026_07_28.has_input_required());
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
    pub fn parse(version: &str) -> Option<Self> {
        Self::from_bytes(version.as_bytes())
    }

    /// The revision that this text names.
    pub(crate) fn from_bytes(version: &[u8]) -> Option<Self> {
        Self::newest_first().find(|revision| revision.as_str().as_bytes() == version)
    }

    /// All revisions, in the order in which a name is searched for: each request of 2026-07-28 names its own.
    pub(crate) fn newest_first() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().rev()
    }

    /// The string that names this revision on the wire.
    pub const fn as_str(self) -> &'static str {
        self.facts().name
    }

    /// Returns true if the revision is of the legacy era: it opens with a handshake, which settles the
    /// revision once, for a session with state.
    pub const fn is_legacy(self) -> bool {
        self.facts().is_legacy
    }

    /// Returns true if the revision is of the modern era: each request describes itself, and nothing
    /// is remembered between two (JR-44).
    pub const fn is_modern(self) -> bool {
        !self.is_legacy()
    }

    /// Returns true if an array of messages is a message (JR-15), as in 2025-03-26 only; elsewhere
    /// an array is one error (JR-19).
    pub const fn allows_batches(self) -> bool {
        self.facts().batches
    }

    /// Returns true if progress notifications carry a `message`: since 2025-03-26.
    pub const fn has_progress_message(self) -> bool {
        self.facts().progress_message
    }

    /// Returns true if `completion/complete` needs the capability `completions`: since 2025-03-26,
    /// which introduced it (CP-08 before).
    pub const fn gates_completions(self) -> bool {
        self.facts().completions_gate
    }

    /// The code that says that a resource does not exist: -32002, and -32602 in 2026-07-28,
    /// where -32002 MUST NOT be sent (JR-24).
    pub const fn resource_not_found_code(self) -> i64 {
        self.facts().resource_not_found_code
    }

    /// Returns true if error -32042 may ask for URL elicitations: in 2025-11-25 only; elsewhere the
    /// error MUST NOT be sent (JR-24).
    pub(crate) const fn has_url_elicitation_error(self) -> bool {
        self.facts().url_elicitation_error
    }

    /// Returns true if each request names its revision, its client and the client's capabilities in
    /// `_meta` (VR-01): since 2026-07-28. Before, the session knows them.
    pub const fn describes_requests(self) -> bool {
        self.facts().request_meta
    }

    /// Returns true if each request names the log messages that it wants (LG-05): since 2026-07-28.
    /// Before, `logging/setLevel` sets the level of the session.
    pub const fn has_log_level_of_request(self) -> bool {
        self.facts().log_level_of_request
    }

    /// Returns true if `$/cancelRequest`, a method of the Language Server Protocol, may cancel a
    /// request: until 2025-11-25.
    pub(crate) const fn allows_cancel_alias(self) -> bool {
        self.facts().cancel_alias
    }

    /// Returns true if the specification allocates the codes from -32020 to -32099, so that no
    /// other errors have one of them (JR-23): since 2026-07-28.
    pub(crate) const fn reserves_error_codes(self) -> bool {
        self.facts().reserved_codes
    }

    /// Returns true if an error without an id may have `"id":null`: in 2024-11-05 only. Elsewhere
    /// the member is absent.
    pub(crate) const fn allows_null_error_id(self) -> bool {
        self.facts().null_error_id
    }

    /// Returns true if every result names its `resultType` (JR-20): since 2026-07-28.
    pub const fn requires_result_type(self) -> bool {
        self.facts().result_type
    }

    /// Returns true if the cacheable results carry `ttlMs` and `cacheScope` (CH-01): since
    /// 2026-07-28.
    pub const fn requires_cache_hints(self) -> bool {
        self.facts().cache_hints
    }

    /// Returns true if a result may be `input_required` and its request be made again with the
    /// answers: since 2026-07-28. Before, the server asks by requests of its own.
    pub const fn has_input_required(self) -> bool {
        self.facts().input_required
    }

    /// Returns the kind of values that the `structuredContent` of a tool's result has; the root of
    /// `outputSchema` is of it as well.
    pub const fn structured_content(self) -> StructuredContent {
        self.facts().structured_content
    }

    /// Returns true if content blocks may be audio: since 2025-03-26.
    pub const fn has_audio(self) -> bool {
        self.facts().audio
    }

    /// Returns true if content blocks may be links to resources: since 2025-06-18.
    pub const fn has_resource_links(self) -> bool {
        self.facts().resource_links
    }

    /// Returns true if sampling has tools, since 2025-11-25: `tools`, `toolChoice`, the blocks of a
    /// tool's use and result, and several blocks in one message.
    pub const fn has_sampling_tools(self) -> bool {
        self.facts().sampling_tools
    }

    /// Returns the modes of elicitation that the revision has.
    pub const fn elicitation(self) -> Elicitation {
        self.facts().elicitation
    }

    /// Returns the kind of tasks that the revision has.
    pub const fn tasks(self) -> Tasks {
        self.facts().tasks
    }

    /// Returns true if a tool reports wrong arguments by a result with `isError`, so that a model
    /// can correct itself: since 2025-11-25. Before, error -32602 reports them.
    pub const fn reports_bad_arguments_as_result(self) -> bool {
        self.facts().bad_arguments_as_result
    }

    /// Returns true if a client that hangs up an HTTP exchange cancels its request: since
    /// 2026-07-28.
    pub const fn hang_up_cancels(self) -> bool {
        self.facts().hang_up_cancels
    }

    /// Returns the transport of the revision over HTTP.
    pub const fn http(self) -> Http {
        self.facts().http
    }

    /// Returns true if requests over HTTP carry `MCP-Protocol-Version` (LC-10): since 2025-06-18,
    /// in the legacy era after the handshake.
    pub const fn has_version_header(self) -> bool {
        self.facts().version_header
    }

    /// Returns true if headers mirror method, name and annotated arguments of the body: since
    /// 2026-07-28, and in the draft.
    pub const fn has_mirrored_headers(self) -> bool {
        self.facts().header_mismatch_code.is_some()
    }

    /// The code that says that header and body differ: -32020, in the draft -32001. `None` where
    /// headers do not mirror the body.
    pub(crate) const fn header_mismatch_code(self) -> Option<i64> {
        self.facts().header_mismatch_code
    }

    /// Returns true if an event stream starts with a priming event and may be closed by the server,
    /// to be polled: in 2025-11-25 only.
    pub const fn has_event_polling(self) -> bool {
        self.facts().event_polling
    }

    /// Returns true if a server may ask over HTTP on behalf of no request, on a stream of its own:
    /// until 2025-11-25, but not in the draft.
    pub(crate) const fn allows_questions_of_session(self) -> bool {
        self.facts().session_questions
    }

    /// Returns true if errors of the protocol decide the HTTP status of their exchange (SH-36,
    /// SH-46): since 2026-07-28. Before, the status is 200.
    pub(crate) const fn has_error_statuses(self) -> bool {
        self.facts().error_statuses
    }

    /// The revision whose rules for HTTP a session of this one is held to; `draft` if the
    /// transports draft is to be spoken in all of them.
    pub(crate) const fn over_http(self, draft: bool) -> Self {
        if draft && self.is_legacy() {
            Self::DraftV1
        } else {
            self
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
