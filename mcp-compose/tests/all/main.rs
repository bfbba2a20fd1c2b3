//! The tests of the crate, in one program.

mod catalog;
mod config;
mod entry;
mod host;
mod proxy;
mod support;
