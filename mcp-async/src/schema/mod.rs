//! JSON Schema: made from types, and checked without trusting who wrote it.
//!
//! - [`input`] and [`output`] describe the arguments and the structured content of a tool;
//! - [`form`] describes what an elicitation asks for.

#[cfg(feature = "server")]
mod field;
#[cfg(feature = "server")]
mod form;
#[cfg(feature = "server")]
mod order;
#[cfg(feature = "server")]
mod typed;

#[cfg(feature = "server")]
pub use form::{FormError, FormFault, form};
#[cfg(feature = "server")]
pub(crate) use order::declared;
#[cfg(feature = "server")]
pub use typed::{TypeError, input, output};
