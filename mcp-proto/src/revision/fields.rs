//! Which members of the model's types a revision has: since when, and until when.
//!
//! The model's structs tell their name to the serializer with the prefix `mcp:`, so that types
//! of an application which happen to be called alike are left alone, and cost one comparison.

use super::{Revision, RevisionSet};

/// Whether a revision has this member; always, where no revision is given, where the struct is
/// not of the model, or where the member has been there from the first revision on.
///
/// ```
/// use mcp_proto::revision::{fields, Revision};
///
/// assert!(fields::allowed("mcp:Tool", "title", Some(Revision::V2025_06_18)));
/// assert!(!fields::allowed("mcp:Tool", "title", Some(Revision::V2025_03_26)));
/// assert!(fields::allowed("mcp:Tool", "name", Some(Revision::V2024_11_05)));
/// assert!(fields::allowed("Tool", "title", Some(Revision::V2025_03_26)));
/// ```
pub fn allowed(structure: &str, field: &str, revision: Option<Revision>) -> bool {
    let Some(revision) = revision else {
        return true;
    };
    rules(structure)
        .iter()
        .find(|(name, _)| *name == field)
        .is_none_or(|(_, revisions)| revisions.contains(revision))
}

/// The members of a struct that some revision lacks, and the revisions that have them: for a
/// serializer that asks once for a struct and then for each member.
pub fn rules(structure: &str) -> &'static [(&'static str, RevisionSet)] {
    let Some(name) = structure.strip_prefix("mcp:") else {
        return &[];
    };
    match name {
        // Shared types
        "Implementation" => &[
            ("title", SINCE_2025_06),
            ("description", SINCE_2025_11),
            ("websiteUrl", SINCE_2025_11),
            ("icons", SINCE_2025_11),
        ],
        "Annotations" => &[("lastModified", SINCE_2025_06)],
        "Tool" => &[
            ("title", SINCE_2025_06),
            ("annotations", SINCE_2025_03),
            ("outputSchema", SINCE_2025_06),
            ("icons", SINCE_2025_11),
            ("execution", ONLY_2025_11),
            ("_meta", SINCE_2025_06),
        ],
        "Resource" | "ResourceTemplate" | "ResourceLink" | "Prompt" => &[
            ("title", SINCE_2025_06),
            ("icons", SINCE_2025_11),
            ("_meta", SINCE_2025_06),
        ],
        "PromptArgument" | "PromptReference" => &[("title", SINCE_2025_06)],
        "TextContent"
        | "ImageContent"
        | "AudioContent"
        | "EmbeddedResource"
        | "TextResourceContents"
        | "BlobResourceContents"
        | "Root" => &[("_meta", SINCE_2025_06)],
        "SamplingMessage" => &[("_meta", SINCE_2025_11)],
        "ElicitationSchema" => &[("$schema", SINCE_2025_11)],
        "StringSchema" | "NumberSchema" => &[("default", SINCE_2025_11)],
        "EnumSchema" => &[("default", SINCE_2025_11), ("oneOf", SINCE_2025_11)],

        // Capabilities
        "ClientCapabilities" => &[
            ("elicitation", SINCE_2025_06),
            ("tasks", ONLY_2025_11),
            ("extensions", SINCE_2026_07),
        ],
        "RootsCapability" => &[("listChanged", LEGACY)],
        "SamplingCapability" => &[("context", SINCE_2025_11), ("tools", SINCE_2025_11)],
        "ElicitationCapability" => &[("form", SINCE_2025_11), ("url", SINCE_2025_11)],
        "ServerCapabilities" => &[
            ("completions", SINCE_2025_03),
            ("tasks", ONLY_2025_11),
            ("extensions", SINCE_2026_07),
        ],

        // Parameters
        "CallToolParams" => &[
            ("task", ONLY_2025_11),
            ("inputResponses", SINCE_2026_07),
            ("requestState", SINCE_2026_07),
        ],
        "ReadResourceParams" | "GetPromptParams" => &[
            ("inputResponses", SINCE_2026_07),
            ("requestState", SINCE_2026_07),
        ],
        "CompleteParams" => &[("context", SINCE_2025_06)],
        "CreateMessageParams" => &[
            ("tools", SINCE_2025_11),
            ("toolChoice", SINCE_2025_11),
            ("task", ONLY_2025_11),
            ("_meta", LEGACY),
        ],
        "ElicitFormParams" => &[
            ("mode", SINCE_2025_11),
            ("task", ONLY_2025_11),
            ("_meta", LEGACY),
        ],
        "ElicitUrlParams" => &[
            ("elicitationId", ONLY_2025_11),
            ("task", ONLY_2025_11),
            ("_meta", LEGACY),
        ],
        "ProgressParams" => &[("message", SINCE_2025_03)],

        // Results
        "CallToolResult" => &[("structuredContent", SINCE_2025_06)],
        "ListToolsResult"
        | "ListResourcesResult"
        | "ListResourceTemplatesResult"
        | "ListPromptsResult"
        | "ReadResourceResult" => &[("ttlMs", SINCE_2026_07), ("cacheScope", SINCE_2026_07)],
        "ListRootsResult" | "ElicitResult" => &[("_meta", LEGACY)],
        _ => &[],
    }
}

const SINCE_2025_03: RevisionSet =
    RevisionSet::at_least(Revision::V2025_03_26).with(Revision::DraftV1);
const SINCE_2025_06: RevisionSet =
    RevisionSet::at_least(Revision::V2025_06_18).with(Revision::DraftV1);
const SINCE_2025_11: RevisionSet =
    RevisionSet::at_least(Revision::V2025_11_25).with(Revision::DraftV1);
const ONLY_2025_11: RevisionSet = RevisionSet::of(&[Revision::V2025_11_25, Revision::DraftV1]);
const SINCE_2026_07: RevisionSet = RevisionSet::at_least(Revision::V2026_07_28);
const LEGACY: RevisionSet = RevisionSet::legacy().with(Revision::DraftV1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_revision_all_is_allowed() {
        assert!(allowed("mcp:Tool", "execution", None));
        assert!(allowed("mcp:Nothing", "field", Some(Revision::V2024_11_05)));
    }

    #[test]
    fn since_and_until() {
        fn check(structure: &str, field: &str, expected: RevisionSet) {
            let having: RevisionSet = Revision::ALL
                .into_iter()
                .filter(|revision| allowed(structure, field, Some(*revision)))
                .collect();
            assert_eq!(having, expected, "{structure}.{field}");
        }
        check("mcp:Tool", "execution", ONLY_2025_11);
        check("mcp:Tool", "annotations", SINCE_2025_03);
        check("mcp:Tool", "inputSchema", RevisionSet::of(&Revision::ALL));
        check("Tool", "execution", RevisionSet::of(&Revision::ALL));
        check("mcp:ElicitUrlParams", "elicitationId", ONLY_2025_11);
        check("mcp:RootsCapability", "listChanged", LEGACY);
        check("mcp:CallToolParams", "requestState", SINCE_2026_07);
    }
}
