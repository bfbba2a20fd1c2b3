//! A tool's schemas, compiled: arguments and results are checked against the whole of them.

use core::fmt;

use mcp_proto::json::Raw;
use mcp_proto::{Payload, Revision};

use super::encoded::with_written;
use crate::model::Tool;
use crate::schema::{SchemaError, Validator};

#[derive(Default)]
pub(super) struct Checks {
    input: Option<Validator>,
    output: Option<Validator>,
}

impl Checks {
    /// Compiles the schemas, once for all calls.
    pub(super) fn of(tool: &Tool) -> Result<Self, SchemaError> {
        let output = tool.output_schema.as_ref();
        Ok(Self {
            input: Some(Validator::compile(tool.input_schema.as_raw())?),
            output: output
                .map(|schema| Validator::compile(schema.as_raw()))
                .transpose()?,
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
