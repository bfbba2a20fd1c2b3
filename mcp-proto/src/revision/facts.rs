//! The table of revisions. Each row states the differences from the previous revision.

pub(super) struct Facts {
    pub(super) name: &'static str,
    /// A handshake settles the revision once, for a session with state. Otherwise each request says
    /// it, and nothing is remembered between two (JR-44).
    pub(super) is_legacy: bool,
    pub(super) batches: bool,
    pub(super) progress_message: bool,
    pub(super) completions_gate: bool,
    pub(super) resource_not_found_code: i64,
    pub(super) url_elicitation_error: bool,
    pub(super) request_meta: bool,
    pub(super) log_level_of_request: bool,
    pub(super) cancel_alias: bool,
    pub(super) reserved_codes: bool,
    pub(super) null_error_id: bool,
    pub(super) result_type: bool,
    pub(super) cache_hints: bool,
    pub(super) input_required: bool,
    pub(super) structured_content: StructuredContent,
    pub(super) audio: bool,
    pub(super) resource_links: bool,
    pub(super) sampling_tools: bool,
    pub(super) elicitation: Elicitation,
    pub(super) tasks: Tasks,
    pub(super) bad_arguments_as_result: bool,
    pub(super) hang_up_cancels: bool,
    pub(super) http: Http,
    pub(super) version_header: bool,
    pub(super) header_mismatch_code: Option<i64>,
    pub(super) event_polling: bool,
    pub(super) error_statuses: bool,
    pub(super) session_questions: bool,
}

/// <https://modelcontextprotocol.io/specification/2024-11-05>
pub(super) const V2024_11_05: Facts = Facts {
    name: "2024-11-05",
    is_legacy: true,
    batches: false,
    progress_message: false,
    completions_gate: false,
    resource_not_found_code: -32002,
    url_elicitation_error: false,
    request_meta: false,
    log_level_of_request: false,
    cancel_alias: true,
    reserved_codes: false,
    null_error_id: true,
    result_type: false,
    cache_hints: false,
    input_required: false,
    structured_content: StructuredContent::Absent,
    audio: false,
    resource_links: false,
    sampling_tools: false,
    elicitation: Elicitation::Absent,
    tasks: Tasks::Absent,
    bad_arguments_as_result: false,
    hang_up_cancels: false,
    http: Http::TwoEndpoints,
    version_header: false,
    header_mismatch_code: None,
    event_polling: false,
    error_statuses: false,
    session_questions: true,
};

/// <https://modelcontextprotocol.io/specification/2025-03-26/changelog>
pub(super) const V2025_03_26: Facts = Facts {
    name: "2025-03-26",
    null_error_id: false,
    batches: true,
    progress_message: true,
    completions_gate: true,
    audio: true,
    http: Http::Sessions,
    ..V2024_11_05
};

/// <https://modelcontextprotocol.io/specification/2025-06-18/changelog>
pub(super) const V2025_06_18: Facts = Facts {
    name: "2025-06-18",
    batches: false,
    structured_content: StructuredContent::Object,
    resource_links: true,
    elicitation: Elicitation::Form,
    version_header: true,
    ..V2025_03_26
};

/// <https://modelcontextprotocol.io/specification/2025-11-25/changelog>
pub(super) const V2025_11_25: Facts = Facts {
    name: "2025-11-25",
    url_elicitation_error: true,
    sampling_tools: true,
    elicitation: Elicitation::FormAndTrackedUrl,
    tasks: Tasks::Core,
    bad_arguments_as_result: true,
    event_polling: true,
    ..V2025_06_18
};

/// The transports draft of spring 2026.
pub(super) const DRAFT_V1: Facts = Facts {
    name: "DRAFT-2026-v1",
    header_mismatch_code: Some(-32001),
    session_questions: false,
    ..V2025_11_25
};

/// <https://modelcontextprotocol.io/specification/2026-07-28/changelog>
pub(super) const V2026_07_28: Facts = Facts {
    name: "2026-07-28",
    is_legacy: false,
    resource_not_found_code: -32602,
    url_elicitation_error: false,
    request_meta: true,
    log_level_of_request: true,
    cancel_alias: false,
    reserved_codes: true,
    result_type: true,
    cache_hints: true,
    input_required: true,
    structured_content: StructuredContent::Any,
    elicitation: Elicitation::FormAndUrl,
    tasks: Tasks::Extension,
    hang_up_cancels: true,
    http: Http::PostOnly,
    header_mismatch_code: Some(-32020),
    event_polling: false,
    error_statuses: true,
    session_questions: false,
    ..V2025_11_25
};

/// The values that the structured content of a tool's result may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StructuredContent {
    /// The revision has none.
    Absent,
    /// A JSON object, described by a schema whose root is an object: since 2025-06-18.
    Object,
    /// Any JSON value, `null` included: since 2026-07-28.
    Any,
}

/// The modes of elicitation that a revision has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elicitation {
    /// The revision has no elicitation.
    Absent,
    /// Forms, whose mode has no name: 2025-06-18.
    Form,
    /// Forms, and URLs whose completion names their `elicitationId`: 2025-11-25.
    FormAndTrackedUrl,
    /// Forms and URLs: since 2026-07-28.
    FormAndUrl,
}

/// The kind of tasks that a revision has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tasks {
    /// The revision has no tasks.
    Absent,
    /// Part of the protocol, in both directions: 2025-11-25.
    Core,
    /// The extension `io.modelcontextprotocol/tasks`, of servers only: since 2026-07-28.
    Extension,
}

/// The transport over HTTP that a revision has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Http {
    /// Two endpoints: one event stream down, POST up. 2024-11-05.
    TwoEndpoints,
    /// One endpoint with POST, GET and DELETE, and sessions: from 2025-03-26 to 2025-11-25.
    Sessions,
    /// One endpoint with POST alone, without sessions: since 2026-07-28.
    PostOnly,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;

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
        check("_meta", Revision::describes_requests, &[V2026_07_28]);
        check("logs", Revision::has_log_level_of_request, &[V2026_07_28]);
        check("alias", Revision::allows_cancel_alias, &legacy);
        check("codes", Revision::reserves_error_codes, &[V2026_07_28]);
        check("null", Revision::allows_null_error_id, &[V2024_11_05]);
        check(
            "questions",
            Revision::allows_questions_of_session,
            &legacy[..4],
        );
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
        check("statuses", Revision::has_error_statuses, &[V2026_07_28]);
        check(
            "any",
            |r| r.structured_content() == StructuredContent::Any,
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
