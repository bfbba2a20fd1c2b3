//! A client that does next to nothing: it knows its bytes beforehand and looks for the length of answers only.

use std::io::{self, Error, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;

use crate::requests::{self, Era, SAID};

/// How many connections an echo is measured on.
pub(crate) const CONNECTIONS: usize = 16;

/// A connection that is kept alive.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(4096),
        })
    }

    /// Opens a session, and returns its id; a server without sessions gets a made-up one.
    pub(crate) fn initialize(&mut self) -> io::Result<String> {
        let answer = self.exchange(&requests::initialize())?;
        let id = field(answer, "mcp-session-id:").unwrap_or("8d3a7c0e5f1b4296a7e0c3d5b8f91426");
        let id = id.to_owned();
        self.exchange(&requests::initialized(&id))?;
        Ok(id)
    }

    /// Sends a request and waits for its whole answer.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> io::Result<&[u8]> {
        self.stream.write_all(request)?;
        let head = self.read_head()?;
        let length = field(&self.buffer, "content-length:").and_then(|length| length.parse().ok());
        let length: usize = length.ok_or_else(|| Error::other("an answer without length"))?;
        while self.buffer.len() < head + length {
            self.read()?;
        }
        Ok(&self.buffer)
    }

    /// Sends a request and waits for the head of its answer, behind which events may come.
    pub(crate) fn open_events(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)?;
        self.read_head()?;
        match field(&self.buffer, "content-type:") {
            Some("text/event-stream") => Ok(()),
            _ => Err(Error::other("there is no event stream")),
        }
    }

    fn read_head(&mut self) -> io::Result<usize> {
        self.buffer.clear();
        loop {
            self.read()?;
            let end = self
                .buffer
                .windows(4)
                .position(|bytes| bytes == b"\r\n\r\n");
            if let Some(end) = end {
                return Ok(end + 4);
            }
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            len => {
                self.buffer.extend_from_slice(&bytes[..len]);
                Ok(())
            }
        }
    }
}

/// A connection and the call that is to be made on it, tried once.
fn ready(port: u16, era: Era) -> io::Result<(Connection, Vec<u8>)> {
    let mut connection = Connection::open(port)?;
    let session = match era {
        Era::Modern => String::new(),
        Era::Legacy => connection.initialize()?,
    };
    let call = era.call(&session);
    let answer = connection.exchange(&call)?;
    let answered =
        answer.starts_with(b"HTTP/1.1 200 ") && answer.windows(SAID.len()).any(|text| text == SAID);
    if !answered {
        let answer = String::from_utf8_lossy(answer);
        return Err(Error::other(format!("no answer to a call: {answer}")));
    }
    Ok((connection, call))
}

/// So many calls, one after the other, each on the next of the connections: the server does the
/// same each time, whatever the machine is busy with. Then says so, and keeps the connections while its input is open.
pub(crate) fn in_turn(port: u16, era: Era, calls: usize) -> io::Result<()> {
    let connections: io::Result<Vec<_>> = (0..CONNECTIONS).map(|_| ready(port, era)).collect();
    let mut connections = connections?;
    for at in (0..CONNECTIONS).cycle().take(calls) {
        let (connection, call) = &mut connections[at];
        connection.exchange(call)?;
    }
    println!("answered");
    io::stdin().read_to_end(&mut Vec::new()).map(drop)
}

/// Connections that call all at a time.
pub(crate) struct Crowd(Vec<(Connection, Vec<u8>)>);

impl Crowd {
    pub(crate) fn open(port: u16, era: Era) -> io::Result<Self> {
        let connections: io::Result<_> = (0..CONNECTIONS).map(|_| ready(port, era)).collect();
        connections.map(Self)
    }

    /// Makes so many calls on each connection.
    pub(crate) fn call(&mut self, times: usize) -> io::Result<()> {
        thread::scope(|scope| {
            let callers: Vec<_> = self
                .0
                .iter_mut()
                .map(|(connection, call)| {
                    scope.spawn(move || {
                        (0..times).try_for_each(|_| connection.exchange(call).map(drop))
                    })
                })
                .collect();
            callers
                .into_iter()
                .try_for_each(|caller| caller.join().expect("nothing to panic about"))
        })
    }
}

/// The value of a field of an answer's head.
fn field<'a>(answer: &'a [u8], name: &str) -> Option<&'a str> {
    let at = answer
        .windows(name.len())
        .position(|text| text.eq_ignore_ascii_case(name.as_bytes()))?;
    let value = answer.get(at + name.len()..)?;
    let end = value.iter().position(|byte| *byte == b'\r')?;
    std::str::from_utf8(&value[..end]).ok().map(str::trim)
}
