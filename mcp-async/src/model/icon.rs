//! Icons.

use serde::{Deserialize, Serialize};

use super::lenient;
use super::open::open_enum;

/// A picture of a tool, resource, prompt or implementation; since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "mcp:Icon", rename_all = "camelCase")]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// Its type, where the source does not say it or says it wrongly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Sizes it is made for, each `WxH` or `any`.
    #[serde(
        default,
        deserialize_with = "lenient::known",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub sizes: Vec<String>,
    /// The background it is made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<Theme>,
}

impl Icon {
    /// A picture by its address.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            ..Self::default()
        }
    }

    /// Whether its source may be fetched at all: only `https:` and `data:` may, without
    /// credentials, and without following a redirect to elsewhere (`JR-48`).
    pub fn is_acceptable(&self) -> bool {
        let scheme = self.src.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| {
            ["https", "data"]
                .iter()
                .any(|allowed| scheme.eq_ignore_ascii_case(allowed))
        })
    }
}

open_enum! {
    /// The background that an icon is made for.
    pub enum Theme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}
