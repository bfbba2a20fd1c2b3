//! A server on standard input and output of the core alone: the machine in a loop that blocks.

use std::io::{self, Error, Read as _, Write as _};

use mcp_proto::json::{Object, Raw};
use mcp_proto::model::{ServerFeatures, TextResult};
use mcp_proto::server::{Event, Growing, Server, ServerConfig};
use mcp_proto::{Instant, Link, Outcome, PreparedConfig, TurnEnd, Verdict};

/// Serves until the input ends, with buffers of so many bytes.
pub(crate) fn serve(room: usize) -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let capabilities = ServerFeatures::TOOLS.capabilities();
    let config = ServerConfig {
        capabilities,
        ..ServerConfig::new("echo", "1.0")
    };
    // With its texts as they are written, as the servers of mcp-async have them.
    let prepared = PreparedConfig::from(config).shared();
    let server = Server::new(prepared, Growing).map_err(Error::other)?;
    let buffer = || vec![0; room];
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
