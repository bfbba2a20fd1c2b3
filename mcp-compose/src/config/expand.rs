//! `${..}` in configuration files.

use super::error::ConfigErrorKind;
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
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Result<Piece<'_>, ConfigErrorKind>> {
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
            return Some(Err(ConfigErrorKind::Unclosed(after.to_owned())));
        };
        (inside, rest) = (Some(variable), Some(after));
        Some(Ok(Piece::Text(before)))
    })
}

impl<'t> Piece<'t> {
    fn read(inside: &'t str) -> Result<Self, ConfigErrorKind> {
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
            false => Err(ConfigErrorKind::Foreign(inside.to_owned())),
        }
    }
}

/// Puts values in the place of variables. Values are not expanded again.
pub(super) fn expand(
    text: &str,
    variables: &Variables,
    inputs: &[Input],
) -> Result<String, ConfigErrorKind> {
    let mut expanded = String::new();
    for piece in pieces(text) {
        match piece? {
            Piece::Text(text) => expanded.push_str(text),
            Piece::Variable { name, default } => {
                // As in a shell, a variable that is set to nothing takes the default too.
                let value = variables.environment(name);
                let value = value.filter(|value| default.is_none() || !value.is_empty());
                let value = value.or_else(|| default.map(str::to_owned));
                let not_set = || ConfigErrorKind::VariableNotSet(name.to_owned());
                expanded.push_str(&value.ok_or_else(not_set)?);
            }
            Piece::Home => {
                let home = variables.environment("HOME");
                let home = home.or_else(|| variables.environment("USERPROFILE"));
                expanded.push_str(&home.ok_or(ConfigErrorKind::NoHome)?);
            }
            Piece::Workspace => {
                let folder = variables.workspace().ok_or(ConfigErrorKind::NoWorkspace)?;
                expanded.push_str(&folder.to_string_lossy());
            }
            Piece::Input(id) => {
                let input = inputs.iter().find(|input| input.id == id);
                if input.is_some_and(|input| input.kind == InputKind::Command) {
                    return Err(ConfigErrorKind::CommandInput(id.to_owned()));
                }
                let value = variables.answer(id);
                let value = value.or_else(|| input?.default.as_deref());
                let not_set = || ConfigErrorKind::InputNotSet(id.to_owned());
                expanded.push_str(value.ok_or_else(not_set)?);
            }
        }
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
            .workspace_folder("/work");
        let input = |id: &str, kind, default: Option<&str>| Input {
            id: id.to_owned(),
            kind,
            description: None,
            default: default.map(str::to_owned),
        };
        let text = InputKind::Text { is_secret: false };
        let inputs = [
            input("token", text.clone(), None),
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
        check("${input:token}", Err("the input token has no value"));
        check("${input:other}", Err("the input other has no value"));
        check("${input:default}", Ok("usual"));
        let command =
            "the input command is a command, which only the host that wrote the file can run";
        check("${input:command}", Err(command));

        check_with(&answered, "${workspaceFolder}/x", Ok("/work/x"));
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
