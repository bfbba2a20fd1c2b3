//! JSON Schema: what is made from types, and what checks values by it.

#[cfg(feature = "server")]
mod form;
#[cfg(feature = "schema")]
mod hostile;
#[cfg(all(feature = "schema", feature = "server", feature = "client"))]
mod roles;
#[cfg(feature = "server")]
mod typed;
#[cfg(feature = "schema")]
mod validator;
