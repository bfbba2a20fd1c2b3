//! The result, on standard output.

use std::io::{self, IsTerminal, Write};

use super::exit::{Exit, Failure};
use super::json::pretty;
use super::plain::escaped;
use mcp_tokio::json::RawBuf;
use serde::Serialize;

/// Writes a text for people, and a line break if it has none at its end.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    written(write!(anstream::stdout(), "{text}{end}"))
}

/// Writes bytes as they are.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    written(io::stdout().write_all(bytes))
}

/// Writes a value as a document for programs.
pub(crate) fn encoded(value: &impl Serialize) -> Result<(), Failure> {
    let document = RawBuf::encode(value);
    self::document(&document.map_err(|error| Failure::new(Exit::Other, error))?)
}

/// Writes a document for programs: one line, on a terminal several.
pub(crate) fn document(document: &RawBuf) -> Result<(), Failure> {
    let text = match io::stdout().is_terminal() {
        true => escaped(&pretty(document.as_raw())).into_owned(),
        false => one_line(document.as_raw().as_str()),
    };
    written(writeln!(io::stdout(), "{text}"))
}

/// Writes a document in a stream of them, always one line.
pub(crate) fn record(document: &RawBuf) -> Result<(), Failure> {
    let text = one_line(document.as_raw().as_str());
    written(writeln!(io::stdout(), "{}", escaped(&text)))
}

/// Line breaks in JSON stand between tokens only: strings escape theirs.
fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], "")
}

fn written(result: io::Result<()>) -> Result<(), Failure> {
    let flushed = result.and_then(|()| io::stdout().flush());
    flushed.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::new(Exit::Unread, "the output is closed"),
        _ => Failure::new(Exit::Other, format!("standard output: {error}")),
    })
}
