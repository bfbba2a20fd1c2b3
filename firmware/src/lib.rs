//! What the programs of this folder have in common: the board and its serial port.
#![no_std]
#![forbid(unsafe_code)]

pub mod board;
mod uart;

pub use uart::Uart;

/// Bytes for each direction: the longest message and its line feed.
pub const BUFFER: usize = 1024;
