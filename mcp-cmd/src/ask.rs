//! Asks the user while the connection continues.

use core::future::pending;
use std::io::ErrorKind;

use super::background::background;
use super::screen::Screen;

/// Asks at the terminal, alone on the screen; `None` if the terminal fails.
///
/// After Ctrl-C there is no answer: everything that waits for one is about to be dropped.
pub(crate) async fn ask<T: Send + 'static>(
    screen: Screen,
    question: impl FnOnce() -> dialoguer::Result<T> + Send + 'static,
) -> Option<T> {
    // A question that is taken back meanwhile is never shown.
    let turn = screen.turn().await;
    match background(move || screen.ask(turn, question)).await? {
        Ok(answer) => Some(answer),
        Err(dialoguer::Error::IO(error)) if error.kind() == ErrorKind::Interrupted => {
            pending().await
        }
        Err(_) => None,
    }
}
