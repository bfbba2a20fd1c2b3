//! JSON Schema: what is made from types, and what checks values by it.

#[cfg(feature = "server")]
mod form;
#[cfg(feature = "schema")]
mod hostile;
#[cfg(all(feature = "schema", feature = "server", feature = "client"))]
mod roles;
#[cfg(all(feature = "schema", feature = "server", feature = "client"))]
#[path = "../sim/mod.rs"]
mod sim;
#[cfg(all(feature = "schema", feature = "server", feature = "client"))]
#[path = "../client_typed/support.rs"]
#[expect(dead_code, reason = "a demo that other tests play with")]
mod support;
#[cfg(feature = "server")]
mod typed;
#[cfg(feature = "schema")]
mod validator;
