//! Files of environment variables.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::error::ConfigErrorKind;

/// Reads a file of lines `NAME=value`, as `docker --env-file` and shells have them: empty lines, lines that begin with
/// `#`, and a word `export` before the name are skipped; quotes around a value are removed. Nothing in it is expanded.
pub(super) fn read(path: &Path) -> Result<BTreeMap<String, String>, ConfigErrorKind> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut text));
    read.map_err(|error| ConfigErrorKind::Read(error.into()))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(ConfigErrorKind::TooLarge(MAX_BYTES));
    }
    parse(&String::from_utf8_lossy(&text))
}

fn parse(text: &str) -> Result<BTreeMap<String, String>, ConfigErrorKind> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let pairs = lines.map(|(index, line)| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let pair = line
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()));
        let pair = pair.filter(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace));
        let (name, value) = pair.ok_or(ConfigErrorKind::EnvLine(index + 1))?;
        let quoted = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
        let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
        Ok((name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

/// As for the configuration.
const MAX_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let expected = expected
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(parse(text).unwrap(), expected.collect(), "{text}");
        };
        check("", &[]);
        check(
            "\u{feff}A=b\r\n\r\n# C=d\n export E = f=g \n",
            &[("A", "b"), ("E", "f=g")],
        );
        check(
            "A=\"b c\"\nB=' '\nC=\"\nD=\nE=${A}",
            &[
                ("A", "b c"),
                ("B", " "),
                ("C", "\""),
                ("D", ""),
                ("E", "${A}"),
            ],
        );
        check("A=1\nA=2", &[("A", "2")]);
        let wrong = |text: &str, line: usize| {
            let error = parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("line {line} is no `NAME=value`"));
        };
        wrong("A=1\n\nB", 3);
        wrong("=1", 1);
        wrong("A B=1", 1);
    }
}
