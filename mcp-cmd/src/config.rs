//! The files in which desktop hosts keep their servers.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::exit::Failure;
use super::expand::expand;
use super::target::{Remote, Start, Target};
use mcp_tokio::json::RawBuf;

/// Reads how to reach the server of this name from a file.
///
/// # Errors
///
/// The file cannot be read or is no such file, or it has no such server.
pub(crate) fn load(file: &Path, name: &str) -> Result<Target, Failure> {
    let usage = |why: String| Failure::usage(format!("{}: {why}", file.display()));
    let text = std::fs::read(file).map_err(|error| usage(error.to_string()))?;
    let variable = |name: &str| std::env::var(name).ok();
    parse(&text, name, variable).map_err(usage)
}

fn parse(
    text: &[u8],
    name: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Target, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let file = RawBuf::parse(text).map_err(|fault| format!("no JSON: {fault}"))?;
    if file.as_raw().object().is_none() {
        return Err("it is no JSON object".to_owned());
    }
    let file: File = file.decode().map_err(|error| error.to_string())?;
    let Some(mut servers) = file.mcp_servers.or(file.servers) else {
        return Err("it has no member `mcpServers`".to_owned());
    };
    let Some(entry) = servers.remove(name) else {
        let names: Vec<String> = servers.into_keys().collect();
        return Err(match names.as_slice() {
            [] => format!("it has no server {name}, nor any other"),
            names => format!("it has no server {name}, but {}", names.join(", ")),
        });
    };
    let path = format!("mcpServers.{name}");
    let entry: Entry = entry.decode().map_err(|error| format!("{path}: {error}"))?;
    let filled = |member: &str, text: &str| {
        expand(text, &variable).map_err(|why| format!("{path}.{member}: {why}"))
    };
    let Some(command) = entry.command else {
        let url = entry.url.or(entry.server_url);
        let url = url.ok_or_else(|| format!("{path}: it has no member `command`, nor `url`"))?;
        let mut remote = Remote {
            url: filled("url", &url)?,
            headers: BTreeMap::new(),
        };
        for (name, value) in entry.headers {
            let value = filled(&format!("headers.{name}"), &value)?;
            remote.headers.insert(name, value);
        }
        return Ok(Target::Url(remote));
    };
    let mut start = Start {
        command: filled("command", &command)?.into(),
        ..Start::default()
    };
    for (index, argument) in entry.args.iter().enumerate() {
        start
            .args
            .push(filled(&format!("args[{index}]"), argument)?.into());
    }
    for (name, value) in &entry.env {
        let value = filled(&format!("env.{name}"), value)?;
        start.env.insert(name.clone(), value);
    }
    if let Some(directory) = &entry.cwd {
        start.cwd = Some(filled("cwd", directory)?.into());
    }
    Ok(Target::Program(start))
}

/// Some hosts call the member `servers`.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers")]
    mcp_servers: Option<BTreeMap<String, RawBuf>>,
    servers: Option<BTreeMap<String, RawBuf>>,
}

#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(rename = "serverUrl")]
    server_url: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries() {
        let check = |text: &str, expected: Result<Target, &str>| {
            let variable = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
            let found = parse(text.as_bytes(), "it", variable);
            match (&found, &expected) {
                (Err(found), Err(expected)) => {
                    assert!(found.contains(expected), "{text}: {found}");
                }
                _ => assert_eq!(
                    found.as_ref().ok(),
                    expected.as_ref().ok(),
                    "{text}: {found:?}"
                ),
            }
        };
        let start = |command: &str, args: &[&str]| Start {
            command: command.into(),
            args: args.iter().map(|&arg| arg.into()).collect(),
            ..Start::default()
        };
        let remote = |url: &str, headers: &[(&str, &str)]| {
            let headers = headers.iter();
            Target::Url(Remote {
                url: url.to_owned(),
                headers: headers
                    .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
            })
        };
        check(
            r#"{"mcpServers":{"it":{"command":"x"}}}"#,
            Ok(Target::Program(start("x", &[]))),
        );
        check(
            "\u{feff}{\"servers\":{\"it\":{\"type\":\"stdio\",\"command\":\"x\",\"args\":[\"-k\",\"${KEY}\"]}},\"inputs\":[]}",
            Ok(Target::Program(start("x", &["-k", "s3cret"]))),
        );
        check(
            r#"{"mcpServers":{"it":{"command":"x","env":{"K":"${KEY}","L":""},"cwd":"/srv","disabled":false}}}"#,
            Ok(Target::Program(Start {
                env: [
                    ("K".to_owned(), "s3cret".to_owned()),
                    ("L".to_owned(), String::new()),
                ]
                .into(),
                cwd: Some("/srv".into()),
                ..start("x", &[])
            })),
        );
        check("", Err("no JSON"));
        check("{\"mcpServers\":", Err("no JSON"));
        check("[]", Err("no JSON object"));
        check("{}", Err("no member `mcpServers`"));
        check(r#"{"mcpServers":{}}"#, Err("no server it, nor any other"));
        check(
            r#"{"mcpServers":{"b":{},"a":{}}}"#,
            Err("no server it, but a, b"),
        );
        check(
            r#"{"mcpServers":{"it":{}}}"#,
            Err("mcpServers.it: it has no member `command`, nor `url`"),
        );
        check(
            r#"{"mcpServers":{"it":{"url":"https://x/mcp"}}}"#,
            Ok(remote("https://x/mcp", &[])),
        );
        check(
            r#"{"servers":{"it":{"type":"http","url":"https://x","headers":{"Authorization":"Bearer ${KEY}"}}}}"#,
            Ok(remote("https://x", &[("Authorization", "Bearer s3cret")])),
        );
        check(
            r#"{"mcpServers":{"it":{"serverUrl":"https://${NO}"}}}"#,
            Err("mcpServers.it.url: "),
        );
        check(
            r#"{"mcpServers":{"it":{"command":["x"]}}}"#,
            Err("mcpServers.it: command"),
        );
        check(
            r#"{"mcpServers":{"it":{"command":"x","args":["a",1]}}}"#,
            Err("args[1]"),
        );
        check(
            r#"{"mcpServers":{"it":{"command":"x","args":["${NO}"]}}}"#,
            Err("args[0]: the environment variable NO is not set"),
        );
        check(
            r#"{"mcpServers":{"it":{"command":"x","env":{"A":"${NO}"}}}}"#,
            Err("mcpServers.it.env.A: "),
        );
    }
}
