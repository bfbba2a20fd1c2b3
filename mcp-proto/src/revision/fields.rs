//! Which members of the model's types a revision has: since when, until when, and what takes
//! their place elsewhere.
//!
//! The model's structs tell their name to the serializer with the prefix `mcp:`, so that types
//! of an application which happen to be called alike are left alone, and cost one comparison.
//! A struct whose members depend on a value has a second name (`mcp:Tool:any`).

use super::{Revision, RevisionSet};

/// What a serializer does with one member of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Writes it.
    Write,
    /// Leaves it out.
    Skip,
    /// Writes its value under this name.
    Rename(&'static str),
    /// Writes this text, name and value in JSON, in its place.
    Instead(&'static str),
}

/// What becomes of the members of one struct in one revision.
///
/// ```
/// use mcp_proto::revision::{fields::{Member, Rules}, Revision};
///
/// let tool = Rules::of("mcp:Tool", Some(Revision::V2025_03_26));
/// assert_eq!(tool.member("annotations"), Member::Write);
/// assert_eq!(tool.member("title"), Member::Skip);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    exceptions: &'static [Exception],
    revision: Revision,
}

impl Rules {
    /// The rules of a struct by the name that it told the serializer. Without a revision, and
    /// for a name that is not of the model, every member is written.
    pub fn of(structure: &str, revision: Option<Revision>) -> Self {
        match (structure.strip_prefix("mcp:"), revision) {
            (Some(name), Some(revision)) => Self {
                exceptions: exceptions(name),
                revision,
            },
            _ => Self {
                exceptions: &[],
                revision: Revision::V2026_07_28,
            },
        }
    }

    /// What to do with this member.
    pub fn member(self, field: &str) -> Member {
        self.exceptions
            .iter()
            .find(|exception| exception.field == field)
            .filter(|exception| !exception.revisions.contains(self.revision))
            .map_or(Member::Write, |exception| exception.otherwise)
    }
}

/// Whether a list by this name is written as its first element alone, without brackets: the
/// content of a sampling message before it could have several blocks (SP-13).
pub fn first_only(list: &str, revision: Option<Revision>) -> bool {
    list == "mcp:Blocks" && revision.is_some_and(|revision| !revision.has_sampling_tools())
}

/// A member that some revision lacks.
#[derive(Debug)]
struct Exception {
    field: &'static str,
    revisions: RevisionSet,
    otherwise: Member,
}

const fn has(field: &'static str, revisions: RevisionSet) -> Exception {
    or(field, revisions, Member::Skip)
}

const fn or(field: &'static str, revisions: RevisionSet, otherwise: Member) -> Exception {
    Exception {
        field,
        revisions,
        otherwise,
    }
}

fn exceptions(structure: &str) -> &'static [Exception] {
    match structure {
        // Shared types
        "Implementation" => {
            const {
                &[
                    has("title", SINCE_2025_06),
                    has("description", SINCE_2025_11),
                    has("websiteUrl", SINCE_2025_11),
                    has("icons", SINCE_2025_11),
                ]
            }
        }
        "Annotations" => const { &[has("lastModified", SINCE_2025_06)] },
        "Tool" => &TOOL,
        "Tool:any" => &TOOL_ANY,
        "Resource" | "ResourceTemplate" | "Prompt" => {
            const {
                &[
                    has("title", SINCE_2025_06),
                    has("icons", SINCE_2025_11),
                    has("_meta", SINCE_2025_06),
                ]
            }
        }
        "PromptArgument" | "PromptReference" => const { &[has("title", SINCE_2025_06)] },
        "TextContent"
        | "ImageContent"
        | "EmbeddedResource"
        | "TextResourceContents"
        | "BlobResourceContents"
        | "Root" => const { &[has("_meta", SINCE_2025_06)] },
        // A text note takes the place of a block that the revision does not have (TL-17).
        "AudioContent" => {
            const {
                &[
                    or("type", SINCE_2025_03, Member::Instead(TEXT)),
                    or("data", SINCE_2025_03, Member::Instead(AUDIO_NOTE)),
                    has("mimeType", SINCE_2025_03),
                    has("_meta", SINCE_2025_06),
                ]
            }
        }
        "ResourceLink" => {
            const {
                &[
                    or("type", SINCE_2025_06, Member::Instead(TEXT)),
                    or("uri", SINCE_2025_06, Member::Rename("text")),
                    has("name", SINCE_2025_06),
                    has("title", SINCE_2025_06),
                    has("description", SINCE_2025_06),
                    has("mimeType", SINCE_2025_06),
                    has("size", SINCE_2025_06),
                    has("icons", SINCE_2025_11),
                    has("_meta", SINCE_2025_06),
                ]
            }
        }
        "ToolUseContent" => {
            const {
                &[
                    or("type", SINCE_2025_11, Member::Instead(TEXT)),
                    has("id", SINCE_2025_11),
                    or("name", SINCE_2025_11, Member::Rename("text")),
                    has("input", SINCE_2025_11),
                    has("_meta", SINCE_2025_11),
                ]
            }
        }
        "ToolResultContent" => &TOOL_RESULT,
        "ToolResultContent:any" => &TOOL_RESULT_ANY,
        "SamplingMessage" => const { &[has("_meta", SINCE_2025_11)] },
        "ElicitationSchema" => const { &[has("$schema", SINCE_2025_11)] },
        "StringSchema" | "NumberSchema" => const { &[has("default", SINCE_2025_11)] },
        // Titles were a list beside the values once, and nothing had several values (EL-17).
        "EnumSchema" => const { &[has("default", SINCE_2025_11)] },
        "EnumSchema:titled" => {
            const {
                &[
                    has("default", SINCE_2025_11),
                    has("oneOf", SINCE_2025_11),
                    has("enum", UNTIL_2025_06),
                    has("enumNames", UNTIL_2025_06),
                ]
            }
        }
        "MultiEnumSchema" => {
            const {
                &[
                    or("type", SINCE_2025_11, Member::Instead(STRING)),
                    has("items", SINCE_2025_11),
                    has("minItems", SINCE_2025_11),
                    has("maxItems", SINCE_2025_11),
                    has("default", SINCE_2025_11),
                    has("enum", UNTIL_2025_06),
                    has("enumNames", UNTIL_2025_06),
                ]
            }
        }

        "RequestMeta" => {
            const {
                &[
                    has("io.modelcontextprotocol/protocolVersion", SINCE_2026_07),
                    has("io.modelcontextprotocol/clientCapabilities", SINCE_2026_07),
                    has("io.modelcontextprotocol/clientInfo", SINCE_2026_07),
                    has("io.modelcontextprotocol/logLevel", SINCE_2026_07),
                ]
            }
        }

        // Capabilities
        "ClientCapabilities" => {
            const {
                &[
                    has("elicitation", SINCE_2025_06),
                    has("tasks", ONLY_2025_11),
                    has("extensions", SINCE_2026_07),
                ]
            }
        }
        "RootsCapability" => const { &[has("listChanged", LEGACY)] },
        "SamplingCapability" => {
            const { &[has("context", SINCE_2025_11), has("tools", SINCE_2025_11)] }
        }
        "ElicitationCapability" => {
            const { &[has("form", SINCE_2025_11), has("url", SINCE_2025_11)] }
        }
        "ServerCapabilities" => {
            const {
                &[
                    has("completions", SINCE_2025_03),
                    has("tasks", ONLY_2025_11),
                    has("extensions", SINCE_2026_07),
                ]
            }
        }

        // Parameters
        "CallToolParams" => {
            const {
                &[
                    has("task", ONLY_2025_11),
                    has("inputResponses", SINCE_2026_07),
                    has("requestState", SINCE_2026_07),
                ]
            }
        }
        "ReadResourceParams" | "GetPromptParams" => {
            const {
                &[
                    has("inputResponses", SINCE_2026_07),
                    has("requestState", SINCE_2026_07),
                ]
            }
        }
        "CompleteParams" => const { &[has("context", SINCE_2025_06)] },
        "CreateMessageParams" => {
            const {
                &[
                    has("tools", SINCE_2025_11),
                    has("toolChoice", SINCE_2025_11),
                    has("task", ONLY_2025_11),
                    has("_meta", LEGACY),
                ]
            }
        }
        "ElicitFormParams" => {
            const {
                &[
                    has("mode", SINCE_2025_11),
                    has("task", ONLY_2025_11),
                    has("_meta", LEGACY),
                ]
            }
        }
        "ElicitUrlParams" => {
            const {
                &[
                    has("elicitationId", ONLY_2025_11),
                    has("task", ONLY_2025_11),
                    has("_meta", LEGACY),
                ]
            }
        }
        "ProgressParams" => const { &[has("message", SINCE_2025_03)] },

        // Results
        "CallToolResult" => const { &[has("structuredContent", SINCE_2025_06)] },
        "CallToolResult:any" => const { &[has("structuredContent", SINCE_2026_07)] },
        "ListToolsResult"
        | "ListResourcesResult"
        | "ListResourceTemplatesResult"
        | "ListPromptsResult"
        | "ReadResourceResult" => {
            const {
                &[
                    has("ttlMs", SINCE_2026_07),
                    has("cacheScope", SINCE_2026_07),
                ]
            }
        }
        "ListRootsResult" | "ElicitResult" => const { &[has("_meta", LEGACY)] },
        _ => &[],
    }
}

const TOOL: [Exception; 6] = tool(SINCE_2025_06);
const TOOL_ANY: [Exception; 6] = tool(SINCE_2026_07);
const TOOL_RESULT: [Exception; 6] = tool_result(SINCE_2025_11);
const TOOL_RESULT_ANY: [Exception; 6] = tool_result(SINCE_2026_07);

/// The schema's root decides since when it may be sent.
const fn tool(output_schema: RevisionSet) -> [Exception; 6] {
    [
        has("title", SINCE_2025_06),
        has("annotations", SINCE_2025_03),
        has("outputSchema", output_schema),
        has("icons", SINCE_2025_11),
        has("execution", ONLY_2025_11),
        has("_meta", SINCE_2025_06),
    ]
}

/// The kind of the value decides since when it may be sent.
const fn tool_result(structured_content: RevisionSet) -> [Exception; 6] {
    [
        or("type", SINCE_2025_11, Member::Instead(TEXT)),
        or(
            "toolUseId",
            SINCE_2025_11,
            Member::Instead(TOOL_RESULT_NOTE),
        ),
        has("content", SINCE_2025_11),
        has("structuredContent", structured_content),
        has("isError", SINCE_2025_11),
        has("_meta", SINCE_2025_11),
    ]
}

const TEXT: &str = r#""type":"text""#;
const STRING: &str = r#""type":"string""#;
const AUDIO_NOTE: &str = r#""text":"(audio, which this revision of the protocol cannot carry)""#;
const TOOL_RESULT_NOTE: &str =
    r#""text":"(tool result, which this revision of the protocol cannot carry)""#;

const UNTIL_2025_06: RevisionSet = RevisionSet::of(&[
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
]);
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
    fn without_a_revision_all_is_written() {
        assert_eq!(
            Rules::of("mcp:Tool", None).member("execution"),
            Member::Write
        );
    }

    #[test]
    fn other_types_are_left_alone() {
        for structure in ["Tool", "mcp:", "mcp:Nothing", ""] {
            let rules = Rules::of(structure, Some(Revision::V2024_11_05));
            assert_eq!(rules.member("execution"), Member::Write, "{structure}");
        }
    }

    #[test]
    fn since_and_until() {
        fn check(structure: &str, field: &str, expected: RevisionSet) {
            let having: RevisionSet = Revision::ALL
                .into_iter()
                .filter(|&revision| {
                    Rules::of(structure, Some(revision)).member(field) == Member::Write
                })
                .collect();
            assert_eq!(having, expected, "{structure}.{field}");
        }
        check("mcp:Tool", "execution", ONLY_2025_11);
        check("mcp:Tool", "annotations", SINCE_2025_03);
        check("mcp:Tool", "inputSchema", RevisionSet::of(&Revision::ALL));
        check("mcp:Tool", "outputSchema", SINCE_2025_06);
        check("mcp:Tool:any", "outputSchema", SINCE_2026_07);
        check("mcp:ElicitUrlParams", "elicitationId", ONLY_2025_11);
        check("mcp:RootsCapability", "listChanged", LEGACY);
        check("mcp:CallToolParams", "requestState", SINCE_2026_07);
    }

    #[test]
    fn a_note_takes_the_place_of_a_block() {
        let audio = Rules::of("mcp:AudioContent", Some(Revision::V2024_11_05));
        assert_eq!(audio.member("type"), Member::Instead(TEXT));
        assert_eq!(audio.member("data"), Member::Instead(AUDIO_NOTE));
        let link = Rules::of("mcp:ResourceLink", Some(Revision::V2025_03_26));
        assert_eq!(link.member("uri"), Member::Rename("text"));
    }

    #[test]
    fn several_blocks_need_a_revision_that_has_them() {
        assert!(first_only("mcp:Blocks", Some(Revision::V2025_06_18)));
        assert!(!first_only("mcp:Blocks", Some(Revision::V2025_11_25)));
        assert!(!first_only("mcp:Blocks", None));
        assert!(!first_only("Blocks", Some(Revision::V2024_11_05)));
    }
}
