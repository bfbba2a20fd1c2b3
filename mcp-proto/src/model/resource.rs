//! Resources, their templates, pages of them, and their contents.

use super::{Resource, ResourceTemplate};
use crate::json::Str;

#[doc(hidden)]
#[macro_export]
macro_rules! declare_resources {
    ($form:ident) => {
        $form! {
            /// A resource that clients can read.
            #[derive(Debug, Default)]
            struct Resource {
                /// The URI.
                uri: Text,
                /// The name for programs.
                name: Text,
                /// The title for people; since 2025-06-18.
                title: Option<Text> [SINCE_2025_06],
                /// The description for the model.
                description: Option<Text>,
                /// The media type, if known.
                mime_type "mimeType": Option<Text>,
                /// The number of bytes, before any encoding.
                size: Option<u64>,
                /// Hints about audience and priority.
                annotations: Option<Annotations>,
                /// The icons; since 2025-11-25.
                icons: Hints<Icon> [SINCE_2025_11],
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// A template for the URIs of resources.
            #[derive(Debug, Default)]
            struct ResourceTemplate {
                /// The template, by RFC 6570.
                uri_template "uriTemplate": Text,
                /// The name for programs.
                name: Text,
                /// The title for people; since 2025-06-18.
                title: Option<Text> [SINCE_2025_06],
                /// The description for the model.
                description: Option<Text>,
                /// The media type, if all resources have the same.
                mime_type "mimeType": Option<Text>,
                /// Hints about audience and priority.
                annotations: Option<Annotations>,
                /// The icons; since 2025-11-25.
                icons: Hints<Icon> [SINCE_2025_11],
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// The result of `resources/list`.
            #[derive(Debug, Default)]
            struct ListResourcesResult {
                /// A page of resources.
                resources: List<Resource>,
                /// The position of the next page; even an empty text is one.
                next_cursor "nextCursor": Cursor,
                /// The time for which the result stays fresh, in milliseconds; since 2026-07-28.
                /// See `freshness`.
                ttl_ms "ttlMs": Hint<i64> [SINCE_2026_07],
                /// The clients that may share it; since 2026-07-28.
                cache_scope "cacheScope": Hint<CacheScope> [SINCE_2026_07],
                /// Further members.
                meta "_meta": Meta,
            }

            /// The result of `resources/templates/list`.
            #[derive(Debug, Default)]
            struct ListResourceTemplatesResult {
                /// A page of templates.
                resource_templates "resourceTemplates": List<ResourceTemplate>,
                /// The position of the next page; even an empty text is one.
                next_cursor "nextCursor": Cursor,
                /// The time for which the result stays fresh, in milliseconds; since 2026-07-28.
                /// See `freshness`.
                ttl_ms "ttlMs": Hint<i64> [SINCE_2026_07],
                /// The clients that may share it; since 2026-07-28.
                cache_scope "cacheScope": Hint<CacheScope> [SINCE_2026_07],
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of `resources/read`.
            #[derive(Debug, Default)]
            struct ReadResourceParams<'b> {
                /// The URI of the resource.
                uri: Text,
                /// The answers to an `input_required`; since 2026-07-28.
                input_responses "inputResponses": Option<InputResponses> [SINCE_2026_07],
                /// The state that came with the questions, unchanged; since 2026-07-28.
                request_state "requestState": Option<RequestState> [SINCE_2026_07],
                /// The progress token and further members.
                meta "_meta": Meta,
            }

            /// The result of `resources/read`.
            #[derive(Debug, Default)]
            struct ReadResourceResult {
                /// The parts, at least one: a missing resource is an error, never an empty list.
                contents: List<ResourceContents>,
                /// The time for which the result stays fresh, in milliseconds; since 2026-07-28.
                /// See `freshness`.
                ttl_ms "ttlMs": Hint<i64> [SINCE_2026_07],
                /// The clients that may share it; since 2026-07-28.
                cache_scope "cacheScope": Hint<CacheScope> [SINCE_2026_07],
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of `resources/subscribe`, `resources/unsubscribe` and
            /// `notifications/resources/updated`, and the `data` of an error that a resource is
            /// missing.
            #[derive(Debug, Default)]
            struct ResourceParams<'b> {
                /// The URI of the resource. An update may be of a part of the one that was
                /// subscribed to.
                uri: Text,
                /// Further members.
                meta "_meta": Meta,
            }

            /// A resource, or a part of one, as text.
            #[derive(Debug, Default)]
            struct TextResourceContents {
                /// The URI.
                uri: Text,
                /// The media type, if known.
                mime_type "mimeType": Option<Text>,
                /// The text.
                text: Text,
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// A resource, or a part of one, as bytes.
            #[derive(Debug, Default)]
            struct BlobResourceContents {
                /// The URI.
                uri: Text,
                /// The media type, if known.
                mime_type "mimeType": Option<Text>,
                /// The bytes in base64.
                blob: Base64,
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }
            ;
            /// The contents of a resource: text, or bytes in base64.
            enum ResourceContents by member {
                /// Contents with a member `text`.
                Text(TextResourceContents) = "text",
                /// Contents with a member `blob`.
                Blob(BlobResourceContents) = "blob",
            }
            ;
        }
    };
}

impl<'b> Resource<'b> {
    /// Creates a resource with a URI and a name alone.
    pub fn new(uri: &'b str, name: &'b str) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// Returns the name to show to people: the title, or else the name.
    pub fn display_name(&self) -> Str<'b> {
        self.title.unwrap_or(self.name)
    }
}

impl<'b> ResourceTemplate<'b> {
    /// Creates a template with a name alone.
    pub fn new(uri_template: &'b str, name: &'b str) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            ..Self::default()
        }
    }
}
