//! `get`: a prompt.

use std::io::stdin;

use crate::content::content;
use crate::exit::{Exit, Failure};
use crate::json::{Members, quoted};
use crate::out;
use crate::plain::line;
use crate::session::Session;
use crate::style::{BLUE, DIM, GREEN, paint};
use crate::words::{self, Word};
use mcp_tokio::mcp_async::model::Role;
use mcp_tokio::mcp_proto::json::{Raw, RawBuf};

/// Gets a prompt and shows its messages.
pub(crate) async fn run(
    session: &Session<'_>,
    prompt: &str,
    given: &[String],
) -> Result<(), Failure> {
    let arguments = arguments(given).map_err(|why| Failure::usage(format!("{prompt}: {why}")))?;
    let result = session
        .wait_long(session.client.get_prompt(prompt, &arguments))
        .await?;
    if session.common.json {
        let document = RawBuf::encode(&result);
        return out::document(&document.map_err(|error| Failure::new(Exit::Other, error))?);
    }
    let save = session.save();
    let mut lines = Vec::new();
    if let Some(description) = &result.description {
        lines.push(paint(DIM, line(description)));
    }
    for message in &result.messages {
        let style = if message.role == Role::User {
            BLUE
        } else {
            GREEN
        };
        let text = content(&message.content, save.as_ref())?;
        lines.push(format!(
            "{} {text}",
            paint(style, format_args!("{}:", message.role))
        ));
    }
    out::text(&lines.join("\n"))
}

/// The arguments of a prompt, which are texts all of them (PR-08).
pub(crate) fn arguments(given: &[String]) -> Result<RawBuf, String> {
    let mut arguments = Members::default();
    let mut put = |name: &str, value: RawBuf| {
        if arguments.get(name).is_some() {
            return Err(format!("{name} is given twice"));
        }
        arguments.put(name, value);
        Ok(())
    };
    for word in words::parse(given, stdin())? {
        match word {
            Word::Text { key, text } => put(&key, quoted(&text))?,
            Word::Json { key, value } => put(&key, text(value))?,
            Word::All(object) => {
                let members = object.as_raw().object().unwrap_or_default();
                for (name, value) in members.members() {
                    put(&name.to_cow(), text(value.into()))?;
                }
            }
        }
    }
    arguments.object().map_err(|error| error.to_string())
}

fn text(value: RawBuf) -> RawBuf {
    match value.as_raw().string() {
        Some(_) => value,
        None => quoted(Raw::as_str(value.as_raw())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_arguments_are_texts() {
        let check = |given: &[&str], expected: Result<&str, &str>| {
            let given: Vec<String> = given.iter().map(|&word| word.to_owned()).collect();
            let found = arguments(&given);
            let found = found.as_ref().map(|arguments| arguments.as_raw().as_str());
            assert_eq!(found.map_err(String::as_str), expected);
        };
        check(&[], Ok("{}"));
        check(
            &["a=1", "b:=[2]", "c:=\"x\""],
            Ok(r#"{"a":"1","b":"[2]","c":"x"}"#),
        );
        check(&[r#"{"a":"x","b":true}"#], Ok(r#"{"a":"x","b":"true"}"#));
        check(&["a=1", "a=2"], Err("a is given twice"));
        check(&["a=1", "{\"a\":2}"], Err("a is given twice"));
    }
}
