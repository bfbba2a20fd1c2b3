//! An MCP server for C programs: a static library without an allocator and an operating system.
//!
//! One server lives in a static of the library. The C program moves the bytes: `mcp_read` takes what
//! the client wrote, `mcp_work` handles it, `mcp_write` hands out what the client is to read.
//! `mcp_server.h` declares the functions, and `main.c` serves standard input and output with them.
#![no_std]

use mcp_proto::json::Raw;
use mcp_proto::model::ServerFeatures;
use mcp_proto::rpc::Method;
use mcp_proto::server::{Event, Fixed, Server, ServerConfig};
use mcp_proto::{Instant, Limits, Link, Outcome, TurnEnd, Verdict};
use safer_ffi::prelude::{c_slice, ffi_export};
use spin::Mutex;

/// The longest message in either direction, with its newline.
const SIZE: usize = 1024;
/// How many calls may run at the same time.
const CALLS: usize = 2;

/// Ids of up to 32 bytes, so many calls, and neither questions, arrays nor subscriptions.
type Storage = Fixed<CALLS, 0, 0, 0, 32>;

type Connection = Link<Server<'static, Storage>, [u8; SIZE], [u8; SIZE]>;

static CONNECTION: Mutex<Option<Connection>> = Mutex::new(None);

/// Begins a connection, in place of the one before. Returns the bytes that it takes in the static, or
/// 0 if the configuration is wrong.
#[ffi_export]
fn mcp_open() -> usize {
    *CONNECTION.lock() = open();
    match *CONNECTION.lock() {
        Some(_) => size_of::<Connection>(),
        None => 0,
    }
}

/// Takes bytes that the client wrote. Returns how many: with fewer than there are, call `mcp_work`
/// and `mcp_write`, and offer the rest again. Without a connection all are taken and dropped, so that
/// such a loop ends.
#[ffi_export]
fn mcp_read(bytes: c_slice::Ref<'_, u8>) -> usize {
    let mut connection = CONNECTION.lock();
    let Some(inbox) = connection.as_mut().map(|link| &mut link.inbox) else {
        return bytes.len();
    };
    let Some(spare) = inbox.spare_mut() else {
        return 0;
    };
    let mut count = 0;
    for (place, byte) in spare.iter_mut().zip(bytes.iter()) {
        *place = *byte;
        count += 1;
    }
    inbox.filled(count);
    count
}

/// Handles what was read, at this time in milliseconds. Returns whether the client has to be written to
/// before more can be handled.
#[ffi_export]
fn mcp_work(milliseconds: u64) -> bool {
    let mut connection = CONNECTION.lock();
    let Some(link) = connection.as_mut() else {
        return false;
    };
    let now = Instant::from_millis(milliseconds);
    link.turn(now, |server, event, outbox| {
        let Event::Request { token, method, .. } = event else {
            return Verdict::Done;
        };
        let text = if method == Method::ToolsList {
            TOOLS
        } else {
            GREETING
        };
        let result = Raw::parse(text, DEPTH).unwrap_or_default();
        outbox
            .put(|out| server.respond(token, Outcome::Result(&result), out))
            .into()
    }) == TurnEnd::Full
}

/// Fills the buffer with bytes for the client. Returns how many there are, 0 if there are none.
#[ffi_export]
fn mcp_write(mut buffer: c_slice::Mut<'_, u8>) -> usize {
    let mut connection = CONNECTION.lock();
    let Some(outbox) = connection.as_mut().map(|link| &mut link.outbox) else {
        return 0;
    };
    let mut count = 0;
    for (place, byte) in buffer.iter_mut().zip(outbox.pending()) {
        *place = *byte;
        count += 1;
    }
    outbox.consume(count);
    count
}

fn open() -> Option<Connection> {
    let limits = Limits {
        depth: DEPTH,
        ..Limits::default()
    };
    let config = ServerConfig {
        limits,
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("from_c", "1.0")
    };
    let server = Server::new(config, Storage::default()).ok()?;
    Link::new(server, [0; SIZE], [0; SIZE]).ok()
}

const DEPTH: u8 = 16;
const TOOLS: &[u8] = br#"{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}"#;
const GREETING: &[u8] = br#"{"content":[{"type":"text","text":"Hello from C!"}]}"#;

/// The C program has no output for it. None is linked: see `run`.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
