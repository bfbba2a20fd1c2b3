//! Messages that follow from state. They are derived when they leave, and not queued as bytes.

use super::{Client, Phase, Storage};
use crate::action::{BufferFull, Transmit};
use crate::json::Writer;
use crate::rpc::{Method, envelope};
use crate::source::Pipe;
use crate::time::Instant;

impl<S: Storage> Client<'_, S> {
    pub(super) fn has_transmit(&self) -> bool {
        let opening = matches!(&self.phase, Phase::Opening(opening) if opening.is_owed());
        opening
            || self.initialized_owed
            || (!self.batch.open && self.calls.sent.next_cancelled().is_some())
            || self.questions.next_marked(Pipe).is_some()
            || self.questions.batch().ready().is_some()
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
        // None leaves while a batch is gathered: it could name a request that has not left.
        if !self.batch.open
            && let Some(len) = self.calls.write_cancellation(out)?
        {
            return Ok(Some(Transmit::pipe(len)));
        }
        if let Some(key) = self.questions.next_marked(Pipe) {
            return self.transmit_refused(key, out).map(Some);
        }
        if self.questions.batch().ready().is_some() {
            let len = self.questions.write_array(out)?;
            return Ok(Some(Transmit::pipe(len)));
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
}
