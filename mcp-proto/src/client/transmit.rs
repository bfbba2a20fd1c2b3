//! Messages that follow from state. They are derived when they leave, and not queued as bytes.

use super::call::Stage;
use super::{Client, Failure, Phase, Storage};
use crate::action::{BufferFull, Transmit};
use crate::json::Writer;
use crate::rpc::{Method, envelope};
use crate::slots::Key;
use crate::time::Instant;

impl<S: Storage> Client<'_, S> {
    pub(super) fn has_transmit(&self) -> bool {
        let opening = matches!(&self.phase, Phase::Opening(opening) if opening.is_owed());
        opening
            || self.initialized_owed
            || self.cancelled().is_some()
            || self.questions.refused().is_some()
            || self.questions.answers.is_ready()
            || self.calls.sent.is_ping_due()
    }

    pub(super) fn transmit(
        &mut self,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        if let Phase::Opening(opening) = self.phase
            && let Some(transmit) = self.transmit_opening(opening, out)?
        {
            return Ok(Some(transmit));
        }
        if self.initialized_owed {
            return self.transmit_initialized(out).map(Some);
        }
        if let Some(token) = self.cancelled() {
            return self.transmit_cancelled(token, out).map(Some);
        }
        if let Some(token) = self.questions.refused() {
            return self.transmit_refused(token, out).map(Some);
        }
        if self.questions.answers.is_ready() {
            return self
                .questions
                .answers
                .write(out)
                .map(|len| Some(Transmit::pipe(len)));
        }
        Ok(self.calls.sent.write_ping(now, out)?.map(Transmit::pipe))
    }

    /// LC-06
    fn transmit_initialized(&mut self, out: &mut [u8]) -> Result<Transmit, BufferFull> {
        let mut writer = Writer::new(out);
        envelope::bare_notification(&mut writer, Method::Initialized);
        let len = writer.finish()?;
        self.initialized_owed = false;
        self.calls.let_go();
        Ok(Transmit::pipe(len))
    }

    /// The call whose cancellation is due. None leaves while a batch is gathered: it could name
    /// a request that has not left.
    fn cancelled(&self) -> Option<Key> {
        self.calls.cancelled().filter(|_| !self.batch.open)
    }

    fn transmit_cancelled(&mut self, token: Key, out: &mut [u8]) -> Result<Transmit, BufferFull> {
        let call = self.calls.get(token);
        let stage = call.map(|call| call.stage);
        let expired = match stage {
            Some(Stage::Cancelled { expired }) => expired,
            Some(Stage::Failed { failure, .. }) => failure == Failure::Timeout,
            _ => false,
        };
        let mut writer = Writer::new(out);
        let id = call.map_or(0, |call| call.sent.id);
        let reason = expired.then_some("timed out");
        envelope::cancelled(&mut writer, |writer| writer.unsigned(id), reason);
        let len = writer.finish()?;
        self.calls.cancellation_left(token);
        Ok(Transmit::pipe(len))
    }
}
