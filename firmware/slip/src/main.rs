//! Forwards TCP connections to a board at the other end of a serial line: `forward SOCKET` reads and writes the Unix socket of an
//! emulator's serial port, prints the address on which it listens, and runs until that socket ends.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use mcp_firmware_slip::{BOARD, CONNECTIONS, HOST, HTTP, PREFIX, Slip, Wire};
use smoltcp::iface::{Config, Context, Interface, SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::tcp;
use smoltcp::time;
use smoltcp::wire::{HardwareAddress, IpCidr};

/// Bytes that a connection holds in each direction.
const WINDOW: usize = 4096;
/// The first of the ports that connections to the board leave from.
const FIRST_PORT: u16 = 49_152;

fn main() -> io::Result<()> {
    let Some(path) = std::env::args_os().nth(1) else {
        return Err(io::Error::other("usage: forward SOCKET"));
    };
    let line = UnixStream::connect(path)?;
    line.set_nonblocking(true)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    println!("{}", listener.local_addr()?);
    forward(Line::new(line), &listener)
}

fn forward(line: Line, listener: &TcpListener) -> io::Result<()> {
    let mut device = Slip::new(line);
    let start = Instant::now();
    let config = Config::new(HardwareAddress::Ip);
    let mut interface = Interface::new(config, &mut device, time::Instant::ZERO);
    interface.update_ip_addrs(|addresses| {
        // There is room for two.
        let _ = addresses.push(IpCidr::new(HOST.into(), PREFIX));
    });
    let mut buffers = [[[0; WINDOW]; 2]; CONNECTIONS];
    let mut storage: [SocketStorage<'_>; CONNECTIONS] = Default::default();
    let mut sockets = SocketSet::new(&mut storage[..]);
    let mut connections: Vec<Connection> = buffers
        .iter_mut()
        .map(|[receive, send]| {
            let buffers = [receive, send].map(|bytes| tcp::SocketBuffer::new(&mut bytes[..]));
            let [receive, send] = buffers;
            Connection {
                socket: sockets.add(tcp::Socket::new(receive, send)),
                client: None,
            }
        })
        .collect();
    let mut ports = (FIRST_PORT..=u16::MAX).cycle();
    loop {
        let now = time::Instant::from_millis(start.elapsed().as_millis() as i64);
        interface.poll(now, &mut device, &mut sockets);
        let mut has_moved = false;
        for connection in &mut connections {
            let socket = sockets.get_mut::<tcp::Socket<'_>>(connection.socket);
            has_moved |= match &connection.client {
                Some(_) => connection.pump(socket),
                None => connection.accept(listener, socket, interface.context(), &mut ports)?,
            };
        }
        device.wire.flush()?;
        if !has_moved && !device.wire.fill()? {
            sleep(Duration::from_millis(1));
        }
    }
}

/// A client, and its connection to the board.
struct Connection {
    socket: SocketHandle,
    client: Option<TcpStream>,
}

impl Connection {
    /// Takes the next client, if one waits and the connection before it has ended. Returns true if it did.
    fn accept(
        &mut self,
        listener: &TcpListener,
        socket: &mut tcp::Socket<'_>,
        context: &mut Context,
        ports: &mut impl Iterator<Item = u16>,
    ) -> io::Result<bool> {
        if socket.is_open() {
            return Ok(false);
        }
        let client = match listener.accept() {
            Ok((client, _)) => client,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        client.set_nonblocking(true)?;
        let port = ports.next().unwrap_or(FIRST_PORT);
        socket
            .connect(context, (BOARD, HTTP), port)
            .map_err(|error| io::Error::other(error.to_string()))?;
        socket.set_nagle_enabled(false);
        self.client = Some(client);
        Ok(true)
    }

    /// Moves bytes in both directions. Returns true if there were any.
    fn pump(&mut self, socket: &mut tcp::Socket<'_>) -> bool {
        let Some(client) = &mut self.client else {
            return false;
        };
        let mut read = Ok(0);
        let mut written = Ok(0);
        if socket.can_send() {
            let _ = socket.send(|room| {
                read = client.read(room);
                (*read.as_ref().unwrap_or(&0), ())
            });
            if let Ok(0) = read {
                socket.close();
            }
        }
        if socket.can_recv() {
            let _ = socket.recv(|bytes| {
                written = client.write(bytes);
                (*written.as_ref().unwrap_or(&0), ())
            });
        }
        let is_broken = [&read, &written]
            .into_iter()
            .any(|result| matches!(result, Err(error) if error.kind() != ErrorKind::WouldBlock));
        if is_broken {
            socket.abort();
        }
        let has_ended = matches!(
            socket.state(),
            tcp::State::CloseWait | tcp::State::LastAck | tcp::State::TimeWait | tcp::State::Closed
        );
        if has_ended && !socket.can_recv() {
            // The client may have gone already.
            let _ = client.shutdown(Shutdown::Both);
            socket.close();
            self.client = None;
        }
        matches!(read, Ok(1..)) || matches!(written, Ok(1..))
    }
}

/// The serial port of the emulator.
struct Line {
    socket: UnixStream,
    incoming: VecDeque<u8>,
    outgoing: VecDeque<u8>,
}

impl Line {
    const fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            incoming: VecDeque::new(),
            outgoing: VecDeque::new(),
        }
    }

    /// Reads what has arrived. Returns true if it was any.
    fn fill(&mut self) -> io::Result<bool> {
        let mut bytes = [0; WINDOW];
        match self.socket.read(&mut bytes) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.incoming.extend(&bytes[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes as much as the emulator takes.
    fn flush(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            match self.socket.write(self.outgoing.as_slices().0) {
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Wire for Line {
    fn receive(&mut self) -> Option<u8> {
        self.incoming.pop_front()
    }

    fn send(&mut self, byte: u8) {
        self.outgoing.push_back(byte);
    }
}
