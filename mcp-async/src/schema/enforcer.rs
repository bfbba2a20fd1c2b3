//! Enforces the schema of a tool.

use mcp_proto::json::Raw;

use super::assertions::Assertions;
use super::publish_error::PublishError;
use super::tool_schema::ToolSchema;
#[cfg(feature = "schema")]
use super::validator::Validator;

/// A schema of a tool, compiled.
///
/// The keywords that types publish have rules of their own, which take time linear in the value. A schema with other keywords is the
/// validator's as a whole.
pub(crate) enum Enforcer {
    Own(Assertions),
    #[cfg(feature = "schema")]
    Validator(Validator),
}

impl Enforcer {
    /// Compiles the schema that stands at `place`; `None` if there is nothing to check.
    pub(crate) fn of(
        schema: &ToolSchema,
        place: &'static str,
    ) -> Result<Option<Self>, PublishError> {
        // With the validator nothing is left to the decoder, which does not know what an application adds to the schema of a type.
        match Assertions::of(schema, place, cfg!(not(feature = "schema"))) {
            #[cfg(feature = "schema")]
            Err(PublishError::Unenforced {
                feature: Some(_), ..
            }) => super::whole::compile(schema, place)
                .map(|validator| Some(Self::Validator(validator))),
            read => {
                let own = read?;
                #[cfg(feature = "schema")]
                super::whole::check(schema, place)?;
                Ok(own.map(Self::Own))
            }
        }
    }

    /// Checks a value; the error says where it does not fit, and why.
    pub(crate) fn check(&self, value: Raw<'_>) -> Result<(), String> {
        match self {
            Self::Own(own) => own.check(value).map_err(|mismatch| mismatch.to_string()),
            #[cfg(feature = "schema")]
            Self::Validator(whole) => whole
                .check(value)
                .map_err(|violation| violation.to_string()),
        }
    }
}
