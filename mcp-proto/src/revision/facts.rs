//! The table: each revision is the one before it, and what changed.

use super::{Elicitation, Era, Http, Structured, Tasks};

pub(super) struct Facts {
    pub(super) name: &'static str,
    pub(super) era: Era,
    pub(super) batches: bool,
    pub(super) progress_message: bool,
    pub(super) completions_gate: bool,
    pub(super) resource_not_found_code: i64,
    pub(super) url_elicitation_error: bool,
    pub(super) result_type: bool,
    pub(super) cache_hints: bool,
    pub(super) input_required: bool,
    pub(super) structured_content: Structured,
    pub(super) audio: bool,
    pub(super) resource_links: bool,
    pub(super) sampling_tools: bool,
    pub(super) elicitation: Elicitation,
    pub(super) tasks: Tasks,
    pub(super) bad_arguments_as_result: bool,
    pub(super) id_reuse: bool,
    pub(super) hang_up_cancels: bool,
    pub(super) http: Http,
    pub(super) version_header: bool,
    pub(super) header_mismatch_code: Option<i64>,
    pub(super) event_polling: bool,
    pub(super) unknown_method_status: u16,
}

/// <https://modelcontextprotocol.io/specification/2024-11-05>
pub(super) const V2024_11_05: Facts = Facts {
    name: "2024-11-05",
    era: Era::Legacy,
    batches: false,
    progress_message: false,
    completions_gate: false,
    resource_not_found_code: -32002,
    url_elicitation_error: false,
    result_type: false,
    cache_hints: false,
    input_required: false,
    structured_content: Structured::Absent,
    audio: false,
    resource_links: false,
    sampling_tools: false,
    elicitation: Elicitation::Absent,
    tasks: Tasks::Absent,
    bad_arguments_as_result: false,
    id_reuse: false,
    hang_up_cancels: false,
    http: Http::TwoEndpoints,
    version_header: false,
    header_mismatch_code: None,
    event_polling: false,
    unknown_method_status: 200,
};

/// <https://modelcontextprotocol.io/specification/2025-03-26/changelog>
pub(super) const V2025_03_26: Facts = Facts {
    name: "2025-03-26",
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
    structured_content: Structured::Object,
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
    ..V2025_11_25
};

/// <https://modelcontextprotocol.io/specification/2026-07-28/changelog>
pub(super) const V2026_07_28: Facts = Facts {
    name: "2026-07-28",
    era: Era::Modern,
    resource_not_found_code: -32602,
    url_elicitation_error: false,
    result_type: true,
    cache_hints: true,
    input_required: true,
    structured_content: Structured::Any,
    elicitation: Elicitation::FormAndUrl,
    tasks: Tasks::Extension,
    id_reuse: true,
    hang_up_cancels: true,
    http: Http::PostOnly,
    header_mismatch_code: Some(-32020),
    event_polling: false,
    unknown_method_status: 404,
    ..V2025_11_25
};
