//! The session that every command uses.

use core::time::Duration;

use super::connect::AT_A_TERMINAL;
use super::exit::Failure;
use super::interrupt::Interrupt;
use super::options::Common;
use super::out;
use super::save::Save;
use super::screen::Screen;
use mcp_tokio::Client;
use mcp_tokio::client::{Progress, Request};
use serde::Serialize;

/// A connected client, and how its user wants things.
pub(crate) struct Session<'s> {
    pub(crate) client: &'s Client,
    pub(crate) common: &'s Common,
    pub(crate) screen: &'s Screen,
    pub(crate) interrupt: &'s Interrupt,
}

impl Session<'_> {
    /// Waits for the answer of the server; Ctrl-C cancels the request.
    pub(crate) async fn wait<T, E>(
        &self,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failure>
    where
        Failure: From<E>,
    {
        Ok(self.interrupt.or(answer).await??)
    }

    /// Waits for the answer to a request during which the server may ask a person and report progress.
    pub(crate) async fn wait_long<T>(&self, request: Request<'_, T>) -> Result<T, Failure> {
        let request = match self.patience() {
            Some(patience) => request.timeout(patience).max_duration(patience),
            None => request,
        };
        let screen = self.screen.clone();
        let request = request.on_progress(move |step: Progress<'_>| {
            screen.progress(step.progress, step.total, step.message);
        });
        let answer = self.wait(request).await;
        self.screen.clear();
        answer
    }

    /// The place for images, audio and blobs, if one is given. Files that the text for people does
    /// not name are named on standard error.
    pub(crate) fn save(&self) -> Option<Save> {
        let save = self.common.save.clone().map(Save::to)?;
        Some(match self.common.json {
            true => save.announced_on(self.screen),
            false => save,
        })
    }

    /// Writes a result: as JSON if that is asked for, else as this text.
    pub(crate) fn write(&self, result: &impl Serialize, text: &str) -> Result<(), Failure> {
        match self.common.json {
            true => out::encoded(result),
            false => out::text(text),
        }
    }

    fn patience(&self) -> Option<Duration> {
        match self.common.timeout {
            None if self.screen.can_ask() => Some(AT_A_TERMINAL),
            _ => None,
        }
    }
}
