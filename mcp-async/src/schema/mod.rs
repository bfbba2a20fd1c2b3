//! JSON Schema: derived from types, and validated with bounded cost, because schemas may come from a
//! peer.
//!
//! - [`input`] and [`output`] derive the schemas of the arguments and the structured content of a tool;
//! - [`form`] derives the schema of a form for an elicitation;
//! - [`ToolSchema`] is a schema with the facts that were derived from it, [`PublishError`] states why it
//!   cannot be published;
//! - `Validator` (feature `schema`) validates values against any schema.

mod assertion_reader;
mod assertions;
mod declared;
mod enforcer;
#[cfg(feature = "schema")]
mod error;
mod expected;
mod field;
mod form;
mod form_error;
mod formats;
mod keywords;
mod numbers;
mod publish_error;
mod subschemas;
mod tool_schema;
mod type_error;
mod typed;
#[cfg(feature = "schema")]
mod validator;
mod value;
#[cfg(feature = "schema")]
mod whole;

pub(crate) use declared::declared;
pub(crate) use enforcer::Enforcer;
#[cfg(feature = "schema")]
pub use error::{SchemaError, Violation};
pub(crate) use form::check_form;
pub use form::form;
pub use form_error::{FormError, FormFault};
pub use publish_error::PublishError;
pub use tool_schema::ToolSchema;
pub use type_error::TypeError;
pub use typed::{input, output};
#[cfg(feature = "schema")]
pub use validator::{SchemaLimits, Validator};
