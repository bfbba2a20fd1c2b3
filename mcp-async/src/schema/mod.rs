//! JSON Schema: derived from types, and validated with bounded cost, because schemas may come from a
//! peer.
//!
//! - [`input`] and [`output`] derive the schemas of the arguments and the structured content of a tool;
//! - [`form`] derives the schema of a form for an elicitation;
//! - [`ToolSchema`] is a schema with the facts that were derived from it, [`PublishError`] states why it
//!   cannot be published;
//! - `Validator` (feature `schema`) validates values against any schema.

#[cfg(all(feature = "server", any(test, not(feature = "schema"))))]
mod assertion_reader;
#[cfg(all(feature = "server", any(test, not(feature = "schema"))))]
mod assertions;
#[cfg(feature = "server")]
mod declared;
#[cfg(all(feature = "server", feature = "schema"))]
mod enforcer;
#[cfg(feature = "schema")]
mod error;
#[cfg(any(feature = "schema", feature = "server"))]
mod expected;
#[cfg(feature = "server")]
mod field;
#[cfg(feature = "server")]
mod form;
#[cfg(feature = "server")]
mod form_error;
#[cfg(feature = "server")]
mod formats;
#[cfg(all(feature = "server", any(test, not(feature = "schema"))))]
mod keywords;
#[cfg(feature = "server")]
mod numbers;
#[cfg(feature = "server")]
mod publish_error;
#[cfg(feature = "server")]
mod subschemas;
#[cfg(feature = "server")]
mod tool_schema;
#[cfg(feature = "server")]
mod type_error;
#[cfg(feature = "server")]
mod typed;
#[cfg(feature = "schema")]
mod validator;
#[cfg(any(feature = "schema", feature = "server"))]
mod value;

#[cfg(all(feature = "server", not(feature = "schema")))]
pub(crate) use assertions::Assertions as Enforcer;
#[cfg(feature = "server")]
pub(crate) use declared::declared;
#[cfg(all(feature = "server", feature = "schema"))]
pub(crate) use enforcer::Enforcer;
#[cfg(feature = "schema")]
pub use error::{SchemaError, Violation};
#[cfg(feature = "server")]
pub(crate) use form::check_form;
#[cfg(feature = "server")]
pub use form::form;
#[cfg(feature = "server")]
pub use form_error::{FormError, FormFault};
#[cfg(feature = "server")]
pub use publish_error::PublishError;
#[cfg(feature = "server")]
pub use tool_schema::ToolSchema;
#[cfg(feature = "server")]
pub use type_error::TypeError;
#[cfg(feature = "server")]
pub use typed::{input, output};
#[cfg(feature = "schema")]
pub use validator::{SchemaLimits, Validator};
