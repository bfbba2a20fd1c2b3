//! Tasks of the extension.

mod faults;
mod interleavings;
mod lifecycle;
mod limits;
mod listens;
mod owners;
mod questions;
mod shutdown;
mod stores;
pub(crate) mod support;
