//! The server's questions to the person at the terminal.

use super::ask::ask;
use super::form::fill;
use super::page::visit;
use super::plain::line;
use super::screen::Screen;
use mcp_tokio::client::{CallbackContext, CallbackError};
use mcp_tokio::mcp_async::model::{ElicitParams, ElicitResult};

/// The state that the callbacks of a client share.
pub(crate) struct Console {
    pub(crate) screen: Screen,
    /// The name of the server for people.
    pub(crate) server: String,
}

/// Puts the question to the person, if there is one; else it is declined, with a note.
pub(crate) async fn elicit(
    asked: ElicitParams,
    cx: CallbackContext<Console>,
) -> Result<ElicitResult, CallbackError> {
    let Console { screen, server } = cx.state();
    if !screen.can_ask() {
        let message = line(asked.message().unwrap_or_default()).into_owned();
        screen.say(format!(
            "{server} asks: {message} (declined: there is no terminal to ask at)"
        ));
        return Ok(ElicitResult::decline());
    }
    let answer = ask(screen.clone(), move || match &asked {
        ElicitParams::Form(form) => fill(form, &cx.state().server),
        ElicitParams::Url(page) => visit(page, &cx.state().server),
        ElicitParams::Other(_) => Ok(ElicitResult::decline()),
    });
    Ok(answer.await.unwrap_or_else(ElicitResult::cancel))
}
