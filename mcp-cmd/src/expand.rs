//! `${..}` in configuration files.

/// Puts values in the place of variables, in the ways that desktop hosts write them:
/// `${NAME}` and `${env:NAME}` from the environment, `${NAME:-text}` with a text in case the
/// variable is not set, `${userHome}`. A `$` without a brace stays what it is.
///
/// # Errors
///
/// The variable that is not set, or the one that only the host that wrote the file knows.
pub(crate) fn expand(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((inside, behind)) = behind.split_once('}') else {
            return Err(format!("the `}}` of `${{{behind}` is missing"));
        };
        expanded.push_str(&value(inside, &variable)?);
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn value(inside: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let inside = inside.strip_prefix("env:").unwrap_or(inside);
    if inside == "userHome" {
        let home = variable("HOME").or_else(|| variable("USERPROFILE"));
        return home.ok_or_else(|| "there is no home directory for `${userHome}`".to_owned());
    }
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if name.is_empty() || name.contains(|c: char| !(c.is_alphanumeric() || "_.()-".contains(c))) {
        return Err(format!(
            "`${{{inside}}}` means something only to the host that wrote it"
        ));
    }
    // As in a shell, a variable that is set to nothing takes the default too.
    let value = variable(name).filter(|value| default.is_none() || !value.is_empty());
    let value = value.or_else(|| default.map(str::to_owned));
    value.ok_or_else(|| format!("the environment variable {name} is not set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let variable = |name: &str| match name {
            "KEY" => Some("s3cret".to_owned()),
            "EMPTY" => Some(String::new()),
            "HOME" => Some("/home/me".to_owned()),
            _ => None,
        };
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = expand(text, variable);
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        };
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
        let foreign = "`${input:token}` means something only to the host that wrote it";
        check("${input:token}", Err(foreign));
    }
}
