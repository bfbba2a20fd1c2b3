//! Servers of typed handlers, seen from the wire, in every revision.
#![cfg(feature = "server")]

mod allocations;
mod limits;
mod registration;
mod support;
mod tools;
