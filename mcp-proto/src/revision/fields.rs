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
    /// Writes this text in its place: name and value in JSON.
    Instead(&'static str),
}

/// What becomes of the members of one struct in one revision.
///
/// ```
/// use mcp_proto::Revision;
/// use mcp_proto::revision::fields::{Member, Rules};
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
            .map_or(Member::Write, |exception| exception.otherwise.member())
    }
}

/// Whether a list by this name is written as its first element alone, without brackets: the
/// content of a sampling message before it could have several blocks (SP-13).
pub fn first_only(list: &str, revision: Option<Revision>) -> bool {
    list == "mcp:Blocks" && revision.is_some_and(|revision| !revision.has_sampling_tools())
}

/// A member that some revision lacks. Small, because firmware carries them all.
#[derive(Debug)]
struct Exception {
    field: &'static str,
    revisions: RevisionSet,
    otherwise: Otherwise,
}

/// What becomes of a member where it is not.
#[derive(Clone, Copy, Debug)]
enum Otherwise {
    Skip,
    NameText,
    TypeText,
    TypeString,
    AudioNote,
    ToolResultNote,
}

impl Otherwise {
    const fn member(self) -> Member {
        match self {
            Self::Skip => Member::Skip,
            Self::NameText => Member::Rename("text"),
            Self::TypeText => Member::Instead(TEXT),
            Self::TypeString => Member::Instead(STRING),
            Self::AudioNote => Member::Instead(AUDIO_NOTE),
            Self::ToolResultNote => Member::Instead(TOOL_RESULT_NOTE),
        }
    }
}

const fn has(field: &'static str, revisions: RevisionSet) -> Exception {
    or(field, revisions, Otherwise::Skip)
}

const fn or(field: &'static str, revisions: RevisionSet, otherwise: Otherwise) -> Exception {
    Exception {
        field,
        revisions,
        otherwise,
    }
}

fn exceptions(structure: &str) -> &'static [Exception] {
    EXCEPTIONS
        .iter()
        .find(|(name, _)| *name == structure)
        .map_or(&[], |(_, exceptions)| exceptions)
}

/// The table, by the names of the structs, those first that are written most often.
const EXCEPTIONS: &[(&str, &[Exception])] = &[
    ("CallToolResult", &[has("structuredContent", SINCE_2025_06)]),
    ("TextContent", NESTED_META),
    ("ProgressParams", &[has("message", SINCE_2025_03)]),
    ("Tool", &tool(SINCE_2025_06)),
    ("Annotations", &[has("lastModified", SINCE_2025_06)]),
    (
        "CallToolParams",
        &[
            has("task", ONLY_2025_11),
            has("inputResponses", SINCE_2026_07),
            has("requestState", SINCE_2026_07),
        ],
    ),
    ("Resource", LISTED),
    ("ResourceTemplate", LISTED),
    ("Prompt", LISTED),
    ("PromptArgument", TITLED),
    ("PromptReference", TITLED),
    ("ImageContent", NESTED_META),
    ("EmbeddedResource", NESTED_META),
    ("TextResourceContents", NESTED_META),
    ("BlobResourceContents", NESTED_META),
    ("Root", NESTED_META),
    (
        "Implementation",
        &[
            has("title", SINCE_2025_06),
            has("description", SINCE_2025_11),
            has("websiteUrl", SINCE_2025_11),
            has("icons", SINCE_2025_11),
        ],
    ),
    (
        "RequestMeta",
        &[
            has("io.modelcontextprotocol/protocolVersion", SINCE_2026_07),
            has("io.modelcontextprotocol/clientCapabilities", SINCE_2026_07),
            has("io.modelcontextprotocol/clientInfo", SINCE_2026_07),
            has("io.modelcontextprotocol/logLevel", SINCE_2026_07),
        ],
    ),
    (
        "ClientCapabilities",
        &[
            has("elicitation", SINCE_2025_06),
            has("tasks", ONLY_2025_11),
            has("extensions", SINCE_2026_07),
        ],
    ),
    ("RootsCapability", &[has("listChanged", LEGACY)]),
    (
        "SamplingCapability",
        &[has("context", SINCE_2025_11), has("tools", SINCE_2025_11)],
    ),
    (
        "ElicitationCapability",
        &[has("form", SINCE_2025_11), has("url", SINCE_2025_11)],
    ),
    (
        "ServerCapabilities",
        &[
            has("completions", SINCE_2025_03),
            has("tasks", ONLY_2025_11),
            has("extensions", SINCE_2026_07),
        ],
    ),
    ("ReadResourceParams", RETRIED),
    ("GetPromptParams", RETRIED),
    ("CompleteParams", &[has("context", SINCE_2025_06)]),
    (
        "CreateMessageParams",
        &[
            has("tools", SINCE_2025_11),
            has("toolChoice", SINCE_2025_11),
            has("task", ONLY_2025_11),
            has("_meta", LEGACY),
        ],
    ),
    (
        "ElicitFormParams",
        &[
            has("mode", SINCE_2025_11),
            has("task", ONLY_2025_11),
            has("_meta", LEGACY),
        ],
    ),
    (
        "ElicitUrlParams",
        &[
            has("elicitationId", ONLY_2025_11),
            has("task", ONLY_2025_11),
            has("_meta", LEGACY),
        ],
    ),
    ("ListToolsResult", CACHED),
    ("ListResourcesResult", CACHED),
    ("ListResourceTemplatesResult", CACHED),
    ("ListPromptsResult", CACHED),
    ("ReadResourceResult", CACHED),
    ("ListRootsResult", LEGACY_META),
    ("ElicitResult", LEGACY_META),
    ("SamplingMessage", &[has("_meta", SINCE_2025_11)]),
    // The value decides since when these may be sent.
    (
        "CallToolResult:any",
        &[has("structuredContent", SINCE_2026_07)],
    ),
    ("Tool:any", &tool(SINCE_2026_07)),
    // A text note takes the place of a block that the revision does not have (TL-17).
    (
        "AudioContent",
        &[
            or("type", SINCE_2025_03, Otherwise::TypeText),
            or("data", SINCE_2025_03, Otherwise::AudioNote),
            has("mimeType", SINCE_2025_03),
            has("_meta", SINCE_2025_06),
        ],
    ),
    (
        "ResourceLink",
        &[
            or("type", SINCE_2025_06, Otherwise::TypeText),
            or("uri", SINCE_2025_06, Otherwise::NameText),
            has("name", SINCE_2025_06),
            has("title", SINCE_2025_06),
            has("description", SINCE_2025_06),
            has("mimeType", SINCE_2025_06),
            has("size", SINCE_2025_06),
            has("icons", SINCE_2025_11),
            has("_meta", SINCE_2025_06),
        ],
    ),
    (
        "ToolUseContent",
        &[
            or("type", SINCE_2025_11, Otherwise::TypeText),
            has("id", SINCE_2025_11),
            or("name", SINCE_2025_11, Otherwise::NameText),
            has("input", SINCE_2025_11),
            has("_meta", SINCE_2025_11),
        ],
    ),
    ("ToolResultContent", &tool_result(SINCE_2025_11)),
    ("ToolResultContent:any", &tool_result(SINCE_2026_07)),
    ("ElicitationSchema", &[has("$schema", SINCE_2025_11)]),
    ("StringSchema", DEFAULTED),
    ("NumberSchema", DEFAULTED),
    ("EnumSchema", DEFAULTED),
    // Titles were a list beside the values once, and nothing had several values (EL-17).
    (
        "EnumSchema:titled",
        &[
            has("default", SINCE_2025_11),
            has("oneOf", SINCE_2025_11),
            has("enum", UNTIL_2025_06),
            has("enumNames", UNTIL_2025_06),
        ],
    ),
    (
        "MultiEnumSchema",
        &[
            or("type", SINCE_2025_11, Otherwise::TypeString),
            has("items", SINCE_2025_11),
            has("minItems", SINCE_2025_11),
            has("maxItems", SINCE_2025_11),
            has("default", SINCE_2025_11),
        ],
    ),
];

const NESTED_META: &[Exception] = &[has("_meta", SINCE_2025_06)];
const LEGACY_META: &[Exception] = &[has("_meta", LEGACY)];
const TITLED: &[Exception] = &[has("title", SINCE_2025_06)];
const DEFAULTED: &[Exception] = &[has("default", SINCE_2025_11)];
const LISTED: &[Exception] = &[
    has("title", SINCE_2025_06),
    has("icons", SINCE_2025_11),
    has("_meta", SINCE_2025_06),
];
const RETRIED: &[Exception] = &[
    has("inputResponses", SINCE_2026_07),
    has("requestState", SINCE_2026_07),
];
const CACHED: &[Exception] = &[
    has("ttlMs", SINCE_2026_07),
    has("cacheScope", SINCE_2026_07),
];

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
        or("type", SINCE_2025_11, Otherwise::TypeText),
        or("toolUseId", SINCE_2025_11, Otherwise::ToolResultNote),
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
