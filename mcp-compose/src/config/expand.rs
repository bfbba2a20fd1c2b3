//! `${..}` in configuration files.

use super::error::ConfigError;
use super::input::{Input, InputKind};
use super::variables::Variables;

/// A piece of a text with variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    /// `${NAME}`, `${env:NAME}`, `${NAME:-default}`
    Variable {
        name: &'t str,
        default: Option<&'t str>,
    },
    /// `${userHome}`
    Home,
    /// `${workspaceFolder}`
    Workspace,
    /// `${input:id}`
    Input(&'t str),
}

/// Returns the pieces of a text; the last one may be an error. A `$` without a brace stays what it is.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Result<Piece<'_>, ConfigError>> {
    let mut rest = Some(text);
    let mut inside = None;
    core::iter::from_fn(move || {
        if let Some(inside) = inside.take() {
            return Some(Piece::read(inside));
        }
        let Some((before, after)) = rest?.split_once("${") else {
            return rest.take().map(|text| Ok(Piece::Text(text)));
        };
        let Some((variable, after)) = after.split_once('}') else {
            rest = None;
            let reason = format!("the `}}` of `${{{after}` is missing");
            return Some(Err(ConfigError::new(reason)));
        };
        (inside, rest) = (Some(variable), Some(after));
        Some(Ok(Piece::Text(before)))
    })
}

impl<'t> Piece<'t> {
    fn read(inside: &'t str) -> Result<Self, ConfigError> {
        match inside {
            "userHome" => return Ok(Self::Home),
            "workspaceFolder" => return Ok(Self::Workspace),
            _ => {}
        }
        if let Some(id) = inside.strip_prefix("input:") {
            return Ok(Self::Input(id));
        }
        let variable = inside.strip_prefix("env:").unwrap_or(inside);
        let (name, default) = match variable.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (variable, None),
        };
        let is_name = |c: char| c.is_alphanumeric() || "_.()-".contains(c);
        match !name.is_empty() && name.chars().all(is_name) {
            true => Ok(Self::Variable { name, default }),
            false => Err(ConfigError::new(format!(
                "`${{{inside}}}` means something only to the host that wrote it"
            ))),
        }
    }
}

impl Piece<'_> {
    /// Explains that there is no value for the piece.
    fn missing(self) -> String {
        match self {
            Self::Text(_) => String::new(),
            Self::Variable { name, .. } => format!("the environment variable {name} is not set"),
            Self::Home => "there is no home directory for `${userHome}`".to_owned(),
            Self::Workspace => "there is no folder for `${workspaceFolder}`".to_owned(),
            Self::Input(id) => {
                format!("the input {id} has no value, or is a command of another host")
            }
        }
    }
}

/// Puts values in the place of variables. Values are not expanded again.
pub(super) fn expand(
    text: &str,
    variables: &Variables,
    inputs: &[Input],
) -> Result<String, ConfigError> {
    let mut expanded = String::new();
    for piece in pieces(text) {
        let piece = piece?;
        let value = match piece {
            Piece::Text(text) => Some(text.to_owned()),
            Piece::Variable { name, default } => {
                // As in a shell, a variable that is set to nothing takes the default too.
                let value = variables.environment(name);
                let value = value.filter(|value| default.is_none() || !value.is_empty());
                value.or_else(|| default.map(str::to_owned))
            }
            Piece::Home => ["HOME", "USERPROFILE"]
                .into_iter()
                .find_map(|name| variables.environment(name)),
            Piece::Workspace => variables
                .workspace()
                .map(|folder| folder.to_string_lossy().into_owned()),
            Piece::Input(id) => {
                let input = inputs.iter().find(|input| input.id == id);
                let value = variables.answer(id).or_else(|| input?.default.as_deref());
                let is_command = input.is_some_and(|input| input.kind == InputKind::Command);
                value.filter(|_| !is_command).map(str::to_owned)
            }
        };
        expanded.push_str(&value.ok_or_else(|| ConfigError::new(piece.missing()))?);
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let variables = Variables::new(|name| match name {
            "KEY" => Some("s3cret".to_owned()),
            "EMPTY" => Some(String::new()),
            "HOME" => Some("/home/me".to_owned()),
            _ => None,
        });
        let answered = variables
            .clone()
            .input("token", "${KEY}")
            .workspace_folder("/home/ada");
        let input = |id: &str, kind, default: Option<&str>| Input {
            id: id.to_owned(),
            kind,
            description: None,
            default: default.map(str::to_owned),
            is_secret: false,
            options: Vec::new(),
        };
        let text = InputKind::Text;
        let inputs = [
            input("token", text, None),
            input("command", InputKind::Command, Some("x")),
            input("default", text, Some("usual")),
        ];
        let check_with = |variables: &Variables, text: &str, expected: Result<&str, &str>| {
            let found = expand(text, variables, &inputs).map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        };
        let check = |text: &str, expected| check_with(&variables, text, expected);
        check("", Ok(""));
        check("plain $KEY $", Ok("plain $KEY $"));
        check("${KEY}", Ok("s3cret"));
        check("Bearer ${KEY}!${EMPTY}", Ok("Bearer s3cret!"));
        check("${env:KEY}/${userHome}", Ok("s3cret//home/me"));
        check(
            "${NONE:-none}/${KEY:-other}/${EMPTY:-nothing}/${NONE:-}",
            Ok("none/s3cret/nothing/"),
        );
        // What a variable holds is not read again.
        check("${NONE:-$}{KEY}", Ok("${KEY}"));
        check("${NONE}", Err("the environment variable NONE is not set"));
        check("a ${KEY", Err("the `}` of `${KEY` is missing"));
        let foreign =
            "`${workspaceFolderBasename:x}` means something only to the host that wrote it";
        check("${workspaceFolderBasename:x}", Err(foreign));
        check(
            "${}",
            Err("`${}` means something only to the host that wrote it"),
        );
        check(
            "${workspaceFolder}",
            Err("there is no folder for `${workspaceFolder}`"),
        );
        check(
            "${input:token}",
            Err("the input token has no value, or is a command of another host"),
        );
        check(
            "${input:other}",
            Err("the input other has no value, or is a command of another host"),
        );
        check("${input:default}", Ok("usual"));
        let command = "the input command has no value, or is a command of another host";
        check("${input:command}", Err(command));

        check_with(&answered, "${workspaceFolder}/x", Ok("/home/ada/x"));
        check_with(&answered, "${input:token}", Ok("${KEY}"));
        let answered = answered.input("command", "x").input("default", "other");
        check_with(&answered, "${input:command}", Err(command));
        check_with(&answered, "${input:default}", Ok("other"));
        check_with(
            &Variables::new(|_| None),
            "${userHome}",
            Err("there is no home directory for `${userHome}`"),
        );
    }
}
