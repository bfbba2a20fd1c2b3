//! Servers on standard input and output that are written by hand: the floor, and the machine of this library without a runtime.

use std::io::{self, Error, Read as _, Write as _};

use mcp_proto::json::{Object, Raw};
use mcp_proto::model::{ServerFeatures, TextResult};
use mcp_proto::server::{Event, Growing, Server, ServerConfig};
use mcp_proto::{Instant, Link, Outcome, PreparedConfig, TurnEnd, Verdict};

use crate::bare;
use crate::ours;

/// The floor, the core alone, and typed handlers on both runtimes.
pub(crate) const SERVERS: [&str; 4] = ["serde", "core", "mcp-tokio", "mcp-smol"];

/// Serves until the input ends.
pub(crate) fn serve(server: &str) -> io::Result<()> {
    match server {
        "serde" => serde(),
        "core" => core(),
        "mcp-tokio" => ours::on_a_pipe_of_tokio(),
        "mcp-smol" => ours::on_a_pipe_of_smol(),
        _ => Err(Error::other(format!("no such server: {server}"))),
    }
}

/// The loop that a program would write by hand over serde_json: it reads as much as has come, and writes the answers to that at once.
fn serde() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut held = vec![0; ROOM];
    let (mut len, mut answers) = (0, Vec::new());
    loop {
        if len == held.len() {
            held.resize(2 * len, 0);
        }
        let read = input.read(&mut held[len..])?;
        if read == 0 {
            return Ok(());
        }
        let end = held[len..len + read]
            .iter()
            .rposition(|byte| *byte == b'\n');
        let end = end.map(|end| len + end + 1);
        len += read;
        let Some(end) = end else { continue };
        for line in held[..end - 1].split(|byte| *byte == b'\n') {
            bare::answer_line(line, &mut answers);
        }
        output.write_all(&answers)?;
        output.flush()?;
        answers.clear();
        held.copy_within(end..len, 0);
        len -= end;
    }
}

/// The machine in a loop that blocks.
fn core() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let capabilities = ServerFeatures::TOOLS.capabilities();
    let config = ServerConfig {
        capabilities,
        ..ServerConfig::new("echo", "1.0")
    };
    // With its texts as they are written, as the servers of mcp-async have them.
    let prepared = PreparedConfig::from(config).shared();
    let server = Server::new(prepared, Growing).map_err(Error::other)?;
    // As large as what the floor reads at once.
    let buffer = || vec![0; ROOM];
    let mut link = Link::new(server, buffer(), buffer()).map_err(Error::other)?;
    let started = std::time::Instant::now();
    loop {
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let rest = link.turn(Instant::from_millis(millis), |server, event, outbox| {
            let Event::Request { token, context, .. } = event else {
                return Verdict::Done;
            };
            let arguments = context.arguments.and_then(Raw::object);
            let text = arguments.unwrap_or(Object::EMPTY).get("text");
            let said = TextResult::from(text.and_then(Raw::string).unwrap_or_default());
            outbox
                .put(|out| server.respond(token, Outcome::Result(&said), out))
                .into()
        });
        let written = link.outbox.pending().len();
        output.write_all(link.outbox.pending())?;
        output.flush()?;
        link.outbox.consume(written);
        match rest {
            TurnEnd::Full => continue,
            TurnEnd::Empty if link.inbox.is_closed() => return Ok(()),
            TurnEnd::Empty => {}
        }
        if let Some(spare) = link.inbox.spare_mut() {
            match input.read(spare)? {
                0 => link.inbox.close(),
                count => link.inbox.filled(count),
            }
        }
    }
}

/// The bytes of a buffer at first.
const ROOM: usize = 64 << 10;
