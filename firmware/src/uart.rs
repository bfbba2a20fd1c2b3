//! The serial port of the board, polled.

use stm32f1::stm32f100::{Peripherals, USART1};

/// The first USART, as the emulator starts it: it asks for no clock, no pins and no rate.
pub struct Uart {
    registers: USART1,
}

impl Uart {
    /// The port; `None` if it is already taken.
    pub fn take() -> Option<Self> {
        let registers = Peripherals::take()?.USART1;
        registers
            .cr1()
            .write(|w| w.ue().set_bit().te().set_bit().re().set_bit());
        Some(Self { registers })
    }

    /// Waits for the bytes of a line and takes them, or as many as fit: there is nothing else to do
    /// before it is whole, and so the work for it does not depend on how it trickles in.
    pub fn read(&self, into: &mut [u8]) -> usize {
        let mut len = 0;
        for place in into {
            if self.registers.sr().read().rxne().bit_is_clear() {
                self.wait_for_byte();
            }
            *place = self.registers.dr().read().dr().bits() as u8;
            len += 1;
            if *place == b'\n' {
                break;
            }
        }
        len
    }

    /// Writes all bytes, at the speed of the wire.
    pub fn write(&self, bytes: &[u8]) {
        for &byte in bytes {
            if self.registers.sr().read().txe().bit_is_clear() {
                self.wait_for_room();
            }
            self.registers.dr().write(|w| w.dr().set(byte.into()));
        }
    }

    /// Idles. These two are functions of their own, so that their instructions can be
    /// distinguished.
    #[inline(never)]
    fn wait_for_byte(&self) {
        while self.registers.sr().read().rxne().bit_is_clear() {}
    }

    #[inline(never)]
    fn wait_for_room(&self) {
        while self.registers.sr().read().txe().bit_is_clear() {}
    }
}
