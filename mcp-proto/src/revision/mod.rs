//! What each revision of the protocol has: one table, and no comparison of versions elsewhere.
//!
//! Code that behaves differently in different revisions asks a question of [`Revision`], such as
//! [`allows_batches`](Revision::allows_batches); it never asks which revision it is. What a
//! message may carry is [`fields`], who may send it is [`messages`].

pub mod fields;
pub mod messages;

mod facts;
mod set;

use core::{error, fmt, str};

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

    /// The string that names this revision on the wire.
    pub const fn as_str(self) -> &'static str {
        self.facts().name
    }

    /// Whether it opens with a handshake or describes itself on each request.
    pub const fn era(self) -> Era {
        self.facts().era
    }

    /// Whether it is of the [legacy](Era::Legacy) era.
    pub const fn is_legacy(self) -> bool {
        matches!(self.era(), Era::Legacy)
    }

    /// Whether it is of the [modern](Era::Modern) era.
    pub const fn is_modern(self) -> bool {
        matches!(self.era(), Era::Modern)
    }

    /// Whether an array of messages is a message (JR-15); elsewhere it is one error (JR-19).
    pub const fn allows_batches(self) -> bool {
        self.facts().batches
    }

    /// Whether progress notifications carry a `message`.
    pub const fn has_progress_message(self) -> bool {
        self.facts().progress_message
    }

    /// Whether `completion/complete` needs the capability `completions` (CP-08 where it does not).
    pub const fn gates_completions(self) -> bool {
        self.facts().completions_gate
    }

    /// The code that says that a resource does not exist: -32002, and -32602 in 2026-07-28,
    /// where -32002 MUST NOT be sent (JR-24).
    pub const fn resource_not_found_code(self) -> i64 {
        self.facts().resource_not_found_code
    }

    /// Whether error -32042 may ask for URL elicitations; elsewhere it MUST NOT be sent (JR-24).
    pub const fn has_url_elicitation_error(self) -> bool {
        self.facts().url_elicitation_error
    }

    /// Whether every result names its `resultType` (JR-20).
    pub const fn requires_result_type(self) -> bool {
        self.facts().result_type
    }

    /// Whether the cacheable results carry `ttlMs` and `cacheScope` (CH-01).
    pub const fn requires_cache_hints(self) -> bool {
        self.facts().cache_hints
    }

    /// Whether a result may be `input_required` and its request be made again with the answers;
    /// elsewhere the server asks by requests of its own.
    pub const fn has_input_required(self) -> bool {
        self.facts().input_required
    }

    /// What the `structuredContent` of a tool's result may be, and the root of `outputSchema`.
    pub const fn structured_content(self) -> Structured {
        self.facts().structured_content
    }

    /// Whether content blocks may be audio.
    pub const fn has_audio(self) -> bool {
        self.facts().audio
    }

    /// Whether content blocks may be links to resources.
    pub const fn has_resource_links(self) -> bool {
        self.facts().resource_links
    }

    /// Whether sampling knows tools: `tools`, `toolChoice`, the blocks of a tool's use and
    /// result, and several blocks in one message.
    pub const fn has_sampling_tools(self) -> bool {
        self.facts().sampling_tools
    }

    /// Which modes of elicitation there are.
    pub const fn elicitation(self) -> Elicitation {
        self.facts().elicitation
    }

    /// Which kind of tasks there is.
    pub const fn tasks(self) -> Tasks {
        self.facts().tasks
    }

    /// Whether a tool says by a result with `isError` that its arguments are wrong, so that a
    /// model can correct itself; elsewhere by error -32602.
    pub const fn reports_bad_arguments_as_result(self) -> bool {
        self.facts().bad_arguments_as_result
    }

    /// Whether an id may be used again once its request is answered (JR-06); elsewhere it is
    /// never used again in its session (JR-05).
    pub const fn allows_id_reuse(self) -> bool {
        self.facts().id_reuse
    }

    /// Whether a client that hangs up an HTTP exchange cancels its request.
    pub const fn hang_up_cancels(self) -> bool {
        self.facts().hang_up_cancels
    }

    /// How it travels over HTTP.
    pub const fn http(self) -> Http {
        self.facts().http
    }

    /// Whether requests over HTTP carry `MCP-Protocol-Version` (LC-10), in the legacy era
    /// after the handshake.
    pub const fn has_version_header(self) -> bool {
        self.facts().version_header
    }

    /// Whether headers mirror method, name and annotated arguments of the body.
    pub const fn has_mirrored_headers(self) -> bool {
        self.facts().header_mismatch_code.is_some()
    }

    /// The code that says that header and body differ, where headers mirror the body.
    pub const fn header_mismatch_code(self) -> Option<i64> {
        self.facts().header_mismatch_code
    }

    /// Whether an event stream starts with a priming event and may be closed by the server, to
    /// be polled.
    pub const fn has_event_polling(self) -> bool {
        self.facts().event_polling
    }

    /// The HTTP status of an answer to an unknown method.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRevision;

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown protocol revision")
    }
}

impl error::Error for UnknownRevision {}

/// The two ways in which a conversation knows its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// A handshake settles it once, for a session with state.
    Legacy,
    /// Each request says it, and nothing is remembered between two (JR-44).
    Modern,
}

/// What the structured content of a tool's result may be.
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
