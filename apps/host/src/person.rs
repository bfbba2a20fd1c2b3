//! The person at the terminal: types commands, and answers the questions of servers.

use std::io;

use mcp_tokio::client::CallbackError;
use mcp_tokio::compose::QuestionContext;
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

    /// Shows a form. The person answers with a JSON object, or declines with an empty line.
    pub(crate) async fn answer(
        &self,
        asked: ElicitParams,
        cx: QuestionContext,
    ) -> Result<ElicitResult, CallbackError> {
        let ElicitParams::Form(form) = asked else {
            return Ok(ElicitResult::decline());
        };
        println!(
            "{} asks: {} {}",
            cx.server(),
            form.message,
            form.requested_schema
        );
        let line = self.line().await?.unwrap_or_default();
        match serde_json::from_str::<Value>(&line) {
            Ok(answer) if answer.is_object() => Ok(ElicitResult::accept(&answer)?),
            _ => Ok(ElicitResult::decline()),
        }
    }
}
