//! Errors of configuration files.

use core::error::Error;
use core::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_proto::json::{DecodeError, Fault};

/// A configuration file, or a part of one, that cannot be used. It has no values of the file.
#[derive(Clone, Debug)]
pub struct ConfigError {
    file: Option<PathBuf>,
    place: String,
    kind: ConfigErrorKind,
}

/// A reason for which a configuration file, or a part of it, cannot be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// The file, or one that it names, cannot be read.
    Read(Arc<io::Error>),
    /// The file, or one that it names, has more than so many bytes.
    TooLarge(u64),
    /// The text is no JSON.
    Json(Fault),
    /// The file, or an entry, is no object.
    NoObject,
    /// The file has neither `mcpServers` nor `servers`.
    NoServers,
    /// The file has no server of this name, but these.
    UnknownServer {
        /// The name that was looked up.
        name: String,
        /// The names of the servers of the file.
        known: Vec<String>,
    },
    /// A member has a value of another type.
    Type(Box<DecodeError>),
    /// An entry has neither `command` nor `url`.
    NoTarget,
    /// The `type` of an entry is unknown, or does not fit its other members.
    TransportType(String),
    /// The name of an entry, or the id of an input, is there twice.
    Duplicate,
    /// An environment variable is not set, or is no Unicode.
    VariableNotSet(String),
    /// The entry refers to an input that has no value, or that the file does not declare.
    InputNotSet(String),
    /// The input is a command, which only the host that wrote the file can run.
    CommandInput(String),
    /// There is no home directory.
    NoHome,
    /// The caller names no workspace folder.
    NoWorkspace,
    /// A `${` has no `}`.
    Unclosed(String),
    /// A variable of another host.
    Foreign(String),
    /// A line of an environment file is no assignment.
    EnvLine(usize),
}

impl ConfigError {
    /// Returns the reason.
    pub const fn kind(&self) -> &ConfigErrorKind {
        &self.kind
    }

    /// Returns the path of the member: `mcpServers.notes.args[0]`, say; empty if the whole file is meant.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the server, of an error that makes its whole entry unusable.
    pub(crate) fn server(&self) -> Option<&str> {
        let (_, server) = self.place.split_once('.')?;
        Some(server)
    }

    pub(super) fn in_file(self, file: &Path) -> Self {
        let file = Some(file.to_owned());
        Self { file, ..self }
    }

    /// Sets the member.
    pub(super) fn at(self, place: &str) -> Self {
        let place = place.to_owned();
        Self { place, ..self }
    }

    /// Adds the place of the object that has the member.
    pub(super) fn within(self, place: &str) -> Self {
        let between = if self.place.is_empty() { "" } else { "." };
        let place = format!("{place}{between}{}", self.place);
        Self { place, ..self }
    }
}

impl ConfigErrorKind {
    pub(super) fn decode(error: DecodeError) -> Self {
        Self::Type(error.into())
    }
}

impl From<ConfigErrorKind> for ConfigError {
    fn from(kind: ConfigErrorKind) -> Self {
        Self {
            file: None,
            place: String::new(),
            kind,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for ConfigErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::TooLarge(limit) => write!(f, "it has more than {limit} bytes"),
            Self::Json(fault) => write!(f, "no JSON: {fault}"),
            Self::NoObject => f.write_str("it is no JSON object"),
            Self::NoServers => f.write_str("it has no member `mcpServers`, nor `servers`"),
            Self::UnknownServer { name, known } => match &**known {
                [] => write!(f, "it has no server {name}, nor any other"),
                known => write!(f, "it has no server {name}, but {}", known.join(", ")),
            },
            Self::Type(error) => error.fmt(f),
            Self::NoTarget => f.write_str("it has no member `command`, nor `url`"),
            Self::TransportType(name) => {
                write!(
                    f,
                    "the type {name:?} is unknown, or it has not the members of this type"
                )
            }
            Self::Duplicate => f.write_str("it is there twice"),
            Self::VariableNotSet(name) => write!(f, "the environment variable {name} is not set"),
            Self::InputNotSet(id) => write!(f, "the input {id} has no value"),
            Self::CommandInput(id) => {
                write!(
                    f,
                    "the input {id} is a command, which only the host that wrote the file can run"
                )
            }
            Self::NoHome => f.write_str("there is no home directory for `${userHome}`"),
            Self::NoWorkspace => f.write_str("there is no folder for `${workspaceFolder}`"),
            Self::Unclosed(text) => write!(f, "the `}}` of `${{{text}` is missing"),
            Self::Foreign(text) => {
                write!(
                    f,
                    "`${{{text}}}` means something only to the host that wrote it"
                )
            }
            Self::EnvLine(line) => write!(f, "line {line} is no `NAME=value`"),
        }
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            ConfigErrorKind::Read(error) => error.source(),
            _ => None,
        }
    }
}
