//! The contents of a resource.

use super::{
    Base64, BlobResourceContents, ReadResourceResult, ResourceContents, TextResourceContents,
};

impl ReadResourceResult {
    /// All parts that are text, one after the other; `None` if no part is.
    pub fn text(&self) -> Option<String> {
        let texts = self.contents.iter().filter_map(ResourceContents::as_text);
        texts.map(String::from).reduce(|all, text| all + &text)
    }
}

impl From<Vec<ResourceContents>> for ReadResourceResult {
    fn from(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            ..Self::default()
        }
    }
}

impl From<ResourceContents> for ReadResourceResult {
    fn from(contents: ResourceContents) -> Self {
        Self::from(vec![contents])
    }
}

impl ResourceContents {
    /// Text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextResourceContents {
            uri: uri.into(),
            text: text.into(),
            ..TextResourceContents::default()
        })
    }

    /// Bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::Blob(BlobResourceContents {
            uri: uri.into(),
            blob: Base64::encode(bytes.as_ref()),
            ..BlobResourceContents::default()
        })
    }

    /// Sets the MIME type; contents of an unknown kind, without text and without bytes, stay
    /// unchanged.
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        let place = match &mut self {
            Self::Text(contents) => &mut contents.mime_type,
            Self::Blob(contents) => &mut contents.mime_type,
            Self::Other(_) => return self,
        };
        *place = Some(mime_type.into());
        self
    }

    /// Its address, unless it has neither text nor bytes.
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.uri),
            Self::Blob(contents) => Some(&contents.uri),
            Self::Other(_) => None,
        }
    }

    /// Its text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.text),
            _ => None,
        }
    }
}
