//! The serial port, polled.

use crate::board::Port;

/// The serial port of the board.
pub struct Uart(Port);

impl Uart {
    /// Returns the port; `None` if it is already taken.
    pub fn take() -> Option<Self> {
        Port::take().map(Self)
    }

    /// Waits for the bytes of a line and takes them, or as many as fit: there is nothing else to do
    /// before it is whole, and so the work for it does not depend on how it trickles in.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let mut len = 0;
        for place in into {
            *place = match self.0.receive() {
                Some(byte) => byte,
                None => self.wait_for_byte(),
            };
            len += 1;
            if *place == b'\n' {
                break;
            }
        }
        len
    }

    /// Writes all bytes, at the speed of the wire.
    pub fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if !self.0.has_room() {
                self.wait_for_room();
            }
            self.0.send(byte);
        }
    }

    /// Idles. These two are functions of their own, so that their instructions can be
    /// distinguished.
    #[inline(never)]
    fn wait_for_byte(&mut self) -> u8 {
        loop {
            if let Some(byte) = self.0.receive() {
                return byte;
            }
        }
    }

    #[inline(never)]
    fn wait_for_room(&mut self) {
        while !self.0.has_room() {}
    }
}

#[cfg(feature = "http")]
impl mcp_firmware_slip::Wire for Uart {
    fn receive(&mut self) -> Option<u8> {
        self.0.receive()
    }

    fn send(&mut self, byte: u8) {
        self.write(&[byte]);
    }
}
