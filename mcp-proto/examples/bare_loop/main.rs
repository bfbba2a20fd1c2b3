//! A server and a client in one plain loop over non-blocking sockets of `std`, without an async runtime
//! and without allocations once it runs.
//!
//! `cargo run -p mcp-proto --example bare_loop` starts both on loopback, calls a tool a few times,
//! then a slow tool, cancels such a call, and ends while another one runs. A serial line can take the
//! place of the socket.

mod client_app;
mod server_app;
#[cfg(test)]
mod tests;

use core::net::Ipv4Addr;
use core::time::Duration;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

use mcp_proto::client::{self, Client, ClientConfig};
use mcp_proto::json::{Object, Raw};
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::{self, Server, ServerConfig};
use mcp_proto::{Instant, Link, Machine, Outbox, TurnEnd, Verdict};

use crate::client_app::User;
use crate::server_app::Tools;

fn main() -> io::Result<()> {
    let (user, tools) = talk()?;
    println!("{} answers, {} cancelled", user.answers, tools.cancelled);
    Ok(())
}

/// Joins a client and a server until the client has ended the connection.
fn talk() -> io::Result<(User, Tools)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    near.set_nonblocking(true)?;
    far.set_nonblocking(true)?;

    // All the memory that the two connections ever take is in these two variables.
    let client = ClientConfig::new("bare_loop", "1.0");
    let server = ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("bare_loop", "1.0")
    };
    let client =
        Client::new(client, client::Fixed::new().questions::<1>()).map_err(io::Error::other)?;
    let server = Server::new(server, server::Fixed::new().questions::<1>());
    let server = server.map_err(io::Error::other)?;
    let mut client = Side::new(near, client)?;
    let mut server = Side::new(far, server)?;

    let started = std::time::Instant::now();
    let clock =
        || Instant::from_millis(u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX));
    let (mut user, mut tools) = (User::default(), Tools::default());
    let mut leaving = false;
    client
        .link
        .machine
        .connect(clock())
        .map_err(io::Error::other)?;
    while !server.link.machine.is_closed() {
        let now = clock();
        let mut moved = client.turn(now, |machine, event, outbox| {
            user.on(now, machine, event, outbox)
        })?;
        // What is due by now leaves in this turn.
        tools.answer_late(now, &mut server.link.machine, &mut server.link.outbox);
        moved |= server.turn(now, |machine, event, outbox| {
            tools.on(now, machine, event, outbox)
        })?;
        if leaving && client.link.outbox.is_empty() {
            // The end of the client's half ends what the server still does for it.
            client.stream.shutdown(Shutdown::Write)?;
            leaving = false;
        }
        if let Some(token) = user.too_long.take() {
            client.link.machine.cancel(token);
            user.call(now, SLOW, &mut client.link.machine, &mut client.link.outbox);
            leaving = true;
        }
        if !moved {
            // Where there is `poll(2)`, here it would wait for the socket or the deadline.
            let due = [
                client.link.machine.poll_timeout(),
                server.link.machine.poll_timeout(),
                tools.next_timeout(),
            ];
            let next = due.into_iter().flatten().min();
            let left = next.map(|due| due.saturating_since(now));
            std::thread::sleep(left.unwrap_or(TICK).min(TICK));
        }
    }
    Ok((user, tools))
}

/// A machine with its two buffers, and a stream that never blocks.
struct Side<M, T> {
    link: Link<M, [u8; SIZE], [u8; SIZE]>,
    stream: T,
}

impl<M: Machine, T: Read + Write> Side<M, T> {
    fn new(stream: T, machine: M) -> io::Result<Self> {
        let link = Link::new(machine, [0; SIZE], [0; SIZE]).map_err(io::Error::other)?;
        Ok(Self { link, stream })
    }

    /// Reads what has come, lets the machine work, writes what it has to say. Returns whether
    /// any byte moved.
    fn turn(
        &mut self,
        now: Instant,
        mut app: impl FnMut(&mut M, M::Event<'_>, &mut Outbox<[u8; SIZE]>) -> Verdict,
    ) -> io::Result<bool> {
        let mut moved = false;
        if let Some(spare) = self.link.inbox.spare_mut() {
            match self.stream.read(spare) {
                // The last line may lack its line feed: it is handled before the end.
                Ok(0) => self.link.inbox.close(),
                Ok(count) => {
                    self.link.inbox.filled(count);
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        let rest = self.link.turn(now, &mut app);
        if rest == TurnEnd::Empty && self.link.inbox.is_closed() {
            self.link.machine.hang_up();
            // Only events are left. What does not fit is not written any more.
            let (TurnEnd::Full | TurnEnd::Empty) = self.link.turn(now, &mut app);
        }
        while !self.link.outbox.pending().is_empty() {
            match self.stream.write(self.link.outbox.pending()) {
                // Every further attempt would fail in the same way.
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.link.outbox.consume(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
            moved = true;
        }
        Ok(moved)
    }
}

/// JSON of our own, which is an object.
fn object(text: &[u8]) -> Object<'_> {
    Raw::parse(text, 8)
        .ok()
        .and_then(Raw::object)
        .unwrap_or_default()
}

const ECHO: &str = "echo";
const SLOW: &str = "slow";
const SIZE: usize = 2048;
const TICK: Duration = Duration::from_millis(1);
