//! An MCP server on a microcontroller: every revision, three tools, no allocator, no operating system.
//!
//! Everything that it will ever need lies in `main`'s frame: two buffers of 1 KiB and the tables.
//! It is driven over the serial port, one message a line, by the program `firmware/run`.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use mcp_firmware::app::{self, App};
use mcp_firmware::board::{entry, exit};
use mcp_firmware::{BUFFER, Uart};
use mcp_proto::server::{
    ConstantConfig, ConstantServer, Fixed, Server, ServerConfig, WithoutSubscriptions,
};
use mcp_proto::{ConfigError, Heapless, Instant, Limits, Link, TurnEnd};

/// Requests in flight, of ids of so many bytes.
const REQUESTS: usize = 4;
const ID: usize = 64;

#[entry]
fn main() -> ! {
    if let Some(mut uart) = Uart::take() {
        serve(&mut uart);
    }
    exit(1)
}

/// The tools never change, so `subscriptions/listen` is left out.
type Tables = WithoutSubscriptions<Fixed<REQUESTS, 0, 0, 0, ID>>;

/// Both eras, unless a feature leaves one out.
#[cfg(not(any(feature = "legacy-only", feature = "modern-only")))]
type Storage = Tables;
#[cfg(feature = "legacy-only")]
type Storage = mcp_proto::server::LegacyOnly<Tables>;
#[cfg(all(feature = "modern-only", not(feature = "legacy-only")))]
type Storage = mcp_proto::server::ModernOnly<Tables>;

/// The configuration, as a constant.
struct Settings;

impl ConstantConfig for Settings {
    const CONFIG: ServerConfig<'static> = ServerConfig {
        capabilities: app::capabilities(),
        limits: Limits {
            depth: 16,
            ..Limits::DEFAULT
        },
        ..ServerConfig::new("firmware", env!("CARGO_PKG_VERSION"))
    };
}

type Machine = ConstantServer<Settings, Storage>;

/// A function of its own, so that the stack holds what it takes only while it runs.
#[inline(never)]
fn server() -> Result<Machine, ConfigError> {
    Server::constant::<Settings>(Storage::default())
}

fn serve(uart: &mut Uart) {
    // Served where it is: a server that is moved takes twice its room.
    if let Ok(server) = &mut server() {
        talk(uart, server);
    }
}

/// Also a function of its own, so that the buffers use the stack that `server` has freed.
#[inline(never)]
fn talk(uart: &mut Uart, server: &mut Machine) {
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
