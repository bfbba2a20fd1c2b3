//! A substitute for output schemas in builds without a validator.

use mcp_proto::json::Raw;

use crate::error::CallError;

/// Without a validator no schema is kept.
#[derive(Default)]
pub(super) struct Schemas;

pub(super) enum Schema {}

impl Schemas {
    pub(super) const fn learn(&mut self, _: Raw<'_>) {}

    pub(super) const fn of(&self, _: &str) -> Option<Schema> {
        None
    }

    pub(super) const fn clear(&mut self) {}
}

impl Schema {
    pub(super) fn check(&self, _: Raw<'_>) -> Result<(), CallError> {
        match *self {}
    }
}
