//! The person at the terminal: types commands, and answers the questions of servers.

use std::io;
use std::sync::Arc;

use mcp_tokio::client::{CallbackContext, CallbackError};
use mcp_tokio::model::{ElicitParams, ElicitResult};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin, stdin};
use tokio::sync::Mutex;

/// The lines that the person types.
pub(crate) struct Person(Mutex<Lines<BufReader<Stdin>>>);

impl Person {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(BufReader::new(stdin()).lines()))
    }

    /// Returns the next line, or `None` after the last one.
    pub(crate) async fn line(&self) -> io::Result<Option<String>> {
        self.0.lock().await.next_line().await
    }
}

/// The state of one client: who asks, and who answers.
pub(crate) struct Questions {
    pub(crate) server: String,
    pub(crate) person: Arc<Person>,
}

/// Shows a form. The person answers with a JSON object, or declines with an empty line.
pub(crate) async fn answer(
    asked: ElicitParams,
    cx: CallbackContext<Questions>,
) -> Result<ElicitResult, CallbackError> {
    let ElicitParams::Form(form) = asked else {
        return Ok(ElicitResult::decline());
    };
    let Questions { server, person } = cx.state();
    println!("{server} asks: {} {}", form.message, form.requested_schema);
    let line = person.line().await?.unwrap_or_default();
    match serde_json::from_str::<Value>(&line) {
        Ok(answer) if answer.is_object() => Ok(ElicitResult::accept(&answer)?),
        _ => Ok(ElicitResult::decline()),
    }
}
