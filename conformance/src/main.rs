//! One small program that outside drivers test: the library's defaults, its public API, no more.
//!
//! - `fixture stdio`, `fixture http PORT`: a server, see [`server`]
//! - `fixture http-auth PORT`: a protected server, see [`protected`]
//! - `fixture tasks [--core] stdio`, `fixture tasks [--core] http PORT [--auth]`: a server with
//!   tasks, see [`tasks`]
//! - `fixture client stdio -- COMMAND..`, `fixture client http URL`: a client, see [`client`]
//! - `fixture client oauth URL`: a client that logs in, see [`oauth`]
//! - `fixture client tasks URL`, `fixture client tasks stdio -- COMMAND..`: a client that follows
//!   tasks, see [`tasks_client`]
//! - `fixture codec json|line|sse`: the codecs of the core, see [`codec`]
//! - `fixture limits`: the default limits as one line of JSON
//!
//! `--runtime tokio|smol` in front says what servers and clients run on; tokio, if nothing is said.
#![forbid(unsafe_code)]

mod client;
mod codec;
mod limits;
mod line;
mod oauth;
mod protected;
mod records;
mod running;
mod runtime;
mod server;
mod tasks;
mod tasks_client;

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use self::runtime::Runtime;
use self::tasks::TaskServer;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (runtime, words) = match words.as_slice() {
        ["--runtime", name, rest @ ..] => (Runtime::parse(name), rest),
        words => (Some(Runtime::Tokio), words),
    };
    let done = match (runtime, words) {
        (Some(runtime), ["stdio"]) => runtime.run(server::stdio),
        (Some(runtime), ["http", port]) => runtime.run(|on| server::http(on, port)),
        (Some(runtime), ["http-auth", port]) => runtime.run(|on| protected::http(on, port)),
        (Some(runtime), ["tasks", words @ ..]) if let Some(tasks) = TaskServer::parse(words) => {
            runtime.run(|on| tasks.serve(on))
        }
        (Some(runtime), ["client", "stdio", "--", program, args @ ..]) => {
            runtime.run(|on| client::stdio(on, program, args))
        }
        (Some(runtime), ["client", "http", url]) => runtime.run(|on| client::http(on, url)),
        (Some(runtime), ["client", "oauth", url]) => runtime.run(|on| oauth::run(on, url)),
        (Some(runtime), ["client", "tasks", "stdio", "--", program, args @ ..]) => {
            runtime.run(|on| tasks_client::stdio(on, program, args))
        }
        (Some(runtime), ["client", "tasks", url]) => runtime.run(|on| tasks_client::http(on, url)),
        (Some(_), ["codec", "json"]) => codec::run(codec::json),
        (Some(_), ["codec", "line"]) => codec::run(codec::line),
        (Some(_), ["codec", "sse"]) => codec::run(codec::sse),
        (Some(_), ["limits"]) => print(&limits::line()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fixture: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One line to standard output, seen at once.
fn print(line: &str) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    out.write_all(line.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

const USAGE: &str =
    "usage: fixture [--runtime tokio|smol] stdio | http PORT | http-auth PORT | limits
       fixture [--runtime tokio|smol] tasks [--core] stdio | tasks [--core] http PORT [--auth]
       fixture [--runtime tokio|smol] client stdio -- COMMAND.. | client http URL | client oauth URL
       fixture [--runtime tokio|smol] client tasks URL | client tasks stdio -- COMMAND..
       fixture codec json|line|sse";
