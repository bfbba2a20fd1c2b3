//! An MCP server on a microcontroller: every revision, three tools, no allocator, no operating system.
//!
//! Everything that it will ever need lies in `main`'s frame: two buffers of 1 KiB and the tables.
//! It is driven over the serial port, one message a line, by the program `firmware/run`.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod app;
mod uart;

use cortex_m as _;
use cortex_m_rt::entry;
use mcp_proto::server::{Fixed, Server, ServerConfig};
use mcp_proto::{ConfigError, Heapless, Instant, Limits, Link, TurnEnd};
#[cfg(not(feature = "serde-json-core"))]
use panic_never as _;

use crate::app::App;
use crate::uart::Uart;

/// Bytes for each direction.
const BUFFER: usize = 1024;
/// Requests in flight, of ids of so many bytes.
const REQUESTS: usize = 4;
const ID: usize = 64;

#[entry]
fn main() -> ! {
    if let Some(uart) = Uart::take() {
        serve(&uart);
    }
    fail()
}

/// The crate `serde-json-core` can panic, so with it another handler takes the place of `panic-never`.
#[cfg(feature = "serde-json-core")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    fail()
}

/// Ends the emulation.
fn fail() -> ! {
    loop {
        cortex_m_semihosting::debug::exit(cortex_m_semihosting::debug::EXIT_FAILURE);
    }
}

type Tables = Fixed<REQUESTS, 0, 0, 0, ID>;

/// Both eras, unless a feature leaves one out.
#[cfg(not(any(feature = "legacy-only", feature = "modern-only")))]
type Storage = Tables;
#[cfg(feature = "legacy-only")]
type Storage = mcp_proto::server::LegacyOnly<Tables>;
#[cfg(all(feature = "modern-only", not(feature = "legacy-only")))]
type Storage = mcp_proto::server::ModernOnly<Tables>;

/// A function of its own, so that the stack holds the configuration for as long as it runs only.
#[inline(never)]
fn server() -> Result<Server<'static, Storage>, ConfigError> {
    let limits = Limits {
        depth: 16,
        ..Limits::default()
    };
    let config = ServerConfig {
        capabilities: app::capabilities(),
        limits,
        ..ServerConfig::new("firmware", env!("CARGO_PKG_VERSION"))
    };
    Server::new(config, Storage::default())
}

fn serve(uart: &Uart) {
    // Served where it is: a server that is moved takes twice its room.
    if let Ok(server) = &mut server() {
        talk(uart, server);
    }
}

/// A function of its own as well, so that the buffers lie where the configuration was.
#[inline(never)]
fn talk(uart: &Uart, server: &mut Server<'static, Storage>) {
    let (inbox, outbox) = (Heapless::<u8, BUFFER>::new(), Heapless::<u8, BUFFER>::new());
    let Ok(mut link) = Link::new(server, inbox, outbox) else {
        return;
    };
    let mut app = App::default();
    loop {
        // No clock: nothing here has a deadline.
        let rest = link.turn(Instant::ZERO, |server, event, outbox| {
            app.on(server, event, outbox)
        });
        uart.write(link.outbox.pending());
        link.outbox.consume(link.outbox.pending().len());
        if rest == TurnEnd::Empty
            && let Some(spare) = link.inbox.spare_mut()
        {
            let len = uart.read(spare);
            link.inbox.filled(len);
        }
    }
}
