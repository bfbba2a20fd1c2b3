//! Calls that belong to the connection on which they arrived.

use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::server::ProgressReport;
use mcp_proto::{Channel, Outcome, Receipt, SendError, Token};

use super::call_host::CallState;
use super::call_host::{CallHost, Log};
use crate::connection::Outbound as _;
use crate::connection::{Answered, RoleState, Shared};
use crate::server::caller::Machine;
use crate::server::caller::log::poll_log;
use crate::server::caller::peer::Peer;
use crate::server::rounds::Rounds;

/// A connection is the host of its calls.
impl CallHost for Shared<Machine> {
    fn peer(self: Arc<Self>) -> Peer {
        Peer::new(self)
    }

    fn now(&self) -> mcp_proto::Instant {
        self.now()
    }

    #[cfg(feature = "tracing")]
    fn transport(&self) -> crate::observe::Transport {
        self.transport
    }

    #[cfg(feature = "tracing")]
    fn request_id(&self, call: Token) -> Option<String> {
        let core = self.lock();
        core.machine.request_id(call).map(|id| id.to_string())
    }

    fn is_held_to_draft(&self) -> bool {
        self.lock().machine.is_held_to_draft()
    }

    fn is_live(&self, call: Token) -> bool {
        let core = self.lock();
        !core.ended && core.machine.is_live(call)
    }

    fn poll_over(&self, cx: &Context<'_>, call: Token, _: &mut Option<u64>) -> Poll<()> {
        let mut core = self.lock();
        if core.ended || !core.machine.is_live(call) {
            return Poll::Ready(());
        }
        core.watch(cx);
        Poll::Pending
    }

    fn poll_progress(
        &self,
        cx: &mut Context<'_>,
        receipt: &mut Option<Receipt>,
        (call, channel): (Token, Channel),
        progress: ProgressReport<'_>,
    ) -> Poll<bool> {
        let mut has_left = receipt.is_some();
        let write = |machine: &mut Machine, now, out: &mut [u8]| {
            let sent = machine.progress(now, call, progress, out)?;
            has_left = sent.len > 0;
            Ok(sent)
        };
        let sent = ready!(self.poll_tell(cx, receipt, channel, write));
        Poll::Ready(has_left || matches!(sent, Err(SendError::Stale)))
    }

    fn poll_log(
        &self,
        cx: &mut Context<'_>,
        receipt: &mut Option<Receipt>,
        (call, channel): (Token, Channel),
        message: Log<'_>,
    ) -> Poll<()> {
        let Log {
            level,
            logger,
            data,
        } = message;
        let write = |machine: &mut Machine, _, out: &mut [u8]| {
            machine.log(Some(call), level, logger, data, out)
        };
        poll_log(self, cx, receipt, channel, write).map(drop)
    }

    fn disconnect(&self, on: Channel, retry: Duration) -> bool {
        let possible = match &mut self.lock().outbound {
            Some(outbound) => outbound.disconnect(on, retry),
            None => false,
        };
        self.driver_waker.wake();
        possible
    }

    fn poll_respond(
        &self,
        cx: &mut Context<'_>,
        (call, channel): (Token, Channel),
        reports: bool,
        outcome: Outcome<'_>,
    ) -> Poll<Answered> {
        self.poll_respond(cx, channel, call, reports, outcome)
    }

    fn forget(&self, call: Token) {
        let _kept = self.lock().role_state.forget(call);
    }

    fn look_at_rounds(&self, call: Token, look: &mut dyn FnMut(&mut Rounds, CallState)) {
        let core = &mut *self.lock();
        let state = match (core.ended, core.machine.is_live(call)) {
            (true, _) => CallState::Disconnected,
            (false, true) => CallState::Live,
            (false, false) => CallState::Over,
        };
        look(&mut core.role_state.rounds, state);
    }
}
