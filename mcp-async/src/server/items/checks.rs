//! Decodes arguments, and enforces the schemas of a tool on them and on results.

use std::sync::Arc;

use mcp_proto::json::{DecodeError, Object, Raw};
use mcp_proto::{Payload, Revision};
use serde::de::DeserializeOwned;

use crate::payload;
use crate::schema::{Enforcer, PublishError, ToolSchema};
use crate::server::call::encoded::with_written;

#[derive(Clone, Default)]
pub(super) struct Checks {
    input: Option<Arc<Enforcer>>,
    promise: Option<Promise>,
}

/// The output schema of a tool, which its results keep.
#[derive(Clone)]
pub(super) struct Promise(Arc<Enforcer>);

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
            input: Enforcer::of(input, place)?.map(Arc::new),
            promise: output.transpose()?.flatten().map(Arc::new).map(Promise),
        })
    }

    /// Checks the arguments against the input schema (TL-13).
    pub(super) fn arguments(&self, arguments: Raw<'_>) -> Result<(), String> {
        self.input
            .as_ref()
            .map_or(Ok(()), |input| input.check(arguments))
    }

    /// Returns what the tool promises of its results, if anything.
    pub(super) fn promise(&self) -> Option<Promise> {
        self.promise.clone()
    }
}

impl Promise {
    /// Returns whether a result keeps what the output schema promises (TL-09).
    pub(super) fn is_kept(&self, result: &dyn Payload) -> bool {
        with_written(
            |writer| result.write(writer, Revision::V2026_07_28),
            |result| result.is_some_and(|result| self.is_kept_by(result)),
        )
    }

    fn is_kept_by(&self, result: Raw<'_>) -> bool {
        let Some(result) = result.object() else {
            return false;
        };
        let failed = result.get("isError").and_then(Raw::boolean) == Some(true);
        let content = result.get("structuredContent");
        failed || content.is_some_and(|content| self.0.check(content).is_ok())
    }
}

/// Decodes the arguments of a client into a type of the application. If `simd-json` refuses them, the core decodes them again,
/// because its error names the place of the mistake.
pub(super) fn decode_typed<T: DeserializeOwned>(raw: Raw<'_>) -> Result<T, DecodeError> {
    #[cfg(feature = "simd-json")]
    if payload::empty::<T>().is_none()
        && let Ok(value) = raw.decode_simd_json(&mut Vec::new())
    {
        return Ok(value);
    }
    payload::decode(raw)
}
