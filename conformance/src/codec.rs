//! The codecs of the core, driven by records on standard input: see [`records`].
//!
//! Each answers a record with one line of JSON: [`json`] says whether its chunks together are one
//! JSON text, [`line()`] lists the messages in them, [`sse`] the events.

use std::io::{self, BufReader};

use mcp_proto::frame::sse::{Event, Events, Piece};
use mcp_proto::json::{Raw, Str, Writer};
use mcp_proto::rpc::{Id, Incoming, Message, Method, code};
use mcp_proto::{Inbox, Limits};

use crate::records::{self, Chunks};

/// Answers every record of standard input on standard output.
pub(crate) fn run(codec: fn(&Chunks) -> String) -> io::Result<()> {
    let mut input = BufReader::new(io::stdin().lock());
    while let Some(chunks) = records::next(&mut input)? {
        crate::print(&codec(&chunks))?;
    }
    Ok(())
}

/// `{"ok": true|false}`
pub(crate) fn json(chunks: &Chunks) -> String {
    let ok = Raw::parse(&chunks.concat(), Limits::default().depth).is_ok();
    format!("{{\"ok\": {ok}}}")
}

/// `{"msgs": [{"kind": .., "id": .., "method": ..}, ..]}`
pub(crate) fn line(chunks: &Chunks) -> String {
    let mut inbox = Inbox::new(Vec::new(), &Limits::default());
    let mut listing = Listing::default();
    for chunk in chunks {
        let mut rest = chunk.as_slice();
        while !rest.is_empty() {
            if let Some(spare) = inbox.spare_mut() {
                let len = rest.len().min(spare.len());
                let (now, later) = rest.split_at(len);
                spare[..len].copy_from_slice(now);
                inbox.filled(len);
                rest = later;
            }
            listing.drain(&mut inbox);
        }
    }
    inbox.close();
    listing.drain(&mut inbox);
    format!("{{\"msgs\": [{}]}}", listing.rows.join(", "))
}

/// `{"events": [{"event": .., "data": .., "id": ..}, ..], "retry": ..}`
pub(crate) fn sse(chunks: &Chunks) -> String {
    let names = [Vec::new(), Vec::new(), Vec::new()];
    let mut events = Events::new(Vec::new(), names, &Limits::default());
    let mut rows = Vec::new();
    for chunk in chunks {
        let mut rest = chunk.as_slice();
        while !rest.is_empty() {
            if let Some(spare) = events.spare_mut() {
                let len = rest.len().min(spare.len());
                let (now, later) = rest.split_at(len);
                spare[..len].copy_from_slice(now);
                events.filled(len);
                rest = later;
            }
            while let Some(piece) = events.next_event() {
                if let Piece::Event(Event { name, data, id }) = piece {
                    let [name, data, id] = [name, data, id].map(text);
                    rows.push(format!(
                        "{{\"event\": {name}, \"data\": {data}, \"id\": {id}}}"
                    ));
                }
            }
        }
    }
    let retry = match events.retry() {
        Some(delay) => delay.as_millis().to_string(),
        None => "null".to_owned(),
    };
    let rows = rows.join(", ");
    format!("{{\"events\": [{rows}], \"retry\": {retry}}}")
}

/// One row per message; an array is one row, whatever is in it.
#[derive(Default)]
struct Listing {
    rows: Vec<String>,
    in_batch: bool,
}

impl Listing {
    fn drain(&mut self, inbox: &mut Inbox<Vec<u8>>) {
        while let Some(incoming) = inbox.next_message() {
            match incoming {
                Incoming::BatchStart => {
                    self.rows.push(row("batch", None, None));
                    self.in_batch = true;
                }
                Incoming::BatchEnd => self.in_batch = false,
                Incoming::Message(_) if self.in_batch => {}
                Incoming::Message(message) => self.rows.push(describe(&message)),
            }
        }
    }
}

fn describe(message: &Message<'_>) -> String {
    match message {
        Message::Request(request) => row("request", Some(request.id), Some(request.method)),
        Message::Notification(notification) => row("notification", None, Some(notification.method)),
        Message::Response(response) => {
            let kind = if response.outcome.is_ok() {
                "result"
            } else {
                "error"
            };
            row(kind, response.id, None)
        }
        // An id that could be saved from bytes that are no JSON is not the id of a message.
        Message::Invalid(invalid) if invalid.reason.code() == code::PARSE_ERROR => {
            row("bad", None, None)
        }
        Message::Invalid(invalid) => row("invalid", invalid.id, None),
    }
}

fn row(kind: &str, id: Option<Id<'_>>, method: Option<Method<'_>>) -> String {
    let mut members = vec![format!("\"kind\": \"{kind}\"")];
    if let Some(id) = id {
        members.push(format!("\"id\": {}", id_text(id)));
    }
    if let Some(method) = method {
        members.push(format!("\"method\": {}", quoted(method.name())));
    }
    format!("{{{}}}", members.join(", "))
}

fn id_text(id: Id<'_>) -> String {
    match id {
        Id::Number(number) => number.as_str().to_owned(),
        Id::String(text) => quoted(text),
    }
}

/// The bytes as a JSON string; what is no UTF-8 reads as the standard decodes it.
fn text(bytes: &[u8]) -> String {
    quoted(Str::from(&*String::from_utf8_lossy(bytes)))
}

/// The text with its quotes and escapes as they came.
fn quoted(text: Str<'_>) -> String {
    let mut counting = Writer::counting();
    counting.text_exact(text);
    let mut bytes = vec![0; counting.len()];
    Writer::new(&mut bytes).text_exact(text);
    String::from_utf8_lossy(&bytes).into_owned()
}
