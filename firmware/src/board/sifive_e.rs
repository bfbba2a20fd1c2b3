//! The first UART of an FE310, at 115,200 baud by the clock that runs after a reset.

use e310x_hal::DeviceResources;
use e310x_hal::clock::Clocks;
use e310x_hal::e310x::Uart0;
use e310x_hal::gpio::gpio0::{Pin16, Pin17};
use e310x_hal::gpio::{IOF0, NoInvert};
use e310x_hal::prelude::embedded_hal_nb::serial;
use e310x_hal::prelude::embedded_io::WriteReady as _;
use e310x_hal::prelude::{
    _e310x_hal_clock_AonExt as _, _e310x_hal_clock_PrciExt as _, _e310x_hal_time_U32Ext as _,
};
use e310x_hal::serial::{Rx, Serial, Tx};

pub(crate) struct Port {
    sender: Tx<Uart0, Pin17<IOF0<NoInvert>>>,
    receiver: Rx<Uart0, Pin16<IOF0<NoInvert>>>,
}

impl Port {
    pub(crate) fn take() -> Option<Self> {
        let DeviceResources {
            peripherals, pins, ..
        } = DeviceResources::take()?;
        // The other clock is a crystal of the board. The emulator's internal one would never be ready.
        let slow = peripherals.AONCLK.constrain().use_external(32_768.hz());
        let clocks = Clocks::freeze(peripherals.PRCI.constrain(), slow);
        let pins = (pins.pin17.into_iof0(), pins.pin16.into_iof0());
        let (sender, receiver) =
            Serial::new(peripherals.UART0, pins, 115_200.bps(), clocks).split();
        Some(Self { sender, receiver })
    }

    pub(crate) fn receive(&mut self) -> Option<u8> {
        serial::Read::read(&mut self.receiver).ok()
    }

    pub(crate) fn has_room(&mut self) -> bool {
        matches!(self.sender.write_ready(), Ok(true))
    }

    pub(crate) fn send(&mut self, byte: u8) {
        // It cannot fail: there is room.
        serial::Write::write(&mut self.sender, byte).unwrap_or_default();
    }
}
