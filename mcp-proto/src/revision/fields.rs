//! The members that the model's types have in each revision: the first and the last revision of a
//! member, and its replacement in others.
//!
//! The model's structs tell their name to the serializer with the prefix `mcp:`, so that types
//! of an application which happen to be called alike are left alone, and cost one comparison.
//! A struct whose members depend on a value has a second name (`mcp:Tool:any`). The table is made of the
//! declarations of the model.

use super::{Revision, RevisionSet};

/// The way in which a serializer writes one member of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// Writes it.
    Write,
    /// Leaves it out.
    Skip,
    /// Writes its value under this name.
    Rename(&'static str),
    /// Writes this text in its place: name and value in JSON.
    Instead(&'static str),
}

/// The rules by which the members of one struct are written in one revision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    exceptions: &'static [Exception],
    revision: Revision,
    any: bool,
}

impl Rules {
    /// The rules of a struct by the name that it told the serializer. Without a revision, and
    /// for a name that is not of the model, every member is written.
    pub(crate) fn of(structure: &str, revision: Option<Revision>) -> Self {
        match (structure.strip_prefix("mcp:"), revision) {
            (Some(name), Some(revision)) => {
                let (name, any) = match name.strip_suffix(":any") {
                    Some(name) => (name, true),
                    None => (name, false),
                };
                Self {
                    exceptions: exceptions_of(name),
                    revision,
                    any,
                }
            }
            _ => Self {
                exceptions: &[],
                revision: Revision::V2026_07_28,
                any: false,
            },
        }
    }

    /// Returns the way in which this member is written.
    pub(crate) fn member(self, field: &str) -> Member {
        self.exceptions
            .iter()
            .find(|exception| exception.field == field)
            .filter(|exception| {
                let revisions = if self.any {
                    exception.any
                } else {
                    exception.revisions
                };
                !revisions.contains(self.revision)
            })
            .map_or(Member::Write, |exception| exception.otherwise.member())
    }
}

/// Returns true if a list by this name is written as its first element alone, without brackets: the
/// content of a sampling message before it could have several blocks (SP-13).
pub(crate) fn first_only(list: &str, revision: Option<Revision>) -> bool {
    list == "mcp:Blocks" && revision.is_some_and(|revision| !revision.has_sampling_tools())
}

/// A member that some revision lacks. Small, because firmware carries them all.
#[derive(Debug)]
struct Exception {
    field: &'static str,
    revisions: RevisionSet,
    /// The revisions that have it where the value needs one in which it may be any value.
    any: RevisionSet,
    otherwise: Otherwise,
}

/// The way in which a member is written in a revision that lacks it.
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
        any: revisions,
        otherwise,
    }
}

macro_rules! exceptions {
    ($({$name:expr} [$($revisions:ident $($otherwise:tt)*)?],)*) => {
        &[$($(exception!($name, $revisions $($otherwise)*),)?)*]
    };
}

macro_rules! exception {
    ($field:expr, $revisions:ident) => {
        has($field, $revisions)
    };
    ($field:expr, $revisions:ident, any $any:ident) => {
        Exception {
            any: $any,
            ..has($field, $revisions)
        }
    };
    ($field:expr, $revisions:ident, $otherwise:ident) => {
        or($field, $revisions, Otherwise::$otherwise)
    };
}

/// Finds the exceptions of a struct by its name.
fn exceptions_of(structure: &str) -> &'static [Exception] {
    macro_rules! find {
        (
            $(
                $(#[$outer:meta])*
                struct $name:ident $(<$only:lifetime>)? $([$tag:literal $($tag_revisions:tt)*])? {
                    $(
                        $(#[$inner:meta])*
                        $field:ident $($json:literal)? : $kind:ident $(<$of:ident>)? $([$($revisions:tt)*])?,
                    )*
                } $(core {
                    $(
                        $(#[$core_inner:meta])*
                        $core_field:ident $($core_json:literal)? : $core_kind:ident $(<$core_of:ident>)?
                            $([$($core_revisions:tt)*])?,
                    )*
                })?
            )*
            ; $($rest:tt)*
        ) => {
            $(if structure == stringify!($name) {
                const EXCEPTIONS: &[Exception] = exceptions!(
                    $({$tag} [$($tag_revisions)*],)?
                    $({crate::member_name!($field $($json)?)} [$($($revisions)*)?],)*
                    $($({crate::member_name!($core_field $($core_json)?)} [$($($core_revisions)*)?],)*)?
                );
                return EXCEPTIONS;
            })*
        };
    }
    crate::declare_payloads!(find);
    match structure {
        "ClientCapabilities" => CLIENT_CAPABILITIES,
        "ServerCapabilities" => SERVER_CAPABILITIES,
        "EnumSchema" => ENUM_SCHEMA,
        "EnumSchema:titled" => TITLED_ENUM_SCHEMA,
        "MultiEnumSchema" => MULTI_ENUM_SCHEMA,
        _ => &[],
    }
}

/// The exceptions of the capabilities of a role, at whatever depth.
macro_rules! capabilities {
    (
        $(#[$features_outer:meta])* $features:ident,
        $(#[$outer:meta])* $name:ident,
        {
            $($(#[$inner:meta])* $flag:ident = $bit:literal: $($parent:literal)? / $member:literal
                $($is_flag:ident)? $([$revisions:ident])?,)*
        }
        $($around:tt)*
    ) => {
        &[has("extensions", SINCE_2026_07), $($(has($member, $revisions),)?)*]
    };
}

const CLIENT_CAPABILITIES: &[Exception] = crate::declare_client_capabilities!(capabilities);
const SERVER_CAPABILITIES: &[Exception] = crate::declare_server_capabilities!(capabilities);

const ENUM_SCHEMA: &[Exception] = &[has("default", SINCE_2025_11)];

/// Titles were a list beside the values once, and nothing had several values (EL-17).
const TITLED_ENUM_SCHEMA: &[Exception] = &[
    has("default", SINCE_2025_11),
    has("oneOf", SINCE_2025_11),
    has("enum", UNTIL_2025_06),
    has("enumNames", UNTIL_2025_06),
];
const MULTI_ENUM_SCHEMA: &[Exception] = &[
    or("type", SINCE_2025_11, Otherwise::TypeString),
    has("items", SINCE_2025_11),
    has("minItems", SINCE_2025_11),
    has("maxItems", SINCE_2025_11),
    has("default", SINCE_2025_11),
];

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
pub(crate) const SINCE_2025_03: RevisionSet =
    RevisionSet::at_least(Revision::V2025_03_26).with(Revision::DraftV1);
pub(crate) const SINCE_2025_06: RevisionSet =
    RevisionSet::at_least(Revision::V2025_06_18).with(Revision::DraftV1);
pub(crate) const SINCE_2025_11: RevisionSet =
    RevisionSet::at_least(Revision::V2025_11_25).with(Revision::DraftV1);
pub(crate) const ONLY_2025_11: RevisionSet =
    RevisionSet::of(&[Revision::V2025_11_25, Revision::DraftV1]);
pub(crate) const SINCE_2026_07: RevisionSet = RevisionSet::at_least(Revision::V2026_07_28);
pub(crate) const LEGACY: RevisionSet = RevisionSet::legacy().with(Revision::DraftV1);

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
        check("mcp:ClientCapabilities", "listChanged", LEGACY);
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
