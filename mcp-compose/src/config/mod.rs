//! The files in which desktop hosts keep their servers.

mod entry;
mod env_file;
mod error;
mod expand;
mod file;
mod input;
mod target;
mod variables;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_proto::json::{Object, Raw, RawBuf};

pub use self::entry::ConfigEntry;
pub use self::error::ConfigError;
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
        let config = file::read(path).and_then(|text| Self::parse(&text));
        let mut config = config.map_err(|error| error.in_file(path))?;
        let errors = config.errors.into_iter();
        config.errors = errors.map(|error| error.in_file(path)).collect();
        config
            .entries
            .iter_mut()
            .for_each(|entry| entry.set_file(path));
        config.file = Some(path.to_owned());
        Ok(config)
    }

    /// Reads the text of a file. A byte order mark at its begin is skipped.
    ///
    /// # Errors
    /// The text has more than 1 MiB, is no JSON object, nests too deep, or has neither `mcpServers` nor `servers`.
    pub fn parse(text: &[u8]) -> Result<Self, ConfigError> {
        file::check(text)?;
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let file = RawBuf::parse(text);
        let file = file.map_err(|fault| ConfigError::new(format!("no JSON: {fault}")))?;
        let no_object = || ConfigError::new("it is no JSON object");
        let file = file.as_raw().object().ok_or_else(no_object)?;
        let mut config = Self::default();
        if let Some(inputs) = file.get("inputs") {
            config.inputs = input::read(inputs, &mut config.errors);
        }
        let member = ["mcpServers", "servers"]
            .into_iter()
            .find(|name| file.get(name).is_some());
        let no_member = || ConfigError::new("it has no member `mcpServers`, nor `servers`");
        let member = member.ok_or_else(no_member)?;
        let servers = file.get(member).and_then(Raw::object);
        config.read_servers(member, servers.ok_or_else(|| no_object().at(member))?);
        config.unknown = entry::other_members(file, &["inputs", member]);
        Ok(config)
    }

    fn read_servers(&mut self, member: &str, servers: Object<'_>) {
        let mut names = HashSet::new();
        for (name, value) in servers.members() {
            let name = name.to_cow();
            let is_shown = !name.contains(char::is_control);
            let place = match is_shown {
                true => format!("{member}.{name}"),
                // Errors are for terminals, too.
                false => format!("{member}.{}", name.escape_debug()),
            };
            let entry = match names.insert(name.clone()) {
                _ if !is_shown => Err(ConfigError::new("its name has control characters")),
                true => ConfigEntry::read(&name, &place, value, &self.inputs),
                false => Err(ConfigError::new("it is there twice")),
            };
            match entry {
                Ok(entry) => self.entries.push(entry),
                Err(error) => self.errors.push(error.at(&place)),
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
        let place = |error: &&ConfigError| {
            error
                .place()
                .split_once('.')
                .is_some_and(|(_, of)| of == name)
        };
        if let Some(error) = self.errors.iter().find(place) {
            return Err(error.clone());
        }
        let known: Vec<_> = self.entries.iter().map(ConfigEntry::name).collect();
        let others = match &*known {
            [] => "nor any other".to_owned(),
            known => format!("but {}", known.join(", ")),
        };
        let error = ConfigError::new(format!("it has no server {name}, {others}"));
        Err(match &self.file {
            Some(file) => error.in_file(file),
            None => error,
        })
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
