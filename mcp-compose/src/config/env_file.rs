//! Files of environment variables.

use std::collections::BTreeMap;

use super::error::ConfigError;

/// Reads a file of lines `NAME=value`, as `docker --env-file` and shells have them: empty lines, lines that begin with
/// `#`, and a word `export` before the name are skipped; quotes around a value are removed. Nothing in it is expanded.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, String>, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let pairs = lines.map(|(index, line)| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let pair = line
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()));
        let pair = pair.filter(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace));
        let (name, value) =
            pair.ok_or_else(|| ConfigError::new(format!("line {} is no `NAME=value`", index + 1)))?;
        let quoted = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
        let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
        Ok((name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

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
