//! Servers on standard input and output that are written by hand: the floor, and the machine of this library without a runtime.

use std::io::{self, Error, Read as _, Write as _};

use crate::bare;
use crate::ours;

#[path = "../../programs/src/core_server.rs"]
mod core_server;

/// The floor, the core alone, and typed handlers on both runtimes.
pub(crate) const SERVERS: [&str; 4] = ["serde", "core", "mcp-tokio", "mcp-smol"];

/// Serves until the input ends.
pub(crate) fn serve(server: &str) -> io::Result<()> {
    match server {
        "serde" => serde(),
        "core" => core_server::serve(ROOM),
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

/// The bytes of a buffer at first.
const ROOM: usize = 64 << 10;
