//! JSON Schema: made from types, and checked without trusting who wrote it.
//!
//! - [`input`] and [`output`] describe the arguments and the structured content of a tool;
//! - [`form`] describes what an elicitation asks for;
//! - [`ToolSchema`] is such a schema, with where it comes from;
//! - `Validator` (feature `schema`) checks values by a schema, be it of a peer or one's own.

#[cfg(feature = "schema")]
mod cost;
#[cfg(feature = "server")]
mod declared;
#[cfg(feature = "schema")]
mod error;
#[cfg(feature = "server")]
mod field;
#[cfg(feature = "server")]
mod form;
#[cfg(feature = "schema")]
mod graph;
#[cfg(feature = "schema")]
mod limits;
#[cfg(feature = "server")]
mod numbers;
#[cfg(feature = "schema")]
mod pattern;
#[cfg(feature = "schema")]
mod plan;
#[cfg(feature = "server")]
mod tool_schema;
#[cfg(feature = "server")]
mod typed;
#[cfg(feature = "schema")]
mod validator;
#[cfg(feature = "schema")]
mod value;

#[cfg(feature = "server")]
pub(crate) use declared::declared;
#[cfg(feature = "schema")]
pub use error::{SchemaError, Violation};
#[cfg(feature = "server")]
pub use form::{FormError, FormFault, form};
#[cfg(feature = "schema")]
pub use limits::SchemaLimits;
#[cfg(feature = "server")]
pub use tool_schema::ToolSchema;
#[cfg(feature = "server")]
pub use typed::{TypeError, input, output};
#[cfg(feature = "schema")]
pub use validator::Validator;
