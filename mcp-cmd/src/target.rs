//! The address of a server, or the command that starts it.

use std::ffi::OsString;
use std::path::Path;

use clap::CommandFactory;

use super::options::{Common, Options};
use super::url::host;
use mcp_tokio::compose::ServerTarget;

/// The name of the server here: never the one that it reports itself.
pub(crate) fn label(target: &ServerTarget, common: &Common) -> String {
    if let Some((_, name)) = common.config() {
        return name;
    }
    let label = match target {
        ServerTarget::Program(program) => Path::new(&program.program)
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned()),
        ServerTarget::Url(remote) => Some(host(&remote.url).to_owned()),
    };
    label.unwrap_or_else(|| "server".to_owned())
}

/// Moves a URL that stands before the command to the end of the command line, after `--`. Options may
/// stand around it. Without a command, `info` is added.
pub(crate) fn reordered(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let definition = Options::command();
    let (mut url, mut at) = (None, 1);
    let mut needs_command = true;
    while let Some(word) = words.get(at).map(|word| word.to_string_lossy()) {
        match &*word {
            "--" => break,
            option if option.starts_with('-') => at += 1 + values(&definition, option),
            word if url.is_none() && is_url(word) => url = Some(words.remove(at)),
            // Help is about no server.
            "help" if url.is_some() => return words,
            _ => {
                needs_command = false;
                break;
            }
        }
    }
    if let Some(url) = url {
        if needs_command {
            words.insert(at.min(words.len()), "info".into());
        }
        let end = words.iter().position(|word| word == "--");
        let end = end.unwrap_or(words.len());
        words.splice(end..end, ["--".into(), url]);
    }
    words
}

/// The number of words that follow an option as its values.
fn values(definition: &clap::Command, option: &str) -> usize {
    let name = option.strip_prefix("--");
    let known = name.and_then(|name| {
        definition
            .get_arguments()
            .find(|it| it.get_long() == Some(name))
    });
    let known = known.filter(|it| it.get_action().takes_values());
    known.map_or(0, |it| {
        it.get_num_args().map_or(1, |count| count.max_values())
    })
}

/// Returns whether the word is a URL of a server.
pub(crate) fn is_url(word: &str) -> bool {
    matches!(scheme(word), Some(scheme) if is_web(scheme))
}

/// Explains the name of a program that is a URL of another scheme or the address of a server.
pub(crate) fn misread(word: &str) -> Option<String> {
    if let Some(scheme) = scheme(word) {
        let known = "a server is a program or an http:// or https:// URL";
        return (!is_web(scheme)).then(|| format!("{scheme}:// is not supported: {known}"));
    }
    let (address, _) = word.split_once('/').unwrap_or((word, ""));
    let (host, port) = address.rsplit_once(':')?;
    let is_address = !host.is_empty() && port.parse::<u16>().is_ok() && !Path::new(word).exists();
    is_address.then(|| format!("{word} is not a program; did you mean http://{word}?"))
}

fn scheme(word: &str) -> Option<&str> {
    let (scheme, _) = word.split_once("://")?;
    let is_scheme = scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    Some(scheme).filter(|scheme| is_scheme && !scheme.is_empty())
}

fn is_web(scheme: &str) -> bool {
    ["http", "https"]
        .iter()
        .any(|web| scheme.eq_ignore_ascii_case(web))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_front() {
        let check = |line: &str, expected: &str| {
            let words = reordered(line.split(' ').map(OsString::from));
            assert_eq!(words, Vec::from_iter(expected.split(' ')), "{line}");
        };
        check("client", "client");
        check("client list -- server", "client list -- server");
        check("client http://a/mcp", "client info -- http://a/mcp");
        check(
            "client https://a list tools",
            "client list tools -- https://a",
        );
        check("client list http://a", "client list http://a");
        check("client http://a help list", "client help list");
        check("client http://a -q help", "client -q help");
        check("client http://a -q", "client -q info -- http://a");
        check("client http://a --json", "client --json info -- http://a");
        check("client -q http://a info", "client -q info -- http://a");
        check(
            "client --timeout 2 http://a --env A=b --json ping --count 3",
            "client --timeout 2 --env A=b --json ping --count 3 -- http://a",
        );
        check(
            "client --header=A:b http://a/mcp -q",
            "client --header=A:b -q info -- http://a/mcp",
        );
        check(
            "client --config http://x it list",
            "client --config http://x it list",
        );
        check(
            "client http://a read https://b",
            "client read https://b -- http://a",
        );
        check("client http://a list -- b", "client list -- http://a -- b");
        check(
            "client http://a --timeout",
            "client --timeout info -- http://a",
        );
    }

    #[test]
    fn programs_that_are_none() {
        let check = |word: &str, said: Option<&str>| {
            let found = misread(word);
            assert_eq!(found.is_some(), said.is_some(), "{word}: {found:?}");
            assert!(
                found.unwrap_or_default().contains(said.unwrap_or_default()),
                "{word}"
            );
        };
        check(
            "127.0.0.1:9999/mcp",
            Some("did you mean http://127.0.0.1:9999/mcp?"),
        );
        check("localhost:80", Some("http://localhost:80?"));
        check("[::1]:80/mcp", Some("http://[::1]:80/mcp?"));
        check("ftp://x/", Some("ftp:// is not supported"));
        check("HTTPS://x/", None);
        check("server", None);
        check("C:/server.exe", None);
        check("path/to:80", None);
        check(":80", None);
    }
}
