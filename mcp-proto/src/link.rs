//! The order of work on one connection over a pair of byte streams. The caller performs the I/O.
//!
//! [`Link`](crate::Link) has a machine and its two buffers; begin there. A driver whose machine and buffers are not
//! together, because the machine is behind a lock for example, calls the function [`step()`].

pub(crate) mod pipe_link;
pub(crate) mod step;
#[cfg(test)]
mod tests;

pub use self::step::{check, step, step_with};
