//! The time since the start.

use cortex_m::Peripherals;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;

/// Ticks of the processor in a millisecond, at the 168 MHz of the emulated STM32F405. A real one has to be set to that speed.
const TICKS: u32 = 168_000;
/// The timer counts down from here, for 99 ms.
const RELOAD: u32 = 0xff_ffff;

/// The timer of the processor, read at least every 99 ms: what passes unread is lost.
pub(crate) struct Clock {
    last: u32,
    ticks: u32,
    millis: u64,
}

impl Clock {
    /// Starts the timer; `None` if it is already taken.
    pub(crate) fn take() -> Option<Self> {
        let mut timer = Peripherals::take()?.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(RELOAD);
        timer.clear_current();
        timer.enable_counter();
        Some(Self {
            last: SYST::get_current(),
            ticks: 0,
            millis: 0,
        })
    }

    /// Returns the milliseconds since the start.
    pub(crate) fn now(&mut self) -> u64 {
        let current = SYST::get_current();
        self.ticks += self.last.wrapping_sub(current) & RELOAD;
        self.last = current;
        self.millis += u64::from(self.ticks / TICKS);
        self.ticks %= TICKS;
        self.millis
    }
}
