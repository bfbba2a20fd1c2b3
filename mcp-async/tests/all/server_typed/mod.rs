//! Servers of typed handlers, seen from the wire, in every revision.

mod abuse;
mod allocations;
mod audit;
mod callers;
mod composed;
mod failures;
mod folder;
mod layers;
mod limits;
mod prompts;
mod registration;
mod resources;
mod runs;
mod schemas;
mod state;
pub(crate) mod support;
mod switches;
mod tools;
mod tower_layers;
mod unseen;
