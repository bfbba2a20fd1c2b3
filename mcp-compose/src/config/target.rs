//! Servers as a file describes them, after its variables are expanded.

use core::fmt;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use mcp_async::process::Command;

use crate::entry::{ServerEntry, public_url};

/// A program to start, or a URL to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTarget {
    /// A program that is a server on its standard streams.
    Program(ServerProgram),
    /// A server that runs already.
    Url(ServerUrl),
}

/// A program that is a server, and its environment. `Debug` shows neither arguments nor values of variables.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServerProgram {
    /// The program, by path or by name.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The variables that it gets in addition to the [usual ones](mcp_async::process::inherited).
    pub environment: BTreeMap<String, String>,
    /// Its working directory; that of this program otherwise.
    pub directory: Option<PathBuf>,
}

/// A server that runs already. `Debug` shows no values of headers, nor parts of the URL that may be secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServerUrl {
    /// The URL.
    pub url: String,
    /// The headers of each request.
    pub headers: BTreeMap<String, String>,
}

impl ServerTarget {
    /// Returns an entry of this name for the server.
    pub fn into_entry(self, name: &str) -> ServerEntry {
        match self {
            Self::Program(program) => ServerEntry::program(name, program.command()),
            Self::Url(ServerUrl { url, headers }) => {
                let entry = ServerEntry::url(name, url);
                headers
                    .into_iter()
                    .fold(entry, |entry, (name, value)| entry.header(name, value))
            }
        }
    }
}

impl ServerProgram {
    /// Returns the command that starts the program.
    pub fn command(&self) -> Command {
        let command = Command::new(&self.program)
            .args(&self.arguments)
            .envs(&self.environment);
        match &self.directory {
            Some(directory) => command.current_dir(directory),
            None => command,
        }
    }
}

impl ServerUrl {
    /// Returns whether there is a header `Authorization`, which a login would set.
    pub fn has_authorization(&self) -> bool {
        let mut names = self.headers.keys();
        names.any(|name| name.eq_ignore_ascii_case("authorization"))
    }
}

impl fmt::Debug for ServerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerProgram")
            .field("program", &self.program)
            .field("arguments", &self.arguments.len())
            .field("environment", &self.environment.keys())
            .field("directory", &self.directory)
            .finish()
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerUrl")
            .field("url", &public_url(&self.url))
            .field("headers", &self.headers.keys())
            .finish()
    }
}
