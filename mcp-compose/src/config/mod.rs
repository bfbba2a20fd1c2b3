//! The files in which desktop hosts keep their servers.

mod entry;
mod env_file;
mod error;
mod expand;
mod input;
mod target;
mod variables;

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_proto::json::{Object, RawBuf};

pub use self::entry::ConfigEntry;
pub use self::error::{ConfigError, ConfigErrorKind};
pub use self::input::{Input, InputKind};
pub use self::target::{ServerProgram, ServerTarget, ServerUrl};
pub use self::variables::Variables;

/// A configuration file of servers, as desktop hosts share it.
///
/// It is an object with the member `mcpServers` (Claude Desktop, Cursor, `.mcp.json`) or `servers` (VS Code, with
/// `inputs`). Each server has a `command` with `args`, `env`, `envFile` and `cwd`, or a `url` with `headers`; and `type`
/// (`stdio`, `http`, `streamable-http`, `sse`) and `disabled`. Other members are kept and reported by
/// [`ConfigEntry::unknown_members`].
///
/// Reading a file expands nothing, reads no other file and starts no program: [`ConfigEntry::resolve`] does the former.
/// An entry that is wrong does not spoil the others.
///
/// ```
/// use mcp_compose::{Config, ServerTarget, Variables};
///
/// let config = Config::parse(
///     br#"{"mcpServers": {
///         "notes": {"command": "uvx", "args": ["notes-server", "--folder", "${HOME}/notes"]},
///         "wrong": {"command": ["uvx"]}
///     }}"#,
/// )?;
/// let [notes] = config.entries() else { panic!("one entry is right") };
/// assert_eq!(config.errors()[0].to_string(), "mcpServers.wrong: command: expected a string, found array");
///
/// let variables = Variables::new(|name| (name == "HOME").then(|| "/home/ada".to_owned()));
/// let ServerTarget::Program(program) = notes.resolve(&variables)? else { panic!("it is a program") };
/// assert_eq!(program.arguments[2], "/home/ada/notes");
/// # Ok::<(), mcp_compose::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    entries: Vec<ConfigEntry>,
    errors: Vec<ConfigError>,
    inputs: Arc<[Input]>,
    unknown: Vec<String>,
    file: Option<PathBuf>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or what [`parse`](Self::parse) says; the error has the path.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let mut text = Vec::new();
        let read =
            File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut text));
        let config = match read {
            Ok(_) => Self::parse(&text),
            Err(error) => Err(ConfigErrorKind::Read(error.into()).into()),
        };
        let mut config = config.map_err(|error| error.in_file(path))?;
        let errors = config.errors.into_iter();
        config.errors = errors.map(|error| error.in_file(path)).collect();
        for entry in &mut config.entries {
            entry.set_file(path);
        }
        config.file = Some(path.to_owned());
        Ok(config)
    }

    /// Reads the text of a file. A byte order mark at its begin is skipped.
    ///
    /// # Errors
    /// The text has more than 1 MiB, is no JSON object, nests too deep, or has neither `mcpServers` nor `servers`.
    pub fn parse(text: &[u8]) -> Result<Self, ConfigError> {
        if text.len() as u64 > MAX_BYTES {
            return Err(ConfigErrorKind::TooLarge(MAX_BYTES).into());
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let file = RawBuf::parse(text).map_err(ConfigErrorKind::Json)?;
        let file = file.as_raw().object().ok_or(ConfigErrorKind::NoObject)?;
        let mut config = Self::default();
        if let Some(inputs) = file.get("inputs") {
            config.inputs = input::read(inputs, &mut config.errors);
        }
        let member = |name| Some((name, file.get(name)?));
        let (member, servers) = member("mcpServers")
            .or_else(|| member("servers"))
            .ok_or(ConfigErrorKind::NoServers)?;
        let servers = servers.object().ok_or(ConfigErrorKind::NoObject);
        config.read_servers(
            member,
            servers.map_err(|kind| ConfigError::from(kind).at(member))?,
        );
        let known = ["inputs", member];
        config.unknown = entry::other_members(file, &known);
        Ok(config)
    }

    fn read_servers(&mut self, member: &str, servers: Object<'_>) {
        let mut names = HashSet::new();
        for (name, value) in servers.members() {
            let name = name.to_cow();
            let place = format!("{member}.{name}");
            let entry = match names.insert(name.clone()) {
                true => ConfigEntry::read(&name, &place, value, &self.inputs),
                false => Err(ConfigErrorKind::Duplicate.into()),
            };
            match entry {
                Ok(entry) => self.entries.push(entry),
                Err(error) => self.errors.push(error.within(&place)),
            }
        }
    }

    /// Returns the entries that are right, in the order of the file.
    pub fn entries(&self) -> &[ConfigEntry] {
        &self.entries
    }

    /// Returns the entry of a server.
    ///
    /// # Errors
    /// The entry is wrong, or the file has none of this name.
    pub fn entry(&self, name: &str) -> Result<&ConfigEntry, ConfigError> {
        if let Some(entry) = self.entries.iter().find(|entry| entry.name() == name) {
            return Ok(entry);
        }
        let is_of = |error: &&ConfigError| error.server() == Some(name);
        Err(self.errors.iter().find(is_of).cloned().unwrap_or_else(|| {
            let known = self.entries.iter().map(|entry| entry.name().to_owned());
            let error = ConfigError::from(ConfigErrorKind::UnknownServer {
                name: name.to_owned(),
                known: known.collect(),
            });
            match &self.file {
                Some(file) => error.in_file(file),
                None => error,
            }
        }))
    }

    /// Returns the errors of the entries and inputs that are wrong.
    pub fn errors(&self) -> &[ConfigError] {
        &self.errors
    }

    /// Returns the inputs that the file declares.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns the names of the members of the file that this crate does not know.
    pub fn unknown_members(&self) -> &[String] {
        &self.unknown
    }
}

/// A thousand times a usual file.
const MAX_BYTES: u64 = 1 << 20;
