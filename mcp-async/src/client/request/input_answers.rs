//! Answers to questions that an extension passes on.

use core::future::poll_fn;

use mcp_proto::SendError;
use mcp_proto::client::Failure;
use mcp_proto::json::RawBuf;

use crate::client::session::round::Inputs;
use crate::client::state::inner::{Inner, Link};
use crate::error::CallError;
use crate::payload::encode;

/// Asks the callbacks of the client, and returns their answers as an object with the same keys.
pub(in crate::client) async fn answer_inputs(
    inner: &Inner,
    requests: RawBuf,
) -> Result<RawBuf, CallError> {
    let mut linking = None;
    let Link { shared, .. } = poll_fn(|cx| inner.poll_link(cx, 0, &mut linking)).await?;
    let revision = {
        let core = shared.lock();
        let object = requests.as_raw().object();
        if !object.is_some_and(|requests| core.machine.accepts_input(requests)) {
            return Err(CallError::Failed(Failure::Input));
        }
        core.machine.revision().ok_or(CallError::Closed)?
    };
    let mut inputs = Inputs::ask(requests, revision, &*inner.client_state);
    poll_fn(|cx| inputs.poll_answers(cx))
        .await
        .map_err(CallError::Input)?;
    encode(&inputs, revision).map_err(|_| CallError::Refused(SendError::Encode))
}
