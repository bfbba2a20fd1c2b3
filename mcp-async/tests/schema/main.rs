//! JSON Schema: what is made from types, and what checks values by it.

#[cfg(feature = "server")]
mod form;
#[cfg(feature = "server")]
mod typed;
