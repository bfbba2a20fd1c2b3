//! Inputs: values that a person gives.

use std::collections::HashSet;
use std::sync::Arc;

use mcp_proto::json::Raw;
use serde::Deserialize;

use super::error::{ConfigError, ConfigErrorKind};

/// A value that a person gives before a server starts, for `${input:id}`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input {
    /// The id, by which entries refer to it.
    pub id: String,
    /// The kind of question.
    pub kind: InputKind,
    /// The text to show.
    pub description: Option<String>,
    /// The value if the person gives none.
    pub default: Option<String>,
}

/// A kind of [`Input`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputKind {
    /// Text to type (`promptString`).
    Text {
        /// True if the text is a password: it must not be shown while it is typed.
        is_secret: bool,
    },
    /// One of these (`pickString`).
    Choice(Vec<String>),
    /// A command of the host that wrote the file, which no other program can run.
    Command,
}

#[derive(Deserialize)]
struct Members {
    id: String,
    r#type: String,
    description: Option<String>,
    default: Option<String>,
    #[serde(default)]
    password: bool,
    #[serde(default)]
    options: Vec<String>,
}

/// Reads the inputs that a file declares; those that are wrong are errors.
pub(super) fn read(inputs: Raw<'_>, errors: &mut Vec<ConfigError>) -> Arc<[Input]> {
    let (mut read, mut ids) = (Vec::new(), HashSet::new());
    for (index, input) in inputs
        .array()
        .into_iter()
        .flat_map(|it| it.elements())
        .enumerate()
    {
        let place = format!("inputs[{index}]");
        match Input::read(input) {
            Ok(input) if !ids.insert(input.id.clone()) => {
                errors.push(ConfigError::from(ConfigErrorKind::Duplicate).at(&place));
            }
            Ok(input) => read.push(input),
            Err(kind) => errors.push(ConfigError::from(kind).at(&place)),
        }
    }
    read.into()
}

impl Input {
    fn read(input: Raw<'_>) -> Result<Self, ConfigErrorKind> {
        let members: Members = input.decode(&mut []).map_err(ConfigErrorKind::decode)?;
        let kind = match &*members.r#type {
            "promptString" => InputKind::Text {
                is_secret: members.password,
            },
            "pickString" => InputKind::Choice(members.options),
            "command" => InputKind::Command,
            _ => return Err(ConfigErrorKind::TransportType(members.r#type)),
        };
        Ok(Self {
            id: members.id,
            kind,
            description: members.description,
            default: members.default,
        })
    }
}
