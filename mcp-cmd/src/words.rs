//! Arguments as the command line says them.

use std::io::Read;

use mcp_tokio::json::RawBuf;

/// The meaning of one word.
#[derive(Debug, PartialEq)]
pub(crate) enum Word {
    /// All arguments: a JSON object.
    All(RawBuf),
    /// `key=value`: text that becomes what the schema says.
    Text { key: String, text: String },
    /// `key:=json`: JSON as it is.
    Json { key: String, value: RawBuf },
}

/// Understands the words: `key=value`, `key:=json` or a whole JSON object; instead of a value or
/// an object `@file` and, once, `@-` or `-` for standard input.
///
/// # Errors
///
/// The word that is wrong, and the reason.
pub(crate) fn parse(words: &[String], stdin: impl Read) -> Result<Vec<Word>, String> {
    let mut stdin = Some(stdin);
    words
        .iter()
        .map(|word| parse_word(word, &mut stdin))
        .collect()
}

fn parse_word(word: &str, stdin: &mut Option<impl Read>) -> Result<Word, String> {
    if word == "-" || word.starts_with('@') {
        let text = load(if word == "-" { "@-" } else { word }, stdin)?;
        return object(text).map_err(|why| format!("{word}: {why}"));
    }
    if word.starts_with('{') {
        return object(word.as_bytes().to_vec());
    }
    let (key, value) = match word.split_once('=') {
        Some((key, value)) if !key.is_empty() && key != ":" => (key, value),
        _ => {
            return Err(format!(
                "`{word}` is neither key=value, key:=json nor a JSON object"
            ));
        }
    };
    if let Some(key) = key.strip_suffix(':') {
        let json = match value.starts_with('@') {
            true => load(value, stdin)?,
            false => value.as_bytes().to_vec(),
        };
        let value = RawBuf::parse(json).map_err(|fault| format!("{key}: no JSON: {fault}"))?;
        return Ok(Word::Json {
            key: key.to_owned(),
            value,
        });
    }
    let text = match value.starts_with('@') {
        true => String::from_utf8(load(value, stdin)?)
            .map_err(|_| format!("{key}: {value} is no UTF-8 text"))?,
        false => value.to_owned(),
    };
    Ok(Word::Text {
        key: key.to_owned(),
        text,
    })
}

/// Reads the file, or standard input.
fn load(source: &str, stdin: &mut Option<impl Read>) -> Result<Vec<u8>, String> {
    let file = source.strip_prefix('@').unwrap_or(source);
    if file != "-" {
        return std::fs::read(file).map_err(|error| format!("{file}: {error}"));
    }
    let Some(mut stdin) = stdin.take() else {
        return Err("standard input can be read only once".to_owned());
    };
    let mut text = Vec::new();
    let read = stdin.read_to_end(&mut text);
    read.map_err(|error| format!("standard input: {error}"))?;
    Ok(text)
}

fn object(text: Vec<u8>) -> Result<Word, String> {
    let value = RawBuf::parse(text).map_err(|fault| format!("no JSON: {fault}"))?;
    match value.as_raw().object() {
        Some(_) => Ok(Word::All(value)),
        None => Err(format!("no JSON object ({})", value.as_raw().kind())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str], stdin: &str) -> Result<Vec<Word>, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        parse(&words, stdin.as_bytes())
    }

    #[test]
    fn words() {
        let text = |key: &str, text: &str| Word::Text {
            key: key.to_owned(),
            text: text.to_owned(),
        };
        let json = |key: &str, value: &str| Word::Json {
            key: key.to_owned(),
            value: RawBuf::parse(value).unwrap(),
        };
        let all = |value: &str| Word::All(RawBuf::parse(value).unwrap());
        let check = |word: &str, expected: Result<Word, &str>| match (
            read(&[word], "{\"in\":1}"),
            expected,
        ) {
            (Ok(found), Ok(expected)) => assert_eq!(found, [expected], "{word}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{word}: {found}"),
            (found, expected) => panic!("{word}: {found:?}, not {expected:?}"),
        };
        check("city=Kyoto", Ok(text("city", "Kyoto")));
        check("query=a=b", Ok(text("query", "a=b")));
        check("empty=", Ok(text("empty", "")));
        check("a.b=[1]", Ok(text("a.b", "[1]")));
        check("n:=1", Ok(json("n", "1")));
        check("n:=", Err("n: no JSON"));
        check("n:={", Err("n: no JSON"));
        check("{\"a\":1}", Ok(all("{\"a\":1}")));
        check("{\"a\"", Err("no JSON"));
        check("-", Ok(all("{\"in\":1}")));
        check("@-", Ok(all("{\"in\":1}")));
        check("text=@-", Ok(text("text", "{\"in\":1}")));
        check("n:=@-", Ok(json("n", "{\"in\":1}")));
        check("@/no/such/file", Err("/no/such/file: "));
        check("=x", Err("neither"));
        check(":=1", Err("neither"));
        check("word", Err("neither"));
        assert_eq!(
            read(&["-"], "[1]").unwrap_err(),
            "-: no JSON object (array)"
        );
        assert!(
            read(&["a=@-", "b=@-"], "")
                .unwrap_err()
                .contains("only once")
        );
    }
}
