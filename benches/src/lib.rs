//! The inputs and the contestants of every bench, so that all of them are measured on the same work.

pub mod events;
pub mod inputs;
pub mod peers;
