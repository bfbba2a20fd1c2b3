//! Tasks of the extension.

mod lifecycle;
mod limits;
mod owners;
mod questions;
mod stores;
mod support;
