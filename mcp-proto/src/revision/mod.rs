//! What each revision of the protocol has: one table, and no comparison of versions elsewhere.
//!
//! Code that behaves differently in different revisions asks a question of [`Revision`], such as
//! [`allows_batches`](Revision::allows_batches); it never asks which revision it is. What a
//! message may carry is [`fields`], who may send it is [`messages`]. The facts of each method are
//! one row of a table as well.

pub mod fields;
pub mod messages;
pub(crate) mod methods;

mod facts;
mod set;

use core::{error, fmt, str};

use crate::json::Str;
use facts::Facts;

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
        Self::ALL
            .into_iter()
            .find(|revision| version == *revision.as_str())
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

    /// Whether an id may be used again once its request is answered (JR-06); elsewhere it is
    /// never used again in its session (JR-05).
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert!(Revision::V2026_07_28.allows_id_reuse());
    /// assert!(!Revision::V2025_11_25.allows_id_reuse());
    /// ```
    pub const fn allows_id_reuse(self) -> bool {
        self.facts().id_reuse
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

    /// The HTTP status of an answer to an unknown method.
    ///
    /// ```
    /// use mcp_proto::Revision;
    ///
    /// assert_eq!(Revision::V2025_11_25.unknown_method_status(), 200);
    /// assert_eq!(Revision::V2026_07_28.unknown_method_status(), 404);
    /// ```
    pub const fn unknown_method_status(self) -> u16 {
        self.facts().unknown_method_status
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

/// The two ways in which a conversation knows its revision.
///
/// ```
/// use mcp_proto::{Era, Revision};
///
/// let modern = Revision::ALL.into_iter().filter(|it| it.era() == Era::Modern);
/// assert_eq!(modern.count(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// A handshake settles it once, for a session with state.
    Legacy,
    /// Each request says it, and nothing is remembered between two (JR-44).
    Modern,
}

/// What the structured content of a tool's result may be.
///
/// ```
/// use mcp_proto::revision::{Revision, Structured};
///
/// let may_be_a_list = |it: Revision| it.structured_content() == Structured::Any;
/// assert!(may_be_a_list(Revision::V2026_07_28));
/// assert!(!may_be_a_list(Revision::V2025_11_25));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Structured {
    /// The revision has none.
    Absent,
    /// A JSON object, described by a schema whose root is an object.
    Object,
    /// Any JSON value, `null` included.
    Any,
}

/// Which modes of elicitation a revision has.
///
/// ```
/// use mcp_proto::revision::{Elicitation, Revision};
///
/// let has_pages = |it: Revision| {
///     !matches!(it.elicitation(), Elicitation::Absent | Elicitation::Form)
/// };
/// assert!(has_pages(Revision::V2025_11_25));
/// assert!(!has_pages(Revision::V2025_06_18));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elicitation {
    /// The revision has no elicitation.
    Absent,
    /// Forms, whose mode has no name.
    Form,
    /// Forms, and URLs whose completion is told by their `elicitationId`.
    FormAndTrackedUrl,
    /// Forms and URLs.
    FormAndUrl,
}

/// Which kind of tasks a revision has.
///
/// ```
/// use mcp_proto::revision::{Revision, Tasks};
///
/// assert_eq!(Revision::V2025_06_18.tasks(), Tasks::Absent);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tasks {
    /// None.
    Absent,
    /// Part of the protocol, in both directions.
    Core,
    /// The extension `io.modelcontextprotocol/tasks`, of servers only.
    Extension,
}

/// How a revision travels over HTTP.
///
/// ```
/// use mcp_proto::revision::{Http, Revision};
///
/// // Who may open a stream of its own by GET.
/// let streams = |it: Revision| it.http() == Http::Sessions;
/// assert!(streams(Revision::V2025_11_25));
/// assert!(!streams(Revision::V2026_07_28));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Http {
    /// Two endpoints: one event stream down, POST up.
    TwoEndpoints,
    /// One endpoint with POST, GET and DELETE, and sessions.
    Sessions,
    /// One endpoint with POST alone, without sessions.
    PostOnly,
}

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

    #[test]
    fn facts_by_revision() {
        use Revision::*;
        fn check(what: &str, has: fn(Revision) -> bool, expected: &[Revision]) {
            for revision in Revision::ALL {
                assert_eq!(
                    has(revision),
                    expected.contains(&revision),
                    "{what} in {revision}"
                );
            }
        }
        let legacy = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, DraftV1];
        let since_r3 = [V2025_06_18, V2025_11_25, DraftV1, V2026_07_28];
        let since_r2 = [V2025_03_26, V2025_06_18, V2025_11_25, DraftV1, V2026_07_28];
        let since_r4 = [V2025_11_25, DraftV1, V2026_07_28];
        check("legacy", Revision::is_legacy, &legacy);
        check("modern", Revision::is_modern, &[V2026_07_28]);
        check("batches", Revision::allows_batches, &[V2025_03_26]);
        check("message", Revision::has_progress_message, &since_r2);
        check("gate", Revision::gates_completions, &since_r2);
        check("-32002", |r| r.resource_not_found_code() == -32002, &legacy);
        check(
            "-32042",
            Revision::has_url_elicitation_error,
            &[V2025_11_25, DraftV1],
        );
        check("resultType", Revision::requires_result_type, &[V2026_07_28]);
        check("ttlMs", Revision::requires_cache_hints, &[V2026_07_28]);
        check("rounds", Revision::has_input_required, &[V2026_07_28]);
        check("audio", Revision::has_audio, &since_r2);
        check("links", Revision::has_resource_links, &since_r3);
        check("tool use", Revision::has_sampling_tools, &since_r4);
        check(
            "isError",
            Revision::reports_bad_arguments_as_result,
            &since_r4,
        );
        check("id reuse", Revision::allows_id_reuse, &[V2026_07_28]);
        check("hang-up", Revision::hang_up_cancels, &[V2026_07_28]);
        check("version header", Revision::has_version_header, &since_r3);
        check(
            "mirrors",
            Revision::has_mirrored_headers,
            &[DraftV1, V2026_07_28],
        );
        check(
            "polling",
            Revision::has_event_polling,
            &[V2025_11_25, DraftV1],
        );
        check("404", |r| r.unknown_method_status() == 404, &[V2026_07_28]);
        check(
            "any",
            |r| r.structured_content() == Structured::Any,
            &[V2026_07_28],
        );
        check(
            "elicitation",
            |r| r.elicitation() != Elicitation::Absent,
            &since_r3,
        );
        check("tasks", |r| r.tasks() != Tasks::Absent, &since_r4);
        check("sessions", |r| r.http() == Http::Sessions, &legacy[1..]);
    }
}
