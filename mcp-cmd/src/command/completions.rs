//! `completions`: what a shell has to know of this program.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::exit::Failure;
use crate::options::Options;
use crate::out;

/// Writes the script for a shell.
pub(crate) fn run(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    let name = program();
    clap_complete::generate(shell, &mut Options::command(), name, &mut script);
    out::bytes(&script)
}

/// As the shell calls it.
fn program() -> String {
    let name = std::env::args_os().next().unwrap_or_default();
    let stem = std::path::Path::new(&name).file_stem();
    stem.map_or_else(
        || "mcp-cmd".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}
