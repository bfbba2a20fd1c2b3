//! `get`: a prompt.

use std::io::stdin;

use super::list::{all, usage};
use crate::content::content;
use crate::exit::Failure;
use crate::json::{Members, quoted};
use crate::nearest::{hint, unknown, wrong};
use crate::plain::line;
use crate::save::Save;
use crate::session::Session;
use crate::style::{BLUE, DIM, GREEN, paint};
use crate::typed::is_whole;
use crate::words::{self, Word};
use mcp_tokio::json::{Raw, RawBuf};
use mcp_tokio::mcp_async::model::Role;

/// Gets a prompt and shows its messages.
pub(crate) async fn run(
    session: &Session<'_>,
    prompt: &str,
    given: &[String],
) -> Result<(), Failure> {
    let words = words::parse(given, stdin()).map_err(|why| wrong(prompt, &why))?;
    let is_whole = is_whole(&words);
    let arguments = arguments(words).map_err(|why| wrong(prompt, &why))?;
    if !is_whole {
        check(session, prompt, &arguments).await?;
    }
    let arguments = arguments.object();
    let arguments = arguments.map_err(|error| wrong(prompt, &error.to_string()))?;
    let result = session
        .wait_long(session.client.get_prompt(prompt, &arguments))
        .await?;
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
        let text = content(&message.content, save.as_ref());
        lines.push(format!(
            "{} {text}",
            paint(style, format_args!("{}:", message.role))
        ));
    }
    session.write(&result, &lines.join("\n"))?;
    save.map_or(Ok(()), Save::finish)
}

/// Compares the prompt and its arguments with the list of the server, if the server lists prompts.
async fn check(session: &Session<'_>, prompt: &str, given: &Members) -> Result<(), Failure> {
    let listed = match all(session, session.client.prompts()).await {
        Err(failure) if failure.reply.is_some() => return Ok(()),
        listed => listed?,
    };
    let names = listed.iter().map(|listed| &*listed.name);
    let Some(listed) = listed.iter().find(|listed| listed.name == prompt) else {
        return Err(unknown("prompt", prompt, names));
    };
    let names = || listed.arguments.iter().map(|argument| &*argument.name);
    let usage = match usage(listed) {
        usage if usage.is_empty() => "nothing".to_owned(),
        usage => usage,
    };
    if let Some(name) = given
        .names()
        .find(|given| !names().any(|name| name == *given))
    {
        let hint = hint(name, names());
        let why = format!("there is no argument `{name}`{hint}; it takes {usage}");
        return Err(wrong(prompt, &why));
    }
    let required = listed.arguments.iter().filter(|argument| argument.required);
    let missing = required.map(|argument| &*argument.name);
    let missing: Vec<&str> = missing.filter(|name| given.get(name).is_none()).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => {
            let why = format!("missing: {}; it takes {usage}", missing.join(", "));
            Err(wrong(prompt, &why))
        }
    }
}

/// The arguments of a prompt, which are texts all of them (PR-08).
fn arguments(words: Vec<Word>) -> Result<Members, String> {
    let mut arguments = Members::default();
    let mut put = |name: &str, value: RawBuf| {
        if arguments.get(name).is_some() {
            return Err(format!("{name} is given twice"));
        }
        arguments.put(name, value);
        Ok(())
    };
    for word in words {
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
    Ok(arguments)
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
            let found = arguments(words::parse(&given, std::io::empty()).unwrap());
            let found = found.map(|arguments| arguments.object().unwrap());
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
