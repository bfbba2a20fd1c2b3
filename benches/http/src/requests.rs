//! What is sent, byte for byte the same to every server.

use std::io::{self, Error};

/// A call of the tool, as one era writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: the request says all there is to say.
    Modern,
    /// 2025-11-25, in a session.
    Legacy,
}

impl Era {
    pub(crate) const ALL: [Self; 2] = [Self::Modern, Self::Legacy];

    pub(crate) fn named(name: &str) -> io::Result<Self> {
        match name {
            "modern" => Ok(Self::Modern),
            "legacy" => Ok(Self::Legacy),
            _ => Err(Error::other("an era is modern or legacy")),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }

    /// A call of `echo`, in this session if the era has them.
    pub(crate) fn call(self, session: &str) -> Vec<u8> {
        match self {
            Self::Modern => post(
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n",
                self.message(),
            ),
            Self::Legacy => post(&in_session(session), self.message()),
        }
    }

    const fn message(self) -> &'static str {
        match self {
            Self::Modern => {
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"echo","arguments":{"text":"as it was said"}}}"#
            }
            Self::Legacy => {
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"as it was said"}}}"#
            }
        }
    }

    /// The messages of a client on a pipe that makes so many calls.
    pub(crate) fn conversation(self, calls: usize) -> impl Iterator<Item = &'static str> {
        let opening: &[_] = match self {
            Self::Modern => &[],
            Self::Legacy => &[INITIALIZE, INITIALIZED],
        };
        let calls = std::iter::repeat_n(self.message(), calls);
        opening.iter().copied().chain(calls)
    }
}

/// What answers hold if the tool was called.
pub(crate) const SAID: &[u8] = br#""text":"as it was said""#;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub(crate) fn initialize() -> Vec<u8> {
    post("", INITIALIZE)
}

pub(crate) fn initialized(session: &str) -> Vec<u8> {
    post(&in_session(session), INITIALIZED)
}

/// Opens the stream that a session has besides its exchanges.
pub(crate) fn open_stream(session: &str) -> Vec<u8> {
    let fields = in_session(session);
    format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{fields}\r\n")
        .into_bytes()
}

fn in_session(session: &str) -> String {
    format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n")
}

fn post(fields: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\n\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{fields}\r\n{body}"
    )
    .into_bytes()
}
