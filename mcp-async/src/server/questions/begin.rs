//! Answers and state that a call brings from the previous round.

use std::borrow::Cow;

use mcp_proto::model::ClientFeatures;
use mcp_proto::rpc::Method;

use crate::error::ErrorReply;
use crate::server::Call;
use crate::server::rounds::keys::{Origin, StateKeys};
use crate::server::rounds::round::{Carried, Round};

/// Prepares a call of 2026-07-28 for questions, before the service sees it. A call needs it that brings a request
/// state, or whose client answers one of [`QUESTIONS`].
///
/// # Errors
/// The state is not ours, not for this call or too old (MR-07), or the answers are none
/// (MR-14).
pub(in crate::server) fn begin(call: &mut Call<'_>) -> Result<(), ErrorReply> {
    let request = call.request;
    // MR-01, MR-02
    let method = match call.method {
        Method::ToolsCall => Method::ToolsCall,
        Method::ResourcesRead => Method::ResourcesRead,
        Method::PromptsGet => Method::PromptsGet,
        _ => return Ok(()),
    };
    if !request.revision.has_input_required() {
        return Ok(());
    }
    let round = match &request.request_state {
        Some(state) => {
            let keys = call.context.with_rounds(|rounds, _| rounds.keys.clone());
            let keys = keys.flatten().or_else(StateKeys::of_process);
            let origin = Origin {
                method,
                params: call.params,
                principal: call.context.principal_name(),
            };
            let body = keys.and_then(|keys| keys.open(&origin, &state.to_cow()));
            let carried = body.and_then(|body| Carried::decode(&body));
            let carried = carried.ok_or_else(|| refused("Invalid or expired requestState"))?;
            let responses = request.input_responses.unwrap_or_default();
            let round = Round::resume(carried, responses);
            Some(round.map_err(|_| refused("Malformed inputResponses"))?)
        }
        None => request.input_responses.map(Round::offered),
    };
    call.context.suspends = true;
    let round = round.map(Box::new);
    call.context.with_rounds(|rounds, _| {
        rounds.begin(call.context.token, method, call.params, round);
    });
    Ok(())
}

fn refused(message: &'static str) -> ErrorReply {
    ErrorReply::invalid_params(Cow::Borrowed(message))
}

/// A client without any of these is never asked.
pub(in crate::server) const QUESTIONS: ClientFeatures = ClientFeatures::ROOTS
    .with(ClientFeatures::SAMPLING)
    .with(ClientFeatures::ELICITATION_FORM)
    .with(ClientFeatures::ELICITATION_URL);
