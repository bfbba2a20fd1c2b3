//! Inputs: values that a person gives.

use core::fmt;
use std::collections::HashSet;
use std::sync::Arc;

use mcp_proto::json::Raw;
use serde::Deserialize;

use super::error::ConfigError;

/// A value that a person gives before a server starts, for `${input:id}`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Input {
    /// The id, by which entries refer to it.
    pub id: String,
    /// The kind of question.
    #[serde(rename = "type")]
    pub kind: InputKind,
    /// The text to show.
    pub description: Option<String>,
    /// The value if the person gives none.
    pub default: Option<String>,
    /// True if the value is a password, which must not be shown while it is typed.
    #[serde(default, rename = "password")]
    pub is_secret: bool,
    /// The values to choose from.
    #[serde(default)]
    pub options: Vec<String>,
}

/// A kind of [`Input`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub enum InputKind {
    /// Text to type.
    #[serde(rename = "promptString")]
    Text,
    /// One of the options.
    #[serde(rename = "pickString")]
    Choice,
    /// The result of a command that only the host that wrote the file can run.
    #[serde(rename = "command")]
    Command,
}

impl Input {
    /// Returns all that the file says of the input, for a digest.
    pub(super) fn texts(&self) -> Vec<String> {
        let Self {
            id,
            kind,
            description,
            default,
            is_secret,
            options,
        } = self;
        let shape = format!(
            "input {kind:?} {is_secret} {} {} {}",
            description.is_some(),
            default.is_some(),
            options.len()
        );
        let texts = [Some(id), description.as_ref(), default.as_ref()];
        let texts = texts.into_iter().flatten().chain(options).cloned();
        [shape].into_iter().chain(texts).collect()
    }
}

/// Reads the inputs that a file declares; those that are wrong are errors.
pub(super) fn read(inputs: Raw<'_>, errors: &mut Vec<ConfigError>) -> Arc<[Input]> {
    let (mut read, mut ids) = (Vec::new(), HashSet::new());
    let inputs = inputs.array().into_iter().flat_map(|it| it.elements());
    for (index, input) in inputs.enumerate() {
        let input = input.decode::<Input>(&mut []);
        let input = input.map_err(|error| ConfigError::new(error.to_string()));
        let input = input.and_then(|input| match ids.insert(input.id.clone()) {
            true => Ok(input),
            false => Err(ConfigError::new("its id is there twice")),
        });
        match input {
            Ok(input) => read.push(input),
            Err(error) => errors.push(error.at(&format!("inputs[{index}]"))),
        }
    }
    read.into()
}

/// Without the default of a password.
impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = self.default.as_deref().filter(|_| !self.is_secret);
        f.debug_struct("Input")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("description", &self.description)
            .field("default", &default)
            .field("is_secret", &self.is_secret)
            .field("options", &self.options)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_of_a_password_is_not_shown() {
        let mut input = Input {
            id: "token".to_owned(),
            kind: InputKind::Text,
            description: None,
            default: Some("s3cret".to_owned()),
            is_secret: true,
            options: Vec::new(),
        };
        assert!(!format!("{input:?}").contains("s3cret"));
        input.is_secret = false;
        assert!(format!("{input:?}").contains("s3cret"));
    }
}
