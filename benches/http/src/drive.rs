//! A client that does next to nothing: it knows its bytes beforehand and looks for the length of answers only.

use std::io::{self, Error, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;

use crate::requests::{self, Era, SAID};
use crate::subscribers::Subscribers;
#[cfg(feature = "auth")]
use crate::tokens::Signed;

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

    /// Sends a request and waits for the head of its answer, which has no body.
    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)?;
        self.read_head().map(drop)
    }

    /// Sends a request and waits for the head of its answer, behind which events may come.
    pub(crate) fn open_events(&mut self, request: &[u8]) -> io::Result<()> {
        self.send(request)?;
        match field(&self.buffer, "content-type:") {
            Some("text/event-stream") => Ok(()),
            _ => Err(Error::other("there is no event stream")),
        }
    }

    /// Reads until these bytes came, and forgets what came before.
    pub(crate) fn read_past(&mut self, text: &[u8]) -> io::Result<()> {
        self.buffer.clear();
        while !self.buffer.windows(text.len()).any(|bytes| bytes == text) {
            self.read()?;
        }
        Ok(())
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

/// The work that a connection repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Echo(Era),
    /// An echo of 2026-07-28 with a token.
    #[cfg(feature = "auth")]
    Protected(Signed),
    /// A call that becomes a task, and a poll that finds its result.
    Task,
}

impl Work {
    pub(crate) fn named(name: &str) -> io::Result<Self> {
        Ok(match name {
            #[cfg(feature = "auth")]
            "rs256" => Self::Protected(Signed::Rs256),
            #[cfg(feature = "auth")]
            "eddsa" => Self::Protected(Signed::EdDsa),
            "task" => Self::Task,
            "tools" => Self::Echo(Era::Modern),
            era => Self::Echo(Era::named(era)?),
        })
    }
}

/// A connection that works.
struct Caller {
    connection: Connection,
    work: Work,
    request: Vec<u8>,
}

impl Caller {
    /// Opens a connection and tries the work once.
    fn open(port: u16, work: Work) -> io::Result<Self> {
        let mut connection = Connection::open(port)?;
        let request = match work {
            Work::Echo(Era::Legacy) => Era::Legacy.call(&connection.initialize()?),
            Work::Echo(Era::Modern) => Era::Modern.call(""),
            #[cfg(feature = "auth")]
            Work::Protected(signed) => requests::with_token(&Era::Modern.call(""), &signed.token()),
            Work::Task => requests::create_task("job"),
        };
        let mut caller = Self {
            connection,
            work,
            request,
        };
        caller.work()?;
        let answer = &caller.connection.buffer;
        let is_said = answer
            .windows(SAID.len())
            .any(|text| text == SAID.as_bytes());
        if answer.starts_with(b"HTTP/1.1 200 ") && is_said {
            return Ok(caller);
        }
        let answer = String::from_utf8_lossy(answer);
        Err(Error::other(format!("no answer to {work:?}: {answer}")))
    }

    fn work(&mut self) -> io::Result<()> {
        let answer = self.connection.exchange(&self.request)?;
        if self.work == Work::Task {
            let task = member(answer, "\"taskId\":\"").unwrap_or_default();
            let poll = requests::poll_task(task);
            self.connection.exchange(&poll)?;
        }
        Ok(())
    }
}

/// So many updates of a resource, if the work is a number of its subscribers, or so much other work: see [`in_turn`]. Then says so,
/// and keeps the connections while its input is open.
pub(crate) fn drive(port: u16, work: &str, times: usize) -> io::Result<()> {
    let wait = || {
        println!("answered");
        io::stdin().read_to_end(&mut Vec::new()).map(drop)
    };
    if let Some(count) = work.strip_suffix(" subscribers") {
        let count = count.parse().map_err(Error::other)?;
        let mut subscribers = Subscribers::open(port, count)?;
        (0..times).try_for_each(|_| subscribers.update())?;
        return wait();
    }
    let _callers = in_turn(port, Work::named(work)?, times)?;
    wait()
}

/// So much work, one after the other, each on the next of the connections, which are returned: the server does the
/// same each time, whatever the machine is busy with.
fn in_turn(port: u16, work: Work, times: usize) -> io::Result<Vec<Caller>> {
    let callers: io::Result<Vec<_>> = (0..CONNECTIONS).map(|_| Caller::open(port, work)).collect();
    let mut callers = callers?;
    for at in (0..CONNECTIONS).cycle().take(times) {
        callers[at].work()?;
    }
    Ok(callers)
}

/// Connections that call all at a time.
pub(crate) struct Crowd(Vec<Caller>);

impl Crowd {
    pub(crate) fn open(port: u16, work: Work) -> io::Result<Self> {
        let callers: io::Result<_> = (0..CONNECTIONS).map(|_| Caller::open(port, work)).collect();
        callers.map(Self)
    }

    /// One connection.
    pub(crate) fn of_one(port: u16, work: Work) -> io::Result<Self> {
        Caller::open(port, work).map(|caller| Self(vec![caller]))
    }

    /// Works so many times on each connection.
    pub(crate) fn work(&mut self, times: usize) -> io::Result<()> {
        thread::scope(|scope| {
            let callers: Vec<_> = self
                .0
                .iter_mut()
                .map(|caller| scope.spawn(move || (0..times).try_for_each(|_| caller.work())))
                .collect();
            callers
                .into_iter()
                .try_for_each(|caller| caller.join().expect("nothing to panic about"))
        })
    }
}

/// The text behind these bytes of an answer, up to a quotation mark.
fn member<'a>(answer: &'a [u8], name: &str) -> Option<&'a str> {
    between(answer, name, b'"')
}

/// The value of a field of an answer's head.
fn field<'a>(answer: &'a [u8], name: &str) -> Option<&'a str> {
    between(answer, name, b'\r').map(str::trim)
}

fn between<'a>(answer: &'a [u8], name: &str, end: u8) -> Option<&'a str> {
    let at = answer
        .windows(name.len())
        .position(|text| text.eq_ignore_ascii_case(name.as_bytes()))?;
    let value = answer.get(at + name.len()..)?;
    let end = value.iter().position(|byte| *byte == end)?;
    std::str::from_utf8(&value[..end]).ok()
}
