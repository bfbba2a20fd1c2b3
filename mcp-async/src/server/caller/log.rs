//! Log messages of a connection, as many as its limit allows.

use core::task::{self, Poll};

use mcp_proto::{Channel, Instant, Receipt, SendError, Transmit};

use super::Machine;
use crate::connection::Shared;

/// Sends a log message as [`Shared::poll_tell`] does; one too many for the connection's limit is
/// dropped (LG-09).
pub(in crate::server) fn poll_log(
    shared: &Shared<Machine>,
    cx: &mut task::Context<'_>,
    receipt: &mut Option<Receipt>,
    on: Channel,
    write: impl FnMut(&mut Machine, Instant, &mut [u8]) -> Result<Option<Transmit>, SendError>,
) -> Poll<Result<(), SendError>> {
    if let Some(receipt) = *receipt {
        return shared.lock().poll_stored(cx, receipt);
    }
    let now = shared.now();
    let told = {
        let mut core = shared.lock();
        if core
            .role_state
            .logs
            .as_mut()
            .is_some_and(|logs| !logs.holds(now))
        {
            return Poll::Ready(Ok(()));
        }
        let sent = core.poll_send(now, cx, on, write);
        // A message that is not sent, because of the client's level, does not count.
        if let (Poll::Ready(Ok(Some(_))), Some(logs)) = (&sent, &mut core.role_state.logs) {
            logs.take(now);
        }
        core.poll_told(cx, receipt, sent)
    };
    if receipt.is_some() || matches!(told, Poll::Ready(Ok(()))) {
        shared.driver_waker.wake();
    }
    told
}
