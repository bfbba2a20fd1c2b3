//! The position of a page.

use core::fmt;
use std::borrow::Cow;

use mcp_proto::json::{Raw, RawBuf, Str};
use mcp_proto::model::rules::Echo;
use serde::{Deserialize, Deserializer, Serialize};

use crate::cursor;

/// The beginning of the next page of a list. It is opaque, and goes back byte for byte as it came; even an empty one is a cursor.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Cursor(RawBuf);

impl Cursor {
    /// Its text; half a surrogate pair becomes U+FFFD.
    pub fn to_str(&self) -> Cow<'_, str> {
        self.0.as_raw().string().unwrap_or_default().to_cow()
    }

    /// Creates a cursor after the item with this key, for a server that lists items in the order of their keys. It
    /// means the same after items came and went, on another connection and in another process. `list` names
    /// the list, so that a cursor of another list is refused.
    ///
    /// ```
    /// use mcp_async::model::Cursor;
    ///
    /// let cursor = Cursor::after("jobs", "job-100");
    /// assert_eq!(cursor.key("jobs").as_deref(), Some("job-100"));
    /// assert_eq!(cursor.key("builds"), None);
    /// ```
    #[cfg(feature = "server")]
    pub fn after(list: &str, key: &str) -> Self {
        cursor::after(list, key).into()
    }

    /// Returns the key of the item that the cursor is [after](Self::after); `None` if it is no cursor of this list,
    /// which is a mistake of the client.
    #[cfg(feature = "server")]
    pub fn key(&self, list: &str) -> Option<String> {
        cursor::read(list, &self.to_str())
    }
}

impl From<&str> for Cursor {
    fn from(text: &str) -> Self {
        // Text is JSON whatever it says.
        Self(RawBuf::encode(text).unwrap_or_default())
    }
}

impl From<String> for Cursor {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        raw.decode::<Str<'_>>(&mut [])
            .map_err(serde::de::Error::custom)?;
        Ok(Self(raw.into()))
    }
}

impl Echo for Cursor {
    fn echo(&self) -> impl Serialize {
        &self.0
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cursor").field(&self.to_str()).finish()
    }
}
