//! The entry of one server.

use core::convert::Infallible;
use core::fmt;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_proto::json::{Object, Raw, RawBuf};
use serde::Deserialize;

use super::env_file;
use super::error::ConfigError;
use super::expand::{Piece, expand, pieces};
use super::file;
use super::input::Input;
use super::target::{ServerProgram, ServerTarget, ServerUrl};
use super::variables::Variables;
use crate::digest::Digest;
use crate::entry::public_url;

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
    env: BTreeMap<String, String>,
    env_file: Option<String>,
    cwd: Option<String>,
    url: Option<String>,
    server_url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
}

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
        let object = entry.object();
        let object = object.ok_or_else(|| ConfigError::new("it is no JSON object"))?;
        let members = entry.decode::<Members>(&mut []);
        let members = members.map_err(|error| ConfigError::new(error.to_string()))?;
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

    /// Returns the address for messages: the program, or the URL without what may be secret, as it is written in the file.
    pub fn address(&self) -> Cow<'_, str> {
        let url = self.url().unwrap_or_default();
        self.program().map_or_else(|| public_url(url), Into::into)
    }

    /// Returns the names of the variables that the entry sets for its program, and of the headers for its URL, without
    /// their values.
    pub fn set_names(&self) -> impl Iterator<Item = &str> {
        let Members { env, headers, .. } = &self.members;
        env.keys().chain(headers.keys()).map(String::as_str)
    }

    /// Returns the names of the environment variables of this program that the entry reads when it is resolved.
    pub fn variables(&self) -> BTreeSet<String> {
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
            .filter(move |input| ids.contains(&input.id))
    }

    fn refers(&self, pick: impl Fn(Piece<'_>) -> Option<&str>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (_, text) in self.members.texts() {
            let picked = pieces(&text).filter_map(|piece| pick(piece.ok()?));
            found.extend(picked.map(str::to_owned));
        }
        found
    }

    /// Returns a digest of everything that decides which program runs and what is sent where: program, arguments,
    /// variables, folder, environment file, URL and headers, as they are written in the file, and the inputs that they refer to, with
    /// their defaults. A person who agreed to the entry agreed to this digest; a change of the file is another. What the environment
    /// file contains is not in it.
    pub fn digest(&self) -> Digest {
        let texts = self.members.texts().into_iter();
        let texts = texts.flat_map(|(place, text)| [place, text]);
        let inputs = self.inputs().flat_map(Input::texts);
        let all: Vec<String> = texts.chain(inputs).collect();
        Digest::of(all.iter().map(String::as_bytes))
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
        let mut members = self.members.clone();
        let expanded = members.each(|place, text| {
            *text = expand(text, variables, &self.inputs).map_err(|error| error.at(place))?;
            Ok(())
        });
        let target = expanded.and_then(|()| members.into_target(variables));
        target.map_err(|error| {
            let error = error.at(&self.place);
            match &self.file {
                Some(file) => error.in_file(file),
                None => error,
            }
        })
    }
}

impl Members {
    fn check(&self) -> Result<(), ConfigError> {
        let has_url = self.url.is_some() || self.server_url.is_some();
        if self.command.is_none() && !has_url {
            return Err(ConfigError::new("it has no member `command`, nor `url`"));
        }
        let fits = match self.r#type.as_deref() {
            None => true,
            Some("stdio") => self.command.is_some(),
            Some("http" | "streamable-http" | "streamableHttp" | "sse") => self.command.is_none(),
            Some(_) => false,
        };
        fits.then_some(()).ok_or_else(|| {
            let name = self.r#type.as_deref().unwrap_or_default();
            ConfigError::new(format!(
                "the type {name:?} is unknown, or the members are of another"
            ))
        })
    }

    /// Calls the function for each text that is expanded, with its place.
    fn each<E>(
        &mut self,
        mut act: impl FnMut(&str, &mut String) -> Result<(), E>,
    ) -> Result<(), E> {
        let single = [
            ("command", &mut self.command),
            ("cwd", &mut self.cwd),
            ("envFile", &mut self.env_file),
            ("url", &mut self.url),
            ("serverUrl", &mut self.server_url),
        ];
        for (place, text) in single {
            text.as_mut().map_or(Ok(()), |text| act(place, text))?;
        }
        for (index, text) in self.args.iter_mut().enumerate() {
            act(&format!("args[{index}]"), text)?;
        }
        for (member, values) in [("env", &mut self.env), ("headers", &mut self.headers)] {
            for (name, text) in values {
                act(&format!("{member}.{name}"), text)?;
            }
        }
        Ok(())
    }

    /// Returns all texts that are expanded, with their places.
    fn texts(&self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        let Ok(()) = self.clone().each(|place, text| {
            texts.push((place.to_owned(), text.clone()));
            Ok::<_, Infallible>(())
        });
        texts
    }

    /// Returns the server, of members that are expanded.
    fn into_target(self, variables: &Variables) -> Result<ServerTarget, ConfigError> {
        let Some(program) = self.command else {
            let url = self.url.or(self.server_url).unwrap_or_default();
            let scheme = url
                .split_once("://")
                .map(|(scheme, _)| scheme.to_ascii_lowercase());
            return match scheme.as_deref() {
                Some("http" | "https") => Ok(ServerTarget::Url(ServerUrl {
                    url,
                    headers: self.headers,
                })),
                _ => Err(ConfigError::new("it is no http:// or https:// URL").at("url")),
            };
        };
        let mut environment = BTreeMap::new();
        if let Some(file) = self.env_file {
            let path = variables.workspace().unwrap_or(Path::new("")).join(file);
            let text = file::read_regular(&path);
            let parsed = text.and_then(|text| env_file::parse(&String::from_utf8_lossy(&text)));
            environment = parsed.map_err(|error| error.at("envFile"))?;
        }
        environment.extend(self.env);
        Ok(ServerTarget::Program(ServerProgram {
            program: program.into(),
            arguments: self.args.into_iter().map(Into::into).collect(),
            environment,
            directory: self.cwd.map(Into::into),
        }))
    }
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
            .field("address", &self.address())
            .field("disabled", &self.is_disabled())
            .field("unknown", &self.unknown)
            .finish_non_exhaustive()
    }
}
