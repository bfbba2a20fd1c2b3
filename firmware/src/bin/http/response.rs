//! The response to a request.

use core::fmt::{self, Write as _};

use mcp_proto::http::{Refusal, ResponseHead};
use smoltcp::socket::tcp::Socket;

/// Writes a response where there is room for it: `main.rs` makes the buffer of the socket large enough, and it is empty before.
pub(crate) struct Response<'r, 's>(pub(crate) &'r mut Socket<'s>);

impl Response<'_, '_> {
    /// Writes a message, or a status alone if `body` is empty. `close` says that the connection ends after it.
    pub(crate) fn message(&mut self, status: u16, body: &[u8], close: bool) {
        let head = match body {
            [] => ResponseHead::of_status(status),
            _ => ResponseHead::of_message(status),
        };
        self.whole(head, body, close);
    }

    /// Writes a refusal, after which the connection ends.
    pub(crate) fn refusal(&mut self, refusal: Refusal) {
        let mut body = [0; 256];
        let len = refusal.write(&mut body).unwrap_or(0);
        let head = ResponseHead::of_refusal(refusal, "POST");
        self.whole(head, &body[..len], true);
    }

    fn whole(&mut self, mut head: ResponseHead<'_>, body: &[u8], close: bool) {
        head.close |= close;
        // It never fails.
        let _ = write!(self, "HTTP/1.1 {} \r\n", head.status);
        head.fields(|name, value| {
            for part in [name.as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                self.write(part);
            }
        });
        let _ = write!(self, "content-length: {}\r\n\r\n", body.len());
        self.write(body);
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        // It fails if the connection has ended, which is seen later.
        let _ = self.0.send_slice(bytes);
    }
}

impl fmt::Write for Response<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write(text.as_bytes());
        Ok(())
    }
}
