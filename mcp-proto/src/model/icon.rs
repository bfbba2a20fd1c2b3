//! Icons.

use serde::{Deserialize, Serialize};

use super::open::open_enum;
use crate::json::{List, Str};

/// A picture of a tool, resource, prompt or implementation; since 2025-11-25.
///
/// Only `https:` and `data:` sources may be fetched, without credentials, and without following
/// a redirect to elsewhere (JR-48).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:Icon", rename_all = "camelCase")]
pub struct Icon<'b> {
    /// An `https:` or `data:` URI.
    #[serde(borrow)]
    pub src: Str<'b>,
    /// Its type, where the source does not say it or says it wrongly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Str<'b>>,
    /// Sizes it is made for, each `WxH` or `any`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<List<'b, Str<'b>>>,
    /// The background it is made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<Theme<'b>>,
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
