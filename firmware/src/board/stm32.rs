//! The first USART of an STM32F100 or STM32F405, or the second with the feature `http`, as the emulator starts it: it requires no
//! clock, no pins and no rate.

#[cfg(feature = "stm32vldiscovery")]
use stm32f1::stm32f100 as chip;
#[cfg(feature = "netduinoplus2")]
use stm32f4::stm32f405 as chip;

#[cfg(not(feature = "http"))]
use chip::USART1 as Usart;
#[cfg(feature = "http")]
use chip::USART2 as Usart;

pub(crate) struct Port {
    registers: Usart,
}

impl Port {
    pub(crate) fn take() -> Option<Self> {
        let chip::Peripherals {
            #[cfg(not(feature = "http"))]
                USART1: registers,
            #[cfg(feature = "http")]
                USART2: registers,
            ..
        } = chip::Peripherals::take()?;
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
