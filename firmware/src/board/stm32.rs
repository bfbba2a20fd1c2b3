//! The first USART of an STM32F100 or STM32F405, as the emulator starts it: it requires no clock, no pins and no rate.

#[cfg(feature = "stm32vldiscovery")]
use stm32f1::stm32f100::{Peripherals, USART1};
#[cfg(feature = "netduinoplus2")]
use stm32f4::stm32f405::{Peripherals, USART1};

pub(crate) struct Port {
    registers: USART1,
}

impl Port {
    pub(crate) fn take() -> Option<Self> {
        let registers = Peripherals::take()?.USART1;
        registers
            .cr1()
            .write(|w| w.ue().set_bit().te().set_bit().re().set_bit());
        Some(Self { registers })
    }

    pub(crate) fn receive(&mut self) -> Option<u8> {
        let has_byte = self.registers.sr().read().rxne().bit_is_set();
        has_byte.then(|| self.registers.dr().read().dr().bits() as u8)
    }

    pub(crate) fn has_room(&mut self) -> bool {
        self.registers.sr().read().txe().bit_is_set()
    }

    pub(crate) fn send(&mut self, byte: u8) {
        self.registers.dr().write(|w| w.dr().set(byte.into()));
    }
}
