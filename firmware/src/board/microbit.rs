//! The serial port of a micro:bit (nRF51), at 115,200 baud on the pins that lead to its USB interface.

use embedded_io::{Read as _, ReadReady as _, Write as _, WriteReady as _};
use nrf51_hal::Uart;
use nrf51_hal::gpio::{Level, p0};
use nrf51_hal::pac::{Peripherals, UART0};
use nrf51_hal::uart::{Baudrate, Parity, Pins};

pub(crate) struct Port(Uart<UART0>);

impl Port {
    pub(crate) fn take() -> Option<Self> {
        let Peripherals { UART0, GPIO, .. } = Peripherals::take()?;
        let parts = p0::Parts::new(GPIO);
        let pins = Pins {
            txd: parts.p0_24.into_push_pull_output(Level::High).degrade(),
            rxd: parts.p0_25.into_floating_input().degrade(),
            cts: None,
            rts: None,
        };
        let new =
            |registers, pins| Uart::new(registers, pins, Parity::EXCLUDED, Baudrate::BAUD115200);
        // The crate waits for a byte that it has sent before the port is on, which the emulator does not send: the port is set
        // up twice. The other side sees a zero byte first.
        let (registers, pins) = new(UART0, pins).free();
        Some(Self(new(registers, pins)))
    }

    pub(crate) fn receive(&mut self) -> Option<u8> {
        let mut byte = [0];
        // A read would wait.
        let is_read = self.0.read_ready() == Ok(true) && self.0.read(&mut byte) == Ok(1);
        let [byte] = byte;
        is_read.then_some(byte)
    }

    pub(crate) fn has_room(&mut self) -> bool {
        self.0.write_ready() == Ok(true)
    }

    pub(crate) fn send(&mut self, byte: u8) {
        let Ok(_) = self.0.write(&[byte]);
    }
}
