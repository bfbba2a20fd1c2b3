//! An MCP server over HTTP on a microcontroller: every revision, three tools, no allocator, no operating system.
//!
//! Its network is the serial line of the crate `mcp-firmware-slip`, with `smoltcp` as TCP. Each message is handled by a machine of
//! its own, so nothing is remembered between two: there are no sessions. It is driven by `firmware/run --http`.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod clock;
mod connection;
mod request_head;
mod response;
mod site;

use mcp_firmware::Uart;
use mcp_firmware::board::{entry, exit};
use mcp_firmware_slip::{BOARD, CONNECTIONS, HTTP, PREFIX, Slip};
use smoltcp::iface::{Config, Interface, SocketSet, SocketStorage};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr};

use crate::clock::Clock;
use crate::connection::Connection;
use crate::site::Site;

/// Bytes on their way to a connection that it has not read.
const WINDOW: usize = 1024;
/// Bytes of one response: its head, and a body of `mcp_firmware::BUFFER`.
const RESPONSE: usize = 1536;

#[entry]
fn main() -> ! {
    if let (Some(uart), Some(mut clock)) = (Uart::take(), Clock::take()) {
        serve(uart, &mut clock);
    }
    exit(1)
}

fn serve(uart: Uart, clock: &mut Clock) -> ! {
    let mut device = Slip::new(uart);
    // A program for a real network sets `random_seed`, so that sequence numbers cannot be guessed.
    let config = Config::new(HardwareAddress::Ip);
    let mut interface = Interface::new(config, &mut device, Instant::ZERO);
    interface.update_ip_addrs(|addresses| {
        // There is room for two.
        let _ = addresses.push(IpCidr::new(BOARD.into(), PREFIX));
    });
    let mut incoming = [[0; WINDOW]; CONNECTIONS];
    let mut outgoing = [[0; RESPONSE]; CONNECTIONS];
    let mut storage: [SocketStorage<'_>; CONNECTIONS] = Default::default();
    let mut sockets = SocketSet::new(&mut storage[..]);
    for (incoming, outgoing) in incoming.iter_mut().zip(&mut outgoing) {
        let [incoming, outgoing] = [&mut incoming[..], &mut outgoing[..]];
        let mut socket = tcp::Socket::new(
            tcp::SocketBuffer::new(incoming),
            tcp::SocketBuffer::new(outgoing),
        );
        socket.set_nagle_enabled(false);
        sockets.add(socket);
    }
    let mut connections = [const { Connection::new() }; CONNECTIONS];
    let mut site = Site::new();
    loop {
        let now = clock.now();
        let time = Instant::from_millis(now as i64);
        // One packet at a time, so that a socket whose connection has ended listens before the next one begins.
        interface.poll_ingress_single(time, &mut device, &mut sockets);
        interface.poll_egress(time, &mut device, &mut sockets);
        for (connection, (_, socket)) in connections.iter_mut().zip(sockets.iter_mut()) {
            let smoltcp::socket::Socket::Tcp(socket) = socket;
            if !socket.is_open() {
                // It fails only without a port.
                let _ = socket.listen(HTTP);
                *connection = Connection::new();
            } else if socket.is_active() {
                connection.turn(now, socket, &mut site);
            }
        }
    }
}
