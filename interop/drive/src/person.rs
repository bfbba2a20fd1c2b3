//! The person at the client, who answers what a server asks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_async::Client;
use mcp_async::client::{CallbackError, ClientBuilder};
use mcp_async::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Root,
};
use mcp_proto::RevisionSet;
use mcp_proto::json::{Raw, RawBuf};

#[derive(Clone, Default)]
pub(crate) struct Person(Arc<Mutex<Memory>>);

#[derive(Default)]
pub(crate) struct Memory {
    /// Says no to every question.
    pub(crate) declines: bool,
    pub(crate) asked: Vec<ElicitParams>,
}

impl Person {
    pub(crate) fn speak(&self, revisions: RevisionSet) -> ClientBuilder {
        let person = self.clone();
        Client::builder("drive", env!("CARGO_PKG_VERSION"))
            .revisions(revisions)
            .on_elicitation(move |asked, _| {
                let answer = person.answer(asked);
                async move { answer }
            })
            .on_sampling(|asked, _| async move { Ok(sampled(&asked)) })
            .roots(vec![Root::new(ROOT)])
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, asked: ElicitParams) -> Result<ElicitResult, CallbackError> {
        let mut memory = self.memory();
        let answer = match &asked {
            _ if memory.declines => Ok(ElicitResult::decline()),
            ElicitParams::Form(form) => filled(form.requested_schema.as_raw()),
            _ => Ok(ElicitResult::agree()),
        };
        memory.asked.push(asked);
        answer
    }
}

fn sampled(asked: &CreateMessageParams) -> CreateMessageResult {
    let prompt = asked.messages.first().map(|message| message.content.text());
    CreateMessageResult::new("none", format!("heard {}", prompt.unwrap_or_default()))
}

/// A form filled in by somebody who leaves the defaults as they are: the client adds those.
fn filled(schema: Raw<'_>) -> Result<ElicitResult, CallbackError> {
    let fields = schema
        .object()
        .and_then(|schema| schema.get("properties")?.object())
        .unwrap_or_default();
    let mut answers = Vec::new();
    for (name, field) in fields.members() {
        let Some(field) = field
            .object()
            .filter(|field| field.get("default").is_none())
        else {
            continue;
        };
        let kind = field.get("type").and_then(Raw::string);
        let answer = match (option(field.as_raw()), field.get("items").and_then(option)) {
            (Some(option), _) => option.to_string(),
            (None, Some(option)) => format!("[{option}]"),
            (None, None) if name == "email" => r#""ada@example.com""#.to_owned(),
            (None, None) if kind.is_some_and(|kind| kind == "string") => r#""ada""#.to_owned(),
            (None, None) if kind.is_some_and(|kind| kind == "boolean") => "true".to_owned(),
            (None, None) => "1".to_owned(),
        };
        answers.push(format!(r#""{name}":{answer}"#));
    }
    let form = format!("{{{}}}", answers.join(","));
    let form = RawBuf::parse(form)?;
    Ok(ElicitResult::accept(&form)?)
}

/// The first of several that a field, or the items of a list, may be; in JSON.
fn option(field: Raw<'_>) -> Option<&str> {
    let field = field.object()?;
    if let Some(plain) = field.get("enum") {
        return plain
            .array()?
            .elements()
            .next()
            .map(|option| option.as_str());
    }
    let titled = field.get("oneOf").or_else(|| field.get("anyOf"))?;
    let first = titled.array()?.elements().next()?.object()?;
    first.get("const").map(|option| option.as_str())
}

/// The directory that servers are shown.
pub(crate) const ROOT: &str = "file:///srv/interop";
