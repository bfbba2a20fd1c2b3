//! Servers of typed handlers, seen from the wire, in every revision.
#![cfg(feature = "server")]

mod abuse;
mod allocations;
mod audit;
mod callers;
#[cfg(feature = "client")]
mod composed;
mod failures;
mod folder;
mod layers;
mod limits;
mod prompts;
mod registration;
mod resources;
mod runs;
#[cfg(feature = "schema")]
mod schemas;
mod state;
pub(crate) mod support;
#[cfg(feature = "client")]
mod switches;
mod tools;
#[cfg(feature = "http-server")]
mod tower_layers;
mod unseen;
