//! The connection of a client: HTTP/1.1 without knowledge of the protocol.

use core::hash::{BuildHasher, Hasher};
use core::time::Duration;
use std::hash::RandomState;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use mcp_proto::Instant;
use mcp_proto::http::{Field, Head};
use mcp_proto::server::http::streams::StreamRead;
use mcp_proto::server::http::{ExchangeHead, ExchangeId, HttpServer, PostBody};

/// A client's connection, with one exchange at a time.
pub(crate) struct Connection {
    socket: TcpStream,
    /// What was read and is not handled: at most one head, or a part of a body.
    input: Vec<u8>,
    output: Vec<u8>,
    exchange: Option<ExchangeId>,
    /// What is missing of the request's body.
    missing: usize,
    /// True if the exchange has bytes to write.
    ready: bool,
    /// True if the response leaves in chunks.
    chunked: bool,
    /// True for a HEAD request, whose response has no body.
    bodiless: bool,
    /// The time from which the head of the next request is late.
    late: Instant,
    head_timeout: Duration,
    /// No other request follows this one.
    last: bool,
    broken: bool,
}

impl Connection {
    pub(crate) fn new(socket: TcpStream, now: Instant, head_timeout: Duration) -> Self {
        Self {
            socket,
            input: Vec::new(),
            output: Vec::new(),
            exchange: None,
            missing: 0,
            ready: false,
            chunked: false,
            bodiless: false,
            late: now + head_timeout,
            head_timeout,
            last: false,
            broken: false,
        }
    }

    pub(crate) fn waits_for(&self, exchange: ExchangeId) -> bool {
        self.exchange == Some(exchange)
    }

    /// The exchange has something to write.
    pub(crate) const fn set_ready(&mut self) {
        self.ready = true;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.broken || (self.last && self.exchange.is_none() && self.output.is_empty())
    }

    /// Reads what has come. Returns whether any byte has, and a body that is complete.
    pub(crate) fn read(
        &mut self,
        now: Instant,
        http: &mut HttpServer<'_>,
    ) -> (bool, Option<PostBody>) {
        let mut bytes = [0; PORTION];
        let (mut moved, mut whole) = (false, None);
        // What follows a request waits until there is a response to it.
        if self.input.len() < PORTION {
            match self.socket.read(&mut bytes) {
                Ok(0) => self.hang_up(now, http),
                Ok(count) => {
                    self.input.extend_from_slice(&bytes[..count]);
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.hang_up(now, http),
            }
        }
        if self.exchange.is_none() && !self.last && !self.input.is_empty() {
            self.open(now, http);
        }
        if self.exchange.is_none() && !self.last && self.late <= now {
            match self.input.is_empty() {
                true => self.broken = true,
                false => self.refuse("408 Request Timeout"),
            }
        }
        if let Some(exchange) = self.exchange
            && http.wants_body(exchange)
        {
            let count = self.missing.min(self.input.len());
            http.body(exchange, &self.input[..count]);
            self.input.drain(..count);
            self.missing -= count;
            if self.missing == 0 {
                whole = http.end_body(now, exchange, random);
            }
        }
        (moved, whole)
    }

    /// Reads the head of the next request, if it is there.
    fn open(&mut self, now: Instant, http: &mut HttpServer<'_>) {
        let mut fields = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut fields);
        let length = match request.parse(&self.input) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if self.input.len() < PORTION => return,
            Ok(httparse::Status::Partial) => {
                return self.refuse("431 Request Header Fields Too Large");
            }
            Err(_) => return self.refuse("400 Bad Request"),
        };
        let head = RequestHead(&request);
        let body = match head.field("content-length") {
            // Bodies of unknown length are not taken (RFC 9112, section 6.3).
            Field::None if head.field("transfer-encoding") != Field::None => {
                return self.refuse("411 Length Required");
            }
            Field::None => Some(0),
            // Digits only: a sign would be another length for a proxy (RFC 9110, section 8.6).
            Field::One(text) if text.iter().all(u8::is_ascii_digit) => {
                str::from_utf8(text).ok().and_then(|text| text.parse().ok())
            }
            Field::One(_) | Field::Many => None,
        };
        let Some(body) = body else {
            return self.refuse("400 Bad Request");
        };
        let exchange = http.open(now, &head, None);
        if head.field("expect") != Field::None && http.wants_body(exchange) {
            self.output
                .extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        self.exchange = Some(exchange);
        self.missing = body;
        self.bodiless = head.method() == "HEAD";
        // RFC 9112, section 9.3
        self.last = request.version == Some(0) || wants_close(&head);
        self.input.drain(..length);
    }

    /// Answers what is not HTTP/1.1 as it is understood here.
    fn refuse(&mut self, status: &str) {
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        self.output.extend_from_slice(head.as_bytes());
        self.last = true;
    }

    fn hang_up(&mut self, now: Instant, http: &mut HttpServer<'_>) {
        if let Some(exchange) = self.exchange.take() {
            http.hang_up(now, exchange);
        }
        self.broken = true;
    }

    /// Writes what there is; says whether any byte was taken. More is asked for only when all was
    /// written, so a client that does not read costs no memory here.
    pub(crate) fn write(&mut self, now: Instant, http: &mut HttpServer<'_>) -> bool {
        if self.output.is_empty() && self.ready {
            self.take_response(now, http);
        }
        if self.output.is_empty() {
            return false;
        }
        match self.socket.write(&self.output) {
            Ok(count) => {
                self.output.drain(..count);
                count > 0
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(_) => {
                self.hang_up(now, http);
                false
            }
        }
    }

    fn take_response(&mut self, now: Instant, http: &mut HttpServer<'_>) {
        let Some(exchange) = self.exchange else {
            return;
        };
        if let Some(head) = http.response(exchange) {
            self.chunked = head.length.is_none();
            write_head(&head, self.last && !head.close, &mut self.output);
            self.last |= head.close;
        }
        let mut body = Vec::new();
        let read = http.read(now, exchange, &mut body, PORTION);
        self.ready = read == StreamRead::More;
        match self.chunked {
            _ if self.bodiless => {}
            true if body.is_empty() => {}
            true => {
                let size = format!("{:x}\r\n", body.len());
                self.output.extend_from_slice(size.as_bytes());
                self.output.extend_from_slice(&body);
                self.output.extend_from_slice(b"\r\n");
            }
            false => self.output.extend_from_slice(&body),
        }
        if read == StreamRead::End {
            self.exchange = None;
            self.late = now + self.head_timeout;
            if self.chunked {
                self.output.extend_from_slice(b"0\r\n\r\n");
            }
        }
    }
}

/// Returns true if the client ends its connection after this request.
fn wants_close(head: &RequestHead<'_, '_, '_>) -> bool {
    let mut found = false;
    head.values("connection", &mut |value| {
        let mut options = value.split(|byte| *byte == b',');
        found |= options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"));
    });
    found
}

/// `closes` says whether the connection ends after this response for a reason of the connection.
fn write_head(head: &ExchangeHead<'_>, closes: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("HTTP/1.1 {} \r\n", head.status).as_bytes());
    head.fields(|name, value| {
        for part in [name.as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            out.extend_from_slice(part);
        }
    });
    if closes {
        out.extend_from_slice(b"connection: close\r\n");
    }
    match head.length {
        // RFC 9110, section 8.6
        Some(_) if head.status == 204 => {}
        Some(length) => out.extend_from_slice(format!("content-length: {length}\r\n").as_bytes()),
        None => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
    }
    out.extend_from_slice(b"\r\n");
}

/// A head of `httparse` as the core reads it.
struct RequestHead<'r, 'f, 'b>(&'r httparse::Request<'f, 'b>);

impl Head for RequestHead<'_, '_, '_> {
    fn method(&self) -> &str {
        self.0.method.unwrap_or_default()
    }

    fn path(&self) -> &str {
        let target = self.0.path.unwrap_or_default();
        target.split('?').next().unwrap_or_default()
    }

    fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
        for field in self.0.headers.iter() {
            each(field.name, field.value);
        }
    }

    fn requires_host(&self) -> bool {
        self.0.version == Some(1)
    }
}

/// An id that cannot be guessed. `std` has no random numbers but the keys of its hash maps; a
/// program with `getrandom` asks that.
fn random() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}

const PORTION: usize = 8 << 10;
