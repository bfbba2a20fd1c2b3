//! One small program that outside drivers test: the library's defaults, its public API, no more.
//!
//! - `fixture codec json|line|sse`: the codecs of the core, see [`codec`]
//! - `fixture limits`: the default limits as one line of JSON
#![forbid(unsafe_code)]

mod codec;
mod limits;
mod records;

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["codec", "json"] => codec::run(codec::json),
        ["codec", "line"] => codec::run(codec::line),
        ["codec", "sse"] => codec::run(codec::sse),
        ["limits"] => print(&limits::line()),
        _ => {
            eprintln!("usage: fixture codec json|line|sse | limits");
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
