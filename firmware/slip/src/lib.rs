//! IP packets on a serial line (SLIP, RFC 1055) as a device of `smoltcp`, without an allocator: for both ends of the line.
#![no_std]
#![forbid(unsafe_code)]

use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::time::Instant;
use smoltcp::wire::Ipv4Address;

/// The address of the board.
pub const BOARD: Ipv4Address = Ipv4Address::new(192, 168, 7, 2);
/// The address of the other end.
pub const HOST: Ipv4Address = Ipv4Address::new(192, 168, 7, 1);
/// The length of the prefix that both addresses share, in bits.
pub const PREFIX: u8 = 24;

/// The TCP port of the board.
pub const HTTP: u16 = 80;
/// The most connections at the same time; the next ones wait at the other end.
pub const CONNECTIONS: usize = 2;

/// The longest packet in bytes, as RFC 1055 recommends.
pub const MTU: usize = 1006;

const END: u8 = 0o300;
const ESC: u8 = 0o333;
const ESC_END: u8 = 0o334;
const ESC_ESC: u8 = 0o335;

/// A serial line.
pub trait Wire {
    /// Returns the next byte, if one has arrived.
    fn receive(&mut self) -> Option<u8>;

    /// Sends a byte, or keeps it until it can be sent.
    fn send(&mut self, byte: u8);
}

/// A serial line that carries packets.
#[derive(Debug)]
pub struct Slip<W> {
    /// The line.
    pub wire: W,
    incoming: Incoming,
    outgoing: [u8; MTU],
}

impl<W: Wire> Slip<W> {
    /// Returns the device of a line.
    pub const fn new(wire: W) -> Self {
        Self {
            wire,
            incoming: Incoming {
                bytes: [0; MTU],
                len: 0,
                is_escaped: false,
                is_broken: false,
                is_whole: false,
            },
            outgoing: [0; MTU],
        }
    }
}

/// A packet that arrives.
#[derive(Debug)]
struct Incoming {
    bytes: [u8; MTU],
    len: usize,
    is_escaped: bool,
    /// True if the packet is too long or has an unknown escape: it is dropped at its end.
    is_broken: bool,
    is_whole: bool,
}

impl Incoming {
    fn take(&mut self, byte: u8) {
        if self.is_whole {
            self.clear();
        }
        match (byte, self.is_escaped) {
            (END, _) if self.is_broken || self.is_escaped => self.clear(),
            // Two ends in a row are no packet.
            (END, _) => self.is_whole = self.len > 0,
            (ESC, false) => self.is_escaped = true,
            (ESC_END, true) => self.push(END),
            (ESC_ESC, true) => self.push(ESC),
            (_, true) => self.is_broken = true,
            (_, false) => self.push(byte),
        }
    }

    fn push(&mut self, byte: u8) {
        self.is_escaped = false;
        match self.bytes.get_mut(self.len) {
            Some(place) => {
                *place = byte;
                self.len += 1;
            }
            None => self.is_broken = true,
        }
    }

    const fn clear(&mut self) {
        self.len = 0;
        self.is_escaped = false;
        self.is_broken = false;
        self.is_whole = false;
    }
}

impl<W: Wire> Device for Slip<W> {
    type RxToken<'a>
        = Received<'a>
    where
        W: 'a;
    type TxToken<'a>
        = Sending<'a, W>
    where
        W: 'a;

    fn receive(&mut self, _: Instant) -> Option<(Received<'_>, Sending<'_, W>)> {
        loop {
            self.incoming.take(self.wire.receive()?);
            if self.incoming.is_whole {
                break;
            }
        }
        let received = Received(self.incoming.bytes.get(..self.incoming.len)?);
        Some((
            received,
            Sending {
                wire: &mut self.wire,
                bytes: &mut self.outgoing,
            },
        ))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sending<'_, W>> {
        Some(Sending {
            wire: &mut self.wire,
            bytes: &mut self.outgoing,
        })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU;
        capabilities
    }
}

/// A packet that has arrived.
#[derive(Debug)]
pub struct Received<'a>(&'a [u8]);

impl phy::RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.0)
    }
}

/// The place of a packet to send.
#[derive(Debug)]
pub struct Sending<'a, W> {
    wire: &'a mut W,
    bytes: &'a mut [u8; MTU],
}

impl<W: Wire> phy::TxToken for Sending<'_, W> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        // It is never longer than the MTU.
        let packet = &mut self.bytes[..len];
        let result = write(packet);
        // Ends what noise on the line has begun.
        self.wire.send(END);
        for &byte in &*packet {
            let escape = match byte {
                END => ESC_END,
                ESC => ESC_ESC,
                _ => {
                    self.wire.send(byte);
                    continue;
                }
            };
            self.wire.send(ESC);
            self.wire.send(escape);
        }
        self.wire.send(END);
        result
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::VecDeque;
    use std::vec::Vec;

    use phy::{RxToken as _, TxToken as _};

    use super::*;

    /// Returns to its sender each byte that was sent.
    impl Wire for VecDeque<u8> {
        fn receive(&mut self) -> Option<u8> {
            self.pop_front()
        }

        fn send(&mut self, byte: u8) {
            self.push_back(byte);
        }
    }

    fn packets(slip: &mut Slip<VecDeque<u8>>) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        while let Some((packet, _)) = slip.receive(Instant::ZERO) {
            found.push(packet.consume(<[u8]>::to_vec));
        }
        found
    }

    #[test]
    fn packets_arrive_as_they_were_sent() {
        let mut slip = Slip::new(VecDeque::new());
        let sent: [&[u8]; 3] = [b"plain", &[END, ESC, ESC_END, ESC_ESC, END], &[ESC; MTU]];
        for packet in sent {
            let sending = slip.transmit(Instant::ZERO).unwrap();
            sending.consume(packet.len(), |bytes| bytes.copy_from_slice(packet));
        }
        assert_eq!(packets(&mut slip), sent);
    }

    #[test]
    fn broken_packets_are_dropped() {
        let mut line: VecDeque<u8> = VecDeque::new();
        line.extend([ESC, b'a', END]);
        line.extend([b'a', ESC, END]);
        line.extend([b'a'; MTU + 1]);
        line.extend([END, b'b', END]);
        assert_eq!(packets(&mut Slip::new(line)), [b"b"]);
    }
}
