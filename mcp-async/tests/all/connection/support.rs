//! One thread, one virtual clock, no runtime: everything that a test needs to be a script.

mod demo;
mod pair;
mod wire;

pub(crate) use demo::{Demo, Watch};
pub(crate) use pair::{Pair, Setup};
pub(crate) use wire::{Wire, answer, call, modern_meta};
