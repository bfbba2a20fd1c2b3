//! The entry of one server.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_proto::json::{Object, Raw, RawBuf};
use serde::Deserialize;

use super::env_file;
use super::error::{ConfigError, ConfigErrorKind};
use super::expand::{Piece, expand, pieces};
use super::input::Input;
use super::target::{ServerProgram, ServerTarget, ServerUrl};
use super::variables::Variables;
use crate::digest::Digest;

/// The entry of one server in a [`Config`](super::Config), as it is written there: nothing of it is expanded.
#[derive(Clone)]
pub struct ConfigEntry {
    name: String,
    /// The path of the entry in the file, for errors.
    place: String,
    file: Option<PathBuf>,
    raw: RawBuf,
    members: Members,
    /// The inputs that the file declares.
    inputs: Arc<[Input]>,
    unknown: Vec<String>,
}

/// The members that this crate knows.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    r#type: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Pairs,
    env_file: Option<String>,
    cwd: Option<String>,
    url: Option<String>,
    server_url: Option<String>,
    #[serde(default)]
    headers: Pairs,
    #[serde(default)]
    disabled: bool,
}

/// Names and values.
type Pairs = BTreeMap<String, String>;

const KNOWN: [&str; 10] = [
    "type",
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "url",
    "serverUrl",
    "headers",
    "disabled",
];

impl ConfigEntry {
    pub(super) fn read(
        name: &str,
        place: &str,
        entry: Raw<'_>,
        inputs: &Arc<[Input]>,
    ) -> Result<Self, ConfigError> {
        let object = entry.object().ok_or(ConfigErrorKind::NoObject)?;
        let members: Members = entry.decode(&mut []).map_err(ConfigErrorKind::decode)?;
        members.check()?;
        Ok(Self {
            name: name.to_owned(),
            place: place.to_owned(),
            file: None,
            raw: entry.into(),
            members,
            inputs: Arc::clone(inputs),
            unknown: other_members(object, &KNOWN),
        })
    }

    pub(super) fn set_file(&mut self, file: &Path) {
        self.file = Some(file.to_owned());
    }

    /// Returns the name of the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the file says that the server is not to be used.
    pub const fn is_disabled(&self) -> bool {
        self.members.disabled
    }

    /// Returns the program as it is written in the file; `None` for a server at a URL.
    pub fn program(&self) -> Option<&str> {
        self.members.command.as_deref()
    }

    /// Returns the arguments of the program as they are written in the file.
    pub fn arguments(&self) -> &[String] {
        &self.members.args
    }

    /// Returns the URL as it is written in the file; `None` for a program.
    pub fn url(&self) -> Option<&str> {
        let Members {
            url, server_url, ..
        } = &self.members;
        let url = url.as_deref().or(server_url.as_deref());
        url.filter(|_| self.members.command.is_none())
    }

    /// Returns the names of the variables that the entry sets for its program, and of the headers for its URL, without
    /// their values.
    pub fn set_names(&self) -> impl Iterator<Item = &str> {
        let Members { env, headers, .. } = &self.members;
        env.keys().chain(headers.keys()).map(String::as_str)
    }

    /// Returns the names of the environment variables of this program that the entry reads when it is resolved.
    pub fn variables(&self) -> BTreeSet<&str> {
        self.refers(|piece| match piece {
            Piece::Variable { name, .. } => Some(name),
            Piece::Home => Some("HOME"),
            _ => None,
        })
    }

    /// Returns the inputs that the entry needs when it is resolved, as far as the file declares them.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        let ids = self.refers(|piece| match piece {
            Piece::Input(id) => Some(id),
            _ => None,
        });
        self.inputs
            .iter()
            .filter(move |input| ids.contains(&*input.id))
    }

    fn refers<'e>(&'e self, pick: impl Fn(Piece<'e>) -> Option<&'e str>) -> BTreeSet<&'e str> {
        let texts = self.members.texts().into_iter();
        let pieces = texts
            .flat_map(|(_, text)| pieces(text))
            .filter_map(Result::ok);
        pieces.filter_map(pick).collect()
    }

    /// Returns a digest of everything that decides which program runs and what is sent where: program, arguments,
    /// variables, folder, environment file, URL and headers, as they are written in the file. A person who agreed to the
    /// entry agreed to this digest; a change of the file is another.
    pub fn digest(&self) -> Digest {
        let texts = self.members.texts();
        Digest::of(
            texts
                .iter()
                .flat_map(|(place, text)| [place.as_bytes(), text.as_bytes()]),
        )
    }

    /// Returns the names of the members that this crate does not know.
    pub fn unknown_members(&self) -> &[String] {
        &self.unknown
    }

    /// Returns the whole entry as the file has it.
    pub fn as_raw(&self) -> Raw<'_> {
        self.raw.as_raw()
    }

    /// Expands the variables of the entry, and reads its environment file.
    ///
    /// # Errors
    /// A variable or an input has no value, or the environment file cannot be read. The error names the member.
    pub fn resolve(&self, variables: &Variables) -> Result<ServerTarget, ConfigError> {
        let resolved = self.members.resolve(variables, &self.inputs);
        resolved.map_err(|error| {
            let error = error.within(&self.place);
            match &self.file {
                Some(file) => error.in_file(file),
                None => error,
            }
        })
    }
}

impl Members {
    fn check(&self) -> Result<(), ConfigErrorKind> {
        let has_url = self.url.is_some() || self.server_url.is_some();
        let is_right = match self.r#type.as_deref() {
            None => true,
            Some("stdio") => self.command.is_some(),
            Some("http" | "streamable-http" | "streamableHttp" | "sse") => {
                has_url && self.command.is_none()
            }
            Some(_) => false,
        };
        match &self.r#type {
            _ if self.command.is_none() && !has_url => Err(ConfigErrorKind::NoTarget),
            Some(name) if !is_right => Err(ConfigErrorKind::TransportType(name.clone())),
            _ => Ok(()),
        }
    }

    /// Returns all texts that are expanded, with their places.
    fn texts(&self) -> Vec<(String, &str)> {
        let single = [
            ("command", &self.command),
            ("cwd", &self.cwd),
            ("envFile", &self.env_file),
            ("url", &self.url),
            ("serverUrl", &self.server_url),
        ];
        let single = single.into_iter();
        let single = single.filter_map(|(name, text)| Some((name.to_owned(), text.as_deref()?)));
        let args = self.args.iter().enumerate();
        let args = args.map(|(index, text)| (format!("args[{index}]"), &**text));
        let pairs = named("env", &self.env).chain(named("headers", &self.headers));
        single.chain(args).chain(pairs).collect()
    }

    fn resolve(
        &self,
        variables: &Variables,
        inputs: &[Input],
    ) -> Result<ServerTarget, ConfigError> {
        let expanded = |place: &str, text: &str| {
            expand(text, variables, inputs).map_err(|kind| ConfigError::from(kind).at(place))
        };
        let optional = |place: &str, text: &Option<String>| {
            text.as_deref()
                .map(|text| expanded(place, text))
                .transpose()
        };
        let pairs = |member: &str, pairs: &Pairs| {
            let expand = |(name, value): (&String, &String)| {
                Ok((name.clone(), expanded(&format!("{member}.{name}"), value)?))
            };
            pairs
                .iter()
                .map(expand)
                .collect::<Result<Pairs, ConfigError>>()
        };
        let Some(command) = &self.command else {
            let url = optional("url", &self.url)?;
            let url = url.map_or_else(
                || optional("serverUrl", &self.server_url),
                |url| Ok(Some(url)),
            )?;
            return Ok(ServerTarget::Url(ServerUrl {
                url: url.ok_or(ConfigErrorKind::NoTarget)?,
                headers: pairs("headers", &self.headers)?,
            }));
        };
        let mut environment = Pairs::new();
        if let Some(file) = optional("envFile", &self.env_file)? {
            let path = variables.workspace().unwrap_or(Path::new("")).join(file);
            environment =
                env_file::read(&path).map_err(|kind| ConfigError::from(kind).at("envFile"))?;
        }
        environment.extend(pairs("env", &self.env)?);
        let args = self.args.iter().enumerate();
        let args = args.map(|(index, text)| Ok(expanded(&format!("args[{index}]"), text)?.into()));
        Ok(ServerTarget::Program(ServerProgram {
            program: expanded("command", command)?.into(),
            arguments: args.collect::<Result<_, ConfigError>>()?,
            environment,
            directory: optional("cwd", &self.cwd)?.map(PathBuf::from),
        }))
    }
}

/// Returns the values with their places.
fn named<'p>(member: &str, pairs: &'p Pairs) -> impl Iterator<Item = (String, &'p str)> {
    let named = pairs.iter();
    named.map(move |(name, value)| (format!("{member}.{name}"), &**value))
}

/// Returns the names of the members of an object that are not among these.
pub(super) fn other_members(object: Object<'_>, known: &[&str]) -> Vec<String> {
    let names = object.members().map(|(name, _)| name.to_cow().into_owned());
    names.filter(|name| !known.contains(&&**name)).collect()
}

/// Arguments and values may be secrets.
impl fmt::Debug for ConfigEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigEntry")
            .field("name", &self.name)
            .field("program", &self.program())
            .field("url", &self.url().map(crate::entry::public_url))
            .field("disabled", &self.is_disabled())
            .field("unknown", &self.unknown)
            .finish_non_exhaustive()
    }
}
