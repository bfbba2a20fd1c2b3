//! What is sent, byte for byte the same to every server.

use std::io::{self, Error};

use mcp_benches::inputs;

/// The revision of a call, as one of either era.
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
        let body = self.message(SAID);
        match self {
            Self::Modern => post(&modern("tools/call", "echo"), &body),
            Self::Legacy => post(&in_session(session), &body),
        }
    }

    fn message(self, text: &str) -> String {
        let call = inputs::echo(text);
        match self {
            Self::Modern => call.replacen(PARAMS, &format!("{PARAMS}{MODERN}"), 1),
            Self::Legacy => call,
        }
    }

    /// The messages of a client on a pipe that makes so many calls, with a text of `bytes` or, without, a short one.
    pub(crate) fn conversation(
        self,
        calls: usize,
        bytes: Option<usize>,
    ) -> impl Iterator<Item = String> {
        let opening: &[_] = match self {
            Self::Modern => &[],
            Self::Legacy => &[INITIALIZE, INITIALIZED],
        };
        let text = bytes.map_or_else(|| SAID.to_owned(), inputs::plain_text);
        let call = self.message(&text);
        // Ids of the same length, which differ from those of the calls that are in flight with them.
        let calls = (0..calls).map(move |at| {
            let id = format!(r#""id":{}"#, 10 + at % 90);
            call.replacen(r#""id":7"#, &id, 1)
        });
        opening.iter().map(|line| (*line).to_owned()).chain(calls)
    }
}

/// A call of a tool that becomes a task.
pub(crate) fn create_task(tool: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{{WITH_TASKS}"name":"{tool}","arguments":{{"text":"{SAID}"}}}}}}"#
    );
    post(&modern("tools/call", tool), &body)
}

/// A call that changes the resource which [`subscribe`] names.
pub(crate) fn touch() -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call",{PARAMS}{MODERN}"name":"touch"}}}}"#
    );
    post(&modern("tools/call", "touch"), &body)
}

/// A poll of a task.
pub(crate) fn poll_task(task: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":8,"method":"tasks/get","params":{{{WITH_TASKS}"taskId":"{task}"}}}}"#
    );
    post(&modern("tasks/get", task), &body)
}

/// The text that is said again.
pub(crate) const SAID: &str = "as it was said";

const PARAMS: &str = r#""params":{"#;
const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}},"#;
const WITH_TASKS: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}},"#;
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

/// Subscribes a session to a resource.
pub(crate) fn subscribe(session: &str) -> Vec<u8> {
    let body = r#"{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"bench://changed"}}"#;
    post(&in_session(session), body)
}

/// The end of a notification that the resource has changed.
pub(crate) const UPDATED: &[u8] = br#""uri":"bench://changed"}}"#;

/// Ends a session.
pub(crate) fn end_session(session: &str) -> Vec<u8> {
    let fields = in_session(session);
    format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n{fields}\r\n")
        .into_bytes()
}

/// A request with one more field.
#[cfg(feature = "auth")]
pub(crate) fn with_token(request: &[u8], token: &str) -> Vec<u8> {
    let (line, rest) = request.split_at(POST.len());
    [
        line,
        b"Authorization: Bearer ",
        token.as_bytes(),
        b"\r\n",
        rest,
    ]
    .concat()
}

fn modern(method: &str, name: &str) -> String {
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n")
}

fn in_session(session: &str) -> String {
    format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n")
}

fn post(fields: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{POST}Host: localhost\r\nUser-Agent: bench\r\n\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{fields}\r\n{body}"
    )
    .into_bytes()
}

const POST: &str = "POST /mcp HTTP/1.1\r\n";
