//! The connection of a client: HTTP/1.1 by `httparse`, without knowledge of the protocol.

use httparse::{EMPTY_HEADER, Error, Request, Status};
use mcp_proto::http::{Field, Head as _, Refusal};
use smoltcp::socket::tcp::Socket;

use crate::request_head::RequestHead;
use crate::response::Response;
use crate::site::Site;

/// The longest request in bytes, head and body.
const REQUEST: usize = 2048;
/// The most fields of a head.
const FIELDS: usize = 32;
/// Milliseconds within which a request has to arrive.
const TIMEOUT: u64 = 30_000;

/// A connection, with one request at a time.
pub(crate) struct Connection {
    bytes: [u8; REQUEST],
    len: usize,
    /// The time of the last answer, in milliseconds.
    since: Option<u64>,
    /// True if the client was asked for the body.
    is_continued: bool,
}

/// The next step, by the bytes that have arrived.
enum Next {
    /// The request is not complete.
    Wait,
    /// The request of this length is answered.
    Answered(usize),
    /// The request is answered, and is the last one.
    Close,
}

/// A request that is not answered by a machine, after which the connection is closed: its end may be unknown.
enum Fault {
    /// It is not HTTP/1.1 as it is understood here.
    Status(u16),
    /// The endpoint refuses it.
    Refusal(Refusal),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

impl Connection {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; REQUEST],
            len: 0,
            since: None,
            is_continued: false,
        }
    }

    /// Reads what has arrived, and answers a request that is complete.
    pub(crate) fn turn(&mut self, now: u64, socket: &mut Socket<'_>, site: &mut Site) {
        if now - *self.since.get_or_insert(now) > TIMEOUT {
            return socket.abort();
        }
        if !socket.may_send() {
            // It is closed. The end of the client follows the rest of its request, which is not needed.
            let _ = socket.recv(|rest| (rest.len(), ()));
            return;
        }
        // The next request waits until there is room for its response.
        if socket.send_queue() > 0 {
            return;
        }
        if socket.can_recv() {
            self.len += socket.recv_slice(&mut self.bytes[self.len..]).unwrap_or(0);
        }
        let mut response = Response(socket);
        let next = match self.len {
            0 => Ok(Next::Wait),
            _ => self.answer(&mut response, site),
        };
        match next {
            Ok(Next::Wait) if response.0.may_recv() => return,
            Ok(Next::Wait | Next::Close) => {}
            Ok(Next::Answered(count)) => {
                self.bytes.copy_within(count..self.len, 0);
                self.len -= count;
                self.since = Some(now);
                self.is_continued = false;
                return;
            }
            Err(Fault::Status(status)) => response.message(status, b"", true),
            Err(Fault::Refusal(refusal)) => response.refusal(refusal),
        }
        socket.close();
    }

    fn answer(&mut self, response: &mut Response<'_, '_>, site: &mut Site) -> Result<Next, Fault> {
        let received = &self.bytes[..self.len];
        let mut fields = [EMPTY_HEADER; FIELDS];
        let mut request = Request::new(&mut fields);
        let start = match request.parse(received) {
            Ok(Status::Complete(start)) => start,
            Ok(Status::Partial) if self.len < REQUEST => return Ok(Next::Wait),
            Ok(Status::Partial) | Err(Error::TooManyHeaders) => return Err(Fault::Status(431)),
            Err(_) => return Err(Fault::Status(400)),
        };
        let head = RequestHead(&request);
        let post = site.open(&head)?;
        let length = length(&head).map_err(Fault::Status)?;
        let room = REQUEST - start;
        if length > room {
            return Err(Refusal::BodyTooLong(room).into());
        }
        let Some(body) = received[start..].get(..length) else {
            if head.field("expect") != Field::None && !self.is_continued {
                self.is_continued = true;
                response.write(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            return Ok(Next::Wait);
        };
        let is_last = head.is_last();
        let (status, body) = site.answer(&post, body)?;
        response.message(status, body, is_last);
        Ok(match is_last {
            true => Next::Close,
            false => Next::Answered(start + length),
        })
    }
}

/// Returns the length of the body, or the status of a request of which it cannot be known.
fn length(head: &RequestHead<'_, '_, '_>) -> Result<usize, u16> {
    match head.field("content-length") {
        // Bodies of unknown length are not taken (RFC 9112, section 6.3).
        Field::None if head.field("transfer-encoding") != Field::None => Err(411),
        Field::None => Ok(0),
        // Digits only: a sign would be another length for a proxy (RFC 9110, section 8.6).
        Field::One(text) if text.iter().all(u8::is_ascii_digit) => {
            let text = str::from_utf8(text).unwrap_or_default();
            text.parse().map_err(|_| 400)
        }
        Field::One(_) | Field::Many => Err(400),
    }
}
