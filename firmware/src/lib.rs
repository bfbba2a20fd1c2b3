//! The parts that the programs of this folder share: the tools, the board and its serial port.
#![no_std]
#![forbid(unsafe_code)]

pub mod app;
pub mod board;
mod uart;

#[cfg(not(any(feature = "http", feature = "serde-json-core", feature = "sifive_e")))]
use panic_never as _;
pub use uart::Uart;

/// Bytes for each direction: the longest message and its line feed.
pub const BUFFER: usize = 1024;

/// The crates `smoltcp`, `serde-json-core` and `e310x-hal` can panic, so with them another handler takes the place of
/// `panic-never`.
#[cfg(any(feature = "http", feature = "serde-json-core", feature = "sifive_e"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    board::exit(1)
}
