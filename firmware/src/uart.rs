//! The serial port of the board, polled.

use tm4c123x::{Peripherals, UART0};

/// The first UART, as the emulator starts it: it asks for no clock, no pins and no rate.
pub struct Uart {
    registers: UART0,
}

impl Uart {
    /// The port; `None` if it is already taken.
    pub fn take() -> Option<Self> {
        let registers = Peripherals::take()?.UART0;
        registers
            .ctl
            .write(|w| w.uarten().set_bit().txe().set_bit().rxe().set_bit());
        Some(Self { registers })
    }

    /// Waits for the bytes of a line and takes them, or as many as fit: there is nothing else to do
    /// before it is whole, and so the work for it does not depend on how it trickles in.
    pub fn read(&self, into: &mut [u8]) -> usize {
        let mut len = 0;
        for place in into {
            if self.registers.fr.read().rxfe().bit_is_set() {
                self.wait_for_byte();
            }
            *place = self.registers.dr.read().data().bits();
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
            if self.registers.fr.read().txff().bit_is_set() {
                self.wait_for_room();
            }
            self.put(byte);
        }
    }

    /// Idles. These two are functions of their own, so that their instructions can be
    /// distinguished.
    #[inline(never)]
    fn wait_for_byte(&self) {
        while self.registers.fr.read().rxfe().bit_is_set() {}
    }

    #[inline(never)]
    fn wait_for_room(&self) {
        while self.registers.fr.read().txff().bit_is_set() {}
    }

    /// The one register that the access crate calls unsafe to write, because its fields share it with
    /// flags of the receiver; those ignore what is written.
    #[expect(unsafe_code, reason = "a transmit register has no safe writer")]
    fn put(&self, byte: u8) {
        // SAFETY: all eight bits of the field are data; every value is a byte to send.
        self.registers.dr.write(|w| unsafe { w.data().bits(byte) });
    }
}
