//! The board: where the program begins, and its serial port. Each has a feature of its name, which is that of the machine in QEMU.

#[cfg(feature = "microbit")]
mod microbit;
#[cfg(feature = "sifive_e")]
mod sifive_e;
#[cfg(any(feature = "stm32vldiscovery", feature = "netduinoplus2"))]
mod stm32;

#[cfg(feature = "microbit")]
pub(crate) use microbit::Port;
#[cfg(feature = "sifive_e")]
pub(crate) use sifive_e::Port;
#[cfg(any(feature = "stm32vldiscovery", feature = "netduinoplus2"))]
pub(crate) use stm32::Port;

// Linked for interrupts, which are off while the registers are taken.
#[cfg(target_arch = "arm")]
use cortex_m as _;

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;

/// Ends the emulation with this exit status. On a real board without a debugger the processor stops.
pub fn exit(status: i32) -> ! {
    semihosting::process::exit(status)
}
