//! Servers of typed handlers, seen from the wire, in every revision.
#![cfg(feature = "server")]

mod abuse;
// Checking against a whole schema makes values of its own.
#[cfg(not(feature = "schema"))]
mod allocations;
mod limits;
mod prompts;
mod registration;
mod resources;
mod runs;
#[cfg(feature = "schema")]
mod schemas;
mod support;
mod tools;
