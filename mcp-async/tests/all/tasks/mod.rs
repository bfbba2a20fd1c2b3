//! Tasks of the extension, and of 2025-11-25.

mod abandoned;
mod core;
mod crashes;
mod faults;
mod interleavings;
mod lifecycle;
mod limits;
mod listens;
mod memory;
mod owners;
mod questions;
mod refusals;
mod shutdown;
mod stores;
pub(crate) mod support;
