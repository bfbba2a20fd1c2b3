//! Blocks of content, and hints about their audience and priority.

use super::open::closed_enum;
use super::{Content, TextContent};

#[doc(hidden)]
#[macro_export]
macro_rules! declare_content {
    ($form:ident) => {
        $form! {
            /// Text.
            #[derive(Debug, Default)]
            struct TextContent {
                /// The text.
                text: Text,
                /// Hints about audience and priority.
                annotations: Option<Annotations>,
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// A picture.
            #[derive(Debug, Default)]
            struct ImageContent {
                /// The bytes in base64.
                data: Base64,
                /// The media type.
                mime_type "mimeType": Text,
                /// Hints about audience and priority.
                annotations: Option<Annotations>,
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// Sound; since 2025-03-26, before that a note in text.
            #[derive(Debug, Default)]
            struct AudioContent ["type" SINCE_2025_03, TypeText] {
                /// The bytes in base64.
                data: Base64 [SINCE_2025_03, AudioNote],
                /// The media type.
                mime_type "mimeType": Text [SINCE_2025_03],
                /// Hints about audience and priority.
                annotations: Option<Annotations>,
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// The address of a resource, which `resources/list` need not have; since 2025-06-18,
            /// before that a text.
            #[derive(Debug, Default)]
            struct ResourceLink ["type" SINCE_2025_06, TypeText] {
                /// The URI.
                uri: Text [SINCE_2025_06, NameText],
                /// The name for programs.
                name: Text [SINCE_2025_06],
                /// The title for people.
                title: Option<Text> [SINCE_2025_06],
                /// The description for the model.
                description: Option<Text> [SINCE_2025_06],
                /// The media type, if known.
                mime_type "mimeType": Option<Text> [SINCE_2025_06],
                /// The number of bytes, before any encoding.
                size: Option<u64> [SINCE_2025_06],
                /// Hints about audience and priority.
                annotations: Option<Annotations>,
                /// The icons; since 2025-11-25.
                icons: Hints<Icon> [SINCE_2025_11],
                /// Further members.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// A resource with its contents.
            #[derive(Debug)]
            struct EmbeddedResource {
                /// The contents.
                resource: ResourceContents,
                /// Hints about audience and priority.
                annotations: Option<Annotations>,
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// Hints of a server about content and resources.
            #[derive(Debug, Default)]
            struct Annotations {
                /// The audience: people, the model, or both. An empty list means all.
                audience: Hints<Role>,
                /// The importance, from 0 (optional) to 1 (required).
                priority: Option<Number>,
                /// The time of the last change, in ISO 8601; since 2025-06-18.
                last_modified "lastModified": Option<Text> [SINCE_2025_06],
            }
            ;
            /// A block of content for a model or a person.
            ///
            /// A block that a revision lacks is written as a note in text.
            enum Content by "type" {
                /// Text.
                Text(TextContent) = "text",
                /// A picture.
                Image(ImageContent) = "image",
                /// Sound; since 2025-03-26.
                Audio(AudioContent) = "audio",
                /// The address of a resource; since 2025-06-18.
                ResourceLink(ResourceLink) = "resource_link",
                /// A resource with its contents.
                Resource(EmbeddedResource) = "resource",
            }
            ;
        }
    };
}

impl<'b> Content<'b> {
    /// Creates a block of text.
    pub fn text(text: &'b str) -> Self {
        Self::Text(TextContent {
            text: text.into(),
            ..TextContent::default()
        })
    }
}

closed_enum! {
    /// The speaker or the audience in a conversation with a model.
    pub enum Role {
        /// The person, or a program that speaks for them.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}
