//! Blocks of content.

use super::{
    Annotations, AudioContent, Base64, Content, EmbeddedResource, Meta, ResourceContents,
    ResourceLink,
};

/// Adds what blocks of all kinds of content have.
macro_rules! text_and_image {
    ($block:ident) => {
        impl $block {
            /// Creates a block of text.
            pub fn text(text: impl Into<String>) -> Self {
                Self::Text($crate::model::TextContent {
                    text: text.into(),
                    ..$crate::model::TextContent::default()
                })
            }

            /// Creates a picture from its bytes.
            pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
                Self::Image($crate::model::ImageContent {
                    data: $crate::model::Base64::encode(bytes.as_ref()),
                    mime_type: mime_type.into(),
                    ..$crate::model::ImageContent::default()
                })
            }

            /// Returns the text of a block of text.
            pub fn as_text(&self) -> Option<&str> {
                match self {
                    Self::Text(block) => Some(&block.text),
                    _ => None,
                }
            }
        }
    };
}
pub(super) use text_and_image;

text_and_image!(Content);

/// ```
/// use mcp_async::model::Content;
///
/// let content = [
///     Content::text("A pixel, and where to find more of them:"),
///     Content::image(vec![0x42, 0x4D], "image/bmp"),
///     Content::resource_link("file:///pixels", "pixels"),
/// ];
/// assert!(content[0].as_text().is_some_and(|text| text.contains("pixel")));
/// assert_eq!(content[1].as_text(), None);
/// ```
impl Content {
    /// Sound from its bytes; a note in 2024-11-05.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent {
            data: Base64::encode(bytes.as_ref()),
            mime_type: mime_type.into(),
            ..AudioContent::default()
        })
    }

    /// The address of a resource; a text before 2025-06-18.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLink {
            uri: uri.into(),
            name: name.into(),
            ..ResourceLink::default()
        })
    }

    /// A resource with what it holds.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource {
            resource: contents,
            annotations: None,
            meta: Meta::default(),
        })
    }

    /// Sets the annotations; a block of an unknown type stays unchanged.
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        let place = match &mut self {
            Self::Text(block) => &mut block.annotations,
            Self::Image(block) => &mut block.annotations,
            Self::Audio(block) => &mut block.annotations,
            Self::ResourceLink(block) => &mut block.annotations,
            Self::Resource(block) => &mut block.annotations,
            Self::Other(_) => return self,
        };
        *place = Some(annotations);
        self
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
