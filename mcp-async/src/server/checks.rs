//! Enforces the schemas of a tool on its arguments and results.

use core::fmt;

use mcp_proto::json::{Object, Raw};
use mcp_proto::{Payload, Revision};

use super::encoded::with_written;
use crate::schema::{Enforcer, PublishError, ToolSchema};

#[derive(Default)]
pub(super) struct Checks {
    input: Option<Enforcer>,
    output: Option<Enforcer>,
}

impl Checks {
    /// Compiles the schemas, once for all calls.
    ///
    /// # Errors
    ///
    /// A schema says something that this build does not enforce.
    pub(super) fn of(
        input: &ToolSchema,
        output: Option<&ToolSchema>,
    ) -> Result<Self, PublishError> {
        let (place, listed) = ("/inputSchema", input.publish().unwrap_or_default());
        let root = listed.as_raw().object().unwrap_or(Object::EMPTY);
        let kind = root.get("type").and_then(Raw::string);
        if kind.is_none_or(|kind| kind != "object") {
            return Err(PublishError::NotObject { place });
        }
        let output = output.map(|output| Enforcer::of(output, "/outputSchema"));
        Ok(Self {
            input: Enforcer::of(input, place)?,
            output: output.transpose()?.flatten(),
        })
    }

    /// Whether the arguments fit (TL-13).
    pub(super) fn arguments(&self, arguments: Raw<'_>) -> Result<(), impl fmt::Display + use<>> {
        self.input
            .as_ref()
            .map_or(Ok(()), |input| input.check(arguments))
    }

    /// Whether there is anything to check of a result.
    pub(super) const fn promise(&self) -> bool {
        self.output.is_some()
    }

    /// Whether a result keeps what the output schema promises (TL-09).
    pub(super) fn kept(&self, result: &dyn Payload) -> bool {
        with_written(
            |writer| result.write(writer, Revision::V2026_07_28),
            |result| result.is_some_and(|result| self.keeps(result)),
        )
    }

    fn keeps(&self, result: Raw<'_>) -> bool {
        let (Some(output), Some(result)) = (&self.output, result.object()) else {
            return false;
        };
        let failed = result.get("isError").and_then(Raw::boolean) == Some(true);
        let content = result.get("structuredContent");
        failed || content.is_some_and(|content| output.check(content).is_ok())
    }
}
